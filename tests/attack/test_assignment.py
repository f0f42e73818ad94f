"""Records in another order: whose they may be, and what can be judged by it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attack import Attack
from shoal.attack.battery import AttackTables, BatteryResult, run_attacks
from shoal.attack.class_baseline import LEAST_K
from shoal.attack.ground_truth.assignment import assigned
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")


def people(rows: int, seed: int, *, ills: int = 6) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 80, rows),
            "town": draw.choice(["p", "q", "r"], rows),
            "ill": draw.choice([f"i{each}" for each in range(ills)], rows),
            "bill": np.round(draw.lognormal(8, 1, rows), 2),
        }
    )


def tens(table: pl.DataFrame) -> pl.DataFrame:
    low = pl.col("age") // 10 * 10
    return table.with_columns(age=pl.format("{}-{}", low, low + 9))


def shuffled(table: pl.DataFrame, seed: int = 1) -> pl.DataFrame:
    return table[np.random.default_rng(seed).permutation(table.height)]


def attacked(release: pl.DataFrame, original: pl.DataFrame, sensitive: tuple[str, ...] = ("ill",)) -> BatteryResult:
    quasi = tuple(name for name in ("age", "town") if name in release.columns)
    alone = tuple(name for name in ("bill",) if name in release.columns and name not in sensitive)
    return run_attacks(AttackTables(release, original, quasi, sensitive, pseudonyms=alone), Randomness(1))


def by_key(done: BatteryResult) -> dict[str, Attack]:
    return {one.key: one for one in done.attacks}


@given(rows=st.integers(2, 60), seed=st.integers(0, 10_000))
def test_everybody_gets_a_record_whose_labels_fit(rows: int, seed: int) -> None:
    table = people(rows, seed).drop("bill")
    release = shuffled(tens(table), seed)
    found = assigned(release, table, ("age", "town", "ill"), {})
    assert found is not None
    assert sorted(found.origins.to_list()) == list(range(rows))
    theirs = tens(table)[found.origins.to_list()]
    assert theirs.equals(release)


def test_of_people_who_are_not_in_it_none_is_made() -> None:
    assert assigned(shuffled(tens(people(300, 1))), people(300, 2), ("age", "town", "ill"), {}) is None


def test_the_nearest_numbers_decide_what_labels_leave_open() -> None:
    table = people(400, 3)
    near = table.with_columns(bill=pl.col("bill") * 1.001)
    release = shuffled(tens(near), 5)
    found = assigned(release, table, ("age", "town", "ill"), {})
    assert found is not None
    true = np.random.default_rng(5).permutation(table.height)
    assert (found.origins.to_numpy() == true).mean() > 0.95


def test_what_was_dealt_out_anew_is_no_link_though_every_value_is_there() -> None:
    """Each sum is somebody's and nobody else's, but no longer in that person's record."""
    table = people(1000, 4)
    moved = tens(table).with_columns(bill=shuffled(table.select("bill"), 9)["bill"])
    done = attacked(shuffled(moved), table)
    assert "identifier_linking" not in {one.key for one in done.found}
    kept = attacked(shuffled(tens(table)), table)
    assert "identifier_linking" in {one.key for one in kept.found}


def test_a_shuffled_release_is_judged_like_one_in_order() -> None:
    table = people(1500, 6)
    release = tens(table).drop("bill")
    in_order, other = attacked(release, table), attacked(shuffled(release), table)
    assert in_order.rows_known
    assert not other.rows_known
    assert not other.unjudged
    for key in ("linking", "homogeneity", "skewness"):
        assert by_key(other)[key].success.right == pytest.approx(by_key(in_order)[key].success.right), key
        assert by_key(other)[key].yardstick.share == pytest.approx(by_key(in_order)[key].yardstick.share, abs=0.01), key


def test_a_record_that_only_one_person_fits_is_found_in_any_order() -> None:
    table = people(500, 7)
    lonely = pl.DataFrame({"age": [99], "town": ["z"], "ill": ["i0"], "bill": [1.0]}, schema=table.schema)
    whole = pl.concat([table, lonely])
    assert by_key(attacked(shuffled(tens(whole)).drop("bill"), whole))["linking"].success.right >= 1


def classes_of(size: int, groups: int, ills: int, seed: int) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    rows = size * groups
    return pl.DataFrame({"age": np.repeat(np.arange(groups), size), "ill": draw.integers(0, ills, rows).astype(str)})


@pytest.mark.parametrize(("size", "ills"), [(5, 1000), (5, 5), (10, 4), (20, 10)])
def test_what_classes_of_their_size_tell_is_no_find(size: int, ills: int) -> None:
    """The values have nothing to do with the classes, but one of those in a class is one's own."""
    table = classes_of(size, 400, ills, 8)
    found = by_key(attacked(table, table))["skewness"]
    assert found.success.share > found.yardstick.share + 0.03
    assert 0 < found.allowed <= 1 / LEAST_K
    assert not found.found


def test_where_somebody_has_nobody_to_hide_among_nothing_is_allowed() -> None:
    table = pl.concat([classes_of(5, 400, 5, 8), pl.DataFrame({"age": [1000, 1001], "ill": ["1", "2"]})])
    found = by_key(attacked(table, table))["skewness"]
    assert found.allowed == 0
    assert found.found


def test_a_class_whose_values_are_its_own_is_told_by_the_others_too() -> None:
    """What is true of everybody in a class but for chance is no more told by one's own record."""
    table = classes_of(10, 300, 3, 9).with_columns(ill=(pl.col("age") % 3).cast(pl.String))
    assert Counter(one.key for one in attacked(table, table).found) == Counter()
