"""What a private method may know of a column is public or noisy: names, ranges, missing values, all within a budget."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.synth.private_tables import categories, fit, people

from shoal.dp.opendp_measurements import ConcentratedKeyRelease
from shoal.errors import DataError, InputError
from shoal.randomness import Randomness
from shoal.synth.column_codes import NumberCodes
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.method import FitOptions
from shoal.synth.private_coding import private_table
from shoal.synth.table_coding import TableDescription

pytestmark = pytest.mark.requirement("T-25")


def names_of(values: Sequence[str | None], epsilon: float = 1.0) -> tuple[str, ...]:
    table = private_table(pl.DataFrame({"name": pl.Series(values, dtype=pl.String)}), FitOptions(epsilon=epsilon))
    return tuple(table.coding.coding.codes["name"].names)  # type: ignore[union-attr]


def ranges_of(values: pl.Series, epsilon: float = 10.0) -> NumberCodes:
    table = private_table(values.alias("x").to_frame(), FitOptions(epsilon=epsilon))
    codes = table.coding.coding.codes["x"]
    assert isinstance(codes, NumberCodes)
    return codes


def test_frequent_names_are_found_and_rare_ones_are_called_other() -> None:
    assert names_of(["Pune"] * 3000 + ["Kochi"] * 2000 + [f"village {at}" for at in range(400)]) == (
        "Kochi",
        "Pune",
        "other",
    )


def test_a_name_that_one_person_has_never_appears() -> None:
    for _ in range(20):
        assert "Nowhere" not in names_of(["Pune"] * 500 + ["Nowhere"], epsilon=20)


def test_one_person_makes_a_name_appear_no_oftener_than_delta() -> None:
    """At a δ that can be seen; a name of many people appears."""
    release = ConcentratedKeyRelease(rows=1, rho=0.5, delta=0.02)
    alone = [len(release.released(dict.fromkeys(map(str, range(2_000)), rows))) / 2_000 for rows in (1, 2, 40)]
    assert alone[0] == 0
    assert alone[1] <= 0.02 + 5 * (0.02 / 2_000) ** 0.5
    assert alone[2] == 1


def test_missing_is_a_value_like_others() -> None:
    drawn = fit(people()).sample(4_000, Randomness(1))
    assert drawn["job"].null_count() / 4_000 == pytest.approx(0.2, abs=0.04)
    assert drawn["age"].null_count() == 0


@pytest.mark.parametrize(
    ("values", "low", "high", "widest"),
    [
        (pl.Series(np.arange(4_000) % 73 + 18), (18, 24), (84, 92), 1),
        (pl.Series(np.arange(4_000) % 80 + 1940), (1940, 1948), (2010, 2024), 8),
        (pl.Series(-(np.arange(4_000) % 50)), (-50, -44), (-4, 0), 1),
    ],
)
def test_ranges_are_where_the_numbers_are(
    values: pl.Series, low: tuple[int, int], high: tuple[int, int], widest: int
) -> None:
    """In one of twenty fits noise shows people beyond the ends: more than half of nine agree in all but one of 10⁴."""
    fits = [ranges_of(values) for _ in range(9)]
    assert low[0] <= np.median([codes.lows[0] for codes in fits]) <= low[1]
    assert high[0] <= np.median([codes.highs[-1] for codes in fits]) <= high[1]
    for codes in fits:
        assert max(last - first + 1 for first, last in zip(codes.lows, codes.highs, strict=True)) <= widest


def test_a_billionaire_leaves_no_trace() -> None:
    pay = np.append(np.random.default_rng(1).lognormal(10, 0.5, 4_000).round(2), 3e9)
    drawn = fit(pl.DataFrame({"pay": pay, "sex": ["f"] * 4_001})).sample(4_000, Randomness(1))
    assert drawn["pay"].max() < 400_000
    assert drawn["pay"].median() == pytest.approx(float(np.median(pay)), rel=0.1)


def test_dates_and_moments_and_truths_keep_their_types() -> None:
    frame = people().with_columns(seen=pl.col("born").cast(pl.Datetime("us")) + pl.duration(hours=pl.col("age")))
    drawn = fit(frame).sample(1_000, Randomness(1))
    assert drawn.schema == frame.schema
    assert datetime.date(1940, 1, 1) < drawn["born"].min() < drawn["born"].max() < datetime.date(2012, 1, 1)


def test_what_is_declared_costs_no_delta_and_is_all_there_is() -> None:
    frame = pl.DataFrame({"town": ["a", "b", "z"] * 200, "age": [30, 40, 400] * 200})
    town = ColumnShape(kind=ShapeKind.CATEGORY, categories=("a", "b", "c"))
    said = TableDescription(columns={"town": town, "age": ColumnShape(kind=ShapeKind.WHOLE, lowest=0, highest=110)})
    model = fit(frame, description=said)
    assert model.budget.delta_thresholds == 0
    drawn = model.sample(600, Randomness(1))
    assert set(drawn["town"].drop_nulls()) <= {"a", "b", "c"}
    assert drawn["age"].max() <= 110
    assert fit(frame).budget.delta_thresholds == 5e-7


def test_a_record_is_encoded_by_itself() -> None:
    """So one more changes one cell of each count and no other: what the noise is sized for."""
    frame = people(500)
    coding = private_table(frame.select("sex", "age"), FitOptions(epsilon=10.0)).coding
    table = frame.select("sex", "age")
    odd = pl.DataFrame({"sex": [None, "x"], "age": [10**9, None]}, schema=table.schema)
    with_odd = coding.encode(pl.concat([odd, table]))
    assert (with_odd[2:] == coding.encode(table)).all()
    assert (with_odd[:2] < [one.groups.size for one in coding.attributes]).all()


def test_no_error_tells_that_a_value_can_not_be_read() -> None:
    said = TableDescription(columns={"age": ColumnShape(kind=ShapeKind.WHOLE, lowest=0, highest=110)})
    frame = pl.DataFrame({"age": ["31", "forty", None] * 300})
    drawn = fit(frame, description=said).sample(300, Randomness(1))
    assert drawn["age"].null_count() / 300 == pytest.approx(2 / 3, abs=0.1)


def test_a_person_has_no_more_records_than_are_allowed() -> None:
    """One who has half of all records is one of five."""
    frame = pl.DataFrame(
        {"who": ["x"] * 1_000 + [f"p{at}" for at in range(1_000)], "job": ["a"] * 1_000 + ["b"] * 1_000}
    )
    said = TableDescription(columns=categories(job="ab").columns, person="who")
    model = fit(frame, description=said, rows_per_person=5, epsilon=20.0)
    assert model.records == pytest.approx(1_005, abs=60)
    drawn = model.sample(1_000, Randomness(1))
    assert (drawn["job"] == "a").mean() < 0.1
    assert drawn["who"].n_unique() == 1_000
    assert not set(drawn["who"]) & set(frame["who"])


ODD = {
    "one record": pl.DataFrame({"sex": ["f"], "age": [30]}),
    "no record": pl.DataFrame({"sex": ["f"], "age": [30]}).clear(),
    "a constant": pl.DataFrame({"x": ["same"] * 500, "y": [7] * 500}),
    "all missing": pl.DataFrame(
        {"x": pl.Series([None] * 300, dtype=pl.String), "y": pl.Series([None] * 300, dtype=pl.Int64)}
    ),
    "never anything": pl.DataFrame({"x": pl.Series([None] * 300)}),
    "no number": pl.DataFrame({"x": [float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 5e-324] * 100}),
    "beyond the calendar": pl.DataFrame({"x": pl.Series([2**31 - 1, -(2**31), 0] * 100, dtype=pl.Int32).cast(pl.Date)}),
    "moments at the end of time": pl.DataFrame(
        {"x": pl.Series([2**63 - 1, -(2**63) + 1] * 100).cast(pl.Datetime("us"))}
    ),
    "the largest numbers": pl.DataFrame({"x": [2**63 - 1, -(2**63), 0] * 100}),
    "names of all kinds": pl.DataFrame({"x": ["", " ", "\x00", "other", "é" * 500] * 200}),
}


@pytest.mark.parametrize("method", ["marginals", "network"])
@pytest.mark.parametrize("odd", ODD)
def test_odd_tables_are_drawn_all_the_same(odd: str, method: str) -> None:
    drawn = fit(ODD[odd], method).sample(50, Randomness(1))
    assert (drawn.height, drawn.columns) == (50, ODD[odd].columns)


def test_ten_thousand_columns_are_refused_in_one_line() -> None:
    with pytest.raises(DataError, match="too wide"):
        fit(pl.DataFrame({f"c{number}": [1, 2] for number in range(10_000)}))


def test_a_hundred_thousand_names_are_made_anew() -> None:
    frame = pl.DataFrame({"name": [f"name {number}" for number in range(100_000)], "sex": ["f", "m"] * 50_000})
    drawn = fit(frame).sample(100, Randomness(1))
    assert drawn["name"][0] == "synthetic-1"
    assert drawn["name"].n_unique() == 100


@pytest.mark.slow
def test_a_million_names_take_no_longer_than_one_waits() -> None:
    frame = pl.DataFrame({"name": [f"name {number % 1_000_000}" for number in range(2_000_000)]})
    assert fit(frame, epsilon=1.0).sample(10, Randomness(1))["name"].n_unique() == 10


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"delta": 0.0}, "delta"),
        ({"delta": 1.0}, "delta"),
        ({"rows_per_person": 0}, "rows_per_person"),
    ],
)
def test_a_budget_that_is_none_is_refused(options: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as told:
        fit(people(50), **options)
    assert told.value.field is not None
    assert told.value.field.name == field


SHARED = [16.666667, 25.0, 12.5, 33.333333]


def test_odd_numbers_that_many_share_are_found_and_the_rest_stays_a_range() -> None:
    """Halving ranges would need far more records to come down to single numbers with six decimals."""
    alone = np.random.default_rng(2).uniform(1, 100, 1_000).round(2)
    weights = pl.Series("weight", [*(SHARED * 750), *alone.tolist()])
    drawn = fit(weights.to_frame(), epsilon=1.0, delta=1e-6).sample(4_000, Randomness(1))["weight"]
    assert [(drawn == number).mean() for number in SHARED] == pytest.approx([0.1875] * 4, abs=0.03)
    assert drawn.filter(~drawn.is_in(SHARED)).n_unique() > 100


def test_a_number_that_one_person_has_never_appears() -> None:
    """Unless it lies where others are, and then by chance."""
    weights = pl.DataFrame({"weight": [*(SHARED * 200), 61.803399]})
    for _ in range(20):
        assert 61.803399 not in fit(weights, epsilon=20).sample(400, Randomness(1))["weight"]


def test_only_numbers_of_which_nothing_is_declared_cost_a_threshold() -> None:
    frame = pl.DataFrame({"weight": SHARED * 200})
    declared = TableDescription(
        columns={"weight": ColumnShape(kind=ShapeKind.DECIMAL, decimals=2, lowest=0, highest=50)}
    )
    assert fit(frame, delta=1e-6).budget.delta_thresholds == 5e-7
    assert fit(frame, delta=1e-6, description=declared).budget.delta_thresholds == 0


def test_a_single_person_without_a_number_is_no_error() -> None:
    """By noise, more numbers are missing than there are records."""
    for _ in range(5):
        frame = pl.DataFrame({"weight": [None], "town": ["a"]}, schema={"weight": pl.Float64, "town": pl.String})
        assert private_table(frame, FitOptions(epsilon=1.0)).coding.names
