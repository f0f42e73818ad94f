"""Leaving some members out of a group so that the rest meets a model on a sensitive attribute.

A group fails l-diversity or t-closeness because some values are too frequent in it. With a cap of λ·q(v) records on
each value v (q is the value's share of the whole table) the values that are over-represented shrink first, and the
smaller λ, the nearer the rest comes to the whole table. Sought is the largest λ at which the models accept the rest;
who is left out waits for a coarser group, where others are left out for the opposite reason.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.classes import BLOCK_CELLS
from shoal.solve.local_recoding.admissible_classes import ClassAdmission

HALVINGS = 4
MOST = 4
"""λ is at most this many times the records of a group; above it only the rarest values would feel it."""


class Trimmer:
    def __init__(self, judge: ClassAdmission, attribute: str) -> None:
        self.judge = judge
        self.attribute = attribute
        tally = judge.problem.tallies[attribute]
        self.share = tally.whole / max(1, tally.whole.sum())
        self.divisor = np.where(tally.whole > 0, self.share, 1.0)
        self.least = max(judge.minimum_class.people, judge.minimum_class.records)
        self.unlimited = int(tally.whole.sum())
        self.leading = _leading(tally.combination, tally.value, tally.count, judge.problem.counts.size)
        self.records = judge.problem.counts.records

    def part(self, chosen: Integers, group: Integers, number: int) -> Mask:
        """Which of the chosen combinations make their groups hold: all of a group, some, or none."""
        if number * len(self.share) > BLOCK_CELLS:
            return self.judge.holds(chosen, group, number)[group]
        found = self.judge.dense(self.attribute, chosen, group, number)
        caps = self._caps(found)
        hopeful = np.minimum(found, caps).sum(axis=1) >= self.least
        taken = np.zeros(len(chosen), dtype=bool)
        here = np.flatnonzero(hopeful[group])
        here = here[self._under(caps, chosen[here], group[here])]
        taken[here] = self.judge.holds(chosen[here], group[here], number)[group[here]]
        return taken

    def _caps(self, found: Integers) -> Integers:
        """Per group and value, the records that may stay: none in a group that can't be helped."""
        caps = np.zeros_like(found)
        varied = np.flatnonzero((found > 0).sum(axis=1) >= self.judge.minimum_class.distinct.get(self.attribute, 1))
        accepted = np.zeros(len(found), dtype=bool)
        accepted[varied] = self.judge.accepts(self.attribute, found[varied])
        caps[accepted] = self.unlimited
        failing = varied[~accepted[varied]]
        caps[failing] = self._largest_caps(found[failing])
        return caps

    def _largest_caps(self, found: Integers) -> Integers:
        """By the largest λ that a few halvings find, on a logarithmic scale. Never more than λ records can stay."""
        low = np.full(len(found), np.log(self.least))
        most = np.minimum((found / self.divisor).max(axis=1, initial=1.0), MOST * found.sum(axis=1))
        high = np.maximum(np.log(most), low)
        best = np.zeros_like(found)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            caps = np.floor(np.exp(middle)[:, None] * self.share + 1e-9).astype(np.int64)
            rest = np.minimum(found, caps)
            accepted = rest.any(axis=1)
            accepted[accepted] = self.judge.accepts(self.attribute, rest[accepted])
            best[accepted] = caps[accepted]
            low, high = np.where(accepted, middle, low), np.where(accepted, high, middle)
        return best

    def _under(self, caps: Integers, chosen: Integers, group: Integers) -> Integers:
        """The places of the combinations that fit under the caps, each counted for its most frequent value."""
        cell = group * caps.shape[1] + self.leading[chosen]
        order = np.argsort(cell, kind="stable")
        cell, records = cell[order], self.records[chosen[order]]
        reached = np.cumsum(records)
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        before = np.repeat(reached[first] - records[first], np.diff(first, append=len(cell)))
        return np.sort(order[reached - before <= caps.reshape(-1)[cell]])


def _leading(combination: Integers, value: Integers, count: Integers, size: int) -> Integers:
    """The most frequent value of each combination."""
    leading = np.zeros(size, dtype=np.int64)
    order = np.lexsort((-value, count))
    leading[combination[order]] = value[order]
    return leading
