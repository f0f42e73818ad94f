"""Declarative generalisation: one level of a hierarchy for a whole column, as a range or as a value in the range."""

from __future__ import annotations

import datetime
import math
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError

from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy
from shoal.randomness import Randomness
from shoal.schema import ROW, Column, Counts, ValueType
from shoal.techniques import Context
from shoal.techniques.generalisation.generalise import Generalise, GeneralisedOutput, GeneraliseStep

pytestmark = pytest.mark.requirement("T-08")

AGE = Column("age", ValueType.INTEGER, pl.Int64())
STREAM = Randomness(11).stream("generalise")
POINTS = [GeneralisedOutput.MIDPOINT, GeneralisedOutput.RANDOM]


@dataclass(frozen=True)
class Tens(BoundHierarchy):
    """A hierarchy of the test's own: the step needs nothing but the interface."""

    @property
    def height(self) -> int:
        return 2

    def label(self, values: pl.Series, level: int) -> pl.Series:
        return (values // 10).cast(pl.String) + "x"

    def share(self, values: pl.Series, level: int) -> NDArray[np.float64]:
        return np.full(len(values), 0.1)


def table(column: Column, values: Sequence[object]) -> pl.DataFrame:
    rows = pl.Series(ROW, range(len(values)), dtype=pl.UInt64)
    return pl.DataFrame([pl.Series(column.name, values, dtype=column.storage), rows])


def context(column: Column, frame: pl.DataFrame, hierarchy: BoundHierarchy | None = None) -> Context:
    counted = frame.group_by(column.name).agg(pl.len().alias("records"))
    counts = Counts.from_frame(counted, (column.name,), "records")
    return Context({column.name: column}, STREAM, {(column.name,): counts}, hierarchy)


def run(technique: Generalise, column: Column, values: Sequence[object]) -> pl.Series:
    """Through a pickle, as on the way to an executor; the empty frame must promise the same schema."""
    frame = table(column, values)
    assert technique.refuse(column) is None
    step = pickle.loads(pickle.dumps(technique.bind(column, context(column, frame))))  # noqa: S301  # our own bytes
    applied = step.apply(frame)
    assert step.reads == (column.name,)
    assert step.apply(frame.clear()).schema == applied.schema
    assert applied.schema[column.name] == technique.leaves(column).storage
    return applied[column.name]


def by_tens(output: GeneralisedOutput = GeneralisedOutput.RANGE) -> Generalise:
    return Generalise.model_validate({"hierarchy": {"intervals": [10]}, "output": output})


def test_each_level_of_an_inline_hierarchy() -> None:
    ages: list[object] = [24, 31, None, 39]
    levels = [
        Generalise.model_validate({"hierarchy": {"intervals": {"widths": [5, 10]}}, "level": level})
        for level in (1, 2, 3)
    ]
    assert run(levels[0], AGE, ages).to_list() == ["20-24", "30-34", None, "35-39"]
    assert run(levels[1], AGE, ages).to_list() == ["20-29", "30-39", None, "30-39"]
    assert run(levels[2], AGE, ages).to_list() == ["*"] * 4


def test_the_attributes_own_hierarchy() -> None:
    frame = table(AGE, [24, None])
    technique = Generalise()
    assert technique.wants("age") == ()
    assert by_tens().wants("age") == (("age",),)
    step = technique.bind(AGE, context(AGE, frame, Tens(AGE)))
    assert step.apply(frame)["age"].to_list() == ["2x", None]


def test_level_0_of_a_solution_leaves_the_column_as_it_is() -> None:
    frame = table(AGE, [24, None])
    assert GeneraliseStep(AGE, Tens(AGE), 0).apply(frame).equals(frame)


def test_midpoints() -> None:
    assert run(by_tens(GeneralisedOutput.MIDPOINT), AGE, [20, 29, None, -1]).to_list() == [24, 24, None, -6]
    weight = Column("weight", ValueType.DECIMAL, scale=1)
    halves = Generalise.model_validate({"hierarchy": {"intervals": [0.5]}, "output": "midpoint"})
    assert run(halves, weight, ["64.2", None]).to_list() == [64.2, None]
    born = Column("born", ValueType.DATE, date_format="%d/%m/%Y")
    months = Generalise.model_validate({"hierarchy": {"dates": ["month"]}, "output": "midpoint"})
    assert run(months, born, ["01/02/2024", None]).to_list() == ["15/02/2024", None]


@given(ages=st.lists(st.none() | st.integers(-200, 200), min_size=1, max_size=20))
@settings(max_examples=30)
def test_a_random_value_lies_in_the_range(ages: Sequence[int | None]) -> None:
    drawn = run(by_tens(GeneralisedOutput.RANDOM), AGE, list(ages)).to_list()
    for age, value in zip(ages, drawn, strict=True):
        assert (value is None) == (age is None)
        assert age is None or value // 10 == age // 10


@given(cents=st.lists(st.integers(-500, 500), min_size=1, max_size=20))
@settings(max_examples=30)
def test_a_random_decimal_lies_in_the_range_and_has_the_columns_digits(cents: Sequence[int]) -> None:
    weight = Column("weight", ValueType.DECIMAL, scale=2)
    halves = Generalise.model_validate({"hierarchy": {"intervals": [0.5]}, "output": "random"})
    drawn = run(halves, weight, [f"{cent / 100:.2f}" for cent in cents]).to_list()
    for cent, value in zip(cents, drawn, strict=True):
        assert math.floor(round(value * 100) / 50) == cent // 50
        assert value == round(value, 2)


@pytest.mark.parametrize(("width", "low"), [(0.05, 640), (0.07, 7), (0.29, 29)])
def test_a_random_decimal_can_be_any_of_the_range_and_no_other(width: float, low: int) -> None:
    """0.07 times a hundred is a little more than seven for a float: the edge must not be lost by that."""
    weight = Column("weight", ValueType.DECIMAL, scale=2)
    technique = Generalise.model_validate({"hierarchy": {"intervals": [width]}, "output": "random"})
    drawn = run(technique, weight, [f"{low / 100:.2f}"] * 500 + ["0.00", "99.99"])
    assert set(drawn[:500]) == {(low + step) / 100 for step in range(round(width * 100))}


def test_random_dates_lie_in_the_period() -> None:
    seen = Column("seen", ValueType.DATETIME, pl.Datetime("us"))
    moments = [datetime.datetime(2024, 2, day, 23, 59) for day in range(1, 30)]  # noqa: DTZ001  # as stored
    years = Generalise.model_validate({"hierarchy": {"dates": ["month"]}, "output": "random"})
    drawn = run(years, seen, [*moments, None]).to_list()
    assert {(one.year, one.month) for one in drawn[:-1]} == {(2024, 2)}
    assert len(set(drawn)) == len(drawn)
    assert drawn[-1] is None


def test_every_value_of_the_range_is_equally_likely() -> None:
    """χ² with 9 degrees of freedom: 0.1 % of honest draws exceed 27.9; a range without its last value is far off."""
    drawn = run(by_tens(GeneralisedOutput.RANDOM), AGE, [25] * 5000).to_numpy()
    seen = np.bincount(drawn - 20, minlength=10)
    assert len(seen) == 10
    assert ((seen - 500) ** 2 / 500).sum() < 27.9
    wrong = np.bincount(np.arange(5000) % 9, minlength=10)
    assert ((wrong - 500) ** 2 / 500).sum() > 27.9


@pytest.mark.parametrize("output", list(GeneralisedOutput))
def test_batches_do_not_matter(output: GeneralisedOutput) -> None:
    frame = table(AGE, [*range(10, 60), None])
    step = by_tens(output).bind(AGE, context(AGE, frame))
    whole = step.apply(frame)
    for cut in (0, 1, 17, 51):
        assert pl.concat([step.apply(frame[:cut]), step.apply(frame[cut:])]).equals(whole)


def test_same_label_same_midpoint_whatever_the_value() -> None:
    """The output is a function of the group alone: other values in the group, the same result."""
    domain: list[object] = [0, 99]
    assert run(by_tens(), AGE, [*domain, 20, 24, 29])[2:].n_unique() == 1
    assert run(by_tens(GeneralisedOutput.MIDPOINT), AGE, [*domain, 20, 24, 29])[2:].n_unique() == 1


@pytest.mark.requirement("T-29")
@pytest.mark.parametrize(
    ("parameters", "column", "reason"),
    [
        ({"hierarchy": {"intervals": [5]}}, Column("town"), "intervals works on integer and decimal"),
        ({"hierarchy": {"dates": ["year"]}}, AGE, "dates works on date"),
        ({"output": "midpoint"}, Column("town"), "a midpoint value needs numbers or dates"),
        ({"output": "random"}, Column("smokes", ValueType.BOOLEAN), "a random value needs numbers or dates"),
    ],
)
def test_refusals(parameters: dict[str, object], column: Column, reason: str) -> None:
    refusal = Generalise.model_validate(parameters).refuse(column) or ""
    assert reason in refusal
    assert f"'{column.name}'" in refusal


@pytest.mark.parametrize(
    ("parameters", "hierarchy", "problem"),
    [
        ({}, None, "column 'age': generalise needs a hierarchy"),
        ({"level": 3}, Tens(AGE), "there is no level 3, the highest is 2"),
        ({"output": "midpoint"}, Tens(AGE), "its hierarchy has no ranges"),
        ({"output": "random", "level": 2}, Tens(AGE), "on the highest level there is no random"),
    ],
)
def test_what_cannot_be_bound(parameters: dict[str, object], hierarchy: BoundHierarchy | None, problem: str) -> None:
    frame = table(AGE, [24])
    with pytest.raises(DataError, match=problem):
        Generalise.model_validate(parameters).bind(AGE, context(AGE, frame, hierarchy))


def test_an_unknown_value_is_counted_and_never_told() -> None:
    town = Column("town")
    technique = Generalise.model_validate({"hierarchy": {"taxonomy": {"tree": {"MH": ["Pune"]}}}})
    frame = table(town, ["Pune", "Atlantis", "Atlantis"])
    with pytest.raises(DataError, match=r"'town': 1 distinct value\(s\), 2 record\(s\)") as caught:
        technique.bind(town, context(town, frame))
    assert "Atlantis" not in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"hierarchy": {"intervls": [5]}}, "unknown hierarchy 'intervls'; did you mean 'intervals'?"),
        ({"hierarchy": {"intervals": [5, 7]}}, "widths: 7 is not a multiple of 5"),
        ({"hierarchy": {"intervals": {"widths": [5], "orgin": 1}}}, "orgin: is not known here"),
        ({"hierarchy": {"intervals": [5], "dates": ["year"]}}, "a hierarchy is one kind"),
        ({"level": 0}, "greater than or equal to 1"),
        ({"output": "mean"}, "'range', 'midpoint' or 'random'"),
    ],
)
def test_wrong_parameters(parameters: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Generalise.model_validate(parameters)
    assert problem in str(caught.value)


def test_the_policy_form_survives_a_round_trip() -> None:
    written = {"hierarchy": {"intervals": {"widths": [5, 10]}}, "level": 2, "output": "midpoint"}
    technique = Generalise.model_validate(written)
    assert technique.model_dump(mode="json") == written
    assert Generalise.model_validate(technique.model_dump(mode="json")) == technique


def test_paths_in_the_hierarchy_are_taken_from_the_policys_folder(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("Pune;West;*\nHyderabad;South;*\n", encoding="utf-8")
    technique = Generalise.model_validate({"hierarchy": {"csv": "towns.csv"}}).resolve(tmp_path)
    assert run(technique, Column("town"), ["Hyderabad", "Pune"]).to_list() == ["South", "West"]
    assert Generalise().resolve(tmp_path) == Generalise()
