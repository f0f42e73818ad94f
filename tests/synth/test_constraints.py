"""Constraints hold in every record that is drawn: declared, found, and over random schemas."""

from __future__ import annotations

import datetime
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.randomness import Randomness
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.constraints import FunctionalDependency, Inequality, SumOfParts, TableConstraints, UniqueColumn
from shoal.synth.method import FitOptions
from shoal.synth.methods.sequential import SequentialModel, fit_sequential
from shoal.synth.table_coding import TableDescription

pytestmark = pytest.mark.requirement("T-25")

STATES = {"Pune": "MH", "Thane": "MH", "Agra": "UP", "Kanpur": "UP", "Kochi": "KL"}


def hospital(rows: int = 1_500) -> pl.DataFrame:
    numbers = np.random.default_rng(5)
    cities = numbers.choice(list(STATES), rows)
    admitted = numbers.integers(19_000, 20_000, rows)
    stay = numbers.poisson(3, rows)
    open_stay = pl.Series(numbers.random(rows) < 0.1)
    room, drugs = numbers.gamma(3, 900, rows).round(2), numbers.gamma(1, 300, rows).round(1)
    return pl.DataFrame(
        {
            "patient": [f"P{number:05}" for number in range(rows)],
            "city": cities,
            "state": [STATES[city] for city in cities],
            "admitted": pl.Series(admitted).cast(pl.Int32).cast(pl.Date),
            "discharged": pl.Series(admitted + stay).cast(pl.Int32).cast(pl.Date).set(open_stay, None),
            "room": room,
            "drugs": drugs,
            "bill": (room + drugs).round(2),
        }
    )


@cache
def model() -> SequentialModel:
    return fit_sequential(hospital())


def test_constraints_are_found_and_said_to_be() -> None:
    found = model().coding.constraints
    assert found.dependencies == (FunctionalDependency(determinant="city", dependent="state", origin="found"),)
    assert Inequality(lower="admitted", upper="discharged", origin="found") in found.inequalities
    assert found.sums == (SumOfParts(total="bill", parts=("room", "drugs"), origin="found"),)
    assert found.unique == (UniqueColumn(column="patient", origin="found"),)


def test_they_hold_in_every_record() -> None:
    drawn = model().sample(20_000, Randomness(3))
    assert drawn.columns == hospital().columns
    assert drawn["patient"].n_unique() == 20_000
    assert not set(drawn["patient"]) & set(hospital()["patient"])
    assert (drawn["state"] == drawn["city"].replace_strict(STATES)).all()
    assert (drawn["admitted"] <= drawn["discharged"]).all()
    assert ((drawn["room"] + drawn["drugs"]).round(2) == drawn["bill"]).all()


def test_what_is_derived_keeps_its_distribution() -> None:
    drawn, real = model().sample(1_500, Randomness(3)), hospital()
    stays = [(frame["discharged"] - frame["admitted"]).dt.total_days() for frame in (drawn, real)]
    assert stays[0].mean() == pytest.approx(stays[1].mean(), abs=0.15)
    assert drawn["discharged"].null_count() == pytest.approx(real["discharged"].null_count(), abs=5)
    assert drawn["bill"].mean() == pytest.approx(real["bill"].mean(), rel=0.03)


def test_what_holds_by_chance_is_not_found() -> None:
    """A rare flag that happens to follow, and two columns whose ranges hardly meet."""
    numbers = np.random.default_rng(2)
    frame = pl.DataFrame(
        {
            "group": [f"g{number % 150}" for number in range(1_500)],
            "flag": ["yes" if number % 150 == 7 else "no" for number in range(1_500)],
            "small": numbers.integers(0, 10, 1_500),
            "large": numbers.integers(100, 200, 1_500),
        }
    )
    found = fit_sequential(frame).coding.constraints
    assert not found.inequalities
    assert not found.sums


def test_a_total_of_the_original_that_one_person_has_is_not_added_up_again() -> None:
    frame = hospital().with_row_index()
    rich = pl.when(pl.col("index") == 7)
    frame = frame.with_columns(
        room=rich.then(8.8e9).otherwise("room"), bill=rich.then(8.8e9 + pl.col("drugs")).otherwise("bill")
    ).drop("index")
    drawn = fit_sequential(frame).sample(5_000, Randomness(1))
    assert drawn["bill"].max() < 1e6


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        (TableConstraints(inequalities=(Inequality(lower="a", upper="name"),)), "different kinds"),
        (TableConstraints(inequalities=(Inequality(lower="a", upper="c"),)), "no|not there"),
        (
            TableConstraints(inequalities=(Inequality(lower="a", upper="b"), Inequality(lower="b", upper="a"))),
            "derived from itself",
        ),
        (
            TableConstraints(
                inequalities=(Inequality(lower="a", upper="b"),), sums=(SumOfParts(total="b", parts=("a", "a")),)
            ),
            "two ways",
        ),
        (TableConstraints(dependencies=(FunctionalDependency(determinant="a", dependent="b"),)), "category"),
    ],
)
def test_what_can_not_be_kept_is_refused(constraints: TableConstraints, said: str) -> None:
    frame = pl.DataFrame({"a": [1, 2, 3] * 20, "b": [4, 4, 9] * 20, "name": ["x", "y", "z"] * 20})
    with pytest.raises(DataError, match=said):
        fit_sequential(frame, FitOptions(TableDescription(constraints=constraints, find_constraints=False)))


@st.composite
def tables(draw: st.DrawFn) -> tuple[pl.DataFrame, TableDescription]:
    """Columns of random kinds, some missing, tied by random constraints; the data keep them or not."""
    rows, numbers = draw(st.integers(10, 60)), np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(st.sampled_from([ShapeKind.WHOLE, ShapeKind.DECIMAL, ShapeKind.DATE]))
    decimals = draw(st.integers(1, 3)) if kind is ShapeKind.DECIMAL else 0
    spread = draw(st.sampled_from([2, 50, 100_000]))

    def column() -> pl.Series:
        steps = pl.Series(numbers.integers(0, spread, rows), dtype=pl.Int64)
        values = steps.set(pl.Series(numbers.random(rows) < draw(st.sampled_from([0.0, 0.3]))), None)
        if kind is ShapeKind.DATE:
            return values.cast(pl.Int32).cast(pl.Date)
        return values if kind is ShapeKind.WHOLE else (values / 10**decimals).round(decimals)

    frame = pl.DataFrame({name: column() for name in ("a", "b", "c", "total")}).with_columns(
        by=pl.Series([["x", "y", "z", None][place] for place in numbers.integers(0, 4, rows)], dtype=pl.String),
        told=pl.Series(numbers.choice(["1", "2"], rows)),
    )
    shapes = {name: ColumnShape(kind=kind, decimals=decimals) for name in ("a", "b", "c", "total")}
    shapes |= {name: ColumnShape(kind=ShapeKind.CATEGORY) for name in ("by", "told")}
    constraints = TableConstraints(
        dependencies=(FunctionalDependency(determinant="by", dependent="told"),),
        inequalities=draw(st.sampled_from([(Inequality(lower="a", upper="b"), Inequality(lower="b", upper="c")), ()])),
        sums=() if kind is ShapeKind.DATE else (SumOfParts(total="total", parts=("a", "c")),),
    )
    return frame, TableDescription(columns=shapes, constraints=constraints, find_constraints=False)


@given(tables())
@settings(deadline=None, max_examples=25)
def test_constraints_hold_over_random_schemas(case: tuple[pl.DataFrame, TableDescription]) -> None:
    frame, description = case
    drawn = fit_sequential(frame, FitOptions(description)).sample(200, Randomness(1))
    assert drawn.schema == frame.schema
    for inequality in description.constraints.inequalities:
        assert (drawn[inequality.lower] <= drawn[inequality.upper]).all()
    for total in description.constraints.sums:
        added = drawn["a"] + drawn["c"]
        assert (added - drawn[total.total]).abs().fill_null(0).max() < 1e-9
        assert (added.is_null() == drawn[total.total].is_null()).all()
    assert drawn.group_by("by").agg(pl.col("told").n_unique())["told"].max() == 1


def test_dates_outside_the_calendar_are_never_made() -> None:
    far = pl.Series([datetime.date(9999, 12, 30), datetime.date(9999, 12, 31)] * 20)
    frame = pl.DataFrame({"start": far, "end": far})
    constraints = TableConstraints(inequalities=(Inequality(lower="start", upper="end"),))
    drawn = fit_sequential(frame, FitOptions(TableDescription(constraints=constraints))).sample(500, Randomness(1))
    assert drawn["end"].max() == datetime.date(9999, 12, 31)
