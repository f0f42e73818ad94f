"""Who is suppressed most: against a loop over combinations, and what may be named."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.hierarchy import BoundHierarchy, Hierarchy
from shoal.hierarchy.base import parse_hierarchy
from shoal.hierarchy.kinds.flat import FlatHierarchy
from shoal.measurement.suppressed_groups import (
    MOST_GROUPS,
    NO_VALUE,
    SuppressedGroup,
    SuppressedParts,
    suppressed_groups,
)
from shoal.results.record_counts import group_results
from shoal.schema import Column, Counts, ValueType

FEWEST = 10
AGES: Hierarchy = parse_hierarchy({"intervals": {"widths": [10, 20]}})


def bound(counts: Counts, name: str) -> BoundHierarchy:
    if name == "sex":
        return FlatHierarchy().bind(Column("sex"), counts.value_counts("sex"))
    return AGES.bind(Column("age", ValueType.INTEGER), counts.value_counts("age"))


TABLES = st.dictionaries(
    st.tuples(st.sampled_from(["f", "m", "x", None]), st.integers(20, 79)), st.integers(1, 30), min_size=1, max_size=25
)


@settings(max_examples=60, deadline=None)
@given(TABLES, st.randoms(use_true_random=False))
def test_groups_are_those_of_a_loop(table: dict[tuple[str | None, int], int], draw: object) -> None:
    rows = [(*key, records) for key, records in table.items()]
    frame = pl.DataFrame(rows, schema={"sex": pl.String, "age": pl.Int64, "n": pl.Int64}, orient="row")
    counts = Counts.from_frame(frame, ("sex", "age"), "n")
    random = getattr(draw, "random")  # noqa: B009  # what Hypothesis hands over
    withheld = np.array([random() < 0.4 for _ in range(counts.size)])
    levels = np.array([[int(random() * 2), int(random() * 4)] for _ in range(counts.size)], dtype=np.int8)
    starred = (levels == [1, 3]).sum(axis=1) * ~withheld
    parts = SuppressedParts(withheld, levels, starred)
    for place, name in enumerate(counts.attributes):
        found = suppressed_groups(counts, name, bound(counts, name), parts, fewest=FEWEST)
        assert [one.label for one in found[:-1]].count(None) == 0
        if not found:
            continue
        assert sum(one.records for one in found) == counts.total_records
        assert sum(one.suppressed for one in found) == counts.records[withheld].sum()
        assert sum(one.cells for one in found) == (counts.records * starred).sum()
        _check_named(counts, name, parts, place, {one.label: one for one in found})


def _check_named(
    counts: Counts, name: str, parts: SuppressedParts, place: int, found: dict[str | None, SuppressedGroup]
) -> None:
    """On one of the levels, each named label has these figures, and enough people are released with it."""
    ladder = bound(counts, name)
    values = counts.values[place].gather(counts.codes[:, place])
    fits = []
    for level in range(ladder.height):
        labels = ladder.generalise(values, level).cast(pl.String).fill_null(NO_VALUE).to_list()
        told: dict[str | None, list[int]] = {}
        shown: dict[str, int] = {}
        for at, label in enumerate(labels):
            records = int(counts.records[at])
            if not parts.withheld[at] and parts.levels[at, place] <= level:
                shown[label] = shown.get(label, 0) + records
            key = label if label in found else None
            figures = told.setdefault(key, [0, 0, 0])
            figures[0] += records
            figures[1] += records * bool(parts.withheld[at])
            figures[2] += records * int(parts.starred[at])
        same = {key: [one.records, one.suppressed, one.cells] for key, one in found.items()} == told
        fits.append(same and all(shown.get(label, 0) >= FEWEST for label in found if label is not None))
    assert any(fits)


def test_a_group_that_is_gone_as_a_whole_is_not_named() -> None:
    frame = pl.DataFrame({"sex": ["f", "m", "rare"], "n": [60, 50, 40]})
    counts = Counts.from_frame(frame, ("sex",), "n")
    gone = SuppressedParts(np.array([False, False, True]), np.zeros((3, 1), np.int8), np.zeros(3, np.int64))
    found = suppressed_groups(counts, "sex", bound(counts, "sex"), gone, fewest=FEWEST)
    assert [one.label for one in found] == ["f", "m", None]
    assert (found[-1].records, found[-1].suppressed) == (40, 40)


def test_people_are_counted_and_not_their_records() -> None:
    frame = pl.DataFrame({"sex": ["f"] * 20 + ["m"] * 20, "who": [*range(20), *([99] * 20)], "n": [1] * 40})
    counts = Counts.from_pairs(frame, ("sex",), "who", "n")
    nothing = SuppressedParts(np.zeros(2, bool), np.zeros((2, 1), np.int8), np.zeros(2, np.int64))
    found = suppressed_groups(counts, "sex", bound(counts, "sex"), nothing, fewest=FEWEST)
    assert [(one.label, one.records) for one in found] == [("f", 20), (None, 20)]


def test_of_many_values_the_largest_groups_are_named() -> None:
    frame = pl.DataFrame({"sex": [f"v{place:02}" for place in range(30)], "n": [100 + place for place in range(30)]})
    counts = Counts.from_frame(frame, ("sex",), "n")
    nothing = SuppressedParts(np.zeros(30, bool), np.zeros((30, 1), np.int8), np.zeros(30, np.int64))
    found = suppressed_groups(counts, "sex", bound(counts, "sex"), nothing, fewest=FEWEST)
    assert [one.label for one in found] == [*(f"v{place}" for place in range(29, 29 - MOST_GROUPS, -1)), None]


def test_an_attribute_that_is_starred_as_a_whole_has_no_groups() -> None:
    frame = pl.DataFrame({"sex": ["f", "m"], "n": [60, 50]})
    counts = Counts.from_frame(frame, ("sex",), "n")
    starred = SuppressedParts(np.zeros(2, bool), np.ones((2, 1), np.int8), np.ones(2, np.int64))
    assert suppressed_groups(counts, "sex", bound(counts, "sex"), starred, fewest=FEWEST) == ()


def test_shares_and_who_is_hit_more_than_twice_as_much() -> None:
    frame = pl.DataFrame({"sex": ["f", "m", "x"], "n": [500, 480, 20]})
    counts = Counts.from_frame(frame, ("sex",), "n")
    starred = np.array([0, 0, 1], dtype=np.int64)
    parts = SuppressedParts(np.zeros(3, bool), np.zeros((3, 1), np.int8), starred)
    found = group_results(suppressed_groups(counts, "sex", bound(counts, "sex"), parts, fewest=FEWEST), 2)
    assert [(one.group, one.share, one.cell_share, one.above_average) for one in found] == [
        ("f", 0.0, 0.0, False),
        ("m", 0.0, 0.0, False),
        ("x", 0.0, 0.5, True),
    ]
