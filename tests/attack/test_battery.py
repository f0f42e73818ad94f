"""All attacks at once, on populations of which it is known what there is to find."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from shoal.attack import Attack
from shoal.attack.battery import Attacked, Tables, look_in_order, run_attacks, without_suppressed
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


def attacked(tables: Tables, seed: int = 1) -> dict[str, Attack]:
    return {attack.key: attack for attack in run_attacks(tables, Randomness(seed)).attacks}


def details(attack: Attack) -> dict[str, float]:
    assert attack.details is not None
    return attack.details


@pytest.fixture(scope="module")
def only_deidentified() -> Attacked:
    table = people().drop("code")
    return run_attacks(Tables(table, table, BY, ("illness",)), Randomness(1))


def test_a_table_without_names_gives_everybody_away_who_is_alone(only_deidentified: Attacked) -> None:
    found = {attack.key: attack for attack in only_deidentified.attacks}
    assert only_deidentified.in_order
    assert found["linking"].success.right == UNIQUE
    assert found["linking"].success.trials == UNIQUE + 2 * PAIRS
    assert found["probabilistic_linking"].success.right == UNIQUE
    assert found["homogeneity"].success.right == UNIQUE
    assert found["skewness"].success.right == pytest.approx(UNIQUE + PAIRS)
    assert found["skewness"].baseline.share == pytest.approx(0.25, abs=0.01)
    assert details(found["homogeneity"])["precision"] == 1
    assert set(found) - {attack.key for attack in only_deidentified.found} <= {"learned_inference"}


def test_what_could_not_be_tried_is_said(only_deidentified: Attacked) -> None:
    assert list(only_deidentified.skipped) == ["membership"]
    assert "control group" in only_deidentified.skipped["membership"]


@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_is_found_where_ten_are_alike(seed: int) -> None:
    original, release = ten_alike()
    strangers = original.with_columns(illness=pl.col("illness").shuffle(seed=9))
    done = run_attacks(Tables(release, original, BY, ("illness",), control=strangers), Randomness(seed))
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
    found = attacked(Tables(table, table, BY, control=control))["membership"]
    assert found.success.share == pytest.approx((1 + 0.8) / 2)
    assert details(found) == {"members_found": 1.0, "strangers_mistaken": 0.2}
    assert found.found


def test_numbers_that_moved_less_than_half_way_to_the_next_are_all_found() -> None:
    table = people()
    moved = table.with_columns(bill=pl.col("bill") + pl.Series(np.tile([-40.0, 40.0, 15.0, -5.0], 250)))
    found = attacked(Tables(moved, table, BY, numbers=("bill",)))["distance_linking"]
    assert found.success.share == 1
    assert found.found


def test_the_auxiliary_table_is_linked_by_what_it_has() -> None:
    table = people()
    auxiliary = pl.concat([table.head(30), table.tail(20)]).select("zip", "age", name=pl.lit("somebody"))
    found = attacked(Tables(table, table, BY, auxiliary=auxiliary))["auxiliary_linking"]
    assert (found.success.right, found.success.trials) == (30, 50)
    assert found.found
    single = attacked(Tables(table, table, BY, auxiliary=auxiliary.select("age")))["auxiliary_linking"]
    assert single.success.right == 0


@pytest.mark.requirement("R-05")
def test_hashed_identifiers_are_broken_and_keyed_ones_are_not() -> None:
    table = people()
    codes = table["code"].to_list()
    plain = [hashlib.sha256(code.encode()).hexdigest() for code in codes]
    keyed = [hmac.new(b"a key", code.encode(), "sha256").hexdigest() for code in codes]
    for released, share in ((plain, 1.0), (keyed, 0.0)):
        release = table.with_columns(code=pl.Series(released))
        found = attacked(Tables(release, table, BY, pseudonyms=("code",)))["dictionary"]
        assert found.attribute == "code"
        assert found.success.share == share
        assert found.found is bool(share)


@pytest.mark.requirement("R-05")
def test_frequencies_are_only_judged_where_rows_are_known_to_be_the_same() -> None:
    table = people().with_columns(code=pl.Series([f"city {int(np.sqrt(each))}" for each in range(1000)]))
    release = table.with_columns(code=pl.col("code").rank("dense").cast(pl.String))
    tables = Tables(release, table, BY, pseudonyms=("code",))
    assert "frequency" in attacked(tables)
    assert "frequency" not in attacked(replace(tables, release=release.reverse()))


@pytest.mark.parametrize(("wrong", "in_order"), [(0, True), (5, True), (20, False), (1000, False)])
def test_rows_are_taken_for_the_same_where_nearly_all_fit(wrong: int, in_order: bool) -> None:
    table = people()
    aside = pl.when(pl.row_index() < wrong).then(pl.lit("elsewhere")).otherwise(pl.col("zip"))
    moved = table.with_columns(zip=aside, age=pl.when(pl.row_index() < wrong).then(1).otherwise(pl.col("age")))
    assert look_in_order(Tables(moved, table, BY), Randomness(1)) is in_order


def test_rows_are_not_the_same_where_they_were_shuffled_or_left_out() -> None:
    original, release = ten_alike()
    for other in (release.sample(fraction=1, shuffle=True, seed=1), release.head(999), pl.concat([release, release])):
        done = run_attacks(Tables(other, original, BY), Randomness(1))
        assert not done.in_order
        assert "whose" in done.skipped["probabilistic_linking"]


def test_shuffling_does_not_hide_who_is_alone() -> None:
    table = people()
    assert attacked(Tables(table.reverse(), table, BY))["linking"].success.right == UNIQUE


def test_records_of_nothing_but_stars_are_left_aside() -> None:
    frame = pl.DataFrame({"age": ["*", "*", "30"], "zip": ["*", "z1", "*"], "n": [1, 2, 3]})
    assert without_suppressed(frame, BY)["n"].to_list() == [2, 3]
    assert without_suppressed(frame, ())["n"].to_list() == [1, 2, 3]
    assert without_suppressed(frame.head(1), BY).height == 1


def test_progress_and_the_same_seed() -> None:
    original, release = ten_alike()
    tables, steps = Tables(release, original, BY, ("illness",)), []
    first = run_attacks(tables, Randomness(7), trials=200, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(place, 7) for place in range(7)]
    assert first == run_attacks(tables, Randomness(7), trials=200)
    assert first != run_attacks(tables, Randomness(8), trials=200)
