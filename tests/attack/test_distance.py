"""Linking by distance on numbers whose neighbours are known."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attack.attacks.distance_linking import distance_linking, within_deviations, within_ranks
from shoal.errors import DataError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")


def grid(size: int) -> pl.DataFrame:
    """Points a step apart in x and a thousand steps apart in y, on different scales."""
    return pl.DataFrame({"x": np.arange(size, dtype=float), "y": np.arange(size, dtype=float) * 1000})


def test_little_noise_hides_nobody() -> None:
    people = grid(200)
    noisy = people.with_columns(pl.col("x") + 0.3, pl.col("y") - 300)
    attack = distance_linking(noisy, people, ["x", "y"], aligned=True)
    assert attack.success.share == 1.0
    assert attack.baseline.share == pytest.approx(1 / 200)
    assert attack.found


def test_microaggregated_groups_of_five_leave_one_in_five() -> None:
    people = grid(100)
    means = people.with_columns(pl.col("x", "y").mean().over(pl.Series(np.arange(100) // 5)))
    attack = distance_linking(means, people, ["x", "y"], aligned=True)
    assert attack.success.share == pytest.approx(0.2)
    assert attack.details is not None
    assert attack.details["sure"] == 0


def test_one_point_for_everybody_is_guessing() -> None:
    people = grid(40)
    attack = distance_linking(people.with_columns(pl.col("x", "y").mean()), people, ["x", "y"], aligned=True)
    assert attack.success.share == pytest.approx(attack.baseline.share)
    assert not attack.found


def test_a_truth_column_and_the_wrong_neighbour() -> None:
    """Everybody is moved to the place of the next one; in the reversed release the key says so."""
    people = grid(10).with_columns(pl.Series("id", range(10)))
    moved = people.with_columns(pl.col("x") + 1, pl.col("y") + 1000).reverse()
    attack = distance_linking(moved, people, ["x", "y"], aligned=False, truth="id")
    assert attack.success.right == 1  # the first is nearest to itself still, at the lower end


def test_strangers_far_away_are_not_claimed() -> None:
    people = grid(20)
    noisy = people.with_columns(pl.col("x") + 0.2)
    strangers = pl.DataFrame({"x": [5.2, 500.0], "y": [5000.0, 5000.0]})
    attack = distance_linking(noisy, people, ["x", "y"], aligned=True, control=strangers)
    assert attack.control is not None
    assert (attack.control.right, attack.control.trials) == (1, 2)


def test_missing_numbers_are_not_found() -> None:
    people = pl.DataFrame({"x": [1.0, None, 3.0, 8.0]})
    assert distance_linking(people, people, ["x"], aligned=True).success.right == 3


def test_the_interval_of_deviations_by_hand() -> None:
    """Standard deviation of 0, 10, 20 is 10: with 5 % the interval is half a unit to each side, for every number."""
    original = np.array([[0.0, 0.0], [10.0, 10.0], [20.0, 20.0]])
    released = np.array([[0.45, 0.45], [10.6, 10.0], [20.0, 21.0]])
    assert within_deviations(original, released, 0.05) == pytest.approx(1 / 3)
    assert within_deviations(original[:, :1], released[:, :1], 0.05) == pytest.approx(2 / 3)


def test_the_interval_of_ranks_by_hand() -> None:
    """Of 100 people at most four others may lie between: five places on is within, six are not."""
    original = np.arange(100.0)[:, None]
    assert within_ranks(original, original, 0.05) == 1.0
    assert within_ranks(original[:50], original[:50] + 0.5, 0.05) == 1.0
    moved = original.copy()
    moved[:10] += np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10.0])[:, None]
    assert within_ranks(original, moved, 0.05) == pytest.approx(0.95)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=30), st.integers(0, 99))
def test_the_tree_agrees_with_comparing_one_by_one(points: list[tuple[int, int]], seed: int) -> None:
    people = np.array(points, dtype=float)
    stream = Randomness(seed).stream("noise")
    rows = np.arange(len(people), dtype=np.uint64)
    released = people + np.stack([np.rint(stream.gaussian(rows, lane)) for lane in (0, 1)], axis=1)
    deviation = released.std(axis=0)
    deviation[deviation == 0] = 1
    far = np.sqrt((((people[:, None] - released[None]) / deviation) ** 2).sum(axis=2))
    near = far <= far.min(axis=1, keepdims=True) + 1e-9
    expected = (np.diag(near) / near.sum(axis=1)).sum()
    frames = [pl.DataFrame(each, schema=["x", "y"]) for each in (released, people)]
    assert distance_linking(*frames, ["x", "y"], aligned=True).success.right == pytest.approx(expected)  # type: ignore[arg-type, misc]


def test_tables_without_numbers() -> None:
    words = pl.DataFrame({"x": ["a", "b"]})
    with pytest.raises(DataError, match="no numeric column"):
        distance_linking(words, words, [], aligned=True)
    with pytest.raises(DataError, match="'x' of the release has no numbers"):
        distance_linking(words, words, ["x"], aligned=True)
    with pytest.raises(DataError, match="no column 'y'"):
        distance_linking(words, words, ["y"], aligned=True)
    with pytest.raises(DataError, match="whose"):
        distance_linking(grid(3), grid(3), ["x"], aligned=False)
    with pytest.raises(DataError, match="no rows"):
        distance_linking(grid(3).clear(), grid(3), ["x"], aligned=True)
