"""People who have several records: they are tried as people, and found where all candidates are their own."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attack import Attack
from shoal.attack.attacks.distance_linking import distance_linking
from shoal.attack.attacks.linking import linking
from shoal.attack.battery import AttackTables, run_attacks
from shoal.attack.ground_truth.owners import Trials
from shoal.attack.matching.coverage import Match
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")

PEOPLE = 300
BY = ("age", "zip")


def visits(people: int = PEOPLE) -> pl.DataFrame:
    """Three to five records of each of so many people, everybody alone with their age and zip."""
    who = np.repeat(np.arange(people), 3 + np.arange(people) % 3)
    place = np.arange(len(who))
    return pl.DataFrame(
        {
            "pid": [f"P{each}" for each in who],
            "age": 20 + who % 50,
            "zip": [f"z{100 + each // 50}" for each in who],
            "ill": [f"illness {each % 7}" for each in place],
            "bill": place * 100.0,
        }
    )


def attacked(release: pl.DataFrame, original: pl.DataFrame, person: str | None = "pid") -> dict[str, Attack]:
    tables = AttackTables(release, original, BY, ("ill",), person=person)
    return {attack.key: attack for attack in run_attacks(tables, Randomness(1)).attacks}


@pytest.mark.parametrize("order", ["kept", "shuffled"])
def test_an_open_table_gives_everybody_away_although_nobody_has_one_record(order: str) -> None:
    table = visits()
    release = table.drop("pid") if order == "kept" else table.drop("pid", "bill").reverse()
    found = attacked(release, table)
    linked = found["linking"]
    assert (linked.success.right, linked.success.trials) == (PEOPLE, PEOPLE)
    assert linked.baseline.share == pytest.approx(1 / PEOPLE)
    assert linked.found
    assert found["skewness"].success.share == 1
    assert found["skewness"].success.trials == PEOPLE
    alone = found["singling_out"]
    assert alone.details is not None
    assert alone.details["precision"] == 1
    # Every age and zip go together in somebody, so whoever guesses both meets as many; nobody guesses a bill.
    assert alone.found == (order == "kept")
    assert attacked(release, table, person=None)["linking"].success.right == 0


def test_everybody_is_found_by_weighing_and_by_nearness_too() -> None:
    table = visits()
    near = table.drop("pid").with_columns(pl.col("bill") + 30)
    tables = AttackTables(near, table, BY, numbers=("bill",), person="pid")
    found = {attack.key: attack for attack in run_attacks(tables, Randomness(1)).attacks}
    for key in ("probabilistic_linking", "distance_linking"):
        assert found[key].success.trials == PEOPLE
        assert found[key].success.share > 0.99, key


def test_two_people_behind_one_combination_hide_each_other() -> None:
    """However many records each of them has, and whether or not the order of rows is known."""
    table = visits(PEOPLE)
    who = table["pid"].str.strip_prefix("P").cast(pl.Int64) // 2
    table = table.with_columns(age=20 + who % 50, zip=pl.format("z{}", who // 50))
    for release in (table.drop("pid"), table.drop("pid", "bill").reverse()):
        found = attacked(release, table)
        assert found["linking"].success.right == 0
        assert found["probabilistic_linking"].success.right == 0
        assert not found["linking"].found
    known = attacked(table.drop("pid"), table)["linking"].details
    assert known is not None
    assert known["fewest_people"] == 2
    assert known["fewest_candidates"] > 2


def test_the_auxiliary_file_leaves_one_person_where_all_records_are_that_persons() -> None:
    table = visits()
    auxiliary = table.select(BY).unique(maintain_order=True).head(40)
    tables = AttackTables(table.drop("pid"), table, BY, person="pid", auxiliary=auxiliary)
    found = {attack.key: attack for attack in run_attacks(tables, Randomness(1)).attacks}["auxiliary_linking"]
    assert (found.success.right, found.success.trials) == (40, 40)


def test_strangers_with_several_records_are_compared_as_people() -> None:
    """What is true of everybody, any of their illnesses, must not count as found because strangers are counted once a
    record."""
    table, others = visits(), visits().with_columns(pl.col("pid") + "x")
    hidden = table.select(pl.lit("*").alias("age"), pl.lit("*").alias("zip"), "ill")
    tables = AttackTables(hidden, table, BY, ("ill",), control=others, person="pid")
    found = {attack.key: attack for attack in run_attacks(tables, Randomness(1)).attacks}
    for key in ("skewness", "homogeneity", "learned_inference", "membership"):
        assert not found[key].found, key
    assert found["skewness"].control is not None
    assert found["skewness"].control.trials == PEOPLE
    assert found["skewness"].control.share == pytest.approx(found["skewness"].success.share, abs=0.05)


def test_a_record_that_names_nobody_is_somebody_of_their_own() -> None:
    table = visits(60).with_columns(pid=pl.when(pl.row_index() >= 100).then(pl.col("pid")))
    linked = attacked(table.drop("pid"), table)["linking"]
    assert linked.success.trials == 100 + table["pid"].drop_nulls().n_unique()


def test_rows_with_different_knowledge_count_by_the_one_that_tells_most() -> None:
    """Somebody who moved is alone in one place and one of many in the other."""
    original = pl.DataFrame({"who": [0, 0, 1, 2], "zip": ["a", "b", "b", "b"]})
    release = original.select("zip", "who")
    found = linking(release, original, ["zip"], aligned=False, truth="who", person="who", owner="who", certain=True)
    assert (found.success.right, found.success.trials) == (1, 3)
    open_ = linking(release, original, ["zip"], aligned=False, truth="who", person="who", owner="who")
    assert open_.success.right == pytest.approx(1 + 1 / 3 + 1 / 3)


def test_equally_near_records_of_the_same_person_leave_no_doubt() -> None:
    original = pl.DataFrame({"who": [0, 0, 1, 1, 2], "bill": [10.0, 10.0, 50.0, 90.0, 91.0]})
    release = pl.DataFrame({"who": [0, 0, 1, 1, 2], "bill": [11.0, 11.0, 51.0, 90.5, 90.5]})
    found = distance_linking(release, original, ["bill"], aligned=False, truth="who", person="who", certain=True)
    assert (found.success.right, found.success.trials) == (2, 3)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c", "*", "{a, b}"])), min_size=1, max_size=12),
    st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=5),
)
def test_candidates_in_people_as_counted_one_by_one(records: list[tuple[int, str]], asked: list[str]) -> None:
    covers = {"a": {"a"}, "b": {"b"}, "c": {"c"}, "*": {"a", "b", "c"}, "{a, b}": {"a", "b"}}
    release = pl.DataFrame(records, schema={"who": pl.Int64, "zip": pl.String}, orient="row")
    match = Match.of(release, pl.DataFrame({"zip": [*asked, "a", "b", "c"]}), ["zip"])
    expected = [len({who for who, label in records if value in covers[label]}) for value in asked]
    assert match.people(release["who"])[: len(asked)].tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), min_size=1, max_size=20))
def test_the_best_of_each_person(rows: list[tuple[int, float]]) -> None:
    who, values = zip(*rows, strict=True)
    best = Trials.by(pl.Series(who), len(rows)).best(np.array(values))
    assert sorted(best) == sorted(max(value for each, value in rows if each == one) for one in set(who))
