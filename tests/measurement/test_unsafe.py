"""Unsafe combinations against reference results and against cells counted one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, InputError
from shoal.measurement.risk.unsafe_combinations import unsafe_combinations
from shoal.results.risk_results import UnsafeTableResult

pytestmark = pytest.mark.requirement("R-03")

KEYS = ("urbrur", "roof", "walls", "water", "electcon", "relat")
CELL = st.sampled_from(["a", "b", None])


@pytest.mark.parametrize(("name", "threshold", "most", "keys"), [("th10_dim3", 10, 3, 5), ("idlevel_th20", 20, 4, 6)])
def test_testdata2(shared: Path, name: str, threshold: int, most: int, keys: int) -> None:
    table = pl.scan_csv(shared / "data" / "sdcmicro" / "testdata2.csv")
    golden = pl.read_csv(shared / "golden" / "sdcmicro" / f"testdata2_riskyCells_{name}.csv")
    expected = {tuple(filter(None, row[:most])): row[most + 1] for row in golden.iter_rows()}
    found = unsafe_combinations(table, KEYS[:keys], threshold, most)
    assert len(expected) == golden.height == len(found)
    assert {each.keys: each.unsafe_cells for each in found} == expected


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=30), st.integers(1, 5))
def test_tables_equal_a_count_by_hand(rows: list[tuple[str | None, ...]], threshold: int) -> None:
    table = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String, "r": pl.String}, orient="row")
    found = unsafe_combinations(table.lazy(), ("p", "q", "r"), threshold, 2)
    chosen = [places for number in (1, 2) for places in combinations(range(3), number)]
    assert len(found) == len(chosen)
    for each, places in zip(found, chosen, strict=True):
        cells = Counter(tuple(row[place] for place in places) for row in rows)
        unsafe = [size for size in cells.values() if size <= threshold]
        assert each.keys == tuple("pqr"[place] for place in places)
        assert (each.cells, each.unsafe_cells, each.unsafe_records) == (len(cells), len(unsafe), sum(unsafe))


def test_a_threshold_for_each_number_of_keys() -> None:
    table = pl.LazyFrame({"p": ["a", "a", "b", "b"], "q": ["x", "y", "x", "y"]})
    found = unsafe_combinations(table, ("p", "q"), [1, 2])
    assert [(each.threshold, each.unsafe_cells) for each in found] == [(1, 0), (1, 0), (2, 4)]
    assert UnsafeTableResult.model_validate(found[2]).to_dict() == {
        "keys": ["p", "q"],
        "threshold": 2,
        "cells": 4,
        "unsafe_cells": 4,
        "unsafe_records": 4,
    }


def test_edges() -> None:
    empty = unsafe_combinations(pl.LazyFrame(schema={"p": pl.String}), ["p"], 3)
    assert [(each.cells, each.unsafe_cells) for each in empty] == [(0, 0)]
    lacking = unsafe_combinations(pl.LazyFrame({"p": [None, None]}, schema={"p": pl.String}), ["p"], 1)
    assert [(each.cells, each.unsafe_cells) for each in lacking] == [(1, 0)]


def test_wrong_use_is_named() -> None:
    table = pl.LazyFrame({"region": ["secret"]})
    with pytest.raises(DataError, match="did you mean 'region'"):
        unsafe_combinations(table, ["regio"], 3)
    with pytest.raises(InputError, match="at least one key"):
        unsafe_combinations(table, ["region"], 3, 0)
    with pytest.raises(InputError, match="at least 1"):
        unsafe_combinations(table, ["region"], 0)
    with pytest.raises(InputError, match="0 thresholds"):
        unsafe_combinations(table, ["region"], [])
