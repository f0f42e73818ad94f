"""Record linkage by distance: whose numbers are nearest (Pagliuca & Seri 1999)?

For numbers that were changed a little (noise, microaggregation, rank swapping) no released value need be anybody's, but
the nearest record may well be the right one. Attributes are standardised by mean and standard deviation of the released
table, and each known person is linked with the record at the smallest Euclidean distance; of equally near ones one is
picked at random.

Interval disclosure asks less: is the true value within a narrow interval around the released one? The interval is a
share of the original's standard deviation (Mateo-Sanz, Sebé & Domingo-Ferrer 2004), or of the ranks. dRisk in sdcMicro
takes the standard deviation of the released numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from shoal.attack.result import CERTAIN, Attack, NothingToTryError, Rate
from shoal.attack.truth import Owners, Trials, judged_by_claims, owners_of
from shoal.errors import DataError
from shoal.schema.arrays import Floats, Integers, places_among

NEIGHBOURS = 16
"""Among so many different points equally near ones are looked for."""
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

    Without ``aligned`` or ``truth`` certain links are judged only where so few are claimed that it doesn't matter who
    is right: then every claim counts.
    """
    points, mine = _read(release, numbers, "the release"), _read(original, numbers, "the original")
    scaled = Scale.of(points)
    near = Nearest.of(scaled(points))
    distance, links = near.link(scaled(mine))
    trials = Trials.by(None if person is None else original[person], original.height)
    owners = owners_of(release, original, aligned=aligned, truth=truth)
    ties = near.ties(links)
    own = np.minimum(trials.sizes, ties) if owners is None else near.own(links, owners)
    chance = np.divide(own, ties, out=np.zeros(len(ties)), where=ties > 0)
    expected, sure = trials.best(chance), trials.best((chance == 1).astype(np.float64))
    strangers = None
    if control is not None and control.height:
        theirs, other = near.link(scaled(_read(control, numbers, "the control group")))
        usual = float(np.median(distance[np.isfinite(distance)])) if np.isfinite(distance).any() else 0.0
        strangers = Rate(float(((theirs <= usual) & (near.ties(other) == 1)).sum()), len(theirs))
    attack = Attack(
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
        return judged_by_claims(attack, certain=certain)
    intervals = _intervals(mine, points, owners, width)
    return replace(attack, details={"sure": float(sure.mean()), "expected": float(expected.mean()), **intervals})


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
class Nearest:
    """The distinct released points in a k-d tree, how many records are at each, and which point each record is at."""

    tree: Any
    records: Integers
    point_of: Integers

    @classmethod
    def of(cls, points: Floats) -> Nearest:
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
    read = frame.select(pl.col(name).cast(pl.Float64, strict=False).fill_null(float("nan")) for name in numbers)
    points = read.to_numpy()
    for name, column in zip(numbers, points.T, strict=True):
        if not np.isfinite(column).any():
            raise NothingToTryError(f"column '{name}' of {whose} has no numbers to link by")
    return np.ascontiguousarray(points)
