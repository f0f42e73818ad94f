"""A sample of mutated files of each format, and of policies; all ten thousand of each with ``make bench``.

No traceback, no exit code 3, no process above two gigabytes or a minute, nothing half-written.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.hostile import fuzz, seeds
from tests.hostile.commands import Command, command, place
from tests.hostile.generated import SMALL
from tests.hostile.structures import STRUCTURES, restructured
from tests.hostile.watching import FellError, Ran, Watched, hangs

pytestmark = pytest.mark.requirement("D-01", "V-05")
SAMPLE = 25


def outcomes(kinds: list[str], count: int, seed: int, keep: Path) -> list[dict[str, object]]:
    chosen = [*kinds, f"--count={count}", f"--seed={seed}", f"--keep={keep}", "--json"]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "tests.hostile.fuzz", *chosen]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=where)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["format"] for one in found] == kinds, f"the process broke down: {done.stderr[-2000:]}"
    return found


@pytest.fixture(scope="module")
def on() -> Iterator[fuzz.Bench]:
    with fuzz.bench() as made:
        yield made


@pytest.fixture
def folder(on: fuzz.Bench) -> Iterator[Path]:
    yield on.folder
    on.clear()


@pytest.fixture
def watched(on: fuzz.Bench) -> Watched:
    return on.watched


@pytest.mark.parametrize("kind", fuzz.FORMATS)
def test_mutated_files_are_read_or_refused(kind: str, on: fuzz.Bench) -> None:
    outcome = fuzz.fuzz(kind, range(SAMPLE), 2, on)
    assert outcome.found == []
    assert outcome.files == SAMPLE
    assert outcome.done > 0
    assert outcome.refused


@pytest.mark.slow
@pytest.mark.parametrize("kind", fuzz.FORMATS)
def test_ten_thousand_mutated_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    count = int(os.environ.get("SHOAL_FUZZ_COUNT", "10000"))
    (outcome,) = outcomes([kind], count, 1, tmp_path)
    assert outcome["found"] == []
    assert outcome["files"] == count


@pytest.mark.parametrize("kind", fuzz.FORMATS)
def test_every_seed_is_a_file_that_can_be_read(kind: str, folder: Path, watched: Watched, on: fuzz.Bench) -> None:
    """By the command that is called most; else its mutations would be refused for what they were made from."""
    path = folder / place(kind)
    made = [path.read_bytes()] if kind == "manifest" else fuzz.contents(kind)[0]
    for content, number in {content: number for number, content in enumerate(made)}.items():
        if kind == "policy" and content not in {seeds.POLICY.encode(), SMALL.encode()}:
            continue  # those of the documentation name tables that are not here
        path.write_bytes(content)
        called = command(kind, number, content, folder, Random(3))
        ran = watched.run(called.words)
        assert ran.code == 0, (called.words, ran.stderr)
        assert fuzz.faults(ran, called) == ""
        on.clear()


@pytest.mark.parametrize("kind", STRUCTURES)
def test_a_structural_mutation_changes_the_file_and_is_no_accident_of_bytes(kind: str, folder: Path) -> None:
    """Each is made by its own way, not by the one for bytes, and the same for the same seed."""
    made, words = ([(folder / place(kind)).read_bytes()], ()) if kind == "manifest" else fuzz.contents(kind)
    changed = {made[-1]}
    for number in range(8):
        with suppress(Exception):  # a mail may come to nothing that its library can write
            changed.add(STRUCTURES[kind](made[-1], Random(number), words))
    assert len(changed) > 4
    if kind not in ("pdf", "eml"):  # whose libraries put a date or a boundary of their own
        assert {restructured(kind, made[-1], Random(number), words) for number in range(8)} <= changed


RAN = Ran(code=0, clock=1.0, processor=1.0, total=1.0, peak_mb=100, stdout="{}", stderr="")
CALLED = Command(("measure", "a.csv", "--json"))


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({"code": 3, "stderr": "error [SHOAL-900]: this is a bug"}, "exit code 3"),
        ({"code": 1}, "exit code 1"),
        ({"code": 2, "stderr": "Traceback (most recent call last):"}, "Traceback"),
        ({"stderr": "thread '<unnamed>' panicked at"}, "panicked"),
        ({"code": 2, "stderr": ""}, "no single line"),
        ({"code": 2, "stderr": "error: a\nb"}, "no single line"),
        ({"stdout": "a {}"}, "more than JSON"),
        ({"peak_mb": 2049}, "2049 MB"),
        ({"processor": 61.0}, "took 61 s"),
    ],
)
def test_the_judge_sees_what_it_looks_for(what: dict[str, object], said: str) -> None:
    assert said in fuzz.faults(replace(RAN, **what), CALLED)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "what",
    [
        {},
        {"code": 2, "stderr": "error [SHOAL-110]: a.csv: is damaged"},
        {"code": 2, "stderr": "warning: a\nerror [SHOAL-110]: a.csv: is damaged"},
        {"code": 2, "stderr": "a.csv: line 1: a\na.csv: line 2: b"},
        {"clock": 500.0},
    ],
)
def test_the_judge_lets_pass_what_is_as_it_should_be(what: dict[str, object]) -> None:
    assert fuzz.faults(replace(RAN, **what), CALLED) == ""  # type: ignore[arg-type]


def test_what_is_left_behind_by_a_refused_command_is_found(folder: Path, watched: Watched) -> None:
    outcome = fuzz.Outcome("csv")
    assert fuzz.judged(watched, Command(("measure", "people.csv", "--qi", "nobody")), folder, outcome) == ""
    written = Command(("suggest", "people.csv", "-o", "written.yaml"))
    assert "written.yaml" in fuzz.judged(watched, written, folder, outcome)
    (folder / "written.yaml").unlink()
    missing = Command(("measure", "people.csv", "--qi", "age"), ("nothing.csv",))
    assert "there is nothing" in fuzz.judged(watched, missing, folder, outcome)
    assert (outcome.files, outcome.done, sum(outcome.refused.values())) == (3, 2, 1)


def test_a_process_that_dies_or_hangs_or_spins_is_found(tmp_path: Path) -> None:
    for program, said in (
        ("import os; os.kill(os.getpid(), 9)", "ended with -9"),
        ("import time; time.sleep(600)", "hangs"),
        ("while True: pass", "processor time"),
    ):
        one = _Other(tmp_path, program)
        with pytest.raises(FellError, match=said):
            one.run(["profile"])


def test_a_process_that_waits_for_its_child_to_work_does_not_hang(tmp_path: Path) -> None:
    spins = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    one = subprocess.Popen([sys.executable, "-c", spins], cwd=tmp_path, process_group=0)
    try:
        time.sleep(1)
        assert not hangs(one.pid)
    finally:
        os.killpg(one.pid, 9)
        one.wait()


class _Other(Watched):
    """With another program in place of the worker, and less patience."""

    def __init__(self, folder: Path, program: str) -> None:
        super().__init__(folder, 1.0)
        self._words = [sys.executable, "-c", program]


FOUND = sorted((Path(__file__).parent / "found").iterdir())
"""Files that once brought a command down; the name begins with the format."""


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_was_found_once_is_refused(path: Path, folder: Path, watched: Watched) -> None:
    kind = path.name.partition("-")[0]
    (folder / place(kind)).write_bytes(path.read_bytes())
    called = command(kind, 0, path.read_bytes(), folder, Random(3))
    outcome = fuzz.Outcome(kind)
    assert fuzz.judged(watched, called, folder, outcome) == ""
    assert sum(outcome.refused.values()) == 1
