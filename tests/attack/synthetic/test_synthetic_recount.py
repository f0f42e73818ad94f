"""The rates of attacks on small tables, counted again record by record."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.attack.result import Attack
from shoal.attack.synthetic.column_sets import _files, linkability_of_sets
from shoal.attack.synthetic.copies import FEW_NEAR, copies, copies_of_people
from shoal.attack.synthetic.flagging import flagged
from shoal.attack.synthetic.mixed_distances import MixedPoints, PointSet
from shoal.attack.synthetic.neighbour_inference import neighbour_inference
from shoal.attack.synthetic.scene import SyntheticScene, SyntheticTables
from shoal.errors import DataError
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("T-25", "R-04")

Row = tuple[str | None, float | None, str]
row = st.tuples(
    st.sampled_from(["a", "b", "c", None]), st.sampled_from([0.0, 1.0, 2.5, None]), st.sampled_from(["x", "y"])
)
table = st.lists(row, min_size=2, max_size=12)
SCHEMA = {"first": pl.String, "second": pl.Float64, "third": pl.String}


def scene(synthetic: list[Row], original: list[Row], control: list[Row], seed: int = 1) -> SyntheticScene:
    frames = [pl.DataFrame(rows, schema=SCHEMA, orient="row") for rows in (synthetic, original, control)]
    return SyntheticScene(SyntheticTables(frames[0], frames[1], frames[2]), Randomness(seed))


def counts(attack: Attack) -> tuple[float, int, float, int]:
    other = attack.control
    return attack.success.right, attack.success.trials, other.right if other else 0.0, other.trials if other else 0


def recounted(chosen: set[Row], own: list[Row], synthetic: list[Row]) -> tuple[float, int]:
    among = [each for each in chosen if each in own]
    return float(sum(each in synthetic for each in among)), len(among)


@settings(max_examples=60, deadline=None)
@given(synthetic=table, original=table, control=table)
def test_copies_of_equally_large_groups(synthetic: list[Row], original: list[Row], control: list[Row]) -> None:
    size = min(len(original), len(control))
    original, control = original[:size], control[:size]
    one_sided = set(original) ^ set(control)
    expected = (*recounted(one_sided, original, synthetic), *recounted(one_sided, control, synthetic))
    assert counts(copies(scene(synthetic, original, control))[0]) == expected


@settings(max_examples=60, deadline=None)
@given(synthetic=table, original=table, control=table)
def test_copies_of_unique_records_and_outliers(synthetic: list[Row], original: list[Row], control: list[Row]) -> None:
    everybody = original + control
    alone = {each for each in everybody if everybody.count(each) == 1}
    outliers = {each for each in alone if sum(differing(each, other) == 1 for other in everybody) <= FEW_NEAR}
    try:
        found = {each.key: each for each in copies_of_people(scene(synthetic, original, control))}
    except DataError:
        assert not alone & set(original)
        return
    for key, chosen in (("copies_of_unique", alone), ("copies_of_outliers", outliers)):
        expected = (*recounted(chosen, original, synthetic), *recounted(chosen, control, synthetic))
        assert expected[1] == 0 if key not in found else counts(found[key]) == expected


def differing(one: Row, other: Row) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


@settings(max_examples=60, deadline=None)
@given(people=table, records=table)
def test_nearest_distances_are_the_least_of_all(people: list[Row], records: list[Row]) -> None:
    asked, among = (pl.DataFrame(rows, schema=SCHEMA, orient="row") for rows in (people, records))
    points = MixedPoints.of(asked)
    found = PointSet.of(asked, points, asked.columns).nearest(PointSet.of(among, points, asked.columns), 2)
    scale = points.scales["second"]
    for place, one in enumerate(people):
        apart = sorted(_gower(one, other, scale.middle, scale.width) for other in records)
        assert found.distances[place].tolist() == pytest.approx(apart[:2])
        nearest = records[found.places[place, 0]]
        assert _gower(one, nearest, scale.middle, scale.width) == pytest.approx(apart[0])


def _gower(one: Row, other: Row, middle: float, width: float) -> float:
    numbers = [middle if each[1] is None else each[1] for each in (one, other)]
    missing = (one[1] is None) != (other[1] is None)
    return (one[0] != other[0]) + (one[2] != other[2]) + missing + abs(numbers[0] - numbers[1]) / width


@settings(max_examples=30, deadline=None)
@given(synthetic=st.lists(row, min_size=2, max_size=12, unique=True), original=table, control=table)
def test_linkability_and_inference_lie_between_sure_and_possible(
    synthetic: list[Row], original: list[Row], control: list[Row]
) -> None:
    """Ties are broken by lot: what all of the nearest say is certain, what one of them says is possible."""
    made = scene(synthetic, original, control)
    linked, inferred = linkability_of_sets(made), neighbour_inference(made, "third")
    names = list(SCHEMA)
    sets = [[names.index(name) for name in side] for side in _files(made)]
    sure = possible = right = could = 0
    for one in original:
        near = [_nearest(made, one, synthetic, columns) for columns in sets]
        possible += bool(near[0] & near[1])
        sure += len(near[0] | near[1]) == 1
        said = {synthetic[place][2] == one[2] for place in _nearest(made, one, synthetic, [0, 1])}
        right += said == {True}
        could += True in said
    assert sure <= linked.success.right <= possible
    assert right <= inferred.success.right <= could


def _nearest(made: SyntheticScene, one: Row, records: list[Row], columns: list[int]) -> set[int]:
    scale = made.points.scales["second"]

    def kept(each: Row) -> Row:
        return each[0] if 0 in columns else "-", each[1] if 1 in columns else 0.0, each[2] if 2 in columns else "-"

    apart = np.array([_gower(kept(one), kept(other), scale.middle, scale.width) for other in records])
    return set(np.flatnonzero(np.isclose(apart, apart.min())).tolist())


@given(
    members=st.lists(st.integers(0, 5), min_size=1, max_size=20),
    strangers=st.lists(st.integers(0, 5), min_size=1, max_size=20),
    share=st.sampled_from([0.01, 0.05, 0.5, 1.0]),
)
def test_as_many_strangers_are_flagged_as_was_said(members: list[int], strangers: list[int], share: float) -> None:
    right, mistaken = flagged(np.array(members, dtype=float), np.array(strangers, dtype=float), share)
    assert mistaken == pytest.approx(share * len(strangers))
    above = max((each for each in set(strangers) if sum(other >= each for other in strangers) >= mistaken), default=0)
    assert sum(each > above for each in members) <= right + 1e-9
    assert right <= sum(each >= above for each in members) + 1e-9
