"""Counts against brute force over the records they were made from."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.schema import Counts
from shoal.schema import counts as counts_module

ATTRIBUTES = ("city", "age")
Record = tuple[str | None, int | None, str | None]

records_of_people = st.lists(
    st.tuples(
        st.sampled_from(["Pune", "Agra", "", None]),
        st.sampled_from([30, 31, -1, None]),
        st.sampled_from(["p1", "p2", "p3", "p4", None]),
    ),
    max_size=30,
)
examples = settings(max_examples=60)


def _table(records: Sequence[Record]) -> pl.DataFrame:
    schema = {"city": pl.String, "age": pl.Int64, "person": pl.String}
    return pl.DataFrame(records, schema=schema, orient="row")


def _counted(records: Sequence[Record], *, people: bool) -> Counts:
    keys = (*ATTRIBUTES, "person") if people else ATTRIBUTES
    frame = _table(records).group_by(keys).len("records").sample(fraction=1, shuffle=True, seed=1)
    if people:
        return Counts.from_pairs(frame, ATTRIBUTES, "person", "records")
    return Counts.from_frame(frame, ATTRIBUTES, "records")


def _people(records: Sequence[Record]) -> dict[tuple[str | None, int | None], set[str | None]]:
    people = defaultdict(set)
    for city, age, person in records:
        people[city, age].add(person)
    return people


def _sort_key(combination: tuple[object, ...]) -> tuple[tuple[bool, object], ...]:
    return tuple((value is None, value if value is not None else 0) for value in combination)


@pytest.mark.requirement("D-09")
@pytest.mark.parametrize("people", [True, False])
@examples
@given(records=records_of_people)
def test_every_combination_is_there_once_with_its_records(people: bool, records: Sequence[Record]) -> None:
    counts = _counted(records, people=people)
    expected = Counter((city, age) for city, age, _ in records)
    assert dict(zip(counts.frame().rows(), counts.records.tolist(), strict=True)) == expected
    assert counts.size == len(expected)
    assert counts.total_records == len(records)


@pytest.mark.parametrize("people", [True, False])
@examples
@given(records=records_of_people)
def test_combinations_and_values_are_sorted_missing_last(people: bool, records: Sequence[Record]) -> None:
    counts = _counted(records, people=people)
    assert counts.frame().rows() == sorted(counts.frame().rows(), key=_sort_key)
    for position, values in enumerate(counts.values):
        assert values.to_list() == sorted({record[position] for record in records}, key=lambda v: _sort_key((v,)))


@pytest.mark.parametrize("bits", [0, 63])
def test_the_order_is_the_same_whether_or_not_positions_fit_beside_the_key(
    bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_module, "_BITS", bits)
    records: list[Record] = [("b", 2, "x"), ("a", None, "x"), ("a", 1, "x"), ("b", 1, "x"), (None, 1, "x")]
    counts = _counted(records, people=False)
    assert counts.frame().rows() == sorted(counts.frame().rows(), key=_sort_key)


@pytest.mark.parametrize("late", ["zz", None])
def test_a_value_that_first_appears_further_down_is_not_overlooked(
    late: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts_module, "_FIRST", 3)
    frame = pl.DataFrame({"q": ["b", "a", "b", "a", late], "r": ["x", "x", "y", "y", "x"], "n": [1, 2, 3, 4, 5]})
    counts = Counts.from_frame(frame, ("q", "r"), "n")
    found = dict(zip(counts.frame().rows(), counts.records.tolist(), strict=True))
    assert found == {(q, r): n for q, r, n in frame.rows()}
    assert counts.values[0].to_list() == ["a", "b", late]


@pytest.mark.requirement("D-09")
@examples
@given(records=records_of_people)
def test_a_person_in_one_combination_only_is_counted_there_all_others_are_listed(records: Sequence[Record]) -> None:
    counts = _counted(records, people=True)
    people = _people(records)
    appearances = Counter(person for members in people.values() for person in members)
    alone = [sum(appearances[person] == 1 for person in people[row]) for row in counts.frame().rows()]
    assert counts.people.tolist() == alone
    assert counts.total_people == len(appearances)
    listed: dict[int, list[int]] = defaultdict(list)
    for person, combination in counts.shared.tolist():
        listed[person].append(combination)
    expected = [
        sorted(place for place, row in enumerate(counts.frame().rows()) if person in people[row])
        for person, times in appearances.items()
        if times > 1
    ]
    assert sorted(listed.values()) == sorted(expected)


@pytest.mark.requirement("D-09")
@examples
@given(records=records_of_people, data=st.data())
def test_people_of_any_union_of_combinations_are_counted_exactly(
    records: Sequence[Record], data: st.DataObject
) -> None:
    counts = _counted(records, people=True)
    groups = data.draw(st.lists(st.integers(0, 2), min_size=counts.size, max_size=counts.size))
    people = _people(records)
    expected = [
        len(set().union(*(people[row] for row, own in zip(counts.frame().rows(), groups, strict=True) if own == group)))
        for group in range(3)
    ]
    assert counts.people_in(np.array(groups, dtype=np.int64), 3).tolist() == expected


@examples
@given(records=records_of_people)
def test_without_a_person_column_a_record_is_a_person(records: Sequence[Record]) -> None:
    counts = _counted(records, people=False)
    assert counts.people.tolist() == counts.records.tolist()
    assert counts.total_people == len(records)
    assert counts.people_in(np.zeros(counts.size, dtype=np.int64), 1).tolist() == [len(records)]


@examples
@given(records=records_of_people)
def test_value_counts_add_up_the_records_of_one_attribute(records: Sequence[Record]) -> None:
    counts = _counted(records, people=True)
    for position, name in enumerate(ATTRIBUTES):
        assert dict(counts.value_counts(name).rows()) == Counter(record[position] for record in records)


def test_all_records_without_a_person_are_one_person() -> None:
    counts = _counted([("Pune", 30, None), ("Pune", 30, None), ("Agra", 31, None), ("Agra", 31, "p1")], people=True)
    assert counts.people.tolist() == [1, 0]
    assert counts.total_people == 2
    assert counts.people_in(np.array([0, 0]), 1).tolist() == [2]


def test_people_are_not_records() -> None:
    counts = _counted([("Pune", 30, "p1")] * 5 + [("Pune", 30, "p2")], people=True)
    assert counts.records.tolist() == [6]
    assert counts.people.tolist() == [2]


def test_no_attributes_is_one_combination_of_everything() -> None:
    counts = Counts.from_frame(pl.DataFrame({"records": [7]}), (), "records")
    assert (counts.size, counts.total_records, counts.total_people) == (1, 7, 7)
    assert counts.codes.shape == (1, 0)


def test_no_records_no_combinations() -> None:
    for people in (True, False):
        counts = _counted([], people=people)
        assert (counts.size, counts.total_records, counts.total_people) == (0, 0, 0)
        assert counts.people_in(np.empty(0, dtype=np.int64), 2).tolist() == [0, 0]


def test_floats_count_by_value() -> None:
    frame = pl.DataFrame({"x": [0.5, float("nan"), None], "records": [2, 3, 4]})
    counts = Counts.from_frame(frame, ("x",), "records")
    assert counts.records.tolist() == [2, 3, 4]
