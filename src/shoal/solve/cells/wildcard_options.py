"""Whom a starred record matches when stars match anything: the cheapest stars of each rare combination by itself.

A pattern is a set of attributes to star, as bits of a number. On a pattern a combination *has company* if at least k
records agree with it on all other attributes. That stays so whatever else is starred: a star never takes a match away.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.schema.progress import Progress
from shoal.solve.cells.table import SAME_PRICE, number_rows

MOST_PATTERNS = 1 << 14
"""Patterns looked at one by one; with more of them, what is left is found by putting cells back one after the other."""


@dataclass(frozen=True)
class CombinationRows:
    """Distinct combinations: codes by attribute, records, and what may be starred at which price per record."""

    codes: Sequence[Integers]
    records: Integers
    weights: Floats
    starrable: tuple[int, ...]
    always: int
    """The attributes that are starred for everybody."""
    k: int

    @property
    def risky(self) -> Mask:
        return (self.records > 0) & (self.records < self.k)

    def price(self, pattern: int) -> float:
        return float(sum(self.weights[place] for place in self.starrable if pattern >> place & 1))

    def blank(self, pattern: int) -> bool:
        """Whether nothing would be left to see."""
        return pattern | self.always == (1 << len(self.codes)) - 1

    def groups(self, pattern: int) -> tuple[Integers, int]:
        shown = [column for place, column in enumerate(self.codes) if not pattern >> place & 1]
        member, where = number_rows(shown, len(self.records))
        return member, len(where)

    def company(self, pattern: int) -> tuple[Integers, Mask]:
        """The group of each combination on a pattern, and whether that group has k records."""
        member, number = self.groups(pattern)
        size = np.bincount(member, weights=self.records, minlength=number)
        return member, (size >= self.k)[member]


@dataclass(frozen=True)
class StarOptions:
    """Per combination the patterns of its lowest price that give it company: option o is ``row[o], pattern[o]``."""

    row: Integers
    pattern: Integers
    price: Floats
    """By combination: what a record of it pays for company; infinite if there is none, 0 if it needs no star."""
    checked: int


def cheapest_options(rows: CombinationRows, progress: Progress | None = None) -> StarOptions:
    price = np.where(rows.risky, np.inf, 0.0)
    found: list[tuple[Integers, int]] = []
    checked = 1
    total = min(1 << len(rows.starrable), MOST_PATTERNS)
    for cost, pattern in _by_price(rows):
        if checked >= MOST_PATTERNS or not (price >= cost - SAME_PRICE).any():
            break
        checked += 1
        if not rows.blank(pattern):
            takers = np.flatnonzero((price >= cost - SAME_PRICE) & rows.company(pattern)[1])
            price[takers] = cost
            found.append((takers, pattern))
        if progress:
            progress(checked, total)
    if checked >= MOST_PATTERNS:
        found += _put_back(rows, price)
    return StarOptions(
        np.concatenate([np.zeros(0, dtype=np.int64), *(takers for takers, _ in found)]),
        np.repeat(np.array([pattern for _, pattern in found], dtype=np.int64), [len(takers) for takers, _ in found]),
        price,
        checked,
    )


def _put_back(rows: CombinationRows, price: Floats) -> list[tuple[Integers, int]]:
    """For those without an option: all stars but one, then the heaviest cells come back while there is company."""
    pattern = np.zeros(len(price), dtype=np.int64)
    heaviest = sorted(rows.starrable, key=lambda place: -rows.weights[place])
    everything = sum(1 << place for place in rows.starrable)
    for start in [everything, *(everything ^ 1 << place for place in heaviest)]:
        alone = np.isinf(price) & (pattern == 0)
        if alone.any() and not rows.blank(start):
            pattern[alone & rows.company(start)[1]] = start
    for place in heaviest:
        for seen in np.unique(pattern[pattern >> place & 1 == 1]).tolist():
            less = seen ^ 1 << place
            pattern[(pattern == seen) & rows.company(less)[1]] = less
    used = np.unique(pattern[pattern > 0]).tolist()
    for one in used:
        price[pattern == one] = rows.price(one)
    return [(np.flatnonzero(pattern == one), one) for one in used]


def _by_price(rows: CombinationRows) -> Iterator[tuple[float, int]]:
    """All patterns but the empty one, from the cheapest up."""
    places = sorted(rows.starrable, key=lambda place: rows.weights[place])
    weight = [float(rows.weights[place]) for place in places]
    waiting = [(weight[0], 1 << places[0], 0)] if places else []
    while waiting:
        price, pattern, last = heapq.heappop(waiting)
        yield price, pattern
        if last + 1 < len(places):
            after = 1 << places[last + 1]
            heapq.heappush(waiting, (price + weight[last + 1], pattern | after, last + 1))
            without = pattern ^ 1 << places[last]
            heapq.heappush(waiting, (price - weight[last] + weight[last + 1], without | after, last + 1))
