"""Effective k of several releases, against the definition: how many people fit all of them, for each target."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attack.composition.label_overlap import LabelOverlap
from shoal.attack.composition.linked_people import ABSENT, PEOPLE, Placement, compose_people
from shoal.attack.composition.released_counts import RECORDS, ReleasedCounts
from shoal.attack.composition.released_pair import compose_pair

AGES = range(20, 60)


@st.composite
def people(draw: st.DrawFn) -> pl.DataFrame:
    number = draw(st.integers(4, 30))
    column = lambda values: draw(st.lists(st.sampled_from(values), min_size=number, max_size=number))  # noqa: E731
    return pl.DataFrame({"age": column(list(AGES)), "sex": column(["f", "m"]), "ill": column(["flu", "gout", "none"])})


def banded(frame: pl.DataFrame, width: int, origin: int, quasi: list[str]) -> pl.DataFrame:
    low = (pl.col("age") - origin) // width * width + origin
    label = pl.format("{}-{}", low, low + width - 1).alias("age")
    return frame.with_columns(label).select(*quasi, "ill")


def counted(name: str, release: pl.DataFrame, quasi: list[str]) -> ReleasedCounts:
    rows = release.group_by(release.columns).agg(pl.len().alias(RECORDS))
    return ReleasedCounts.of(name, rows, quasi, sensitive=["ill"], exact=["sex"])


def ends(label: str) -> tuple[int, int]:
    low, _, high = label.partition("-")
    return int(low), int(high)


def covers(labels: dict[str, str], person: dict[str, object]) -> bool:
    for name, label in labels.items():
        if name == "age":
            low, high = ends(label)
            if not low <= int(str(person["age"])) <= high:
                return False
        elif label != person[name]:
            return False
    return True


def by_definition(frame: pl.DataFrame, releases: list[pl.DataFrame], quasi: list[list[str]]) -> list[int]:
    """For each person, how many people there are whose record in every release could be this person's."""
    persons = frame.to_dicts()
    fitting = []
    for target in persons:
        fits = range(len(persons))
        for release, names in zip(releases, quasi, strict=True):
            rows = release.select(names).to_dicts()
            fits = [place for place in fits if covers(rows[place], target)]  # type: ignore[assignment]
        fitting.append(len(fits))
    return fitting


@pytest.mark.requirement("R-08")
@settings(max_examples=25, deadline=None)
@given(people(), st.lists(st.tuples(st.integers(2, 20), st.integers(0, 9)), min_size=2, max_size=3), st.integers(2, 6))
def test_effective_k_is_how_many_fit_all_releases(
    frame: pl.DataFrame, recodings: list[tuple[int, int]], k: int
) -> None:
    quasi = [["age", "sex"], ["age"], ["age", "sex"]][: len(recodings)]
    releases = [banded(frame, *recoding, names) for recoding, names in zip(recodings, quasi, strict=True)]
    kinds = frame.group_by("age", "sex", "ill").agg(pl.len().cast(pl.Int64).alias(PEOPLE)).sort("age", "sex", "ill")
    views = [counted(str(place), one, names) for place, (one, names) in enumerate(zip(releases, quasi, strict=True))]
    found = compose_people(
        [Placement.by_values(each, kinds) for each in views], kinds[PEOPLE].to_numpy(), k, {"ill": kinds["ill"]}
    )
    fitting = by_definition(frame, releases, quasi)
    assert found.effective_k == min(fitting)
    assert found.unique == sum(number == 1 for number in fitting)
    assert found.below == sum(number < k for number in fitting)


@pytest.mark.requirement("R-08")
@settings(max_examples=25, deadline=None)
@given(st.data())
def test_classes_that_overlap_are_counted_by_who_fits(data: st.DataObject) -> None:
    """Local recodings: a person may fit a class that is not theirs, and then counts for who is in it."""
    ages = data.draw(st.lists(st.integers(20, 29), min_size=3, max_size=12))
    labels = ["20-24", "25-29", "20-29"]

    def recoded() -> list[str]:
        return [
            data.draw(st.sampled_from([one for one in labels if ends(one)[0] <= age <= ends(one)[1]])) for age in ages
        ]

    releases = [recoded(), recoded()]
    placements = []
    for release in releases:
        places = {label: place for place, label in enumerate(sorted(set(release)))}
        own = np.array([places[label] for label in release])
        pairs = [
            (target, place)
            for (target, age), (label, place) in product(enumerate(ages), places.items())
            if ends(label)[0] <= age <= ends(label)[1]
        ]
        fitting = pl.DataFrame(pairs, schema=["__shoal_target", "class"], orient="row")
        placements.append(Placement(own, fitting))
    found = compose_people(placements, np.ones(len(ages), dtype=np.int64), 3)
    expected = [
        sum(all(ends(one[other])[0] <= age <= ends(one[other])[1] for one in releases) for other in range(len(ages)))
        for age in ages
    ]
    assert found.effective_k == min(expected)
    assert found.below == sum(number < 3 for number in expected)


@pytest.mark.requirement("R-08")
@settings(max_examples=25, deadline=None)
@given(people(), st.tuples(st.integers(2, 20), st.integers(0, 9)), st.tuples(st.integers(2, 20), st.integers(0, 9)))
def test_elimination_never_says_less_than_there_is(
    frame: pl.DataFrame, first: tuple[int, int], second: tuple[int, int]
) -> None:
    """From releases alone: for every person, at least as many fit as are really alike, and no cell is overlooked."""
    quasi = ["age", "sex"]
    releases = [banded(frame, *first, quasi), banded(frame, *second, ["age"])]
    found = compose_pair(counted("new", releases[0], quasi), counted("old", releases[1], ["age"]), 5)
    cells: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    rows = [one.to_dicts() for one in releases]
    for a, b in product({(row["age"], row["sex"]) for row in rows[0]}, {row["age"] for row in rows[1]}):
        if max(ends(a[0])[0], ends(b)[0]) > min(ends(a[0])[1], ends(b)[1]):
            continue
        sides = [
            [row["ill"] for row in rows[0] if (row["age"], row["sex"]) == a],
            [row["ill"] for row in rows[1] if row["age"] == b],
        ]
        both = {ill: min(sides[0].count(ill), sides[1].count(ill)) for ill in set(sides[0]) & set(sides[1])}
        cells[(*a, b)] = {"both": list(both.values()), "sides": [len(set(one)) for one in sides]}
    sizes = [sum(cell["both"]) for cell in cells.values() if sum(cell["both"])]
    alone = frame.height and min(
        pl.DataFrame(rows[0]).group_by("age", "sex").len()["len"].to_list(),
    )
    assert found.most == min([*sizes, alone])
    for a, row in zip(rows[0], rows[1], strict=True):
        alike = sum(
            (one["age"], one["sex"], two["age"]) == (a["age"], a["sex"], row["age"])
            for one, two in zip(rows[0], rows[1], strict=True)
        )
        assert sum(cells[a["age"], a["sex"], row["age"]]["both"]) >= alike
    pinned = {
        (a, s)
        for (a, s, _), cell in cells.items()
        if len(cell["both"]) == 1 and any(cell["both"]) and min(cell["sides"]) > 1
    }
    records = len([row for row in rows[0] if (row["age"], row["sex"]) in pinned])
    assert found.certain.get("ill", 0) == records


@pytest.mark.requirement("R-08")
@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), min_size=1, max_size=6), st.data())
def test_ranges_overlap_where_a_value_is_in_both(spans: list[tuple[int, int]], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), min_size=1, max_size=6))
    first, second = ([f"{low}-{low + width}" for low, width in dict.fromkeys(each)] for each in (spans, others))
    seen = LabelOverlap.of(pl.Series(first), pl.Series(second))
    truth = [[max(ends(a)[0], ends(b)[0]) <= min(ends(a)[1], ends(b)[1]) for b in second] for a in first]
    assert seen.coverage.matrix().tolist() == truth
    narrower = [
        [
            both and not (ends(b)[0] <= ends(a)[0] and ends(a)[1] <= ends(b)[1])
            for b, both in zip(second, row, strict=True)
        ]
        for a, row in zip(first, truth, strict=True)
    ]
    assert seen.narrower.toarray().tolist() == narrower


def test_words_are_compared_by_hierarchies() -> None:
    ladder = pl.DataFrame({"value": ["mason", "cook", "nurse"], "1": ["trade", "trade", "care"]})
    seen = LabelOverlap.of(pl.Series(["trade", "care"]), pl.Series(["mason", "nurse", "*"]), ladders=(ladder, ladder))
    assert seen.coverage.matrix().tolist() == [[True, False, True], [False, True, True]]
    assert seen.unread == 0
    blind = LabelOverlap.of(pl.Series(["trade"]), pl.Series(["mason"]))
    assert blind.coverage.matrix().tolist() == [[True]]
    assert blind.unread == 2


def test_masks_and_months_overlap() -> None:
    masks = LabelOverlap.of(pl.Series(["560xxx", "561xxx"]), pl.Series(["5600xx", "56xxxx"]))
    assert masks.coverage.matrix().tolist() == [[True, True], [False, True]]
    months = LabelOverlap.of(pl.Series(["2026-03", "2026-05"]), pl.Series(["2026-Q1", "2026-05-09"]))
    assert months.coverage.matrix().tolist() == [[True, False], [False, True]]


def test_who_is_missing_is_counted_apart() -> None:
    new, old = np.array([0, ABSENT]), np.array([0, 0])
    found = compose_people([Placement(new), Placement(old)], np.array([6, 2]), 5)
    assert (found.effective_k, found.left_out, found.left_out_below) == (6, 2, 2)
