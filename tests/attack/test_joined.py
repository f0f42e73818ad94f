"""Linking over joined tables: who is left as the only one, and that nobody is whom the joined classes hide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attack.attacks.joined_linking import JoinedTable, joined_linking
from shoal.attack.result import NothingToTryError
from shoal.errors import DataError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("R-04")

RANDOMNESS = Randomness(1)


def table(
    column: str, before: Sequence[tuple[str, object]], after: Sequence[tuple[str | None, object]], **more: pl.DataFrame
) -> JoinedTable:
    """Records as (whom, value) of the original, (key, label) of the release, in the same order."""
    people, values = zip(*before, strict=True)
    keys, labels = zip(*after, strict=True)
    return JoinedTable(
        pl.DataFrame({column: labels}),
        pl.DataFrame({column: values}),
        (column,),
        pl.Series(keys),
        pl.Series(people),
        more,
    )


def people_of(number: int) -> list[str]:
    return [f"p{place}" for place in range(number)]


def pseudonym(person: str) -> str:
    return person.replace("p", "k")


def test_who_is_alone_in_the_joined_tables_is_found_for_certain() -> None:
    """Four of each age and five in each ward, but nobody shares both with anybody; the rows tell who is who."""
    names = people_of(20)
    ages = {who: 30 + 10 * (place % 5) + place // 5 for place, who in enumerate(names)}
    wards = {who: f"W{place // 5}" for place, who in enumerate(names)}
    tables = [
        table("age", list(ages.items()), [(pseudonym(who), f"{age // 10}0-{age // 10}9") for who, age in ages.items()]),
        table("ward", list(wards.items()), [(pseudonym(who), ward) for who, ward in wards.items()]),
    ]
    found = joined_linking(tables, RANDOMNESS)
    assert (found.success.right, found.success.trials) == (20, 20)
    assert found.found
    alone = joined_linking(tables[:1], RANDOMNESS)
    assert (alone.success.right, alone.details["candidates"]) == (0, 4)  # type: ignore[index]


def test_how_often_somebody_was_there_tells_too() -> None:
    visits = [("p0", "x"), ("p1", "x"), ("p1", "x"), ("p2", "x"), ("p3", "x"), ("p4", "x")]
    found = joined_linking([table("ward", visits, [(pseudonym(who), ward) for who, ward in visits])], RANDOMNESS)
    assert found.success.right == 1
    assert found.details is not None
    assert found.details["fewest_candidates"] == 1


def test_a_record_that_nobody_has_rules_a_key_out_and_a_record_that_fits_nowhere_too() -> None:
    visits = [("p0", "x"), ("p0", "y"), ("p1", "x"), ("p1", "x"), ("p2", "y"), ("p2", "y")]
    found = joined_linking([table("ward", visits, [(pseudonym(who), ward) for who, ward in visits])], RANDOMNESS)
    assert found.success.right == 3


def test_where_records_were_left_out_counts_rule_nobody_out() -> None:
    visits = [("p0", "x"), ("p0", "x"), ("p1", "x"), ("p1", "x")]
    kept: list[tuple[str | None, object]] = [("k0", "x"), ("k1", "x"), ("k1", "x")]
    people, values = zip(*visits, strict=True)
    keys, labels = zip(*kept, strict=True)
    one = JoinedTable(
        pl.DataFrame({"ward": labels}), pl.DataFrame({"ward": values}), ("ward",), pl.Series(keys), pl.Series(people)
    )
    found = joined_linking([one], RANDOMNESS)
    assert found.details is not None
    assert (found.details["claims"], found.success.right) == (0, 0)


def test_claims_that_nobody_can_judge_are_not_counted_as_finds() -> None:
    """Rows in no order, and nothing that tells which is which: one of each age by itself."""
    before: list[tuple[str, object]] = [(who, 10 * place) for place, who in enumerate(people_of(20), 1)]
    after: list[tuple[str | None, object]] = [(pseudonym(who), f"{age}-{age + 9}") for who, age in before[::-1]]  # type: ignore[operator]
    with pytest.raises(DataError, match="which released record is whose"):
        joined_linking([table("age", before, after)], RANDOMNESS)


def test_without_anything_to_know_there_is_nothing_to_try() -> None:
    nothing = JoinedTable(pl.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]}), (), pl.Series(["k"]), pl.Series(["p"]))
    with pytest.raises(NothingToTryError):
        joined_linking([nothing], RANDOMNESS)
    no_keys = table("age", [("p0", 1)], [(None, 1)])
    with pytest.raises(NothingToTryError):
        joined_linking([no_keys], RANDOMNESS)


@given(st.lists(st.tuples(st.integers(20, 49), st.sampled_from("xy")), min_size=4, max_size=12))
def test_nobody_is_found_whom_the_joined_classes_hide(people: Sequence[tuple[int, str]]) -> None:
    """Whoever shares all released values with another is no certain find."""
    names = people_of(len(people))
    labels = [f"{age // 10}0-{age // 10}9" for age, _ in people]
    classes = Counter(zip(labels, (ward for _, ward in people), strict=True))
    tables = [
        table(
            "age",
            [(who, age) for who, (age, _) in zip(names, people, strict=True)],
            [(pseudonym(who), label) for who, label in zip(names, labels, strict=True)],
        ),
        table(
            "ward",
            [(who, ward) for who, (_, ward) in zip(names, people, strict=True)],
            [(pseudonym(who), ward) for who, (_, ward) in zip(names, people, strict=True)],
        ),
    ]
    alone = sum(size == 1 for size in classes.values())
    found = joined_linking(tables, RANDOMNESS, owners={pseudonym(who): who for who in names})
    assert found.success.right == alone
