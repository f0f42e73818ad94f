"""What released cells can stand for, by the policy: also for values that a hierarchy has no place for."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from shoal.assess.comparison.label_vocabulary import Vocabulary
from shoal.attack.matching.coverage import Coverage
from shoal.policy import Policy
from shoal.policy.treatment import treatments

pytestmark = pytest.mark.requirement("R-09")


def words(
    column: str, values: Sequence[object], labels: Sequence[object], role: str = "quasi"
) -> tuple[Vocabulary, Coverage]:
    """Of a column that is generalised so."""
    policy = Policy.from_text(f"shoal: 1\nname: words\nattributes:\n  x: {{role: {role}{column}}}\n")
    people, released = (pl.DataFrame({"x": each}, strict=False) for each in (values, labels))
    found = Vocabulary.of(people, released, treatments(policy), policy)
    return found, Coverage.of(found.people["x"], released["x"], found.labels.get("x"))


TREE = ", hierarchy: {taxonomy: {tree: {Indoors: [cook, clerk], Outdoors: [mason, farmer]}}}"


def test_a_list_of_values_tells_all_its_labels() -> None:
    found, seen = words(TREE, ["cook", "pilot", None], ["Indoors", "Outdoors", "mason", "*"])
    assert found.unknown.to_list() == [False, True, False]
    assert found.closed == {"x"}
    assert seen.unread == 0
    assert seen.matrix().tolist() == [
        [True, False, False, True],
        [False, False, False, True],
        [False, False, False, True],
    ]


@pytest.mark.parametrize(
    ("column", "values", "labels", "unknown"),
    [
        (", hierarchy: {intervals: {widths: [10]}}", ["34", "old", None], ["30-39", "40-49", "*"], [0, 1, 0]),
        (", hierarchy: dates", ["2024-02-14", "in spring"], ["2024-02", "2023", "*"], [0, 1]),
        (", hierarchy: redact", ["411005", "x"], ["4110**", "*"], [0, 0]),
        (", hierarchy: {rare: 5}", ["a", "b"], ["a", "Others", "*"], [0, 0]),
        ("", ["F", "Z"], ["F", "M", "*"], [0, 0]),
    ],
    ids=["numbers", "dates", "codes", "rare values", "no hierarchy"],
)
def test_values_without_a_place_fit_a_star_only(
    column: str, values: Sequence[object], labels: Sequence[object], unknown: Sequence[int]
) -> None:
    found, seen = words(column, values, labels)
    assert found.unknown.cast(pl.Int64).to_list() == unknown
    covers = seen.matrix()
    assert covers[:, -1].all()
    for place, strange in enumerate(unknown):
        assert not (strange and covers[place, :-1].any())
    assert covers[0, 0] == (not unknown[0])
    assert seen.unread == 0


def test_where_no_value_can_be_read_labels_are_not_read_either() -> None:
    found, seen = words(", hierarchy: {intervals: {widths: [10]}}", ["old", "older"], ["30-39", "*"])
    assert not found.labels
    assert seen.unread == 1


def test_any_value_may_have_been_a_rare_one() -> None:
    _, seen = words(", hierarchy: {rare: 5}", ["a"] * 50 + ["b"], ["Others", "a"])
    assert seen.matrix().tolist() == [[True, True], [True, False]]


def test_what_was_left_as_it_was_is_read_without_a_policy() -> None:
    _, seen = words("", [1.0, 2.0], [1, 3, 4], role="insensitive")
    assert seen.matrix().tolist() == [[True, False, False], [False, False, False]]
    policy = Policy.from_text("shoal: 1\nname: words\nattributes:\n  x: {role: insensitive}\n")
    people, released = pl.DataFrame({"x": ["a"]}), pl.DataFrame({"x": ["b"]})
    assert set(Vocabulary.of(people, released, treatments(policy)).labels) == {"x"}
    quasi = Policy.from_text("shoal: 1\nname: words\nattributes:\n  x: {role: quasi}\n")
    assert not Vocabulary.of(people, released, treatments(quasi)).labels
