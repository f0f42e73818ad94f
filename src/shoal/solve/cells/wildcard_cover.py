"""Who has to be starred when stars match anything: a record that enough starred ones match needs no star itself.

Every combination may be starred on one of its own options, or stay as it is if the starred ones that match it have,
with its own records, k records. Choosing is a covering problem: greedy by what a star saves others per price (Chvátal
1979, for set cover), then stars that are not needed go, then a star comes in where at least as much can go for it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Floats, Integers
from shoal.solve.cells.table import SAME_PRICE
from shoal.solve.cells.wildcard_options import CombinationRows, StarOptions

ROUNDS = 3
"""Rounds of exchange; later ones gain next to nothing."""
MOST_TRIES = 30_000
"""Exchanges tried in all rounds together: some seconds."""


@dataclass(frozen=True)
class PatternReach:
    """Which rare combinations each option helps: those that look alike on its pattern.

    ``of[o]`` is the group of option o; the combinations of group g are ``members[g]``, the groups of combination x
    ``groups[x]``. Combinations are numbered among the rare ones.
    """

    of: Integers
    members: list[Integers]
    groups: list[Integers]


def reach_of(rows: CombinationRows, options: StarOptions, rare: Integers, place: Integers) -> PatternReach:
    """``place`` is the number of each combination among the rare ones."""
    of = np.zeros(len(options.row), dtype=np.int64)
    members: list[Integers] = []
    for pattern in np.unique(options.pattern).tolist():
        member = rows.groups(pattern)[0][rare]
        mine = np.flatnonzero(options.pattern == pattern)
        heads, of_mine = np.unique(member[place[options.row[mine]]], return_inverse=True)
        of[mine] = of_mine + len(members)
        order = np.argsort(member, kind="stable")
        first = np.searchsorted(member[order], heads)
        last = np.searchsorted(member[order], heads, side="right")
        members += [order[start:end] for start, end in zip(first.tolist(), last.tolist(), strict=True)]
    sizes = [len(each) for each in members]
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *members])
    order = np.argsort(flat, kind="stable")
    bounds = np.searchsorted(flat[order], np.arange(1, len(rare)))
    return PatternReach(of, members, np.split(np.repeat(np.arange(len(sizes)), sizes)[order], bounds))


class WildcardCover:
    """Which of the rare combinations are starred, on which option (-1: none), and how many records match the others.

    ``have[x]`` counts the records of x itself and those of starred combinations that match x.
    """

    def __init__(self, rows: CombinationRows, options: StarOptions) -> None:
        self.k = rows.k
        rare = np.flatnonzero(rows.risky)
        place = np.zeros(len(rows.records), dtype=np.int64)
        place[rare] = np.arange(len(rare))
        self.rare = rare
        self.row = place[options.row]
        self.reach = reach_of(rows, options, rare, place)
        self.records = rows.records[rare]
        self.cost: Floats = self.records * options.price[rare]
        self.have = self.records.copy()
        self.option = np.full(len(rare), -1, dtype=np.int64)

    def choose(self) -> None:
        """Stars until everybody is matched, and then none that can be done without."""
        self._greedy()
        for row in np.lexsort((self.have, -self.cost)).tolist():
            self._drop(row)
        left = MOST_TRIES
        for _ in range(ROUNDS):
            tried = range(min(left, len(self.row)))
            left -= len(tried)
            if not sum(map(self._exchange, tried)):
                break

    def _star(self, option: int) -> Integers:
        """Stars a combination; those that it helps."""
        row = int(self.row[option])
        self.option[row] = option
        helped: Integers = self.reach.members[int(self.reach.of[option])]
        self.have[helped] += self.records[row]
        self.have[row] -= self.records[row]
        return helped

    def _drop(self, row: int) -> bool:
        """Takes the stars of a combination back if nobody needs them."""
        option = self.option[row]
        if option < 0 or self.have[row] < self.k:
            return False
        helped = self.reach.members[int(self.reach.of[option])]
        helped = helped[(self.option[helped] < 0) & (helped != row)]
        if (self.have[helped] - self.records[row] < self.k).any():
            return False
        self._unstar(row)
        return True

    def _unstar(self, row: int) -> None:
        helped = self.reach.members[int(self.reach.of[self.option[row]])]
        self.have[helped] -= self.records[row]
        self.have[row] += self.records[row]
        self.option[row] = -1

    def _greedy(self) -> None:
        short = (self.k - self.records).astype(np.float64)
        share = self.cost / short
        pull = np.array([share[members].sum() for members in self.reach.members])
        waits = np.ones(len(self.rare), dtype=bool)

        def saving(option: int) -> float:
            row = self.row[option]
            own = share[row] * (self.k - self.have[row]) if waits[row] else 0.0
            others = pull[self.reach.of[option]] - (share[row] if waits[row] else 0.0)
            return float((own + self.records[row] * others) / self.cost[row])

        waiting = [(-saving(option), option) for option in range(len(self.row))]
        heapq.heapify(waiting)
        left = len(self.rare)
        while left:
            before, option = heapq.heappop(waiting)
            now = -saving(option)
            if self.option[self.row[option]] >= 0 or now >= -SAME_PRICE:
                continue
            if now > before + SAME_PRICE:
                heapq.heappush(waiting, (now, option))
                continue
            helped = self._star(option)
            done = helped[waits[helped] & ((self.have[helped] >= self.k) | (self.option[helped] >= 0))]
            waits[done] = False
            left -= len(done)
            for row in done.tolist():
                pull[self.reach.groups[row]] -= share[row]

    def _exchange(self, option: int) -> bool:
        """Stars a combination on an option if others nearby can then lose stars of a higher price."""
        row, before = int(self.row[option]), int(self.option[self.row[option]])
        if before == option:
            return False
        if before >= 0:
            self._unstar(row)
        self._star(option)
        gone = [] if before >= 0 and self._lacking(before) else self._drop_nearby(option)
        price = self.cost[row] if before < 0 else 0.0
        if sum(self.cost[self.row[each]] for each in gone) > price + SAME_PRICE:
            return True
        for each in gone:
            self._star(each)
        self._unstar(row)
        if before >= 0:
            self._star(before)
        return False

    def _lacking(self, option: int) -> bool:
        """Whether one of those that an option would help, and that is not starred, has too few matches."""
        helped = self.reach.members[int(self.reach.of[option])]
        return bool((self.have[helped[self.option[helped] < 0]] < self.k).any())

    def _drop_nearby(self, option: int) -> list[int]:
        """Takes back stars near a new one, the most expensive first; the options that were."""
        nearby = self._nearby(option)
        gone: list[int] = []
        for row in nearby[np.lexsort((self.have[nearby], -self.cost[nearby]))].tolist():
            held = int(self.option[row])
            if self._drop(row):
                gone.append(held)
        return gone

    def _nearby(self, option: int) -> Integers:
        """The starred combinations that could do without, among those that match some that the option helps."""
        helped = self.reach.members[int(self.reach.of[option])]
        groups = np.unique(np.concatenate([self.reach.groups[row] for row in helped.tolist()]))
        members = np.concatenate([self.reach.members[group] for group in groups.tolist()])
        free = members[(self.option[members] >= 0) & (self.have[members] >= self.k) & (members != self.row[option])]
        found: Integers = np.unique(free)
        return found
