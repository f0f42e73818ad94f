"""Whose the records of a shuffled release may be: one assignment of records to people that fits all that is released.

Where the order of the records is gone, nothing says for certain whose each is. But every record is somebody's whom its
labels cover, and everybody has at most as many records as rows, so the judge can look for an assignment that fits
everywhere at once: a largest flow from combinations of original values to combinations of released labels. Among
records that labels leave open, those with the nearest numbers are taken.

It may not be the true one. It is as good as that for an attack which goes by the same labels: a record that it claims
for certain, because no other fits the person, is the person's in every such assignment; and a record is exchanged only
for one that says the same. For attacks that go by anything else it says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from shoal.attack.ground_truth.record_order import IN_ORDER, mostly_the_same, other_numbers
from shoal.attack.ground_truth.targets import as_numbers
from shoal.attack.matching.coverage import Match
from shoal.hierarchy.base import TOP
from shoal.kernels.arrays import Floats, Integers

MOST_PAIRS = 5_000_000
"""Of a combination of values and a combination of labels; beyond that nothing is assigned."""
LARGEST = 300
"""Records of one combination of labels that are compared with all its people; in a larger one they go by one number."""


@dataclass(frozen=True)
class Assignment:
    origins: pl.Series = field(repr=False)
    """The row of the original for each released record; null for one that is left over."""
    by: frozenset[str]
    """The columns that it fits in."""
    against: frozenset[str] = frozenset()
    """Columns with the same values as before in which no assignment fits: they were dealt out anew, so that whoever
    links by them is wrong."""


def assigned(
    release: pl.DataFrame, original: pl.DataFrame, read: Sequence[str], known: Mapping[str, pl.DataFrame]
) -> Assignment | None:
    """By the columns ``read`` and all that was not altered, but for those that were dealt out anew among the records.
    None where none fits nearly everywhere, or it is too large.

    >>> table = pl.DataFrame({"age": [34, 51, 36], "pay": [1, 2, 3]})
    >>> shuffled = pl.DataFrame({"age": ["30-39", "50-59", "30-39"], "pay": [3, 2, 1]})
    >>> assigned(shuffled, table, ["age", "pay"], {}).origins.to_list()
    [2, 1, 0]
    """
    common = [name for name in release.columns if name in original.columns and not original[name].dtype.is_nested()]
    altered = [name for name in common if other_numbers(release[name], original[name])]
    first = [name for name in common if name in read and name not in altered]
    names = [name for name in common if name in first or mostly_the_same(release[name], original[name])]
    found = _by(release, original, names, altered, known)
    alone = None if found or len(first) == len(names) else _by(release, original, first, altered, known)
    if alone is None:
        return found
    others = [name for name in names if name not in first]
    against = {name for name in others if _by(release, original, [*first, name], altered, known) is None}
    kept = [name for name in names if name not in against]
    return replace(_by(release, original, kept, altered, known) or alone, against=frozenset(against))


def _by(
    release: pl.DataFrame,
    original: pl.DataFrame,
    names: Sequence[str],
    altered: Sequence[str],
    known: Mapping[str, pl.DataFrame],
) -> Assignment | None:
    if not names:
        return None
    starred = release.select(_with_stars(release[name], original[name]) for name in names)
    match = Match.of(starred, original, names, known)
    pairs = _pairs(match)
    if pairs is None:
        return None
    people, records = _by_flow(match, *pairs)
    if len(records) < IN_ORDER * min(release.height, original.height):
        return None
    numbers = [name for name in altered if name not in names]
    people = _nearest(match.class_of, people, records, _distances(release, original, numbers))
    origins = np.full(release.height, -1)
    origins[records] = people
    found = pl.Series(origins)
    return Assignment(found.set(found < 0, None), frozenset(names))


def _with_stars(released: pl.Series, original: pl.Series) -> pl.Series:
    """Where more cells are missing than before, a missing one may be anything."""
    if released.null_count() <= original.null_count():
        return released
    return released.cast(pl.String, strict=False).fill_null(TOP)


def _pairs(match: Match) -> tuple[Integers, Integers] | None:
    """Combinations of values and of labels that go together."""
    targets, classes, total = [], [], 0
    for target, released in match.pairs():
        total += len(target)
        if total > MOST_PAIRS:
            return None
        targets.append(target)
        classes.append(released)
    return (np.concatenate(targets), np.concatenate(classes)) if targets else None


def _by_flow(match: Match, targets: Integers, classes: Integers) -> tuple[Integers, Integers]:
    """Rows of the original and released records beside each other, as many as fit at once."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    people, records = np.bincount(match.target_of, minlength=len(match.targets)), match.records
    first, source, sink = len(people), len(people) + len(records), len(people) + len(records) + 1
    rows = np.concatenate([np.full(len(people), source), targets, first + np.arange(len(records))])
    columns = np.concatenate([np.arange(len(people)), first + classes, np.full(len(records), sink)])
    room = np.concatenate([people, np.minimum(people[targets], records[classes]), records]).astype(np.int32)
    graph = csr_array((room, (rows, columns)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink).flow[:first, first:source].tocoo()
    there = flow.data > 0
    target, released = (np.repeat(ends[there], flow.data[there]) for ends in (flow.row, flow.col))
    return _rows(match.target_of, target), _rows(match.class_of, released)


def _rows(group_of: Integers, groups: Integers) -> Integers:
    """For each mention of a group another one of its rows.

    >>> _rows(np.array([1, 0, 1]), np.array([1, 0, 1])).tolist()
    [0, 1, 2]
    """
    members, asked = np.argsort(group_of, kind="stable"), np.argsort(groups, kind="stable")
    ordered = groups[asked]
    place = np.arange(len(groups)) - np.searchsorted(ordered, ordered)
    found = np.empty(len(groups), dtype=np.int64)
    found[asked] = members[np.searchsorted(group_of[members], ordered) + place]
    return found


def _distances(release: pl.DataFrame, original: pl.DataFrame, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Altered numbers of the original and of the release, in standard deviations; a missing one is as the mean."""
    both = []
    for frame in (original, release):
        numbers = [as_numbers(frame[name]) for name in names]
        both.append(np.column_stack(numbers) if numbers else np.empty((frame.height, 0)))
    if names:
        mean, spread = np.nanmean(both[0], axis=0), np.nanstd(both[0], axis=0)
        both = [np.nan_to_num((each - mean) / np.where(spread > 0, spread, 1)) for each in both]
    return both[0], both[1]


def _nearest(class_of: Integers, people: Integers, records: Integers, numbers: tuple[Floats, Floats]) -> Integers:
    """The people in another order: within each combination of labels, those whose numbers are nearest."""
    from scipy.optimize import linear_sum_assignment

    mine, theirs = numbers
    found = people.copy()
    if not mine.shape[1]:
        return found
    order = np.argsort(class_of[records], kind="stable")
    for group in np.split(order, np.flatnonzero(np.diff(class_of[records][order])) + 1):
        before, after = mine[people[group]], theirs[records[group]]
        if len(group) > LARGEST:
            found[group[np.argsort(after[:, 0], kind="stable")]] = people[group][
                np.argsort(before[:, 0], kind="stable")
            ]
        elif len(group) > 1:
            far = ((after[:, None, :] - before[None, :, :]) ** 2).sum(axis=2)
            found[group] = people[group][linear_sum_assignment(far)[1]]
    return found
