"""MDAV: groups of k by maximum distance to the average vector (Domingo-Ferrer and Torra, 2005, "MDAV-generic").

While 2k or more are left: r is the record farthest from the centre of those left, and with its k − 1 nearest a group;
if 2k or more are left after that, so is s, the farthest from r, with its own nearest. The last k to 2k − 1 are a group.

Where records belong to people, people are counted: a group takes the nearest records until it has k people. Forming a
group leaves out at most k people, so the last group has k too.

Done plainly, each search looks at all n records, O(n²/k) in all. Here the records left are held in the order of their
distance from a pivot, and the triangle inequality says which of them can't be the ones sought:

    |d(x, pivot) − d(y, pivot)|  ≤  d(x, y)  ≤  d(x, pivot) + d(y, pivot)

As groups are cut off from the outside inwards, the farthest record is found at the outer end, and the nearest ones of
an outer record in a thin shell; or, where records are numbers of one person each, by a k-d tree over those that were
left when it was made. The groups are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from shoal.kernels.arrays import Floats, Integers
from shoal.techniques.randomisation.microaggregation.points import Points

_FIRST_LOOK = 512
"""Records compared at once at first; each further look is twice as wide."""
_ASKED = 4
"""Records that the tree is asked for, for each that is wanted: some of those it knows are gone."""
_SLACK = 1e-9
_SORT_AFTER = 0.1
"""Share of the records that may be gone before those left are sorted anew, about a new pivot."""


def mdav_groups(points: Points, k: int, people: Integers) -> Integers:
    """The number of each record's group. ``people`` numbers the person of each record; there are at least k."""
    groups = np.zeros(len(points), dtype=np.int64)
    left = _Left(points, people)
    number = 1
    while left.people >= 2 * k:
        farthest = left.farthest_from(left.centre())
        origin = left.point(farthest)
        groups[left.cut_off(farthest, k)] = number
        if left.people >= 2 * k:
            groups[left.cut_off(left.farthest_from(origin), k)] = number + 1
        number += 2
        left.sort_if_thinned()
    return groups


class _Left:
    """The records that are in no group yet, the farthest from the pivot first."""

    def __init__(self, points: Points, people: Integers) -> None:
        self._all = points
        self._people = people
        self._records_of = np.bincount(people)
        self._several = bool((self._records_of > 1).any())
        self.people = int(np.count_nonzero(self._records_of))
        self._sums = points.numbers.sum(axis=1)
        self._tallies = [np.bincount(codes) for codes in points.codes]
        self._sort(np.arange(len(points)))

    def _sort(self, rows: Integers) -> None:
        self._left = len(rows)
        self._pivot = self.centre()
        shell = self._all.take(rows).distances(self._pivot)
        order = np.argsort(-shell, kind="stable")
        self._rows, self._shell = rows[order], shell[order]
        self._points = self._all.take(self._rows)
        self._there = np.ones(len(rows), dtype=np.bool_)
        self._outermost = 0
        self._tree = None if self._several or len(self._points.codes) else _tree_of(self._points)

    def sort_if_thinned(self) -> None:
        if self._left < (1.0 - _SORT_AFTER) * len(self._rows):
            self._sort(self._rows[self._there])

    def centre(self) -> Points:
        numbers = self._sums[:, np.newaxis] / max(self._left, 1)
        codes = np.array([[tally.argmax()] for tally in self._tallies], dtype=np.int64).reshape(-1, 1)
        return Points(numbers, codes, self._all.weights)

    def point(self, place: int) -> Points:
        return self._points.take(np.array([place]))

    def farthest_from(self, point: Points) -> int:
        """The place of the record farthest from a point, the outermost of several."""
        off_centre = float(self._pivot.distances(point)[0])
        best, place = -1.0, -1
        for part in self._inwards(self._outermost):
            if self._shell[part.start] + off_centre < best:
                break
            distances = np.where(self._there[part], self._points.distances(point, part), -1.0)
            at = int(distances.argmax())
            if distances[at] > best:
                best, place = float(distances[at]), part.start + at
        return place

    def cut_off(self, place: int, k: int) -> Integers:
        """The record at a place and its nearest become a group: their rows, which are left no more."""
        places = self._nearest(place, k)
        rows = self._rows[places]
        self._there[places] = False
        self._left -= len(rows)
        self._sums -= self._all.numbers[:, rows].sum(axis=1)
        for tally, codes in zip(self._tallies, self._all.codes, strict=True):
            np.subtract.at(tally, codes[rows], 1)
        self.people -= self._people_gone(rows)
        while self._left and not self._there[self._outermost]:
            self._outermost += 1
        return rows

    def _people_gone(self, rows: Integers) -> int:
        """People who have no record left when these are gone."""
        if not self._several:
            return len(rows)
        np.subtract.at(self._records_of, self._people[rows], 1)
        return int(np.count_nonzero(self._records_of[np.unique(self._people[rows])] == 0))

    def _nearest(self, place: int, k: int) -> Integers:
        """The places of the records nearest to one until there are k people, itself among them."""
        if self._tree is None:
            return self._nearest_in_shells(place, k)
        point, many = self.point(place), _ASKED * k
        while True:
            many = min(many, len(self._rows))
            far, found = self._tree.query(point.numbers[:, 0], many)
            there = self._there[found]
            places, away = found[there], far[there]
            if len(places) > k and away[k] > away[k - 1] * (1 + _SLACK):
                return np.asarray(places[:k])
            distances = self._points.take(places).distances(point)
            chosen = self._enough(places, distances, k)
            # All that are as near have to be there, since the first in the table of equally near ones is taken.
            if chosen is not None and (many == len(self._rows) or far[-1] > distances[chosen].max() * (1 + _SLACK)):
                return np.asarray(places[chosen])
            many *= _ASKED

    def _nearest_in_shells(self, place: int, k: int) -> Integers:
        point, shell = self.point(place), self._shell[place]
        low = high = place
        places, distances = np.empty(0, dtype=np.int64), np.empty(0)
        within, width = np.inf, _FIRST_LOOK
        outer, inner = True, True
        while outer or inner:
            lower = max(low - width, self._outermost) if outer else low
            higher = min(high + width, len(self._rows)) if inner else high
            for part in (slice(lower, low), slice(high, higher)):
                there = np.flatnonzero(self._there[part])
                places = np.concatenate((places, there + part.start))
                distances = np.concatenate((distances, self._points.distances(point, part)[there]))
            low, high, width = lower, higher, 2 * width
            chosen = self._enough(places, distances, k)
            if chosen is not None:
                places, distances = places[chosen], distances[chosen]
                within = float(distances.max())
            outer = low > self._outermost and self._shell[low - 1] - shell <= within
            inner = high < len(self._rows) and shell - self._shell[high] <= within
        return places

    def _enough(self, places: Integers, distances: Floats, k: int) -> Integers | None:
        """Which of them are the nearest that have k people, the first in the table of several; None if they haven't."""
        if not self._several:
            if len(places) < k:
                return None
            near = np.flatnonzero(distances <= np.partition(distances, k - 1)[k - 1])
            return near[np.lexsort((self._rows[places[near]], distances[near]))][:k]
        order = np.lexsort((self._rows[places], distances))
        _, first = np.unique(self._people[self._rows[places[order]]], return_index=True)
        return None if len(first) < k else order[: np.sort(first)[k - 1] + 1]

    def _inwards(self, place: int) -> Iterator[slice]:
        """All places from one on, in parts that double in width."""
        width = _FIRST_LOOK
        while place < len(self._rows):
            yield slice(place, min(place + width, len(self._rows)))
            place, width = place + width, 2 * width


def _tree_of(points: Points) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(points.numbers.T)
