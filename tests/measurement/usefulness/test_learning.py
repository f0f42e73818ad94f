"""Accuracy kept: copies keep all, noise keeps nothing, held-out records stay out."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from shoal.measurement.usefulness import AttributePair, make_comparable
from shoal.measurement.usefulness.learning import _partners, measure_learning, score_classes
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-06")

ROWS = 600


def _table() -> pl.DataFrame:
    stream, at = Randomness(5).stream("learning"), np.arange(ROWS, dtype=np.uint64)
    age = (stream.uniform(at, 0) * 60).astype(np.int64)
    town = (stream.uniform(at, 1) * 3).astype(np.int64)
    chance = np.where(age > 30, 0.9, 0.2)
    return pl.DataFrame(
        {
            "age": age,
            "town": pl.Series(town).cast(pl.String) + "t",
            "ill": pl.Series(stream.uniform(at, 2) < chance).cast(pl.String),
            "cost": age * 10.0 + town * 50 + stream.gaussian(at, 3),
        }
    )


def _pairs(before: pl.DataFrame, after: pl.DataFrame, *names: str) -> list[AttributePair]:
    return [make_comparable(name, before[name], after[name]) for name in names]


def test_a_copy_keeps_everything() -> None:
    table = _table()
    for target, task in (("ill", "classification"), ("cost", "regression")):
        pairs = _pairs(table, table, "age", "town", target)
        found = measure_learning(pairs, target, randomness=Randomness(1), aligned=True)
        assert found.task == task
        assert found.kept == pytest.approx(1)
        assert found.original is not None
        assert found.baseline is not None
        assert found.original.main > found.baseline.main + 0.2


def test_ranges_keep_what_the_target_needs_and_shuffled_targets_nothing() -> None:
    table = _table()
    ranges = table.with_columns(age=pl.when(pl.col("age") > 30).then(pl.lit("31-59")).otherwise(pl.lit("0-30")))
    found = measure_learning(_pairs(table, ranges.reverse(), "age", "town", "ill"), "ill", randomness=Randomness(1))
    assert found.kept == pytest.approx(1, abs=0.15)
    broken = table.with_columns(pl.col("ill").gather(Randomness(2).stream("s").permutation(ROWS)))
    lost = measure_learning(_pairs(table, broken, "age", "town", "ill"), "ill", randomness=Randomness(1), aligned=True)
    assert lost.kept is not None
    assert lost.kept < 0.4


def test_released_records_find_original_ones_of_the_same_content() -> None:
    before = pl.DataFrame({"a": ["x", "x", "y", None], "b": ["1x", "1x", "2x", "3x"]})
    after = pl.DataFrame({"a": ["y", None, "x", "x", "x"], "b": ["2x", "3x", "1x", "1x", "1x"]})
    partners = _partners(_pairs(before, after, "a", "b"), np.arange(4), np.arange(5))
    assert partners.tolist() == [2, 3, 0, 1, -1]


def test_numbers_in_ranges_find_their_records_too() -> None:
    before = pl.DataFrame({"age": [31, 45, 39, 70], "ill": ["y", "n", "n", "y"]})
    after = pl.DataFrame({"age": ["40-49", "30-39", "30-39", "*"], "ill": ["n", "n", "y", "y"]})
    partners = _partners(_pairs(before, after, "age", "ill"), np.arange(4), np.arange(4))
    assert partners.tolist() == [1, 2, 0, -1]


def test_scores_by_hand() -> None:
    """Of four a three are found, of two b one: recall ¾ and ½; F1 6 ÷ 8 and 2 ÷ 4."""
    scores = score_classes(np.array([0.0, 0, 0, 0, 1, 1]), np.array([0.0, 0, 0, 1, 1, 0]))
    assert scores.accuracy == pytest.approx(4 / 6)
    assert scores.balanced_accuracy == pytest.approx((0.75 + 0.5) / 2)
    assert scores.f1 == pytest.approx((6 / 8 + 2 / 4) / 2)


def test_a_larger_table_is_sampled_and_one_class_can_not_be_learned() -> None:
    table = _table()
    pairs = _pairs(table, table, "age", "ill")
    assert measure_learning(pairs, "ill", randomness=Randomness(1), aligned=True, most=100).sampled
    single = table.with_columns(ill=pl.lit("no"))
    assert measure_learning(_pairs(single, single, "age", "ill"), "ill", randomness=Randomness(1)).problem is not None
