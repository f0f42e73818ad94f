"""The tutorial on MeitY's case study can be followed as it is written, and both outputs are those that are printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.source_documents.tables import HOSPITAL

pytestmark = pytest.mark.requirement("D-04", "D-07", "S-01")
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "tutorial" / "hospital-case-study.md"
AGE, WEIGHT = "Age", "Weight(in kgs)"


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which everything was typed."""
    folder, page = tmp_path_factory.mktemp("case"), PAGE.read_text(encoding="utf-8")
    for name, text in re.findall(r"`([\w.]+)`:\n\n```[^\n]+\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(text)
    lines = re.findall(r"^\$ (shoal .*)$", page, re.MULTILINE)
    for number, line in enumerate(lines):
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (line, done.stderr)
        (folder / f"said{number}").write_text(f"{line}\n{done.stdout}\n{done.stderr}")
    return folder


def released(folder: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / name / "data.csv", infer_schema=False)


def said(folder: Path, beginning: str) -> str:
    return next(text for at in sorted(folder.glob("said*")) if (text := at.read_text()).startswith(beginning))


def interval(number: str, width: int, low: int = 0) -> str:
    start = (int(number) - low) // width * width + low
    return f"[{start}, {start + width}["


def test_the_table_is_that_of_the_annexure(followed: Path) -> None:
    assert pl.read_csv(followed / "hospital.csv", infer_schema=False).to_dict(as_series=False) == HOSPITAL


def test_the_first_output(followed: Path) -> None:
    """Ages in tens, one interval of weights, numbers as ID***; the patient of 89 is starred, the rest is untouched."""
    found = released(followed, "first")
    old = [age == "89" for age in HOSPITAL[AGE]]
    ages = ["*" if alone else interval(age, 10) for age, alone in zip(HOSPITAL[AGE], old, strict=True)]
    assert found[AGE].to_list() == ages
    assert found[WEIGHT].to_list() == ["*" if alone else "[20, 91[" for alone in old]
    assert found["Patient ID"].to_list() == ["ID***"] * 19
    for name in ("Gender", "City", "Smoking(Yes/No)"):
        assert found[name].to_list() == HOSPITAL[name]


def test_the_second_output(followed: Path) -> None:
    """Weights in tens, one interval of ages, numbers as ID00*; three patients are starred."""
    found = released(followed, "second")
    alone = [weight in {"90", "82", "20"} for weight in HOSPITAL[WEIGHT]]
    weights = ["*" if one else interval(weight, 10) for weight, one in zip(HOSPITAL[WEIGHT], alone, strict=True)]
    assert found[WEIGHT].to_list() == weights
    assert found[AGE].to_list() == ["*" if one else "[10, 90[" for one in alone]
    assert found["Patient ID"].to_list() == ["*" if one else "ID00*" for one in alone]


def test_the_page_says_what_is_so(followed: Path) -> None:
    assert re.search(r"\bk\b.*\b1\b", said(followed, "shoal measure first"))
    proposed = said(followed, "shoal suggest hospital.csv --output")
    assert "without City: loss" in proposed
    policy = (followed / "suggested.yaml").read_text()
    assert "places" in policy
    assert policy.count("l_diversity") == 5
    assert "Others" not in (followed / "suggested" / "data.csv").read_text()
    ages = released(followed, "purpose")
    assert ages.columns == ["Age", "Diabetes(Yes/No)"]
    assert "*" not in ages["Age"].to_list()
    assert "# aggregate:" in (followed / "purpose.yaml").read_text()
