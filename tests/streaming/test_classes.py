"""What leaves a stream: recounted by other code, and compared with a search by brute force."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.feeds import ListedLog, ListedSink

from shoal.policy import Policy
from shoal.streaming.request import StreamDelay, StreamRequest
from shoal.streaming.run import StreamRun

K = 3
QUASI = ("age", "town", "sex")
POLICY = f"""
shoal: 1
name: visits
person: patient
attributes:
  patient: {{role: direct, technique: suppress}}
  age: {{role: quasi, type: integer, hierarchy: {{intervals: {{widths: [10, 20]}}}}}}
  town: {{role: quasi, hierarchy: {{redact: {{steps: [1, 2]}}}}}}
  sex: {{role: quasi}}
  number: {{role: insensitive, type: integer}}
  ill: {{role: sensitive}}
privacy: [{{k_anonymity: {{k: {K}}}}}]
"""
Record = dict[str, Any]

people = st.one_of(st.none(), st.integers(0, 8).map(str))
visits = st.lists(
    st.tuples(people, st.integers(0, 45), st.sampled_from(["aab", "aac", "abd", "bcd"]), st.sampled_from("FM")),
    max_size=40,
)


def records_of(drawn: Sequence[tuple[str | None, int, str, str]]) -> list[Record]:
    return [
        {"patient": who, "age": age, "town": town, "sex": sex, "number": place, "ill": "flu"}
        for place, (who, age, town, sex) in enumerate(drawn)
    ]


def flow(records: Sequence[Record | None], delay: int = 10, reads: int | None = None, text: str = POLICY) -> ListedSink:
    sink = ListedSink()
    request = StreamRequest(Policy.from_text(text), delay=StreamDelay(records=delay), seed=1)
    StreamRun(request, ListedLog([records], reads), sink).execute()
    return sink


def smallest_class(commit: Sequence[Record], people: dict[Any, Any], quasi: Sequence[str] = QUASI) -> int | None:
    """People in the smallest class of what left together, suppressed ones aside; a missing name is one person."""
    classes: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for record in commit:
        classes[tuple(record[name] for name in quasi)].add(people[record["number"]])
    classes.pop(("*",) * len(quasi), None)
    return min(map(len, classes.values()), default=None)


@pytest.mark.requirement("L-05")
@given(visits, st.integers(1, 30), st.integers(1, 12))
@settings(max_examples=60, deadline=None)
def test_every_class_that_leaves_has_k_people_by_another_count(drawn, delay, reads):
    records = records_of(drawn)
    sink = flow(records, delay, reads)
    people = {record["number"]: record["patient"] for record in records}
    for commit in sink.commits:
        smallest = smallest_class(commit, people)
        assert smallest is None or smallest >= K
    assert sorted(record["number"] for record in sink.records) == list(range(len(records)))


@given(visits, st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_what_leaves_is_true_of_the_record(drawn, reads):
    records = records_of(drawn)
    for left in flow(records, reads=reads).records:
        was = records[left["number"]]
        assert left["sex"] in (was["sex"], "*")
        assert left["town"] in {was["town"], was["town"][:2] + "x", was["town"][0] + "xx", "*"}
        assert left["age"] in {label(was["age"], level) for level in range(4)}
        assert "patient" not in left


def label(age: int, level: int) -> str:
    if level in (0, 3):
        return "*" if level else str(age)
    width = 10 * level
    return f"{age // width * width}-{age // width * width + width - 1}"


def town_label(town: str, level: int) -> str:
    return "*" if level == 3 else town[: 3 - level] + "x" * level


LEVELS = (4, 4, 2)


def nodes_by_hand() -> list[tuple[int, ...]]:
    every = [node for node in itertools.product(*map(range, LEVELS)) if node != (3, 3, 1)]
    tops = [most - 1 for most in LEVELS]
    loss = {node: sum(Fraction(level, top) for level, top in zip(node, tops, strict=True)) for node in every}
    return sorted(every, key=lambda node: (loss[node], node[::-1]))


def shown(record: Record, node: Sequence[int]) -> tuple[str, ...]:
    return (
        label(record["age"], node[0]),
        town_label(record["town"], node[1]),
        "*" if node[2] else str(record["sex"]),
    )


def by_brute_force(records: Sequence[Record], delay: int) -> list[set[tuple[Any, ...]]]:
    """Of each batch, what leaves: dictionaries and sets only, one record at a time."""
    batch = max(1, delay // 2)
    waiting: list[Record] = []
    left: list[set[tuple[Any, ...]]] = []
    for start in range(0, max(1, len(records)), batch):
        waiting += records[start : start + batch]
        came = min(start + batch, len(records))
        over = came == len(records)
        due = {one["number"] for one in waiting if over or one["number"] < came - (delay - batch)}
        gone: set[tuple[Any, ...]] = set()
        for place, node in enumerate(nodes_by_hand()):
            classes: dict[tuple[str, ...], list[Record]] = defaultdict(list)
            for one in waiting:
                classes[shown(one, node)].append(one)
            for name, members in classes.items():
                wanted = not place or any(one["number"] in due for one in members)
                if wanted and len({one["patient"] for one in members}) >= K:
                    gone |= {(one["number"], *name) for one in members}
            names = {one[0] for one in gone}
            waiting = [one for one in waiting if one["number"] not in names]
        gone |= {(one["number"], "*", "*", "*") for one in waiting if one["number"] in due}
        waiting = [one for one in waiting if one["number"] not in due]
        left.append(gone)
    return left


@pytest.mark.requirement("L-05")
@given(visits, st.integers(1, 30))
@settings(max_examples=60, deadline=None)
def test_each_leaves_on_the_least_wide_class_as_brute_force_finds_it(drawn, delay):
    records = records_of(drawn)
    found = [
        {(one["number"], one["age"], one["town"], one["sex"]) for one in commit}
        for commit in flow(records, delay).commits
    ]
    assert [one for one in found if one] == [one for one in by_brute_force(records, delay) if one]


def test_one_person_is_not_k():
    records = records_of([("1", 30, "aab", "F")] * 9)
    assert {record["age"] for record in flow(records).records} == {"*"}


def test_without_a_person_each_record_is_one():
    text = POLICY.replace("person: patient\n", "")
    records = records_of([("1", 30, "aab", "F")] * K)
    assert {record["age"] for record in flow(records, text=text).records} == {"30"}


def test_suppressed_records_can_be_left_out():
    text = POLICY + "solve: {drop_suppressed: true}\n"
    records = records_of([("1", 30, "aab", "F"), *((str(one), 5, "bcd", "M") for one in range(K))])
    assert [record["age"] for record in flow(records, text=text).records] == ["5"] * K


def test_a_class_has_the_diversity_that_is_asked_for():
    text = POLICY.replace("privacy: [", "privacy: [{l_diversity: {attribute: ill, l: 2, kind: distinct}}, ")
    alike = records_of([(str(one), 30, "aab", "F") for one in range(K)])
    assert {record["age"] for record in flow(alike, text=text).records} == {"*"}
    alike[0]["ill"] = "asthma"
    assert {record["age"] for record in flow(alike, text=text).records} == {"30"}


def test_bounds_on_levels_are_kept():
    text = POLICY + "solve: {levels: {age: [1, 2], sex: 1}}\n"
    records = records_of([(str(one), 30, "aab", "F") for one in range(K)])
    (shown_once,) = {(one["age"], one["sex"]) for one in flow(records, text=text).records}
    assert shown_once == ("30-39", "*")


def test_nobody_waits_for_more_newer_records_than_the_delay_says():
    """The first stands alone: it leaves, suppressed, before the delay is over."""
    delay = 20
    lone, others = ("x", 45, "bcd", "M"), [(str(one), one % 10, "aab", "F") for one in range(200)]
    records = records_of([lone, *others])
    sink = flow(records, delay)
    before: list[Record] = []
    for commit in sink.commits:
        before += commit
        if any(one["number"] == 0 for one in commit):
            break
    assert max(one["number"] for one in before) <= delay


def test_the_same_seed_gives_the_same_records_in_the_same_order():
    records = records_of([(str(one), one % 30, "aab", "F") for one in range(100)])
    assert flow(records).commits == flow(records).commits


def test_many_values_are_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shoal.streaming.label_book.MOST_VALUES", 4)
    records = records_of([(str(one), one % 40, "aab", "F") for one in range(120)])
    found = {one["number"]: one["age"] for one in flow(records, delay=16).records}
    monkeypatch.undo()
    assert found == {one["number"]: one["age"] for one in flow(records, delay=16).records}
