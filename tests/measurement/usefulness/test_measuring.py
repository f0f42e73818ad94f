"""All figures together: copies, odd columns, wrong use, and what each figure is called."""

from __future__ import annotations

import json

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.measurement.usefulness import USES, Usefulness, figures_for, measure_usefulness, readings
from shoal.randomness import Randomness
from shoal.schema.circumstances import Purpose

pytestmark = pytest.mark.requirement("R-06")

MARK = "Zebra-Secret"


def _table(rows: int = 60) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + number * 7 % 41 for number in range(rows)],
            "pay": [1000.0 + number * 13 % 97 for number in range(rows)],
            "town": ["Pune", "Goa", "Delhi"] * (rows // 3),
            "ill": ["yes" if number * 7 % 41 > 20 else "no" for number in range(rows)],
        }
    )


def _measure(before: pl.DataFrame, after: pl.DataFrame, **settings: object) -> Usefulness:
    names = [name for name in before.columns if name != "ill"]
    return measure_usefulness(before, after, attributes=names, randomness=Randomness(3), **settings)  # type: ignore[arg-type]


def test_a_copy_loses_nothing() -> None:
    found = _measure(_table(), _table(), target="ill")
    assert found.aligned
    figures = found.figures
    zeros = [name for name in figures if name.endswith(("_difference", "_mean", "_max", "_median"))]
    assert [figures[name] for name in (*zeros, "il1s", "eigen_correlation", "pmse")] == pytest.approx(
        [0] * (len(zeros) + 3), abs=1e-9
    )
    ones = ("rows_kept", "cells_unchanged", "learning_kept", "variance_ratio")
    assert [figures[name] for name in ones] == pytest.approx([1] * 4)
    assert found.warnings == ()


def test_order_does_not_matter_to_distances_and_is_noticed() -> None:
    shuffled = _table()[Randomness(1).stream("x").permutation(60)]
    found = _measure(_table(), shuffled)
    assert not found.aligned
    assert found.figures["il1s"] is None
    assert found.reasons["il1s"]
    assert found.figures["wasserstein_max"] == pytest.approx(0)
    assert found.figures["query_error_mean"] == pytest.approx(0)


def test_the_same_seed_gives_the_same_figures() -> None:
    after = _table().with_columns(age=pl.col("age") // 10 * 10)
    first, second = (_measure(_table(), after, target="ill").to_dict() for _ in range(2))
    assert first == second


@pytest.mark.requirement("R-07")
def test_every_figure_has_a_reading_and_every_purpose_its_figures() -> None:
    found = _measure(_table(), _table(), target="ill", purpose=Purpose.ANALYTICS)
    assert set(found.figures) == set(readings())
    assert set(USES) == set(Purpose)
    assert all(set(figures_for(purpose)) <= set(readings()) and figures_for(purpose) for purpose in USES)
    assert "learning_kept" in found.for_purpose
    assert "r2_released" not in found.for_purpose


def test_every_missing_figure_has_its_reason() -> None:
    found = _measure(_table().select("town", "ill"), _table().select("town", "ill"))
    missing = {name for name, value in found.figures.items() if value is None}
    assert missing == set(found.reasons)
    assert "il1s" in missing


ODD = {
    "null": pl.Series([None] * 6, dtype=pl.String),
    "nothing": pl.Series([None] * 6),
    "constant": pl.Series([1] * 6),
    "nan": pl.Series([float("nan")] * 5 + [float("inf")]),
    "flag": pl.Series([True, False] * 3),
    "list": pl.Series([[1], [2]] * 3),
    "stars": pl.Series(["*"] * 6),
    "ids": pl.Series(["a1", "b2", "c3", "d4", "e5", "f6"]),
    "day": pl.Series(["2024-01-01"] * 6).str.to_date(),
    "time": pl.Series(["10:00:00"] * 6).str.to_time("%H:%M:%S"),
    "exact": pl.Series(["1.50"] * 6).cast(pl.Decimal(10, 2)),
    "number": pl.Series([1, 2, 3, 4, 5, 6]),
}


@settings(max_examples=100)
@given(
    st.sampled_from(sorted(ODD)), st.sampled_from(sorted(ODD)), st.sampled_from([1, 2, 12]), st.sampled_from([1, 2, 12])
)
def test_odd_columns_never_raise(first: str, second: str, before: int, after: int) -> None:
    original = pl.concat([pl.DataFrame({"a": ODD[first], "b": ODD["number"], "c": ODD["flag"]})] * 2).head(before)
    released = pl.concat([pl.DataFrame({"a": ODD[second], "b": ODD["number"], "c": ODD["stars"]})] * 2).head(after)
    found = measure_usefulness(
        original, released, attributes=["a", "b", "c"], target="a", randomness=Randomness(1)
    ).to_dict()
    assert set(readings()) <= set(found)
    json.dumps(found, allow_nan=False)


def test_values_that_have_nothing_in_common_are_a_warning_without_the_values() -> None:
    after = _table().with_columns(town=pl.lit(MARK), age=pl.col("age") + 5000)
    found = _measure(_table().with_columns(town=pl.lit(MARK + "2")), after)
    assert [warning.split(":")[0] for warning in found.warnings] == ["column 'age'", "column 'town'"]
    assert MARK not in json.dumps(found.to_dict())


def test_a_dropped_column_is_said() -> None:
    found = _measure(_table(), _table().drop("pay"))
    assert found.warnings == ("column 'pay': is not in the release",)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (_table(), pl.DataFrame({"other": [1]}), "don't belong together"),
        (_table(), _table().clear(), "release has no records"),
        (_table().clear(), _table(), "original has no records"),
    ],
)
def test_tables_that_can_not_belong_together(before: pl.DataFrame, after: pl.DataFrame, said: str) -> None:
    with pytest.raises(DataError, match=said):
        _measure(before, after)


def test_unknown_columns_and_impossible_order() -> None:
    with pytest.raises(DataError, match="no column 'wage'"):
        measure_usefulness(_table(), _table(), attributes=["wage"], randomness=Randomness(1))
    with pytest.raises(DataError, match="same number of rows"):
        _measure(_table(), _table().head(5), aligned=True)
