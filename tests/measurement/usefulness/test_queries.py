"""Counting queries: a copy answers exactly, labels are spread over their leaves."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.hierarchy.labels import Spans
from shoal.measurement.usefulness import AttributePair, make_comparable
from shoal.measurement.usefulness.label_spread import Leaves, Ranges
from shoal.measurement.usefulness.queries import QueryError, measure_queries
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-06")


def _pairs(before: pl.DataFrame, after: pl.DataFrame) -> list[AttributePair]:
    return [make_comparable(name, before[name], after[name]) for name in before.columns]


@given(
    st.lists(st.tuples(st.integers(0, 9) | st.none(), st.sampled_from(["a", "b", "c", None])), min_size=1, max_size=40)
)
def test_a_shuffled_copy_answers_every_query_exactly(rows: list[tuple[int | None, str | None]]) -> None:
    table = pl.DataFrame(rows, schema={"n": pl.Int64, "c": pl.String}, orient="row")
    found = measure_queries(_pairs(table, table.reverse()), randomness=Randomness(1), queries=20)
    assert found.problem is not None or (found.mean, found.median) == (0.0, 0.0)


def test_evenly_spread_values_survive_generalisation() -> None:
    """Each leaf is equally frequent, so even spreading is exact; with one leaf only in use it is not."""
    even = pl.DataFrame({"n": list(range(20)) * 5})
    ranges = even.with_columns(n=pl.when(pl.col("n") < 10).then(pl.lit("0-9")).otherwise(pl.lit("10-19")))
    found = measure_queries(_pairs(even, ranges), randomness=Randomness(1))
    assert found.mean == pytest.approx(0, abs=1e-6)
    skewed = pl.DataFrame({"n": [*range(20)] + [0] * 80})
    blurred = skewed.with_columns(n=pl.when(pl.col("n") < 10).then(pl.lit("0-9")).otherwise(pl.lit("10-19")))
    assert (measure_queries(_pairs(skewed, blurred), randomness=Randomness(1)).mean or 0) > 0.1


def test_half_of_the_records_answer_half_of_the_counts() -> None:
    table = pl.DataFrame({"c": ["a", "b"] * 50})
    assert measure_queries(_pairs(table, table.head(50)), randomness=Randomness(1)).mean == pytest.approx(0.5)


def test_a_suppressed_cell_is_spread_over_everything() -> None:
    table = pl.DataFrame({"c": ["a", "b"] * 50})
    stars = table.with_columns(c=pl.when(pl.int_range(pl.len()) < 98).then(pl.lit("*")).otherwise("c"))
    assert measure_queries(_pairs(table, stars), randomness=Randomness(1)).mean == pytest.approx(0, abs=1e-6)


def test_leaves_come_from_the_recoding() -> None:
    recode = pl.DataFrame({"value": ["p", "q", "r"], "label": ["pq", "pq", "r"]})
    pair = make_comparable("c", pl.Series(["p", "q", "r"]), pl.Series(["pq", "r", "other"]), recode=recode)
    weights = Leaves.of(pair).shares(np.array([False, True, False]))
    assert dict(zip(pair.labels, weights, strict=True)) == {"other": pytest.approx(1 / 3), "pq": 0.5, "r": 0.0}


def test_another_order_of_columns_and_records_is_asked_the_same() -> None:
    table = pl.DataFrame({"n": [*range(20)] + [0] * 80, "c": ["a", "b", "c", "a"] * 25})
    blurred = table.with_columns(n=pl.when(pl.col("n") < 10).then(pl.lit("0-9")).otherwise(pl.lit("10-19")))
    found = measure_queries(_pairs(table, blurred), randomness=Randomness(1), queries=50)
    turned = measure_queries(_pairs(table.select("c", "n"), blurred.reverse()), randomness=Randomness(1), queries=50)
    assert found.mean
    assert turned == found


def test_intervals_with_pencil() -> None:
    """100 errors of 0 … 0.99: s = √(Σ(x − x̄)² ÷ 99) = 0.290115. Ranks: from the 40th to the 61st of them are 96.5 %
    of Bin(100, ½), from the 41st to the 60th only 94.3 %.
    """
    found = QueryError.of(np.arange(100)[::-1] / 100)
    assert found.mean_interval == pytest.approx((0.495 - 1.96 * 0.0290115, 0.495 + 1.96 * 0.0290115), abs=1e-6)
    assert found.median_interval == (0.39, 0.60)
    assert QueryError.of(np.array([0.25])).median_interval == (0.25, 0.25)


def test_intervals_hold_what_many_queries_find() -> None:
    table = pl.DataFrame({"n": [*range(20)] + [0] * 80, "c": ["a", "b", "c", "a"] * 25})
    blurred = table.with_columns(n=pl.when(pl.col("n") < 10).then(pl.lit("0-9")).otherwise(pl.lit("10-19")))
    pairs = _pairs(table, blurred)
    many = measure_queries(pairs, randomness=Randomness(0), queries=4000)
    tries = [measure_queries(pairs, randomness=Randomness(seed), queries=100) for seed in range(1, 41)]
    for figure in ("mean", "median"):
        true = getattr(many, figure)
        held = [low <= true <= high for low, high in (getattr(each, f"{figure}_interval") for each in tries)]
        assert sum(held) >= 34, figure
        assert len({getattr(each, figure) for each in tries}) > 10, figure


def _between() -> st.SearchStrategy[list[int]]:
    return st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted)


@given(_between(), _between())
def test_shares_of_whole_numbers_equal_a_count_by_hand(span: list[int], query: list[int]) -> None:
    wanted = [number for number in range(span[0], span[1] + 1) if query[0] <= number <= query[1]]
    ranges = Ranges.of(Spans(np.array([float(span[0])]), np.array([float(span[1])])), np.array([0.0, 30.0]))
    assert ranges.shares(*query)[0] == pytest.approx(len(wanted) / (span[1] - span[0] + 1))


@given(_between(), _between())
def test_other_numbers_are_measured(span: list[int], query: list[int]) -> None:
    ranges = Ranges.of(Spans(np.array([float(span[0])]), np.array([float(span[1])])), np.array([0.0, 30.5]))
    if span[0] == span[1]:
        assert ranges.shares(*query)[0] == (query[0] <= span[0] <= query[1])
    else:
        common = max(0, min(span[1], query[1]) - max(span[0], query[0]))
        assert ranges.shares(*query)[0] == pytest.approx(common / (span[1] - span[0]))


def test_an_unknown_range_stands_for_all_numbers_and_noise_lies_where_it_lies() -> None:
    spans = Spans(np.array([np.nan, 23.7, 24.0]), np.array([np.nan, 23.7, 24.0]))
    ranges = Ranges.of(spans, np.arange(10.0, 30))
    assert ranges.shares(24, 28).tolist() == [0.25, 0, 1]
