"""At most so many rows of each person, whatever names them, whoever shares a hash, and however many rows there are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.dp import contribution_bounds
from shoal.dp.contribution_bounds import bounded_rows, hashes_above, thinned

pytestmark = pytest.mark.requirement("C-01")

NAMES: list[tuple[pl.DataType, list[Any]]] = [
    (pl.Int64(), [1, 2, 3, 2**40]),
    (pl.String(), ["", "a", "b", "a "]),
    (pl.Float64(), [0.0, -0.0, float("nan"), 1.5]),
    (pl.Categorical(), ["x", "y", "z", "w"]),
    (pl.Boolean(), [True, False]),
]


def rows_of(frame: pl.LazyFrame, unit: list[str]) -> Counter[Any]:
    """How many of each, counted by the engine's own grouping."""
    return Counter({tuple(row[:-1]): row[-1] for row in frame.group_by(unit).len().collect().rows()})


@given(data=st.data(), most=st.integers(1, 4))
@settings(max_examples=60)
def test_of_nobody_more_and_of_all_others_everything(data: st.DataObject, most: int) -> None:
    dtype, names = data.draw(st.sampled_from(NAMES))
    who = data.draw(st.lists(st.none() | st.sampled_from(names), max_size=30))
    frame = pl.LazyFrame({"who": pl.Series(who, dtype=dtype)}).filter(pl.lit(value=True))
    before, after = rows_of(frame.drop_nulls(), ["who"]), rows_of(bounded_rows(frame, ["who"], most), ["who"])
    assert sorted(after.values()) == sorted(min(most, number) for number in before.values())


@given(st.lists(st.tuples(st.none() | st.sampled_from("ab"), st.none() | st.integers(1, 3)), max_size=30))
@settings(max_examples=30)
def test_a_person_in_a_period(rows: list[tuple[str | None, int | None]]) -> None:
    frame = pl.LazyFrame(rows, schema={"who": pl.String, "month": pl.Int64}, orient="row")
    before = rows_of(frame.drop_nulls(), ["who", "month"])
    after = rows_of(bounded_rows(frame, ["who", "month"], 2), ["who", "month"])
    assert after == Counter({unit: min(2, number) for unit, number in before.items()})


def test_only_rows_that_are_asked_about_are_drawn_from() -> None:
    frame = pl.LazyFrame({"who": [1] * 6 + [2], "place": ["out", "in", "out", "in", "out", "out", "in"]})
    kept = bounded_rows(frame, ["who"], 2, asked=pl.col("place") == "in").collect()
    assert sorted(kept.rows()) == [(1, "in"), (1, "in"), (2, "in")]


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=40), st.integers(1, 5), st.integers(1, 4))
def test_hashes_by_brute_force(hashes: list[int], most: int, parts: int) -> None:
    held = [np.array(hashes[part::parts], dtype=np.uint64) for part in range(parts)]
    often = sorted(one for one, number in Counter(hashes).items() if number > most)
    found, there = hashes_above(held, most, wanted=2)
    assert found.tolist() == often
    assert there or 2 not in hashes, "one that is there is never missed"
    few = thinned(np.array(hashes, dtype=np.uint64), most)
    assert Counter(few.tolist()) == Counter({one: min(most + 1, number) for one, number in Counter(hashes).items()})


def test_more_rows_than_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contribution_bounds, "HELD", 1000)
    people = np.repeat(np.arange(40_000), 3)
    people[:500] = 7
    frame = pl.LazyFrame({"who": np.random.default_rng(1).permutation(people)})
    assert bounded_rows(frame, ["who"], 3).collect().height == bounded_rows(frame, ["who"], 4).collect().height - 1
    assert max(rows_of(bounded_rows(frame, ["who"], 3), ["who"]).values()) == 3


def test_two_people_with_one_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are looked at again, and both keep what they may have."""
    monkeypatch.setattr(pl.Expr, "hash", lambda self, *_: (self.cast(pl.Int64) * 0).fill_null(0).cast(pl.UInt64))
    monkeypatch.setattr(pl.Series, "hash", lambda self, *_: pl.Series([0] * len(self), dtype=pl.UInt64))
    frame = pl.LazyFrame({"who": [1, 1, 1, 2, 2, 3, None]})
    assert rows_of(bounded_rows(frame, ["who"], 2), ["who"]) == Counter({(1,): 2, (2,): 2, (3,): 1})


def test_the_first_by_a_column() -> None:
    frame = pl.LazyFrame({"who": [1] * 5 + [2], "day": [5, 1, 4, 1, 3, 9]})
    kept = bounded_rows(frame, ["who"], 3, first_by="day").collect()
    assert sorted(kept.rows()) == [(1, 1), (1, 1), (1, 3), (2, 9)]
