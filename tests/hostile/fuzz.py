"""Mutated files through the commands that read them: ``python -m tests.hostile.fuzz all --count 10000 --seed 1``.

What counts as found: an exit code other than 0 and 2 (1 is a verdict), a traceback, an error that is no single line,
anything half-written, a process above 2 GB, more than a minute, a hang, a process that dies. What was found is written
beside (--keep), to become a test. Each file depends on format, seed and number alone: --only makes one of them anew.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.hostile import seeds
from tests.hostile.commands import Command, command, place, prepared
from tests.hostile.mutations import mutated
from tests.hostile.structures import STRUCTURES, restructured
from tests.hostile.watching import MOST_SECONDS, FellError, Ran, Watched
from tests.hostile.worker import KEPT

MOST_MB: Final = 2048
STRUCTURAL: Final = 0.6
"""Share of the files that are changed as what they are, where the format has a structure; the rest as bytes."""
FORMATS: Final = (*seeds.TABLES, *seeds.DOCUMENTS, "policy", "recognisers", "hierarchy", "manifest")
ALL: Final = "all"
_SHARES: Final = {"policy": 0.85}
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder of one's own in it; writes are flushed, which a disk makes slow
_COMMANDS_EACH: Final = 2500
"""Of one process, after which another one goes on."""


@dataclass
class Outcome:
    format: str
    files: int = 0
    done: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    found: list[str] = field(default_factory=list)
    seconds: float = 0.0
    slowest: float = 0.0
    """Processor time of one command."""
    longest: float = 0.0
    """The same on the clock: on a busy machine it says nothing."""
    peak_mb: int = 0

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "refused": sum(self.refused.values()), "said": self.refused.most_common(12)}


@dataclass(frozen=True)
class Case:
    number: int
    content: bytes
    seed: int
    random: Random


def contents(kind: str) -> tuple[list[bytes], tuple[bytes, ...]]:
    """The seeds of a format, and words to put into them."""
    if kind == "policy":
        return seeds.policies(), seeds.YAML_WORDS
    if kind == "recognisers":
        return [seeds.RECOGNISERS.encode()], seeds.YAML_WORDS
    if kind == "hierarchy":
        return [seeds.HIERARCHY.encode()], seeds.TEXT_WORDS
    found = seeds.TABLES.get(kind) or seeds.DOCUMENTS[kind]
    binary = kind in ("parquet", "arrow", "ipc", "sqlite")
    return [make() for make in found], () if binary else seeds.TEXT_WORDS


def cases(kind: str, seed: int, numbers: range, folder: Path) -> Iterator[Case]:
    made, words = ([(folder / place(kind)).read_bytes()], seeds.TEXT_WORDS) if kind == "manifest" else contents(kind)
    for number in numbers:
        random = Random(f"{kind}-{seed}-{number}")
        chosen = random.randrange(len(made))
        if kind in STRUCTURES and random.random() < _SHARES.get(kind, STRUCTURAL):
            content = restructured(kind, made[chosen], random, words)
        else:
            content = mutated(made[chosen], random, words)
        yield Case(number, content, chosen, random)


class Bench:
    """A folder, and the process that is given commands in it; formats that follow each other share them."""

    def __init__(self, folder: Path) -> None:
        prepared(folder)
        self.folder = folder
        self.watched = Watched(folder)
        self._known = {path.name for path in folder.iterdir()}
        self._manifest = (folder / place("manifest")).read_bytes()

    def clear(self) -> None:
        """Away with everything that commands have written; the release is as it was."""
        (self.folder / place("manifest")).write_bytes(self._manifest)
        for path in self.folder.iterdir():
            if path.name not in self._known:
                shutil.rmtree(path) if path.is_dir() else path.unlink()


@contextmanager
def bench() -> Iterator[Bench]:
    with TemporaryDirectory(prefix="fuzz-", dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None) as name:
        made = Bench(Path(name))
        try:
            yield made
        finally:
            made.watched.end()


def fuzz(kind: str, numbers: range, seed: int, on: Bench, keep: Path | None = None) -> Outcome:
    outcome, begun = Outcome(kind), time.perf_counter()
    path = on.folder / place(kind)
    for case in cases(kind, seed, numbers, on.folder):
        path.write_bytes(case.content)
        called = command(kind, case.seed, case.content, on.folder, case.random)
        if said := judged(on.watched, called, on.folder, outcome):
            outcome.found.append(f"{case.number}: {' '.join(called.words)}: {said}")
            _keep(keep, f"{kind}-{seed}-{case.number}{path.suffix}", case.content, outcome.found[-1])
        on.clear()
        if outcome.files % _COMMANDS_EACH == 0:
            on.watched.end()
    outcome.seconds = round(time.perf_counter() - begun, 1)
    return outcome


def judged(watched: Watched, called: Command, folder: Path, outcome: Outcome) -> str:
    """What is wrong with what happened; empty if it was done, or refused as it should be."""
    outcome.files += 1
    before = {path.name for path in folder.iterdir()}
    try:
        ran = watched.run(called.words)
    except FellError as fell:
        return str(fell)
    outcome.slowest = max(outcome.slowest, round(ran.processor, 2))
    outcome.longest = max(outcome.longest, round(ran.clock, 2))
    outcome.peak_mb = max(outcome.peak_mb, ran.peak_mb)
    if ran.code in (0, 1):
        outcome.done += 1
    else:
        outcome.refused[ran.stderr.replace(called.words[-1], "…")[:70]] += 1
    new = {path.name for path in folder.iterdir()} - before
    if new != (set() if ran.code == 2 else set(called.writes)):
        return f"exit code {ran.code}, and there is {', '.join(sorted(new)) or 'nothing'}"
    return faults(ran, called)


def faults(ran: Ran, called: Command) -> str:
    if ran.code not in ((0, 1, 2) if called.may_fail else (0, 2)):
        return f"exit code {ran.code}: {ran.stderr[:3000]}"
    if "Traceback" in ran.stderr or "panicked" in ran.stderr:
        return ran.stderr[:3000]
    lines = [line for line in ran.stderr.splitlines() if not line.startswith("warning: ")]
    of_policy = all(line.startswith(called.words[1]) for line in lines)
    if ran.code == 2 and not (len(lines) == 1 or (lines and of_policy)):
        return f"no single line: {ran.stderr[:3000]}"
    if ran.code == 0 and "--json" in called.words and not _is_json(ran.stdout):
        return f"stdout holds more than JSON: {ran.stdout[:500]}"
    if ran.peak_mb > MOST_MB:
        return f"a process of {ran.peak_mb} MB"
    return f"took {ran.processor:.0f} s" if ran.processor > MOST_SECONDS else ""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return len(text.encode()) >= KEPT  # cut off
    return True


def _keep(keep: Path | None, name: str, content: bytes, said: str) -> None:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / name).write_bytes(content)
        (keep / f"{name}.txt").write_text(said, encoding="utf-8")


def table(outcomes: list[Outcome]) -> str:
    names = (
        ("files", 8),
        ("exit 0", 8),
        ("exit 2", 8),
        ("depth", 7),
        ("MB", 7),
        ("CPU s", 8),
        ("clock s", 9),
        ("found", 7),
    )
    head = f"{'format':12}" + "".join(f"{name:>{width}}" for name, width in names)
    lines = [
        f"{one.format:12}{one.files:8,}{one.done:8,}{sum(one.refused.values()):8,}{one.done / max(one.files, 1):7.0%}"
        f"{one.peak_mb:7,}{one.slowest:8.2f}{one.longest:9.2f}{len(one.found):7,}"
        for one in outcomes
    ]
    return "\n".join([head, *lines])


def _several(formats: Sequence[str], numbers: range, given: argparse.Namespace) -> list[Outcome]:
    outcomes = []
    with bench() as on:
        for kind in formats:
            outcomes.append(outcome := fuzz(kind, numbers, given.seed, on, given.keep))
            shown = json.dumps(outcome.to_dict()) if given.json else "\n".join([table([outcome]), *outcome.found])
            print(shown, flush=True)  # noqa: T201
    return outcomes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("formats", nargs="*", default=[ALL])
    parser.add_argument("--count", type=int, default=int(os.environ.get("SHOAL_FUZZ_COUNT", "10000")))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="the number of one file")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="formats at a time")
    parser.add_argument("--json", action="store_true", help="a line of JSON for each format instead of the table")
    given = parser.parse_args()
    formats = FORMATS if ALL in given.formats else given.formats
    numbers = range(given.count) if given.only is None else range(given.only, given.only + 1)
    outcomes = []
    with ThreadPoolExecutor(given.jobs) as pool:
        parts = [pool.submit(_several, formats[job :: given.jobs], numbers, given) for job in range(given.jobs)]
        for part in parts:
            outcomes += part.result()
    if not given.json:
        print(f"\n{table(outcomes)}")  # noqa: T201
    return int(any(outcome.found for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
