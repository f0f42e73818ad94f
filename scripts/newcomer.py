"""Play a newcomer: run every fenced command of a page as it is written, and compare with what the page shows.

``python scripts/newcomer.py docs/how-to/measure.md [--write]`` says what differs; ``--write`` puts what came out in the
place of what the page shows (parts that vary are marked by hand afterwards).

A page is played from top to bottom, in one shell, in an empty folder:

* a fence with a file name as its title (``title="policy.yaml"``) is saved under that name;
* a ``console`` fence is typed in: lines that begin with ``$ `` are commands, the others are what the last one says;
* a ``text`` fence without a title, the next one after a ``console`` fence, is what its last command says;
* a ``python`` fence is run.

What a page shows may be a part of what comes out, in the same order. ``…`` stands for anything: the rest of a line, a
number that varies, or, on a line of its own, lines that are left out. A comment above a fence says what readers need
not see:

* ``<!-- before: COMMAND -->``: what they would have;
* ``<!-- exit: 1 -->``: the code that its last command ends with;
* ``<!-- numbers vary: WHY -->``: any number stands for any other;
* ``<!-- example: WHY -->``: what is shown differs from run to run as a whole;
* ``<!-- not run: REASON -->``.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(
    r"(?P<notes>(?:^ *<!--[^\n]*-->\n+)*)"
    r"^(?P<indent> *)```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?[^\n`]*\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
NOTE = re.compile(r"<!-- (?P<key>exit|before|example|numbers vary|not run): (?P<value>.*?) -->")
NUMBER = re.compile(r"[<>]?\d[\d,.]*")
ANY = "…"
SECONDS = 900


@dataclass(frozen=True)
class Fence:
    """A fenced block of a page, with the comments above it."""

    language: str
    title: str | None
    text: str
    line: int
    before: tuple[str, ...] = ()
    exit_code: int = 0
    varies: bool = False
    compared: bool = True
    not_run: str | None = None

    @property
    def is_file(self) -> bool:
        return self.title is not None and re.fullmatch(r"[\w./-]+\.\w+", self.title) is not None


@dataclass(frozen=True)
class Typed:
    """One command as the page has it: what it shows, and where in the page that stands."""

    command: str
    shown: str
    exit_code: int
    line: int
    varies: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a command said when it was run."""

    typed: Typed
    exit_code: int
    output: str

    @property
    def problem(self) -> str | None:
        if self.exit_code != self.typed.exit_code:
            return f"ended with {self.exit_code} instead of {self.typed.exit_code}"
        missing = first_missing(self.typed.shown, self.output, varies=self.typed.varies)
        return None if missing is None else f"does not say: {missing}"


def fences(text: str) -> Iterator[Fence]:
    for found in FENCE.finditer(text):
        notes = [(note["key"], note["value"]) for note in NOTE.finditer(found["notes"])]
        inner = re.sub(f"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
        by_key = dict(notes)
        yield Fence(
            found["language"],
            found["title"],
            inner,
            text.count("\n", 0, found.end("notes")) + 1,
            before=tuple(value for key, value in notes if key == "before"),
            exit_code=int(by_key.get("exit", 0)),
            varies="numbers vary" in by_key,
            compared="example" not in by_key,
            not_run=by_key.get("not run"),
        )


def first_missing(shown: str, output: str, *, varies: bool = False) -> str | None:
    """The first line that is shown and does not come out, after those before it."""
    lines = iter(_compared(line, varies=varies) for line in output.splitlines() if line.strip())
    for line in shown.splitlines():
        wanted = _compared(line, varies=varies)
        if not wanted or wanted.strip() == ANY:
            continue
        pattern = re.compile(".*?".join(re.escape(part) for part in wanted.split(ANY)))
        if not any(pattern.fullmatch(line) for line in lines):
            return line
    return None


def _compared(line: str, *, varies: bool) -> str:
    """Where numbers vary, so do their lengths, and with them the widths of columns."""
    return re.sub(r"\s+", " ", re.sub("─+", "─", NUMBER.sub("9", line))).strip() if varies else line.rstrip()


def typed_lines(fence: Fence) -> list[Typed]:
    """The commands of a ``console`` fence, each with what is shown of it."""
    found: list[Typed] = []
    for number, line in enumerate(fence.text.splitlines()):
        if line.startswith("$ "):
            found.append(Typed(line[2:], "", 0, fence.line + 1 + number))
        elif line.startswith("> ") and found and not found[-1].shown:
            found[-1] = replace(found[-1], command=f"{found[-1].command}\n{line[2:]}")
        elif found and fence.compared:
            found[-1] = replace(found[-1], shown=f"{found[-1].shown}{line}\n")
    if found:
        found[-1] = replace(found[-1], exit_code=fence.exit_code, varies=fence.varies)
    return found


def steps(text: str) -> list[Fence | Typed]:
    """What a reader does with a page, in order: files that are saved, programs and commands that are run."""
    found: list[Fence | Typed] = []
    for fence in fences(text):
        if fence.not_run is not None:
            continue
        found += [Typed(command, "", 0, fence.line) for command in fence.before]
        if fence.is_file:
            found.append(fence)
        elif fence.language == "console":
            found += typed_lines(fence)
        elif fence.language == "python":
            found.append(Typed(f"python <<'PROGRAM'\n{fence.text}PROGRAM", "", fence.exit_code, fence.line))
        elif fence.language == "text" and found and isinstance(last := found[-1], Typed) and not last.shown:
            found[-1] = replace(last, shown=fence.text, varies=fence.varies)
    return found


def play(text: str, folder: Path) -> list[Outcome]:
    """Do what the page says in ``folder``; nothing of this user's own settings is seen."""
    said = folder / ".said"
    said.mkdir()
    script: list[str] = []
    commands: list[Typed] = []
    for step in steps(text):
        if isinstance(step, Fence):
            path = folder / ".files" / str(len(script))
            path.parent.mkdir(exist_ok=True)
            path.write_text(step.text, encoding="utf-8")
            script.append(f"mkdir -p \"$(dirname '{step.title}')\"; cp '{path}' '{step.title}'")
        else:
            number = len(commands)
            commands.append(step)
            script.append(f"{{ {step.command}\n}} > .said/{number} 2>&1 < /dev/null; echo $? > .said/{number}.code")
    subprocess.run(  # noqa: S603  # what our own pages say
        ["/bin/bash", "-c", "\n".join(script)], cwd=folder, env=_environment(folder), timeout=SECONDS, check=False
    )
    return [
        Outcome(typed, int((said / f"{number}.code").read_text()), (said / str(number)).read_text(encoding="utf-8"))
        for number, typed in enumerate(commands)
    ]


def _environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SHOAL_", "XDG_", "COV_"))}
    kept.pop("NO_COLOR", None)
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}:{kept['PATH']}",
        "HOME": str(folder / ".home"),
        "SHOAL_STATE": str(folder / ".state"),
        "COLUMNS": "120",
        "TERM": "dumb",
    }


def written(text: str, outcomes: list[Outcome]) -> str:
    """The page with what came out in the place of what it showed, where that differs."""
    for outcome in outcomes:
        shown = outcome.typed.shown
        if shown and outcome.exit_code == outcome.typed.exit_code and outcome.problem:
            text = text.replace(shown, "\n".join(line.rstrip() for line in outcome.output.splitlines()) + "\n", 1)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put what came out into the pages")
    parser.add_argument("--all", action="store_true", help="print what every command said")
    arguments = parser.parse_args()
    wrong = 0
    for page in arguments.pages:
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
            outcomes = play(text, Path(folder))
        for outcome in outcomes:
            if outcome.problem or arguments.all:
                wrong += outcome.problem is not None
                sys.stdout.write(f"{page}:{outcome.typed.line}: {outcome.typed.command}\n  {outcome.problem}\n")
                sys.stdout.write("".join(f"    | {line}\n" for line in outcome.output.splitlines()))
        if arguments.write:
            page.write_text(written(text, outcomes), encoding="utf-8")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
