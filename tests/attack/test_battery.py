"""All attacks at once, on populations of which it is known what there is to find."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from shoal.attack import Attack
from shoal.attack.battery import AttackTables, BatteryResult, run_attacks, without_suppressed
from shoal.attack.ground_truth.record_order import look_in_order, recovered
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")

BY = ("age", "zip")
UNIQUE, PAIRS = 370, 315


def people() -> pl.DataFrame:
    """370 people alone with their age and zip, and 315 pairs, who differ in what is sensitive."""
    number = np.concatenate([np.arange(UNIQUE), np.repeat(np.arange(UNIQUE, UNIQUE + PAIRS), 2)])
    place = np.arange(len(number))
    return pl.DataFrame(
        {
            "age": 20 + number % 50,
            "zip": [f"z{560000 + each // 50}" for each in number],
            "illness": [f"illness {each % 4}" for each in place],
            "bill": place * 100.0,
            "code": [f"somebody-{each}" for each in place],
        }
    )


def ten_alike() -> tuple[pl.DataFrame, pl.DataFrame]:
    """1,000 people, ten to a decade and a zip, each illness twice among them; and their release by decades."""
    number = np.arange(1000)
    original = pl.DataFrame(
        {
            "age": 20 + number % 50,
            "zip": [f"z{560000 + each // 50}" for each in number],
            "illness": [f"illness {each % 5}" for each in number],
        }
    )
    low = pl.col("age") // 10 * 10
    return original, original.with_columns(pl.format("{}-{}", low, low + 9).alias("age"))


def attacked(tables: AttackTables, seed: int = 1) -> dict[str, Attack]:
    return {attack.key: attack for attack in run_attacks(tables, Randomness(seed)).attacks}


def details(attack: Attack) -> dict[str, float]:
    assert attack.details is not None
    return attack.details


@pytest.fixture(scope="module")
def only_deidentified() -> BatteryResult:
    table = people().drop("code")
    return run_attacks(AttackTables(table, table, BY, ("illness",)), Randomness(1))


def test_a_table_without_names_gives_everybody_away_who_is_alone(only_deidentified: BatteryResult) -> None:
    found = {attack.key: attack for attack in only_deidentified.attacks}
    assert only_deidentified.in_order
    assert found["linking"].success.right == UNIQUE
    assert found["linking"].success.trials == UNIQUE + 2 * PAIRS
    assert found["probabilistic_linking"].success.right == UNIQUE
    assert found["homogeneity"].success.right == UNIQUE
    assert found["skewness"].success.right == pytest.approx(UNIQUE + PAIRS)
    assert found["skewness"].baseline.share == pytest.approx(0.25, abs=0.01)
    assert details(found["homogeneity"])["precision"] == 1
    assert set(found) - {attack.key for attack in only_deidentified.found} <= {"learned_inference", "linkability"}


def test_what_could_not_be_tried_is_said(only_deidentified: BatteryResult) -> None:
    assert list(only_deidentified.skipped) == ["membership"]
    assert "control group" in only_deidentified.skipped["membership"]


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_found_where_ten_are_alike(seed: int) -> None:
    original, release = ten_alike()
    strangers = original.with_columns(illness=pl.col("illness").shuffle(seed=9))
    done = run_attacks(AttackTables(release, original, BY, ("illness",), control=strangers), Randomness(seed))
    found = {attack.key: attack for attack in done.attacks}
    assert done.in_order
    assert done.found == ()
    assert not done.skipped
    assert found["linking"].success.right == 0
    assert details(found["linking"])["expected"] == pytest.approx(0.1)
    assert found["homogeneity"].success.right == 0
    assert found["skewness"].success.share == pytest.approx(0.2)
    assert found["membership"].success.share == pytest.approx(0.5)


def test_membership_is_right_about_strangers_whom_no_record_fits() -> None:
    """A fifth of the strangers look like somebody; of the others it is known that they are not in the table."""
    table = people().drop("code")
    control = table.with_columns(age=pl.when(pl.row_index() % 5 == 0).then(pl.col("age")).otherwise(pl.col("age") + 99))
    found = attacked(AttackTables(table, table, BY, control=control))["membership"]
    assert found.success.share == pytest.approx((1 + 0.8) / 2)
    assert details(found) == {"members_found": 1.0, "strangers_mistaken": 0.2}
    assert found.found


def test_numbers_that_moved_less_than_half_way_to_the_next_are_all_found() -> None:
    table = people()
    moved = table.with_columns(bill=pl.col("bill") + pl.Series(np.tile([-40.0, 40.0, 15.0, -5.0], 250)))
    found = attacked(AttackTables(moved, table, BY, numbers=("bill",)))["distance_linking"]
    assert found.success.share == 1
    assert found.found


def test_the_auxiliary_table_is_linked_by_what_it_has() -> None:
    table = people()
    auxiliary = pl.concat([table.head(30), table.tail(20)]).select("zip", "age", name=pl.lit("somebody"))
    found = attacked(AttackTables(table, table, BY, auxiliary=auxiliary))["auxiliary_linking"]
    assert (found.success.right, found.success.trials) == (30, 50)
    assert found.found
    single = attacked(AttackTables(table, table, BY, auxiliary=auxiliary.select("age")))["auxiliary_linking"]
    assert single.success.right == 0


@pytest.mark.requirement("R-05")
def test_hashed_identifiers_are_broken_and_keyed_ones_are_not() -> None:
    table = people()
    codes = table["code"].to_list()
    plain = [hashlib.sha256(code.encode()).hexdigest() for code in codes]
    keyed = [hmac.new(b"a key", code.encode(), "sha256").hexdigest() for code in codes]
    for released, share in ((plain, 1.0), (keyed, 0.0)):
        release = table.with_columns(code=pl.Series(released))
        found = attacked(AttackTables(release, table, BY, pseudonyms=("code",)))["dictionary"]
        assert found.attribute == "code"
        assert found.success.share == share
        assert found.found is bool(share)


def cities(often: list[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Cities that so many people live in each, and the same with a number in place of each city's name."""
    table = pl.DataFrame({"city": np.repeat([f"city {each}" for each in range(len(often))], often)})
    table = table.sample(fraction=1, shuffle=True, seed=3).with_columns(note=pl.Series(["a", "b"] * (len(table) // 2)))
    other = pl.Series(np.roll(np.arange(len(often)), 2)).cast(pl.String)
    return table, table.with_columns(pl.col("city").str.strip_prefix("city ").replace_strict(
        {str(place): f"pseudonym {each}" for place, each in enumerate(other)}))  # fmt: skip


OFTEN = [400, 200, 120, 90, 60, 50, 40, 24, 10, 6]


@pytest.mark.requirement("R-05")
@pytest.mark.parametrize("shuffled", [False, True])
def test_frequencies_are_judged_whatever_column_tells_the_order_or_none_does(shuffled: bool) -> None:
    """No quasi-identifier, no sensitive column: how often a pseudonym occurs is in the release all the same."""
    table, release = cities(OFTEN)
    release = release.sample(fraction=1, shuffle=True, seed=5) if shuffled else release
    done = run_attacks(AttackTables(release, table, (), pseudonyms=("city",)), Randomness(1))
    found = {attack.key: attack for attack in done.attacks}["frequency"]
    assert done.in_order is not shuffled
    assert (found.success.share, found.baseline.share) == (1, 0.4)
    assert found.found
    assert not done.skipped


@pytest.mark.requirement("R-05")
def test_frequencies_that_nobody_can_judge_are_named() -> None:
    table, release = cities(OFTEN)
    left = release.sample(fraction=0.8, shuffle=True, seed=5)
    done = run_attacks(AttackTables(left, table, (), pseudonyms=("city",)), Randomness(1))
    assert done.unjudged == ("frequency: city",)
    assert "nothing says which one is whose" in done.skipped["frequency: city"]
    plain = left.with_columns(
        city=pl.Series([hashlib.sha256(each.encode()).hexdigest() for each in table["city"][:800]])
    )
    hashed = run_attacks(AttackTables(plain, table, (), pseudonyms=("city",)), Randomness(1))
    assert hashed.unjudged == ("frequency: city",)
    assert "dictionary" in [attack.key for attack in hashed.found]
    told = pl.Series(np.arange(table.height)).sample(fraction=0.8, shuffle=True, seed=5)
    known = run_attacks(AttackTables(release[told], table, (), pseudonyms=("city",), origins=told), Randomness(1))
    assert not known.unjudged
    assert {attack.key: attack for attack in known.attacks}["frequency"].found


@pytest.mark.parametrize(("wrong", "in_order"), [(0, True), (5, True), (20, False), (1000, False)])
def test_rows_are_taken_for_the_same_where_nearly_all_fit(wrong: int, in_order: bool) -> None:
    table = people()
    moved = table.with_columns(zip=pl.when(pl.row_index() < wrong).then(pl.lit("z560013")).otherwise(pl.col("zip")))
    assert look_in_order(moved, table, BY, {}, Randomness(1)) is in_order


def test_columns_that_fit_in_any_order_show_none() -> None:
    """Stars fit everywhere, and so does a word that all have: a shuffled table must not be taken for one in order."""
    table = people().with_columns(country=pl.lit("here"))
    starred = table.select(pl.lit("*").alias("age"), "country")
    assert not look_in_order(starred, table, ("age",), {}, Randomness(1))
    assert look_in_order(table.select("country", "illness"), table, (), {}, Randomness(1))
    assert not look_in_order(table.select("country", "illness").reverse(), table, (), {}, Randomness(1))


def test_noise_in_one_column_leaves_the_order_to_the_others() -> None:
    table = people()
    noisy = table.with_columns(age=pl.col("age") + 3, bill=pl.col("bill") * 1.01)
    assert look_in_order(noisy, table, BY, {}, Randomness(1))


def test_the_order_is_recovered_by_what_was_not_altered() -> None:
    table = people()
    order = pl.Series(np.arange(table.height)).shuffle(seed=7)
    shuffled = table[order].with_columns(pl.col("age") + 1, pl.col("bill") + 40)
    found = recovered(shuffled, table)
    assert found is not None
    assert found.to_list() == order.to_list()
    assert recovered(shuffled.drop("code"), table) is None
    fewer = recovered(shuffled.head(900), table)
    assert fewer is not None
    assert fewer.to_list() == order.head(900).to_list()
    done = run_attacks(AttackTables(shuffled, table, ("zip",), numbers=("bill",)), Randomness(1))
    assert (done.rows_known, done.in_order) == (True, False)
    assert {attack.key: attack for attack in done.attacks}["distance_linking"].success.share == 1


def test_shuffled_rows_that_nobody_can_put_back_are_judged_by_how_near_other_people_are() -> None:
    """Bills are 100 apart and moved by 15. Of six people nothing can be said."""
    table = people().drop("code")
    noisy = table.with_columns(pl.col("bill") + 15).drop("illness").reverse()
    tables = AttackTables(noisy, table, (), numbers=("bill",))
    done = run_attacks(tables, Randomness(1))
    assert not done.rows_known
    assert not done.unjudged
    (found,) = done.found
    assert (found.key, found.baseline.share) == ("distance_linking", 0.5)
    assert found.success.share == pytest.approx(1, abs=0.002)
    few = run_attacks(AttackTables(noisy.head(6), table.tail(6), (), numbers=("bill",)), Randomness(1))
    assert few.unjudged == ("distance_linking",)
    assert "whose" in few.skipped["distance_linking"]
    told = run_attacks(replace(tables, origins=pl.Series(np.arange(table.height)[::-1])), Randomness(1))
    assert not told.unjudged
    assert {attack.key: attack for attack in told.attacks}["distance_linking"].success.share == 1


def test_without_claims_there_is_nothing_to_judge() -> None:
    """Ten share each released number, and ten each combination: whoever is who, nobody is linked for certain."""
    original, release = ten_alike()
    original = original.with_columns(bill=pl.row_index().cast(pl.Float64))
    release = release.with_columns(bill=(pl.row_index() // 10 * 10 + 4.5).cast(pl.Float64))
    for other in (release.sample(fraction=1, shuffle=True, seed=1), release.head(990)):
        done = run_attacks(AttackTables(other.drop("illness"), original, BY, numbers=("bill",)), Randomness(1))
        assert not done.rows_known
        assert not done.unjudged
        rates = {attack.key: attack.success.right for attack in done.attacks}
        assert rates["probabilistic_linking"] == rates["distance_linking"] == rates["linking"] == 0


def test_shuffling_does_not_hide_who_is_alone() -> None:
    table = people()
    assert attacked(AttackTables(table.reverse(), table, BY))["linking"].success.right == UNIQUE


def test_records_of_nothing_but_stars_are_left_aside() -> None:
    frame = pl.DataFrame({"age": ["*", "*", "30"], "zip": ["*", "z1", "*"], "n": [1, 2, 3]})
    assert without_suppressed(frame, BY)["n"].to_list() == [2, 3]
    assert without_suppressed(frame, ())["n"].to_list() == [1, 2, 3]
    assert without_suppressed(frame.head(1), BY).height == 1


def test_progress_and_the_same_seed() -> None:
    original, release = ten_alike()
    tables, steps = AttackTables(release, original, BY, ("illness",)), []
    first = run_attacks(tables, Randomness(7), trials=200, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(place, 8) for place in range(8)]
    assert first == run_attacks(tables, Randomness(7), trials=200)
    assert first != run_attacks(tables, Randomness(8), trials=200)
