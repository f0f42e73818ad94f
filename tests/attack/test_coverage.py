"""What a released label covers, and which combinations go together, against one-by-one comparison."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.work import calls

from shoal.attack.matching.coverage import Coverage, Match, compatible
from shoal.attack.matching.label_join import JoinLevel, join
from shoal.errors import DataError
from shoal.hierarchy import Hierarchy
from shoal.hierarchy.kinds.dates import DateHierarchy
from shoal.hierarchy.kinds.grid import GridHierarchy
from shoal.hierarchy.kinds.intervals import IntervalHierarchy
from shoal.hierarchy.kinds.rare import RareHierarchy
from shoal.hierarchy.kinds.redact import RedactionHierarchy
from shoal.schema import Column, ValueType

pytestmark = pytest.mark.requirement("R-04")

AGES = [29, 30, 34, 39, 40, 41, 89, 90, 97]


def covered(values: list[object], label: object, known: pl.DataFrame | None = None) -> list[object]:
    read = Coverage.of(pl.Series(values), pl.Series([label]), known)
    return [value for value, covers in zip(read.values.to_list(), read.matrix()[:, 0], strict=True) if covers]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("34", [34]),
        ("34.0", [34]),
        ("30-39", [30, 34, 39]),
        ("30–39", [30, 34, 39]),
        ("30 to 39", [30, 34, 39]),
        ("[30, 40)", [30, 34, 39]),
        ("(30, 40]", [34, 39, 40]),
        ("[40,inf)", [40, 41, 89, 90, 97]),
        ("< 30", [29]),
        ("≤30", [29, 30]),
        ("≥ 90", [90, 97]),
        (">90", [97]),
        ("90+", [90, 97]),
        ("90 and over", [90, 97]),
        ("{29, 41}", [29, 41]),
        ("3x", [30, 34, 39]),
        ("9*", [90, 97]),
        ("*", AGES),
        ("77", []),
        ("50-59", []),
        ("{1, 2}", []),
    ],
)
def test_labels_over_numbers(label: str, expected: list[int]) -> None:
    assert covered(list(AGES), label) == expected
    assert covered([str(age) for age in AGES], label) == [str(age) for age in expected]


@pytest.mark.parametrize("value", [39.5, 39.0])
def test_a_range_of_whole_numbers_holds_what_lies_before_the_next_one(value: float) -> None:
    assert covered([value, 40.0], "30-39") == [value]


def test_ranges_that_share_edges_are_closed() -> None:
    read = Coverage.of(pl.Series([40.0, 40.5, 50.5]), pl.Series(["30-40", "40-50"]))
    assert read.matrix().tolist() == [[True, True], [False, True], [False, True]]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("2026", ["2026-03-01", "2026-03-31", "2026-12-31"]),
        ("2026-03", ["2026-03-01", "2026-03-31"]),
        ("2026-Q1", ["2026-03-01", "2026-03-31"]),
        ("2026-W10", ["2026-03-08"]),
        ("2020s", ["2025-12-31", "2026-03-01", "2026-03-31", "2026-12-31"]),
        ("2024–2025", ["2025-12-31"]),
        ("<2026", ["2025-12-31"]),
    ],
)
def test_periods_over_dates(label: str, expected: list[str]) -> None:
    dates = ["2025-12-31", "2026-03-01", "2026-03-31", "2026-12-31"]
    if label == "2026-W10":
        dates = ["2026-03-01", "2026-03-08", "2026-03-09"]
    assert covered(list(dates), label) == expected
    typed = [datetime.date.fromisoformat(day) for day in dates]
    assert covered(list(typed), label) == [datetime.date.fromisoformat(day) for day in expected]


def test_dates_in_another_format_are_read() -> None:
    assert covered(["14/02/2024", "15/03/2024"], "2024-02") == ["14/02/2024"]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("560xxx", ["560001", "560999"]),
        ("56****", ["560001", "560999", "561001"]),
        ("56*", ["560001", "560999", "561001"]),
        ("xxx001", ["560001", "561001"]),
        ("5xxxx9", ["560999"]),
        ("******", ["560001", "560999", "561001"]),
    ],
)
def test_masks(label: str, expected: list[str]) -> None:
    assert covered(["560001", "560999", "561001"], label) == expected


def test_masks_of_codes_of_several_lengths() -> None:
    assert covered(["E11.9", "E11", "I10"], "E11xx") == ["E11.9", "E11"]


def test_words_with_an_x_are_not_masks() -> None:
    read = Coverage.of(pl.Series(["Texas", "Utah"]), pl.Series(["Texas", "Mexico"]))
    assert read.matrix().tolist() == [[True, True], [False, True]]
    assert read.unread == 1


def test_what_nobody_can_read_covers_everything_and_is_counted() -> None:
    read = Coverage.of(pl.Series(["India", "Nepal"]), pl.Series(["South Asia", "*", "India"]))
    assert read.matrix().tolist() == [[True, True, True], [True, True, False]]
    assert read.unread == 1


def test_a_value_that_nobody_among_the_people_has_is_not_unreadable_once_it_is_known() -> None:
    read = Coverage.of(pl.Series(["Pune"]), pl.Series(["Pune", "Delhi", "West"]), domain=pl.Series(["Delhi"]))
    assert read.matrix()[read.codes(pl.Series(["Pune"]))].tolist() == [[True, False, True]]
    assert read.unread == 1


def test_a_known_hierarchy_is_read_before_anything_else() -> None:
    known = pl.DataFrame({"value": ["India", "Nepal", "Japan"], "1": ["South Asia", "South Asia", "East Asia"]})
    values: list[object] = ["India", "Nepal", "Japan"]
    assert covered(values, "South Asia", known) == ["India", "Nepal"]
    assert covered(values, "East Asia", known) == ["Japan"]
    assert covered(values, "Japan", known) == ["Japan"]
    long = pl.DataFrame({"value": ["India", "India"], "label": ["South Asia", "Asia"]})
    assert covered(values, "Asia", long) == ["India"]


def test_missing_values() -> None:
    assert covered([1, None], None) == [None]
    assert covered([1, 2], None) == [1, 2]
    assert covered([1, None], "*") == [1, None]
    assert Coverage.of(pl.Series([None, None]), pl.Series([None])).matrix().tolist() == [[True]]


def test_rounded_numbers_cover_what_is_within_one_base() -> None:
    read = Coverage.of(pl.Series(range(60)), pl.Series([10, 20, 30, 40, 50]))
    assert np.flatnonzero(read.matrix()[:, 1]).tolist() == list(range(11, 30))


@pytest.mark.parametrize(
    ("hierarchy", "column", "values"),
    [
        (
            IntervalHierarchy(widths=[5, 10, 40], low=20, high=90),
            Column("age", ValueType.INTEGER),
            list(range(0, 100, 3)),
        ),
        (IntervalHierarchy(widths=[2.5, 10]), Column("dose", ValueType.DECIMAL), [0.1, 2.4, 2.5, 9.99, 33.3]),
        (DateHierarchy(), Column("born", ValueType.DATE), ["1969-12-31", "1970-01-01", "2024-02-29", "2026-12-31"]),
        (DateHierarchy(levels=["week"]), Column("seen", ValueType.DATE), ["2024-12-30", "2025-01-01", "2026-02-01"]),
        (RedactionHierarchy(), Column("pin"), ["411005", "411006", "560001"]),
        (GridHierarchy(), Column("lat", ValueType.DECIMAL), [1.27434, 1.28999, 1.30001, -1.50001]),
        (RareHierarchy(minimum=2), Column("race"), ["Chinese", "Malay"]),
    ],
)
def test_every_label_that_a_hierarchy_makes_covers_its_value(
    hierarchy: Hierarchy, column: Column, values: list[object]
) -> None:
    known = pl.DataFrame({"value": values, "records": [1] * len(values)})
    bound = hierarchy.bind(column, known)
    for level in range(bound.height + 1):
        labels = bound.generalise(known["value"], level)
        read = Coverage.of(known["value"], labels)
        assert read.covers(read.codes(known["value"]), read.label_codes(labels)).all(), f"level {level}"


SETS = st.lists(st.tuples(*[st.sampled_from(["1", "2", "3", "4"])] * 3), min_size=1, max_size=25)
CELLS = st.tuples(*[st.sampled_from(["1", "2", "3", "4", "1-2", "3-4", "2+", "*", "?!"])] * 3)


@settings(max_examples=40)
@given(SETS, st.lists(CELLS, min_size=1, max_size=25), st.integers(1, 40))
def test_the_join_finds_the_pairs_that_comparing_one_by_one_does(
    people: list[tuple[str, ...]], cells: list[tuple[str, ...]], piece: int
) -> None:
    schema = ["a", "b", "c"]
    match = Match.of(pl.DataFrame(cells, schema, orient="row"), pl.DataFrame(people, schema, orient="row"), schema)
    matrices = [coverage.matrix() for coverage in match.coverages]
    expected = {
        (t, c)
        for t, c in itertools.product(range(len(match.targets)), range(len(match.classes)))
        if all(matrix[match.targets[t, a], match.classes[c, a]] for a, matrix in enumerate(matrices))
    }
    for blocks in (
        compatible(match.targets, match.classes, match.coverages),
        join(match.targets, match.classes, match.coverages, piece=piece),
    ):
        found = [pair for t, c in blocks for pair in zip(t.tolist(), c.tolist(), strict=True)]
        assert len(found) == len(set(found))
        assert set(found) == expected
    fits = [match.fits(np.full(len(cells), p), np.arange(len(cells))).sum() for p in range(len(people))]
    assert match.candidates().tolist() == fits


@settings(max_examples=40)
@given(st.lists(st.tuples(CELLS, st.sampled_from([1, 2, 3, None])), min_size=1, max_size=20), SETS, st.integers(1, 3))
def test_people_and_weights_are_those_of_comparing_one_by_one(
    cells: list[tuple[tuple[str, ...], int | None]], people: list[tuple[str, ...]], attributes: int
) -> None:
    names = ["a", "b", "c"][:attributes]
    release = pl.DataFrame([cell[:attributes] for cell, _ in cells], names, orient="row")
    match = Match.of(release, pl.DataFrame([one[:attributes] for one in people], names, orient="row"), names)
    owners = [owner for _, owner in cells]
    fits = [match.fits(np.full(len(cells), p), np.arange(len(cells))).tolist() for p in range(len(people))]
    whose = [{-row if owners[row] is None else owners[row] for row in np.flatnonzero(one)} for one in fits]
    assert match.people(pl.Series(owners, dtype=pl.Int64)).tolist() == [len(one) for one in whose]
    targets, classes = np.arange(len(match.targets)), np.arange(len(match.classes))
    agree = match.agrees(np.repeat(targets, len(classes)), np.tile(classes, len(targets)))
    matrix = agree.reshape(len(targets), len(classes))
    assert match.by_target(classes + 1).tolist() == (matrix @ (classes + 1)).tolist()
    assert match.by_class(targets + 1).tolist() == (matrix.T @ (targets + 1)).tolist()
    told = sum(len(target) for target, _ in match.told_pairs())
    assert told == matrix[:, ~match.wide].sum()


def test_labels_that_nobody_can_read_are_not_paired_with_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pseudonyms: of most nothing can be read, of some a number by chance."""
    looked_up: list[int] = []
    lookups = JoinLevel.extend

    def counted(self: JoinLevel, *given: Any) -> Iterator[Any]:
        for pair in lookups(self, *given):
            looked_up.append(len(pair[0]))
            yield pair

    monkeypatch.setattr(JoinLevel, "extend", counted)
    size = 2_000
    codes = [f"q{number:05}zz" if number % 10 else str(number) for number in range(size)]
    match = Match.of(pl.DataFrame({"id": codes}), pl.DataFrame({"id": range(size)}), ["id"])
    owners = pl.Series([number // 2 for number in range(size)])
    assert match.wide.sum() == 1_800
    assert set(match.people(owners).tolist()) == {900 + 100}
    assert sum(looked_up) <= 2 * size


def test_ten_thousand_values_and_a_thousand_labels() -> None:
    """Whole columns at once: ten times the values and labels take no more calls."""

    def read(values: int) -> Coverage:
        labels = [f"{low}-{low + 9}" for low in range(0, values - 10, 10)] + ["*"]
        return Coverage.of(pl.Series(range(values)), pl.Series(labels))

    assert len(read(10_000).of_value) == 9_990
    assert calls(lambda: read(10_000)) < 1.1 * calls(lambda: read(1_000))


@pytest.mark.parametrize(
    ("release", "people", "by", "message"),
    [
        ({"a": [1]}, {"a": [1]}, [], "no attribute"),
        ({"a": [1]}, {"b": [1]}, ["a"], "no column 'a'"),
        ({"a": []}, {"a": [1]}, ["a"], "no rows"),
    ],
)
def test_what_cannot_be_matched(release: dict, people: dict, by: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Match.of(pl.DataFrame(release), pl.DataFrame(people), by)
