"""Partly synthetic releases: what is kept is real, what names people is not, and every page says whose rows it has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.support.commands import Call

import shoal

pytestmark = pytest.mark.requirement("T-25")


def people(rows: int = 300) -> pl.DataFrame:
    numbers = np.random.default_rng(4)
    age = numbers.integers(18, 80, rows)
    note = [
        f"Seen on day {place} by the doctor on duty, who advised rest and a second visit soon" for place in range(rows)
    ]
    return pl.DataFrame(
        {
            "name": [f"Person {place}" for place in range(rows)],
            "age": age,
            "sex": numbers.choice(["F", "M"], rows),
            "pay": age * 1000 + numbers.integers(0, 5000, rows),
            "note": note,
        }
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people().write_csv(tmp_path / "people.csv")
    return tmp_path


def manifest(folder: Path) -> dict[str, object]:
    read: dict[str, object] = json.loads((folder / "release.json").read_text())
    return read


def test_chosen_columns_are_drawn_and_the_risk_is_said(folder: Path, call: Call) -> None:
    ended = call("synth", "people.csv", "--method", "partial", "--columns", "pay", "-o", "out", "--seed", "1")
    assert ended.code == 0, ended.stderr
    drawn = pl.read_csv(folder / "out" / "data.csv")
    assert drawn["age"].to_list() == people()["age"].to_list()
    assert (drawn["pay"] == people()["pay"]).mean() < 0.1
    assert not set(drawn["name"]) & set(people()["name"])
    assert drawn["note"].null_count() == 300
    told = manifest(folder / "out")
    assert told["synthesis"]["replaced"] == {"pay": 300, "name": 300, "note": 300}  # type: ignore[index]
    assert told["state"]["still_personal"] is True  # type: ignore[index]
    assert "NOT guaranteed: each row is a real person's" in ended.stdout
    for page in ("report.html", "recipient.html"):
        text = (folder / "out" / page).read_text()
        assert "Partly real" in text
        assert "No record of the table is about a real person" not in text


def test_only_risky_cells(folder: Path, call: Call) -> None:
    asked = (
        "synth",
        "people.csv",
        "--method",
        "partial",
        "--qi",
        "age,sex",
        "--risky",
        "3",
        "-o",
        "out",
        "--seed",
        "1",
    )
    assert call(*asked, "--no-evidence").code == 0
    before, after = people(), pl.read_csv(folder / "out" / "data.csv")
    risky = before.select(pl.len().over("age", "sex"))["len"] < 3
    same = (before["age"] == after["age"]) & (before["sex"] == after["sex"])
    assert same.filter(~risky).all()
    assert not same.filter(risky).all()
    assert after["pay"].to_list() == before["pay"].to_list()


def test_hybrid_rows_are_blurred_people(folder: Path, call: Call) -> None:
    asked = (
        "synth",
        "people.csv",
        "--method",
        "hybrid",
        "--weight",
        "0.8",
        "-o",
        "out",
        "--seed",
        "1",
        "--no-evidence",
    )
    assert call(*asked).code == 0
    before, after = people(), pl.read_csv(folder / "out" / "data.csv")
    assert np.corrcoef(before["pay"], after["pay"])[0, 1] > 0.9
    told = manifest(folder / "out")["synthesis"]
    assert any("80% of it is the person's own" in line for line in told["not_guaranteed"])  # type: ignore[index,call-overload]


def test_python_gives_the_same_and_no_model() -> None:
    release = shoal.synthesise(people(), method="partial", columns=["pay"], seed=1, evidence=False)
    assert release.model is None
    assert release.data["sex"].to_list() == people()["sex"].to_list()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--method", "partial"], "--columns: name the columns"),
        (["--method", "partial", "--columns", "pai"], "--columns: there is no column 'pai'"),
        (["--method", "partial", "--qi", "age"], "--qi: are what makes records risky (give --risky 5 too)"),
        (["--method", "partial", "--columns", "pay", "--rows", "5"], "--rows: does not go with 'partial'"),
        (["--method", "hybrid", "--epsilon", "1"], "--epsilon: does not go with 'hybrid'"),
        (["--method", "hybrid", "--weight", "2"], "--weight: "),
        (["--columns", "pay"], "--columns: is for the method partial"),
    ],
)
def test_what_makes_no_sense_is_one_line(folder: Path, call: Call, asked: list[str], said: str) -> None:
    ended = call("synth", "people.csv", *asked, "-o", "out")
    assert (ended.code, said in ended.stderr) == (2, True), ended.stderr
    assert not (folder / "out").exists()
