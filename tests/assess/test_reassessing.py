"""An old release and new outside data: how many records each person could be, kept in a history that stays whole."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from shoal.assess.reassess.reassessment import Reassessment
from shoal.assess.reassess.request import ReassessRequest
from shoal.errors import InputError
from shoal.io import sha256_of
from shoal.policy import Policy
from shoal.release.history import reassess_release
from shoal.release.run import anonymise
from shoal.results.history import HISTORY, load_history

pytestmark = pytest.mark.requirement("R-09")

SHY = "Zyxwvut"
MANIFEST = {
    "data": {"path": "data.csv"},
    "roles": {"age": "quasi", "city": "quasi", "weight": "insensitive"},
    "treatment": {"age": "generalised", "city": "generalised", "weight": "kept"},
    "person": None,
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
        reassess_release(str(release), ReassessRequest(auxiliary=auxiliary))
    assert SHY not in str(error.value)
    return str(error.value)


def test_the_release_keeps_its_promise(release: Path) -> None:
    found = reassess_release(
        str(release),
        ReassessRequest(auxiliary=outside(release, age=[21, 35, 77], city=[f"{SHY}a", f"{SHY}b", f"{SHY}b"])),
    )
    assert (found.people, found.fitting, found.fewest, found.alone, found.below, found.k) == (3, 2, 4, 0, 0, 4)
    assert found.attributes == ("age", "city")
    assert found.holds
    assert [finding.met for finding in found.findings({})] == [True]


def test_a_column_nobody_thought_of_breaks_it(release: Path) -> None:
    known = {"age": [21, 35], "city": [f"{SHY}a", f"{SHY}b"], "weight": [61, 99]}
    found = reassess_release(str(release), ReassessRequest(auxiliary=outside(release, **known)))  # type: ignore[arg-type]
    assert found.attributes == ("age", "city", "weight")
    assert (found.fitting, found.fewest, found.alone, found.below) == (1, 1, 1, 1)
    assert not found.holds
    (finding,) = found.findings({})
    assert (finding.name, finding.required, finding.achieved, finding.met) == ("k", 4, 1, False)


def test_one_column_is_enough_to_link_by(release: Path) -> None:
    assert reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[21]))).fewest == 4
    assert reassess_release(str(release), ReassessRequest(auxiliary=outside(release, weight=[61]))).alone == 1


def test_nobody_fits(release: Path) -> None:
    """That shows nothing, so nothing is met by it."""
    found = reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[77, 78])))
    assert (found.fitting, found.fewest, found.holds) == (0, 0, None)
    for bounds in ({}, {"k": 0, "uniques": 9}):
        (finding,) = found.findings(bounds)
        assert (finding.name, finding.required, finding.achieved, finding.met) == (
            "people who fit any record",
            1,
            0,
            False,
        )


def test_a_column_that_fits_nobody_does_not_hide_the_others(release: Path) -> None:
    found = reassess_release(
        str(release), ReassessRequest(auxiliary=outside(release, age=[21], city=[f"{SHY}a"], weight=[99]))
    )
    assert (found.attributes, found.fitting, found.fewest) == (("age", "city"), 1, 4)


def test_every_look_is_added_to_the_history(release: Path) -> None:
    assert load_history(release) == ()
    first = reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[21])))
    before = load_history(release)
    second = reassess_release(str(release), ReassessRequest(auxiliary=outside(release, weight=[61])))
    assert load_history(release) == (*before, second.result())
    assert before[0].holds is first.holds is True
    assert len(before[0].auxiliary_sha256 or "") == 64
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
from shoal.assess.reassess.request import ReassessRequest
from shoal.release.history import reassess_release
pathlib.Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
reassess_release(sys.argv[1], ReassessRequest(auxiliary=sys.argv[2]))
"""


def test_a_kill_while_writing_leaves_the_old_history(release: Path) -> None:
    auxiliary = outside(release, age=[21])
    reassess_release(str(release), ReassessRequest(auxiliary=auxiliary))
    before = (release / HISTORY).read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, str(release), auxiliary], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (release / HISTORY).read_bytes() == before
    reassess_release(str(release), ReassessRequest(auxiliary=auxiliary))
    assert len(load_history(release)) == 2


def test_an_interrupt_while_writing_leaves_nothing_behind(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[21])))
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
    assert ReassessRequest.parse("a.csv", require=["k=3", "uniques=0"]).require == {"k": 3, "uniques": 0}
    for text in ("k", "k=", "k=x", "k=nan", "k=inf", "k=-1"):
        with pytest.raises(InputError, match="needs a number, as in k=5"):
            ReassessRequest.parse("a.csv", require=[text])
    with pytest.raises(InputError, match="only k and uniques"):
        ReassessRequest.parse("a.csv", require=["linking=0.1"])


def test_what_is_required_takes_the_place_of_the_promise() -> None:
    found = Reassessment(
        when=datetime.now(UTC), attributes=("age",), people=9, fitting=9, alone=1, fewest=1, k=4, below=3
    )
    assert [finding.met for finding in found.findings({"k": 2, "uniques": 1})] == [False, True]
    assert [finding.met for finding in found.findings({"k": 1, "uniques": 0})] == [True, False]


def test_another_file_than_the_one_released_is_refused(release: Path) -> None:
    known = json.loads((release / "release.json").read_text())
    known["data"]["sha256"] = sha256_of(release / "data.csv")
    (release / "release.json").write_text(json.dumps(known))
    people = outside(release, age=[25], city=["x"])
    assert reassess_release(str(release), ReassessRequest(auxiliary=people)).people == 1
    pl.read_csv(release / "data.csv").head(5).write_csv(release / "data.csv")
    assert "is not the file that was released" in refused(release, people)
    assert len(load_history(release)) == 1


def test_labels_that_can_not_be_read_are_counted(release: Path) -> None:
    pl.DataFrame({"age": ["young"] * 4, "city": ["a"] * 4}).write_csv(release / "data.csv")
    found = reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[25, 26], city=["a", "a"])))
    assert found.unread_labels == 1
    assert (found.fewest, found.below, found.holds) == (4, 0, None)
    assert [finding.met for finding in found.findings({})] == [True, False]


def told(release: Path, **more: object) -> None:
    (release / "release.json").write_text(json.dumps(MANIFEST | more))


def test_altered_columns_fit_by_chance_and_are_left_aside(release: Path) -> None:
    told(release, treatment=MANIFEST["treatment"] | {"weight": "altered"})
    people = {"age": [21, 35], "city": [f"{SHY}a", f"{SHY}b"], "weight": [61, 62]}
    found = reassess_release(str(release), ReassessRequest(auxiliary=outside(release, **people)))  # type: ignore[arg-type]
    assert (found.attributes, found.altered) == (("age", "city"), ("weight",))
    assert (found.fewest, found.alone, found.holds) == (4, 0, True)
    assert "no column in common with the release that was not altered" in refused(
        release, outside(release, weight=[61])
    )
    told(release, treatment={})
    assert (
        reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[21], weight=[61]))).altered
        is None
    )


def test_words_that_nobody_outside_has_are_somebody_else_s(release: Path) -> None:
    """In a column that was left as it was, a word that can't be found is no wider one that fits everybody."""
    frame = pl.read_csv(release / "data.csv").with_columns(weight=pl.Series([f"{SHY}{each}" for each in range(8)]))
    frame.write_csv(release / "data.csv")
    found = reassess_release(
        str(release), ReassessRequest(auxiliary=outside(release, age=[21, 21], weight=[f"{SHY}1", f"{SHY}9"]))
    )
    assert (found.attributes, found.fitting, found.alone, found.unread_labels) == (("age", "weight"), 1, 1, 0)


POLICY = """\
shoal: 1
name: clinic
person: who
attributes:
  who: {role: direct}
  age: {role: quasi, hierarchy: {intervals: {widths: [10]}}}
  job: {role: quasi, hierarchy: {taxonomy: {tree: {Indoors: [cook, clerk], Outdoors: [mason, farmer]}}}}
  ward: {role: insensitive}
  bill: {role: insensitive, technique: {noise: {laplace: {scale: 5}}}}
privacy:
  - k_anonymity: {k: 4}
solve: {levels: {age: 1, job: 1}}
"""


def clinic(folder: Path, pseudonyms: str = "", each: int = 3) -> tuple[str, Policy]:
    """Eight people, two of each job, with so many records each; those of a person are all in one ward."""
    people = pl.DataFrame(
        {
            "who": [f"{SHY}{place}" for place in range(8)],
            "age": range(30, 38),
            "job": ["cook", "clerk", "mason", "farmer"] * 2,
            "ward": [f"ward {place % 4}" for place in range(8)],
            "bill": [100] * 8,
        }
    )
    pl.concat([people] * each).write_csv(folder / "people.csv")
    text = POLICY.replace("who: {role: direct}", f"who: {{role: direct{pseudonyms}}}")
    policy = Policy.from_text(text, folder=folder)
    at = folder / "clinic"
    anonymise(folder / "people.csv", policy, output=at, seed=1)
    return str(at), policy


@pytest.mark.parametrize("by_policy", [True, False])
def test_a_value_that_no_hierarchy_has_is_behind_a_star_only(tmp_path: Path, by_policy: bool) -> None:
    at, policy = clinic(tmp_path)
    people = outside(Path(at), age=[31, 32, 33], job=["clerk", "pilot", None], bill=[100, 100, 100])
    found = reassess_release(at, ReassessRequest(auxiliary=people, policy=policy if by_policy else None))
    assert found.altered == ("bill",)
    if by_policy:
        assert (found.people, found.fitting, found.unknown, found.unread_labels, found.holds) == (3, 1, 1, 0, True)
    else:
        assert (found.unread_labels, found.holds) == (2, None)


def test_people_are_counted_and_not_their_records(tmp_path: Path) -> None:
    """Six records of two people are no four people."""
    for name, pseudonyms in {"hidden": "", "named": ", technique: pseudonymise"}.items():
        folder = tmp_path / name
        folder.mkdir()
        at, policy = clinic(folder, pseudonyms)
        by_classes = reassess_release(
            at, ReassessRequest(auxiliary=outside(Path(at), age=[31], job=["clerk"]), policy=policy)
        )
        assert (by_classes.fewest, by_classes.below, by_classes.holds) == (4, 0, True)
        found = reassess_release(
            at, ReassessRequest(auxiliary=outside(Path(at), age=[31], ward=["ward 1"]), policy=policy)
        )
        assert (found.attributes, found.k, found.fewest, found.alone) == (("age", "ward"), 4, 2, 0)
        if name == "named":
            assert (found.counted, found.below, found.perhaps_below, found.holds) == ("people", 1, 0, False)
        else:
            assert (found.counted, found.below, found.perhaps_below, found.holds) == ("people_at_least", 0, 1, None)
        assert [finding.met for finding in found.findings({})] == [False]
        assert [finding.met for finding in found.findings({"k": 2})] == [True]


def test_where_nobody_says_whose_records_are_they_may_be_one_person_s(release: Path) -> None:
    without = {key: given for key, given in MANIFEST.items() if key != "person"}
    (release / "release.json").write_text(json.dumps(without))
    found = reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[21], city=[f"{SHY}a"])))
    assert (found.counted, found.fewest, found.below, found.perhaps_below) == ("people_at_least", 1, 0, 1)
    told(release, person={"attribute": "who", "most_records": 2}, solution={"recoding": "cells"})
    assert reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[21]))).fewest == 2
    told(release, person={"attribute": "who", "most_records": 2}, solution={"recoding": "local"})
    assert reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[21]))).fewest == 4


def test_names_of_their_own_tell_nobody_apart(release: Path) -> None:
    frame = pl.read_csv(release / "data.csv").with_columns(who=pl.Series([f"token {each}" for each in range(8)]))
    frame.write_csv(release / "data.csv")
    told(release, person={"attribute": "who", "most_records": 4}, solution={"recoding": "cells"})
    found = reassess_release(str(release), ReassessRequest(auxiliary=outside(release, age=[21])))
    assert (found.counted, found.fewest) == ("people_at_least", 1)
