"""An old release and new outside data: how many records each person could be, kept in a history that stays whole."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from shoal.errors import InputError
from shoal.io import sha256_of
from shoal.release.reassessing import HISTORY, Reassessment, history_of, reassess, reassessment_bounds

pytestmark = pytest.mark.requirement("R-09")

SHY = "Zyxwvut"
MANIFEST = {
    "data": {"path": "data.csv"},
    "roles": {"age": "quasi", "city": "quasi", "weight": "insensitive"},
    "risk": {"k": 4},
}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Four records in each of two decades and cities; their weights, which nobody thought of, are all different."""
    folder = tmp_path / "release"
    folder.mkdir()
    frame = pl.DataFrame(
        {"age": ["20-29"] * 4 + ["30-39"] * 4, "city": [f"{SHY}a"] * 4 + [f"{SHY}b"] * 4, "weight": range(60, 68)}
    )
    frame.write_csv(folder / "data.csv")
    (folder / "release.json").write_text(json.dumps(MANIFEST))
    return folder


def outside(release: Path, **columns: list[object]) -> str:
    path = release.parent / "outside.csv"
    pl.DataFrame(columns).write_csv(path)
    return str(path)


def refused(release: Path, auxiliary: str) -> str:
    with pytest.raises(InputError) as error:
        reassess(str(release), auxiliary)
    assert SHY not in str(error.value)
    return str(error.value)


def test_the_release_keeps_its_promise(release: Path) -> None:
    found = reassess(str(release), outside(release, age=[21, 35, 77], city=[f"{SHY}a", f"{SHY}b", f"{SHY}b"]))
    assert (found.people, found.fitting, found.fewest, found.alone, found.below, found.k) == (3, 2, 4, 0, 0, 4)
    assert found.attributes == ("age", "city")
    assert found.holds
    assert [finding.met for finding in found.findings({})] == [True]


def test_a_column_nobody_thought_of_breaks_it(release: Path) -> None:
    known = {"age": [21, 35], "city": [f"{SHY}a", f"{SHY}b"], "weight": [61, 99]}
    found = reassess(str(release), outside(release, **known))
    assert found.attributes == ("age", "city", "weight")
    assert (found.fitting, found.fewest, found.alone, found.below) == (1, 1, 1, 1)
    assert not found.holds
    (finding,) = found.findings({})
    assert (finding.name, finding.required, finding.achieved, finding.met) == ("k", 4, 1, False)


def test_one_column_is_enough_to_link_by(release: Path) -> None:
    assert reassess(str(release), outside(release, age=[21])).fewest == 4
    assert reassess(str(release), outside(release, weight=[61])).alone == 1


def test_nobody_fits(release: Path) -> None:
    found = reassess(str(release), outside(release, age=[77, 78]))
    assert (found.fitting, found.fewest, found.holds) == (0, 0, True)
    assert [finding.met for finding in found.findings({"k": 9, "uniques": 0})] == [True, True]


def test_every_look_is_added_to_the_history(release: Path) -> None:
    assert history_of(str(release)) == []
    first = reassess(str(release), outside(release, age=[21]))
    before = history_of(str(release))
    second = reassess(str(release), outside(release, weight=[61]))
    assert history_of(str(release)) == [*before, json.loads(json.dumps(second.to_dict()))]
    assert before[0]["holds"] is first.holds is True
    assert len(before[0]["auxiliary_sha256"]) == 64
    assert SHY not in (release / HISTORY).read_text()
    assert sorted(path.name for path in release.iterdir()) == ["data.csv", HISTORY, "release.json"]


@pytest.mark.parametrize("broken", ["", "{", "{}", "[1]", '"past"', "null"])
def test_a_broken_history_is_refused_and_left_as_it_is(release: Path, broken: str) -> None:
    (release / HISTORY).write_text(broken)
    assert "is not the history" in refused(release, outside(release, age=[21]))
    assert (release / HISTORY).read_text() == broken


def test_a_history_that_is_not_text(release: Path) -> None:
    (release / HISTORY).write_bytes(b"\xff\xfe")
    assert "is not the history" in refused(release, outside(release, age=[21]))


KILLED = """
import os, pathlib, signal, sys
from shoal.release.reassessing import reassess
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
reassess(sys.argv[1], sys.argv[2])
"""


def test_a_kill_while_writing_leaves_the_old_history(release: Path) -> None:
    auxiliary = outside(release, age=[21])
    reassess(str(release), auxiliary)
    before = (release / HISTORY).read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(release), auxiliary], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (release / HISTORY).read_bytes() == before
    reassess(str(release), auxiliary)
    assert len(history_of(str(release))) == 2


def test_an_interrupt_while_writing_leaves_nothing_behind(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reassess(str(release), outside(release, age=[21]))
    assert sorted(path.name for path in release.iterdir()) == ["data.csv", "release.json"]


def test_wrong_use_is_refused_and_leaves_no_history(release: Path) -> None:
    nothing = outside(release, shoe=[41])
    assert "no column in common" in refused(release, nothing)
    assert "is not a release folder" in refused(release / "data.csv", nothing)
    assert "absent.csv" in refused(release, str(release.parent / "absent.csv"))
    (release.parent / "head.csv").write_text("age,city\n")
    assert "no records" in refused(release, str(release.parent / "head.csv"))
    assert not (release / HISTORY).exists()


@pytest.mark.parametrize("risk", [None, {}, {"k": None}, {"k": "many"}, 3])
def test_a_manifest_without_k_promises_nothing_to_check(release: Path, risk: object) -> None:
    (release / "release.json").write_text(json.dumps(MANIFEST | {"risk": risk}))
    assert "is not the manifest of a release" in refused(release, outside(release, age=[21]))


def test_bounds() -> None:
    assert reassessment_bounds(["k=3", "uniques=0"]) == {"k": 3, "uniques": 0}
    for text in ("k", "k=", "k=x", "k=nan", "k=inf", "k=-1"):
        with pytest.raises(InputError, match="needs a number, as in k=5"):
            reassessment_bounds([text])
    with pytest.raises(InputError, match="only k and uniques"):
        reassessment_bounds(["linking=0.1"])


def test_what_is_required_takes_the_place_of_the_promise() -> None:
    found = Reassessment("now", ("age",), people=9, fitting=9, alone=1, fewest=1, k=4, below=3)
    assert [finding.met for finding in found.findings({"k": 2, "uniques": 1})] == [False, True]
    assert [finding.met for finding in found.findings({"k": 1, "uniques": 0})] == [True, False]


def test_another_file_than_the_one_released_is_refused(release: Path) -> None:
    known = json.loads((release / "release.json").read_text())
    known["data"]["sha256"] = sha256_of(release / "data.csv")
    (release / "release.json").write_text(json.dumps(known))
    people = outside(release, age=[25], city=["x"])
    assert reassess(str(release), people).people == 1
    pl.read_csv(release / "data.csv").head(5).write_csv(release / "data.csv")
    assert "is not the file that was released" in refused(release, people)
    assert len(history_of(str(release))) == 1


def test_labels_that_can_not_be_read_are_counted(release: Path) -> None:
    pl.DataFrame({"age": ["young"] * 4, "city": ["a"] * 4}).write_csv(release / "data.csv")
    assert reassess(str(release), outside(release, age=[25, 26], city=["a", "a"])).unread_labels == 1
