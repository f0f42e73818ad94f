"""Frequencies in sample and population against reference results and against records compared two by two."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import DataError, InputError
from shoal.measurement.risk.key_frequencies import combine, frequencies

pytestmark = pytest.mark.requirement("R-03")

FRANCDAT_KEYS = ("Key1", "Key2", "Key3", "Key4")
K7 = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
CELL = st.sampled_from(["a", "b", None])
RECORDS = st.lists(st.tuples(CELL, CELL, CELL, st.integers(1, 50)), min_size=1, max_size=30)


def _golden(shared: Path, name: str) -> pl.DataFrame:
    return pl.read_csv(shared / "golden" / "sdcmicro" / name)


def test_francdat_without_missing_cells(shared: Path) -> None:
    table = _golden(shared, "francdat_freqCalc_indivRisk.csv")
    found = frequencies(table.lazy(), FRANCDAT_KEYS, "w")
    assert found.sample == pytest.approx(table["fk"].to_numpy(), abs=1e-9)
    assert found.population == pytest.approx(table["Fk"].to_numpy(), abs=1e-9)


@pytest.mark.parametrize("alpha", ["1", "0.5", "0.1", "0"])
def test_francdat_with_missing_cells_as_wildcards(shared: Path, alpha: str) -> None:
    table = _golden(shared, "francdat_NA_freqCalc_alpha.csv")
    assert sum(table.select(FRANCDAT_KEYS).null_count().row(0)) > 0
    found = frequencies(table.lazy(), FRANCDAT_KEYS, "w", "wildcard", float(alpha))
    assert found.sample == pytest.approx(table[f"fk_a{alpha}"].to_numpy(), abs=1e-9)
    assert found.population == pytest.approx(table[f"Fk_a{alpha}"].to_numpy(), abs=1e-9)


def test_testdata_counts(shared: Path) -> None:
    table = pl.scan_csv(shared / "data" / "sdcmicro" / "testdata.csv")
    golden = _golden(shared, "testdata_risk.csv")
    found = frequencies(table, K7, "sampling_weight")
    assert found.sample.tolist() == golden["fk"].to_list()
    assert found.population.tolist() == golden["Fk"].to_list()


def _share(mine: tuple[str | None, ...], other: tuple[str | None, ...], alpha: float) -> float:
    """What another record counts for, by the definition."""
    if any(one is not None and two is not None and one != two for one, two in zip(mine, other, strict=True)):
        return 0.0
    through_theirs = any(one is not None and two is None for one, two in zip(mine, other, strict=True))
    return alpha if through_theirs else 1.0


@given(RECORDS, st.sampled_from([0.0, 0.25, 1.0]))
def test_wildcards_equal_a_comparison_of_all_pairs(
    rows: list[tuple[str | None, str | None, str | None, int]], alpha: float
) -> None:
    table = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String, "r": pl.String, "w": pl.Int64}, orient="row")
    shares = np.array([[_share(one[:3], two[:3], alpha) for two in rows] for one in rows])
    found = frequencies(table.lazy(), ("p", "q", "r"), "w", "wildcard", alpha)
    assert found.sample == pytest.approx(shares.sum(axis=1))
    assert found.population == pytest.approx(shares @ np.array([row[3] for row in rows]))


@given(RECORDS)
def test_a_missing_cell_is_a_value_of_its_own_unless_asked(
    rows: list[tuple[str | None, str | None, str | None, int]],
) -> None:
    table = pl.DataFrame(rows, schema={"p": pl.String, "q": pl.String, "r": pl.String, "w": pl.Int64}, orient="row")
    keys = [row[:3] for row in rows]
    found = frequencies(table.lazy(), ("p", "q", "r"), "w")
    assert found.sample.tolist() == [keys.count(key) for key in keys]
    assert found.population.tolist() == [sum(row[3] for row in rows if row[:3] == key) for key in keys]
    grouped = combine(table.lazy(), ("p", "q", "r"), "w")
    assert int(grouped.records.sum()) == len(rows)
    assert len(grouped) == len(set(keys))


def test_many_patterns_of_missing_cells_at_once() -> None:
    """Every combination of eight binary keys, each present or missing: all 256 patterns."""
    rows = list(product([1, None], repeat=8))
    table = pl.DataFrame(rows, schema=[f"k{place}" for place in range(8)], orient="row", schema_overrides={})
    found = frequencies(table.lazy(), table.columns, missing="wildcard")
    assert found.sample.tolist() == [256.0] * 256
    strict = frequencies(table.lazy(), table.columns, missing="wildcard", alpha=0)
    assert strict.sample.tolist() == [2.0 ** row.count(None) for row in rows]


def test_without_weights_a_record_stands_for_itself() -> None:
    found = frequencies(pl.LazyFrame({"p": ["a", "a", "b"]}), ["p"])
    assert found.population.tolist() == found.sample.tolist() == [2, 2, 1]


@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_edges(missing: str) -> None:
    schema = {"p": pl.Float64, "w": pl.Float64}
    empty = frequencies(pl.LazyFrame(schema=schema), ["p"], "w", missing)  # type: ignore[arg-type]
    assert empty.sample.shape == empty.population.shape == (0,)
    one = frequencies(pl.LazyFrame({"p": [1.0], "w": [7.0]}), ["p"], "w", missing)  # type: ignore[arg-type]
    assert (one.sample.tolist(), one.population.tolist()) == ([1], [7])
    lacking = pl.LazyFrame({"p": [None, None], "w": [1.0, 2.0]}, schema=schema)
    assert frequencies(lacking, ["p"], "w", missing).population.tolist() == [3, 3]  # type: ignore[arg-type]
    not_numbers = pl.LazyFrame({"p": [float("nan"), 0.0, float("nan"), -0.0], "w": [1.0, 2.0, 4.0, 8.0]})
    assert frequencies(not_numbers, ["p"], "w", missing).population.tolist() == [5, 10, 5, 10]  # type: ignore[arg-type]


def test_wrong_use_is_named() -> None:
    table = pl.LazyFrame({"region": ["secret"], "w": [1.0]})
    with pytest.raises(DataError, match="no column 'regoin'; did you mean 'region'"):
        frequencies(table, ["regoin"], "w")
    with pytest.raises(InputError, match="at least one key"):
        frequencies(table, [], "w")
    with pytest.raises(InputError, match="named twice"):
        frequencies(table, ["region", "region"], "w")
    with pytest.raises(InputError, match="unknown reading"):
        frequencies(table, ["region"], "w", "anything")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="from 0 to 1"):
        frequencies(table, ["region"], "w", "wildcard", 1.5)
