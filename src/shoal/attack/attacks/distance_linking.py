"""Record linkage by distance: whose numbers are nearest (Pagliuca & Seri 1999)?

For numbers that were changed a little (noise, microaggregation, rank swapping) no released value need be anybody's, but
the nearest record may well be the right one. Attributes are standardised by mean and standard deviation of the released
table, and each known person is linked with the record at the smallest Euclidean distance; of equally near ones one is
picked at random.

Where nobody knows whose record is whose, it is asked instead whether records are nearer to people than people are to
each other. The nearest released record of somebody who is not in the table is as near as the nearest of the other
people, so that guessing is right for one in two; a record that is one's own, a little moved, is nearer.

Interval disclosure asks less: is the true value within a narrow interval around the released one? The interval is a
share of the original's standard deviation (Mateo-Sanz, Sebé & Domingo-Ferrer 2004), or of the ranks. dRisk in sdcMicro
takes the standard deviation of the released numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from shoal.attack.ground_truth.owners import Owners, Trials, judged_by_claims, owners_of
from shoal.attack.ground_truth.targets import as_numbers
from shoal.attack.registry import Try, attack
from shoal.attack.result import CERTAIN, Attack, NothingToTryError, Rate
from shoal.attack.scene import Scene
from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers, places_among

NEIGHBOURS = 16
"""Among so many different points equally near ones are looked for."""
FEWEST = 20
"""People and records, to compare how near they are."""
WIDTH = 0.05
"""Of the interval to each side: five in a hundred standard deviations, or ranks."""


def distance_linking(  # noqa: PLR0913  # what the attacker has, what is true, how near is near
    release: pl.DataFrame,
    original: pl.DataFrame,
    numbers: Sequence[str],
    *,
    aligned: bool,
    truth: str | None = None,
    person: str | None = None,
    control: pl.DataFrame | None = None,
    width: float = WIDTH,
    certain: bool = False,
) -> Attack:
    """Link each person of ``original`` with the released record whose ``numbers`` are nearest.

    Records and people that lack one of the numbers take no part; people without one are not found. ``person`` names a
    column of the original by which rows are one trial. The control group counts false claims: strangers with one
    nearest record that is as near as those of half of the people are.

    Without ``aligned`` or ``truth`` it is counted for how many people a record is nearer than anybody else is.
    """
    points, mine = _read(release, numbers, "the release"), _read(original, numbers, "the original")
    scaled = Scale.of(points)
    near = NearestRecords.of(scaled(points))
    distance, links = near.link(scaled(mine))
    trials = Trials.by(None if person is None else original[person], original.height)
    owners = owners_of(release, original, aligned=aligned, truth=truth)
    ties = near.ties(links)
    if owners is None and (ties == 1).any() and certain:
        return _nearer_than_others(scaled(points), scaled(mine), trials, numbers)
    own = np.minimum(trials.sizes, ties) if owners is None else near.own(links, owners)
    chance = np.divide(own, ties, out=np.zeros(len(ties)), where=ties > 0)
    expected, sure = trials.best(chance), trials.best((chance == 1).astype(np.float64))
    strangers = None
    if control is not None and control.height:
        theirs, other = near.link(scaled(_read(control, numbers, "the control group")))
        usual = float(np.median(distance[np.isfinite(distance)])) if np.isfinite(distance).any() else 0.0
        strangers = Rate(float(((theirs <= usual) & (near.ties(other) == 1)).sum()), len(theirs))
    found = Attack(
        "distance_linking",
        "Linking by the nearest numbers" + (CERTAIN if certain else ""),
        f"{', '.join(numbers)} of {trials.count:,} people",
        Rate(float((sure if certain else expected).sum()), trials.count),
        Rate(len(mine) / release.height, trials.count),
        strangers,
        details={"sure": float(sure.mean())},
        claims_only=True,
    )
    if owners is None:
        return judged_by_claims(found, certain=certain)
    intervals = _intervals(mine, points, owners, width)
    return replace(found, details={"sure": float(sure.mean()), "expected": float(expected.mean()), **intervals})


def _nearer_than_others(points: Floats, mine: Floats, trials: Trials, numbers: Sequence[str]) -> Attack:
    """Of people who have all numbers, for how many a released record is nearer than anybody else; ties count half.

    As many records are looked among as other people, every so many of the larger side: the more there are, the nearer
    is the nearest. The nearest points of people close together are the same, so half of the people count as trials.
    """
    points, known = (each[np.isfinite(each).all(axis=1)] for each in (points, mine))
    whose = trials.of[np.isfinite(mine).all(axis=1)]
    size = min(len(points), len(known) - 1)
    if size < FEWEST:
        raise DataError(f"nothing says which record is whose, and fewer than {FEWEST} can be compared")
    some = _spread(len(known), size + 1)
    asked = known[some]
    record = NearestRecords.of(points[_spread(len(points), size)]).tree.query(asked)[0]
    other = _nearest_other(asked, whose[some])
    nearer = np.where(np.isclose(record, other, rtol=1e-9, atol=1e-12), 0.5, record < other)
    count = max(1, len(asked) // 2)
    return Attack(
        "distance_linking",
        "Linking by the nearest numbers, nearer than others are",
        f"{', '.join(numbers)} of {len(asked):,} people",
        Rate(float(nearer.mean()) * count, count),
        Rate(count / 2, count),
        details={"nearer": float(nearer.mean())},
    )


def _nearest_other(points: Floats, whose: Integers) -> Floats:
    """How far the nearest record of another person is."""
    from scipy.spatial import cKDTree

    count = min(len(points), int(np.bincount(whose).max()) + 1, NEIGHBOURS)
    far, place = (each.reshape(len(points), -1) for each in cKDTree(points).query(points, k=count))
    far = np.where(whose[place] == whose[:, None], np.inf, far)
    return np.asarray(far.min(axis=1))


def _spread(size: int, wanted: int) -> Integers:
    """So many rows, evenly spread over all."""
    return np.arange(wanted) * size // wanted


def _intervals(mine: Floats, points: Floats, owners: Owners, width: float) -> dict[str, float]:
    """Of people who have one record each; with several it is not said which released one is which."""
    if owners.targets.n_unique() < len(owners.targets):
        return {}
    found = places_among(owners.targets, owners.records)
    row, record = found.is_not_null().arg_true().to_numpy(), found.drop_nulls().to_numpy()
    return {
        "interval_deviations": within_deviations(mine[row], points[record], width),
        "interval_ranks": within_ranks(mine[row], points[record], width),
    }


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation of the released numbers; an attribute with one value only is left as it is."""

    mean: Floats
    deviation: Floats

    @classmethod
    def of(cls, points: Floats) -> Scale:
        whole = points[np.isfinite(points).all(axis=1)]
        if not len(whole):
            raise NothingToTryError("the release has no record with all of the numbers")
        deviation = whole.std(axis=0)
        return cls(whole.mean(axis=0), np.where(deviation > 0, deviation, 1.0))

    def __call__(self, points: Floats) -> Floats:
        return np.asarray((points - self.mean) / self.deviation)


@dataclass(frozen=True)
class NearestRecords:
    """The distinct released points in a k-d tree, how many records are at each, and which point each record is at."""

    tree: Any
    records: Integers
    point_of: Integers

    @classmethod
    def of(cls, points: Floats) -> NearestRecords:
        from scipy.spatial import cKDTree

        whole = np.isfinite(points).all(axis=1)
        distinct, where, records = np.unique(points[whole], axis=0, return_inverse=True, return_counts=True)
        point_of = np.full(len(points), -1)
        point_of[whole] = where.reshape(-1)
        return cls(cKDTree(distinct), records, point_of)

    def link(self, people: Floats) -> tuple[Floats, Integers]:
        """Distance to the nearest point, and the points that near; −1 fills up. Infinite where a number is missing."""
        distance = np.full(len(people), np.inf)
        links = np.full((len(people), min(NEIGHBOURS, len(self.records))), -1)
        asked = np.flatnonzero(np.isfinite(people).all(axis=1))
        for neighbours in dict.fromkeys((min(2, links.shape[1]), links.shape[1])):
            if not len(asked):
                break
            far, place = (each.reshape(-1, neighbours) for each in self.tree.query(people[asked], k=neighbours))
            equal = far <= far[:, :1] * (1 + 1e-9) + 1e-12
            distance[asked], links[asked, :neighbours] = far[:, 0], np.where(equal, place, -1)
            asked = asked[equal.all(axis=1)]
        return distance, links

    def ties(self, links: Integers) -> Integers:
        """The number of equally near records."""
        return np.asarray(np.where(links >= 0, self.records[links], 0).sum(axis=1))

    def own(self, links: Integers, owners: Owners) -> Floats:
        """The number of equally near records that are the person's own."""
        row, column = np.nonzero(links >= 0)
        held = owners.held(self.point_of, row, links[row, column])
        return np.bincount(row, weights=held, minlength=len(links)).astype(np.float64)


def within_deviations(original: Floats, released: Floats, width: float) -> float:
    """The share of people all of whose numbers are within ``width`` standard deviations of the released ones.

    >>> within_deviations(np.array([[0.0], [10.0]]), np.array([[0.1], [5.0]]), 0.05)
    0.5
    """
    if len(original) < 2:
        return 0.0
    margin = width * np.nanstd(original, axis=0, ddof=1)
    return float((np.abs(original - released) <= margin).all(axis=1).mean())


def within_ranks(original: Floats, released: Floats, width: float) -> float:
    """The same by rank: of the original values, less than ``width`` of all lie between the true and released one."""
    if not len(original):
        return 0.0
    close = np.ones(len(original), dtype=bool)
    for mine, theirs in zip(original.T, released.T, strict=True):
        order = np.sort(mine[np.isfinite(mine)])
        low, high = np.minimum(mine, theirs), np.maximum(mine, theirs)
        between = np.searchsorted(order, high, side="left") - np.searchsorted(order, low, side="right")
        close &= np.isfinite(low) & np.isfinite(high) & (between < width * len(order))
    return float(close.mean())


def _read(frame: pl.DataFrame, numbers: Sequence[str], whose: str) -> Floats:
    if not numbers:
        raise DataError("there is no numeric column to link by")
    for name in numbers:
        if name not in frame.columns:
            raise DataError(f"{whose} has no column '{name}' to link by")
    if not frame.height:
        raise DataError(f"{whose} has no rows")
    points = np.column_stack([as_numbers(frame[name]) for name in numbers])
    for name, column in zip(numbers, points.T, strict=True):
        if not np.isfinite(column).any():
            raise NothingToTryError(f"column '{name}' of {whose} has no numbers to link by")
    return np.ascontiguousarray(points)


@attack("distance_linking", order=50)
def tries_distance(scene: Scene) -> Iterator[tuple[str, Try]]:
    """By each number, since one that hardly moved is drowned by others that did; and by all of them."""
    numbers = scene.tables.numbers
    for name in numbers if len(numbers) > 1 else ():
        yield f"distance_linking: {name}", partial(_tried, scene, (name,))
    if numbers:
        yield "distance_linking", partial(_tried, scene, numbers)


def _tried(scene: Scene, numbers: Sequence[str]) -> list[Attack]:
    control = scene.control_with(numbers)
    found = distance_linking(scene.shown, scene.people, numbers, **scene.judged_by(numbers), control=control)
    return [found if len(numbers) > 1 else found.of_attribute(numbers[0])]
