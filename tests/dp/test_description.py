"""Descriptions: every problem at once, with its line and what was meant; nothing that contradicts itself passes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from pydantic import ValidationError
from tests.dp.datasets import described, two_tables

from shoal.dp.accounting import Accounting
from shoal.dp.description import DatasetDescription
from shoal.errors import PolicyError

pytestmark = pytest.mark.requirement("C-01")

GOOD = """\
shoal: 1
name: hospital
source: patients.csv
person: patient_id
rows_per_person: 3
columns:
  age:    {type: integer, bounds: [0, 110]}
  region: {type: category, categories: [north, south]}
  town:   {type: category}
  seen:   {type: date, bounds: [2025-01-01, 2026-12-31]}
budget: {epsilon: 1.0, delta: 1.0e-7}
analysts: {asha: {epsilon: 0.5}}
"""


def test_a_description_is_read() -> None:
    read = DatasetDescription.from_text(GOOD)
    assert set(read.described_tables) == {"hospital", "t"}
    assert read.accountant.accounting is Accounting.APPROXIMATE
    assert str(read.budget.delta) == "1E-7"
    assert DatasetDescription.of(yaml.safe_load(GOOD)) == read
    assert "columns" in DatasetDescription.json_schema()["properties"]


def test_every_problem_at_once_with_its_line() -> None:
    wrong = (
        GOOD.replace("[0, 110]", "[110, 0]")
        .replace("integer", "integer")
        .replace("rows_per_person: 3", "rows_per_persn: 0")
    )
    wrong = wrong.replace("epsilon: 1.0,", "epsilon: -1,").replace("categories: [north, south]", "categories: []")
    with pytest.raises(PolicyError) as caught:
        DatasetDescription.from_text(wrong)
    lines = {problem.line: problem.message for problem in caught.value.problems}
    assert set(lines) >= {5, 7, 8, 11}
    assert "rows_per_person" in lines[5]
    assert "least stands first" in lines[7]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[0, 110]", "[0, 110.5]", "whole numbers"),
        ("[0, 110]", "[0, .inf]", "two numbers"),
        ("[0, 110]", "[0, 1e13]", "at most|whole"),
        ("[0, 110]", "[a, b]", "two numbers"),
        ("[0, 110]", "[0, true]", "two numbers"),
        ("[2025-01-01, 2026-12-31]", "[soon, later]", "as 2026-01-31"),
        ("[2025-01-01, 2026-12-31]", "[2026-12-31, 2025-01-01]", "least stands first"),
        ("{type: category}", "{type: category, bounds: [0, 1]}", "numbers and dates"),
        ("{type: category}", "{type: integer, categories: [1]}", "type category"),
        ("{type: category}", "{type: categry}", "category"),
        ("{type: category}", "{type: category, format: x}", "type date"),
        ("[north, south]", "[north, north]", "twice"),
        ("rows_per_person: 3\n", "", "rows_per_person"),
        ("source: patients.csv\n", "", "source"),
        ("delta: 1.0e-7", "delta: 2", "less than 1|below 1"),
        ("{epsilon: 0.5}", "{epsilon: 5}", "larger than"),
        ("{epsilon: 0.5}", "{epsilon: 0.5, delta: 0.5}", "larger than"),
        ("shoal: 1", "shoal: 1\nper: month", "`time`"),
        ("shoal: 1", "shoal: 1\nper: month\ntime: age", "type date"),
        ("shoal: 1", "shoal: 1\naccounting: pure", "no delta"),
        (", delta: 1.0e-7}", "}\naccounting: zcdp", "needs a delta"),
        ("shoal: 1", "shoal: 1\ntables: {}\nnonsense: 3", "nonsense"),
    ],
)
def test_contradictions(old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(PolicyError, match=f"(?s)({said})"):
        DatasetDescription.from_text(GOOD.replace(old, new))


@pytest.mark.parametrize("bound", [float("nan"), float("inf")])
def test_bounds_are_numbers(bound: float) -> None:
    with pytest.raises(ValueError, match="two numbers"):
        described(columns={"x": {"type": "number", "bounds": [bound, bound]}})


def test_a_period_needs_people() -> None:
    with pytest.raises(ValueError, match="`person`"):
        described(None, per="month", time="seen")


def test_tables_share_the_person() -> None:
    tables = two_tables().described_tables
    assert {name: (one.person, one.rows_per_person) for name, one in tables.items()} == {
        "people": ("who", 1),
        "visits": ("who", 3),
    }
    lacking: dict[str, Any] = {"a": {"source": "a.csv", "columns": {"x": {"type": "boolean"}}}}
    with pytest.raises(ValueError, match=r"rows_per_person.*'a'"):
        two_tables(tables=lacking)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"analysts": {"Zoé": {"epsilon": 1}, "Zoe\u0301": {"epsilon": 1}}}, "stands twice"),
        ({"analysts": {"asha": {"epsilon": 1}, "ASHA": {"epsilon": 1}}}, "stands twice"),
        ({"analysts": {"a\nb": {"epsilon": 1}}}, "one line"),
        ({"analysts": {"x" * 101: {"epsilon": 1}}}, "one line"),
        ({"analysts_only": True}, "name some"),
        ({"on_exhausted": "next_period"}, "by the period"),
        ({"columns": {"Age": {"type": "boolean"}, "age": {"type": "boolean"}}}, "stands twice"),
        ({"answer_after": 0}, "greater than 0"),
    ],
)
def test_policies_that_can_not_be_meant(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        described(**changes)
