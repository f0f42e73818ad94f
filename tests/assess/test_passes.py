"""How often measuring reads the files that it compares: counted where they are read, not by the clock."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from benchmarks.watched_source import WatchedSource

from shoal.assess.comparison import compatibility, paired_tables
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.assess.read_back import file_comparison
from shoal.policy import Policy
from shoal.results.measured_table import MeasuredTable

ROWS = 3_000
POLICY = Policy.from_text("""
shoal: 1
name: people
attributes:
  age: {role: quasi, hierarchy: {intervals: {widths: [10, 20]}}}
  sex: {role: quasi}
  illness: {role: sensitive}
  pay: {role: insensitive}
privacy: [{l_diversity: {attribute: illness, l: 2, kind: distinct}}]
""")


def people() -> tuple[pl.DataFrame, pl.DataFrame]:
    random = np.random.default_rng(1)
    age = pl.Series("age", random.integers(20, 60, ROWS)).cast(pl.String)
    words = {"sex": ["F", "M"], "illness": ["flu", "cough", "cold"], "pay": ["10", "20", "30", "40"]}
    others = [pl.Series(name, np.array(some)[random.integers(0, len(some), ROWS)]) for name, some in words.items()]
    original = pl.DataFrame([age, *others])
    low = age.cast(pl.Int64) // 10 * 10
    decade = low.cast(pl.String) + "-" + (low + 9).cast(pl.String)
    return original, original.with_columns(decade.alias("age"))


def measured(original: WatchedSource, released: WatchedSource) -> MeasuredTable:
    return measure_data(released, MeasureRequest.by_policy(POLICY), original=original)


def watched() -> tuple[WatchedSource, WatchedSource]:
    original, released = people()
    return WatchedSource(original, 500), WatchedSource(released, 500)


def test_a_table_that_is_compared_whole_is_read_once() -> None:
    original, released = watched()
    assert measured(original, released).measurement.rows == ROWS
    assert (original.passes, released.passes) == (1, 1)


def test_a_larger_one_is_read_three_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (paired_tables, compatibility):
        monkeypatch.setattr(module, "MOST_ROWS", ROWS // 3)
    monkeypatch.setattr(file_comparison, "LOOKED_AT", ROWS // 5)
    original, released = watched()
    found = measured(original, released)
    assert found.measurement.rows == ROWS
    assert found.read_back is not None
    assert original.passes <= 3
    assert released.passes <= 3
