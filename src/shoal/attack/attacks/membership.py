"""Membership: whether somebody is in the release at all, which may be the sensitive thing to know.

Half of the people who are judged are in the original, half are strangers from a control group, so that guessing is
right for one in two. Two attacks: by fit, which says "in" where some released record can be the person's; and by
distance, for numbers that were changed, which says "in" of the half that is nearest to a released record (the attacker
knows that it is one half). People whose record was left out of the release count as wrong where they are not found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.attack.ground_truth.owners import Trials
from shoal.attack.ground_truth.targets import People, TrialDesign, as_numbers, person_column, select_columns
from shoal.attack.matching.coverage import Match, compatible
from shoal.attack.registry import Try, attack
from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.attack.scene import Scene
from shoal.errors import DataError
from shoal.kernels.arrays import Floats


def membership(  # what is attacked, what is known, how far to go
    release: pl.DataFrame,
    original: pl.DataFrame,
    attributes: Sequence[str],
    design: TrialDesign,
    *,
    known: Mapping[str, pl.DataFrame] | None = None,
) -> Attack:
    """Say "in" where a released record fits all that is known of the person; one of several rows is enough."""
    people = judged(original, attributes, design)
    match = Match.of(release, people.frame, attributes, known)
    wanted, place = np.unique(match.target_of[people.judged], return_inverse=True)
    fits = np.zeros(len(wanted))
    for target, _ in compatible(match.targets[wanted], match.classes, match.coverages):
        fits[target] = 1.0
    said = np.concatenate(people.best(fits[place]))
    return _attack("membership", "Membership by fit", attributes, said)


def membership_by_distance(
    release: pl.DataFrame, original: pl.DataFrame, numbers: Sequence[str], design: TrialDesign
) -> Attack:
    """Say "in" of the half of the people that is nearest to a released record, in standardised numbers."""
    people = judged(original, numbers, design)
    released = _points(select_columns(release, numbers, "the release"), numbers)
    distance = _nearest(released, _points(people.frame[people.judged], numbers))
    return halves("membership_by_distance", "Membership by distance", numbers, distance)


def judged(original: pl.DataFrame, columns: Sequence[str], design: TrialDesign) -> People:
    """As many members as strangers."""
    control = design.control
    if control is None or not control.height:
        raise NothingToTryError(
            "membership can't be judged without a control group", advice="give people who are not in the original"
        )
    if not columns:
        raise DataError("membership: nothing is known of people to find them by")
    groups = (Trials.by(person_column(frame, design.person), frame.height).count for frame in (original, control))
    half = max(1, min(design.trials // 2, *groups))
    return replace(design, trials=half).people(original, columns)


def halves(key: str, title: str, columns: Sequence[str], distance: Floats) -> Attack:
    """Say "in" of the half of the people whose figure is the smaller; members come first."""
    return _attack(key, title, columns, _nearer_half(distance))


def _attack(key: str, title: str, columns: Sequence[str], said: Floats) -> Attack:
    """``said`` holds, members first, the chance that "in" is said of each person."""
    half = len(said) // 2
    found, mistaken = float(said[:half].sum()), float(said[half:].sum())
    return Attack(
        key,
        title,
        f"{len(columns)} attributes of people, one half of whom are in the data",
        Rate(found + half - mistaken, 2 * half),
        Rate(float(half), 2 * half),
        details={"members_found": found / half, "strangers_mistaken": mistaken / half},
    )


def _points(frame: pl.DataFrame, numbers: Sequence[str]) -> Floats:
    return np.column_stack([as_numbers(frame[name]) for name in numbers])


def _nearest(released: Floats, people: Floats) -> Floats:
    """Each person's distance to the nearest released record; records that lack a number are left out."""
    from scipy.spatial import cKDTree

    released = released[np.isfinite(released).all(axis=1)]
    if not len(released):
        raise DataError("membership by distance: no released record has all of the numbers")
    scale = released.std(axis=0)
    scale[scale == 0] = 1.0
    there = np.isfinite(people).all(axis=1)
    distance = np.full(len(people), np.inf)
    distance[there] = cKDTree(released / scale).query(people[there] / scale)[0]
    return distance


def _nearer_half(distance: Floats) -> Floats:
    """1 for the nearer half, 0 for the others; where distances tie across the middle, the chance that lots give.

    >>> _nearer_half(np.array([0.1, 0.5, 0.5, 0.9])).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    middle = np.sort(distance)[len(distance) // 2 - 1]
    nearer, level = distance < middle, distance == middle
    share = (len(distance) // 2 - nearer.sum()) / level.sum()
    return np.where(nearer, 1.0, np.where(level, share, 0.0))


@attack("membership", order=45)
def tries_membership(scene: Scene) -> Iterator[tuple[str, Try]]:
    quasi = scene.tables.quasi
    if quasi:
        yield "membership", lambda: [membership(scene.shown, scene.people, quasi, scene.design, known=scene.known)]
