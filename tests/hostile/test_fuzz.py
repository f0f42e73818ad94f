"""A sample of mutated files of each format, and of policies; all ten thousand of each with ``make bench``.

No traceback, no exit code 3, no process above two gigabytes or a minute.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from tests.hostile import fuzz, seeds
from tests.hostile.calls import called
from tests.hostile.mutations import mutated

from shoal.errors import SourceError

pytestmark = pytest.mark.requirement("D-01", "V-05")
SAMPLE = 40
GROUPS = {
    "tables": [*seeds.TABLES, "recognisers", "hierarchy"],
    "documents": [kind for kind in seeds.DOCUMENTS if kind not in ("eml", "docx")],
    "letters": ["eml", "docx"],
    "policies": ["policy"],
}


def outcomes(kinds: list[str], count: int, seed: int, keep: Path) -> list[dict[str, object]]:
    command = [
        sys.executable,
        "-m",
        "tests.hostile.fuzz",
        *kinds,
        f"--count={count}",
        f"--seed={seed}",
        f"--keep={keep}",
    ]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=where)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["format"] for one in found] == kinds, f"the process broke down: {done.stderr[-2000:]}"
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_mutated_files_are_read_or_refused(group: str, tmp_path: Path) -> None:
    for outcome in outcomes(GROUPS[group], SAMPLE, 2, tmp_path):
        assert outcome["found"] == []
        assert outcome["files"] == SAMPLE


@pytest.mark.slow
@pytest.mark.parametrize("kind", fuzz.FORMATS)
def test_ten_thousand_mutated_files_are_read_or_refused(kind: str, tmp_path: Path) -> None:
    count = int(os.environ.get("SHOAL_FUZZ_COUNT", "10000"))
    (outcome,) = outcomes([kind], count, 1, tmp_path)
    assert outcome["found"] == []
    assert outcome["files"] == count


def test_commands_on_mutated_files_end_with_zero_or_two(tmp_path: Path) -> None:
    random = Random("commands")
    commands = []
    for kind in (*seeds.TABLES, *seeds.DOCUMENTS, "policy"):
        made, words = fuzz.contents(kind)
        name = f"{kind}.{seeds.ENDINGS.get(kind, kind)}"
        (tmp_path / name).write_bytes(mutated(random.choice(made), random, words))
        if kind == "policy":
            commands.append(("check", name))
        elif kind in seeds.TABLES:
            commands.append(("profile", "sqlite:///sqlite.sqlite#t" if kind == "sqlite" else name, "--json"))
        else:
            commands.append(("scrub", name, "-o", f"new-{name}"))
    for command, done in zip(commands, called(commands, tmp_path), strict=True):
        assert done.code in (0, 2), (command, done)
        assert "Traceback" not in done.stderr
        assert done.code == 0 or len(done.stderr.splitlines()) == 1 or command[0] == "check", done.stderr


def _missing(path: Path) -> None:
    raise KeyError(path.name)


def _leaves(path: Path) -> None:
    raise SystemExit(3)


def _refuses(path: Path) -> None:
    raise SourceError(f"{path}: is damaged")


def test_the_judge_sees_what_it_looks_for(tmp_path: Path) -> None:
    path, outcome = tmp_path / "a.csv", fuzz.Outcome("csv")
    assert "KeyError" in fuzz.judge(_missing, path, outcome)
    assert "SystemExit" in fuzz.judge(_leaves, path, outcome)
    assert fuzz.judge(_refuses, path, outcome) == ""
    assert fuzz.judge(lambda _: None, path, outcome) == ""
    assert (outcome.files, outcome.read, sum(outcome.refused.values())) == (4, 1, 1)


@pytest.mark.parametrize("kind", fuzz.FORMATS)
def test_every_seed_is_a_file_that_can_be_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{seeds.ENDINGS.get(kind, kind)}"
    read = fuzz.reader(kind)
    for content in {seeds.POLICY.encode()} if kind == "policy" else fuzz.contents(kind)[0]:
        path.write_bytes(content)
        assert fuzz.judge(read, path, outcome := fuzz.Outcome(kind)) == ""
        assert outcome.read == 1, outcome.refused


FOUND = sorted((Path(__file__).parent / "found").iterdir())
"""Files that once brought a reader down; the name begins with the format."""


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_what_was_found_once_is_refused(path: Path) -> None:
    outcome = fuzz.Outcome(path.name)
    assert fuzz.judge(fuzz.reader(path.name.partition("-")[0]), path, outcome) == ""
    assert sum(outcome.refused.values()) == 1
