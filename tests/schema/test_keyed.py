"""Counting by packed numbers gives what a group-by gives, however values turn up."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.schema import Counts, packed_counts
from shoal.schema.packed_counts import count_combinations

pytestmark = pytest.mark.requirement("S-01")

DAY = st.dates(datetime.date(1990, 1, 1), datetime.date(1990, 3, 1))
ROW = st.tuples(
    st.sampled_from(["b", "a", "", "ü", "*", None]), st.integers(-40, 40) | st.none(), st.booleans() | st.none(), DAY
)
SCHEMA = {"text": pl.String, "number": pl.Int16, "truth": pl.Boolean, "day": pl.Date}


def by_group(table: pl.DataFrame) -> Counts:
    names = tuple(table.columns)
    return Counts.from_frame(table.group_by(names).agg(pl.len().alias("__n")), names, "__n")


def assert_same(found: Counts, expected: Counts) -> None:
    assert found.attributes == expected.attributes
    for mine, theirs in zip(found.values, expected.values, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.to_list() == theirs.to_list()
    assert np.array_equal(found.codes, expected.codes)
    assert found.codes.dtype == expected.codes.dtype
    assert np.array_equal(found.records, expected.records)


@given(rows=st.lists(ROW, max_size=60), segment=st.integers(1, 60), batch=st.integers(1, 9))
@settings(max_examples=80)
def test_any_batches_give_the_counts_of_a_group_by(rows: list[tuple[object, ...]], segment: int, batch: int) -> None:
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(packed_counts, "BATCH_RECORDS", batch)
        found = count_combinations(table.lazy(), tuple(SCHEMA), segment_records=segment)
    assert_same(found, by_group(table))


def refuse(*_: object, **__: object) -> pl.DataFrame:
    raise AssertionError("was not packed")


def test_new_values_late_in_the_table_are_packed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_counts, "BATCH_RECORDS", 10)
    monkeypatch.setattr(packed_counts, "count_groups", refuse)
    numbers = [0] * 30 + list(range(-500, 500, 7)) + [900, -900]
    table = pl.DataFrame(
        {"word": [f"w{number}" for number in numbers], "number": numbers, "none": [None] * len(numbers)}
    )
    table = table.with_columns(pl.col("none").cast(pl.String))
    assert_same(count_combinations(table.lazy(), ("word", "number", "none"), segment_records=25), by_group(table))


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"x": [1.5, 1.5, None]}),
        pl.DataFrame({"x": [2**64 - 1, 1]}, schema={"x": pl.UInt64}),
        pl.DataFrame({"x": [-(2**63), -(2**63), 2**63 - 1]}),
        pl.DataFrame({"x": [-(2**63)] * 2}),
        pl.DataFrame({"x": [None, None]}, schema={"x": pl.Int64}),
        pl.DataFrame({"x": [0, 10**7]}),
        pl.DataFrame({f"x{place}": [0, 60_000] for place in range(8)}),
        pl.DataFrame(schema={"x": pl.String}),
    ],
    ids=["decimals", "unsigned", "whole range", "lowest", "missing", "far apart", "too many bits", "empty"],
)
def test_what_does_not_fit_is_grouped(table: pl.DataFrame) -> None:
    assert_same(count_combinations(table.lazy(), tuple(table.columns)), by_group(table))
