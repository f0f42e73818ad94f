"""Linking on populations whose true rates are known by construction."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attack.attacks.linking import linking
from shoal.attack.attacks.probabilistic_linking import probabilistic_linking
from shoal.attack.matching.agreement_weights import Weights
from shoal.errors import DataError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")

BY = ["age", "zip"]


def population(unique: int, pairs: int) -> pl.DataFrame:
    """So many people alone in their combination, and so many pairs."""
    number = np.concatenate([np.arange(unique), np.repeat(np.arange(unique, unique + pairs), 2)])
    return pl.DataFrame({"age": 20 + number % 50, "zip": [f"{560000 + each // 50}" for each in number]})


def blocks_of_ten(size: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People with different ages, ten to a decade and a zip, and their release by decade."""
    number = np.arange(size)
    original = pl.DataFrame({"age": 20 + number % 50, "zip": [str(560000 + each // 50) for each in number]})
    low = pl.col("age") // 10 * 10
    released = original.with_columns(pl.format("{}-{}", low, low + 9).alias("age"))
    return original, released


@pytest.mark.parametrize("aligned", [True, False])
def test_the_known_rate_of_uniques_and_pairs(aligned: bool) -> None:
    """37 of 100 people are unique and the others in pairs: 37 % are found for sure, half of the others by chance."""
    people = population(370, 315)
    release = people if aligned else people.sample(fraction=1, shuffle=True, seed=1)
    attack = linking(release, people, BY, aligned=aligned)
    assert attack.success.trials == 1000
    assert attack.success.right == pytest.approx(370 + 315)
    assert attack.details is not None
    assert attack.details["sure"] == 0.37
    assert attack.baseline.share == pytest.approx(1 / 1000)
    assert attack.found
    sure = linking(release, people, BY, aligned=aligned, certain=True)
    assert sure.success.share == pytest.approx(0.37)


@pytest.mark.parametrize("aligned", [True, False])
def test_ten_anonymous_by_construction(aligned: bool) -> None:
    original, released = blocks_of_ten(1000)
    attack = linking(released, original, BY, aligned=aligned)
    assert attack.success.share == pytest.approx(0.1)
    assert attack.details is not None
    assert attack.details["sure"] == 0
    assert linking(released, original, BY, aligned=aligned, certain=True).success.right == 0
    assert not linking(released, original, BY, aligned=aligned, certain=True).found


def test_all_starred_is_guessing() -> None:
    original = population(50, 25)
    starred = original.with_columns(pl.lit("*").alias(name) for name in BY)
    attack = linking(starred, original, BY, aligned=True)
    assert attack.success.share == pytest.approx(attack.baseline.share) == pytest.approx(1 / 100)
    assert not attack.found
    assert attack.risk == pytest.approx(0)


def test_a_shuffled_column_misleads_by_exactly_as_much() -> None:
    """Rows 0 and 1 have swapped ages: the attacker is sure of both, and wrong."""
    people = population(10, 0)
    ages = people["age"].to_list()
    swapped = people.with_columns(pl.Series("age", [ages[1], ages[0], *ages[2:]]))
    attack = linking(swapped, people, BY, aligned=True)
    assert attack.success.right == 8
    assert attack.details is not None
    assert attack.details["claims"] == 1.0


def test_a_truth_column_says_whose_record_it_is() -> None:
    people = population(6, 2).with_row_index("id")
    release = people.reverse().head(7)
    attack = linking(release, people, BY, aligned=False, truth="id")
    kept = release["id"].to_list()
    sizes = Counter(release.select(BY).rows())
    expected = sum(1 / sizes[row] for row in release.select(BY).rows())
    assert len(kept) == 7
    assert attack.success.right == pytest.approx(expected)


def test_a_few_targets_are_read_with_the_values_of_all() -> None:
    """Words that only other people have rule them out, once it is known that they are values."""
    everybody = pl.DataFrame({"city": ["Pune", "Delhi", "Agra", "Pune"], "id": [0, 1, 2, 3]})
    few = everybody.filter(pl.col("id") == 1)
    attack = linking(everybody, few, ["city"], aligned=False, truth="id", domain=everybody)
    assert attack.success.right == 1
    assert linking(everybody, few, ["city"], aligned=False, truth="id").success.right == 0.25


def test_people_who_were_left_out_are_not_found() -> None:
    """Half of each class of ten is released: a target's record is there in one of two cases, among five."""
    original, released = blocks_of_ten(100)
    half = released[::2]
    attack = linking(half, original, BY, aligned=False)
    assert attack.success.share == pytest.approx(0.1)


def test_strangers_with_one_candidate_are_false_claims() -> None:
    people = population(100, 2)
    strangers = pl.concat([people.head(3), people.tail(2), people.head(5).with_columns(pl.lit("999999").alias("zip"))])
    attack = linking(people, people, BY, aligned=True, control=strangers)
    assert attack.control is not None
    assert (attack.control.right, attack.control.trials) == (3, 10)
    assert attack.yardstick is attack.baseline, "against somebody who knows who is in the table they are no excuse"
    right, guessed = 102 / 104, 1 / 104
    assert attack.risk == pytest.approx((right - guessed) / (1 - guessed))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 39), st.sampled_from("abc")), min_size=1, max_size=60))
def test_risk_never_falls_when_classes_shrink(rows: list[tuple[int, str]]) -> None:
    people = pl.DataFrame(rows, {"age": pl.Int64, "zip": pl.String}, orient="row")
    shares = []
    for width in (40, 20, 10, 5, 1):
        low = pl.col("age") // width * width
        release = people.with_columns(pl.format("[{}, {})", low, low + width).alias("age"))
        attack = linking(release, people, BY, aligned=True)
        classes = Counter(release.rows())
        assert attack.success.right == pytest.approx(len(classes))
        shares.append(attack.success.share)
    assert shares == sorted(shares)


def test_tables_that_cannot_be_judged() -> None:
    people = population(4, 0)
    with pytest.raises(DataError, match="rows"):
        linking(people.head(3), people, BY, aligned=True)
    with pytest.raises(DataError, match="to link by"):
        linking(people, people, [], aligned=True)
    with pytest.raises(DataError, match="no column 'city'"):
        linking(people, people, ["city"], aligned=True)
    with pytest.raises(DataError, match="not in both"):
        linking(people, people, BY, aligned=False, truth="id")
    with pytest.raises(DataError, match="no rows"):
        linking(people, people.clear(), BY, aligned=False)


def test_one_row_and_an_empty_column() -> None:
    one = pl.DataFrame({"age": [34], "zip": pl.Series([None], dtype=pl.String)})
    assert linking(one, one, BY, aligned=True).success.share == 1.0


# --- probabilistic


def many_attributes(size: int, seed: int) -> pl.DataFrame:
    stream = Randomness(seed).stream("people")
    rows = np.arange(size, dtype=np.uint64)
    drawn = {name: (stream.uniform(rows, lane) * 12).astype(np.int64) for lane, name in enumerate("abcdef")}
    return pl.DataFrame(drawn)


def test_expectation_maximisation_recovers_the_probabilities_it_was_made_from() -> None:
    """Pair counts computed from known m, u and share, without any sampling error."""
    m = np.array([[0.05, 0.25, 0.7], [0.1, 0.1, 0.8], [0.02, 0.08, 0.9], [0.2, 0.2, 0.6]])
    u = np.array([[0.7, 0.2, 0.1], [0.5, 0.3, 0.2], [0.8, 0.15, 0.05], [0.6, 0.3, 0.1]])
    share = 0.1
    patterns = np.stack(np.meshgrid(*[range(3)] * 4, indexing="ij"), axis=-1).reshape(-1, 4)
    chance = [np.prod(each[np.arange(4), patterns], axis=1) for each in (m, u)]
    counts = 1e6 * (share * chance[0] + (1 - share) * chance[1])
    learnt = Weights.learn(patterns, counts, 0.05)
    assert learnt.share == pytest.approx(share, abs=0.005)
    assert learnt.m == pytest.approx(m, abs=0.02)
    assert learnt.u == pytest.approx(u, abs=0.02)


def test_errors_that_stop_exact_linking_do_not_stop_probabilistic_linking() -> None:
    people = many_attributes(1500, 1)
    stream = Randomness(2).stream("errors")
    rows = np.arange(1500, dtype=np.uint64)
    wrong = (stream.uniform(rows) * 5).astype(np.int64)
    released = people.with_columns(
        pl.when(pl.Series(wrong == place)).then((pl.col(name) + 1) % 12).otherwise(pl.col(name)).alias(name)
        for place, name in enumerate("bcdef")
    )
    exact = linking(released, people, list("abcdef"), aligned=True)
    likely = probabilistic_linking(
        released,
        people,
        list("abcdef"),
        aligned=True,
        randomness=Randomness(3),
        block=["a"],
        control=many_attributes(1500, 9),
    )
    assert exact.success.share < 0.01
    assert likely.success.share > 0.85
    assert likely.control is not None
    assert likely.control.share < 0.1
    assert likely.found


def test_probabilistic_linking_of_ten_anonymous_people_finds_one_in_ten() -> None:
    original, released = blocks_of_ten(1000)
    attack = probabilistic_linking(released, original, BY, aligned=True, randomness=Randomness(1))
    assert attack.success.share == pytest.approx(0.1)
    assert attack.details is not None
    assert attack.details["claims"] == 0


def test_probabilistic_linking_is_the_same_for_the_same_seed() -> None:
    people = many_attributes(300, 4)
    runs = [
        probabilistic_linking(people, people, ["a", "b"], aligned=True, randomness=Randomness(5), trials=100)
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert runs[0].success.trials == 100


def test_probabilistic_linking_needs_truth_and_blocks_among_its_attributes() -> None:
    people = population(4, 0)
    with pytest.raises(DataError, match="whose"):
        probabilistic_linking(people, people, BY, aligned=False, randomness=Randomness(1))
    with pytest.raises(DataError, match="not among"):
        probabilistic_linking(people, people, BY, aligned=True, randomness=Randomness(1), block=["city"])
    with pytest.raises(DataError, match="share a block"):
        other = people.with_columns(pl.lit("1-2").alias("age"))
        probabilistic_linking(other, people, BY, aligned=True, randomness=Randomness(1), block=["age"])
