"""Groups of records that can't tell an attribute are left out at once, by a bound that costs one count.

The labels of a level are thrown into a few buckets. Records that share a label share its bucket, so a group of which no
bucket holds as large a share as the rule asks for tells nothing on that level or below. Of a level on which everybody
knows one label, a group can tell only another: nearly all its records are *outside* that label. So the bound is taken
on the highest level that is not known, and by what is outside the labels that are.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from shoal.kernels.arrays import Integers, Mask
from shoal.measurement.read_back.disclosure_rule import DisclosureRule
from shoal.measurement.read_back.levels import Codes, Levels

BUCKETS = 16


class Groups:
    """Records in groups; the first group, 0, is of those that are in none."""

    def __init__(self, places: Integers, number: int) -> None:
        """``places`` has the group of each record, ``number`` says how many there are besides the first."""
        self.places = places
        self.records = np.bincount(places, minlength=number + 1)
        self._times: dict[int, Integers] = {}

    def times(self, width: int) -> Integers:
        """The places, so many cells apart."""
        if width not in self._times:
            self._times[width] = self.places * width
        return self._times[width]


@dataclass(frozen=True)
class Screen:
    share: float
    buckets: Integers | None = field(repr=False)
    """Of each record; None where one label of every level is known to everybody."""
    number: int
    outside: Integers = field(repr=False)
    """Places of the records that lack a label which everybody is known to have."""

    @classmethod
    def of(cls, levels: Levels, values: Codes, rule: DisclosureRule) -> Screen:
        records = np.bincount(values, minlength=len(levels.values))
        outside = np.zeros(len(levels.values), dtype=bool)
        for places, _ in reversed(levels.compact):
            counted = np.bincount(places, weights=records)
            if counted.max(initial=0) < rule.share * len(values) - 1e-9:
                ranks = np.empty(len(counted), dtype=np.int64)
                ranks[np.argsort(-counted, kind="stable")] = np.arange(len(counted))
                buckets = (ranks % BUCKETS)[places]
                return cls(rule.share, buckets[values], _width(len(counted)), np.flatnonzero(outside[values]))
            outside |= places != counted.argmax()
        return cls(rule.share, None, 0, np.flatnonzero(outside[values]))

    def every(self, step: int) -> Screen:
        """The same of every n-th record."""
        if step == 1:
            return self
        buckets = None if self.buckets is None else np.ascontiguousarray(self.buckets[::step])
        return Screen(self.share, buckets, self.number, self.outside[self.outside % step == 0] // step)

    def passes(self, groups: Groups) -> Mask:
        """Which groups may tell something."""
        needed = self.share * groups.records - 1e-9
        found = np.zeros(len(needed), dtype=bool)
        if self.buckets is not None:
            counted = np.bincount(groups.times(self.number) + self.buckets, minlength=len(needed) * self.number)
            table = counted.reshape(len(needed), self.number)
            most = table[:, 0]
            for bucket in range(1, self.number):
                most = np.maximum(most, table[:, bucket])
            found = most >= needed
        if len(self.outside):
            found |= np.bincount(groups.places[self.outside], minlength=len(needed)) >= needed
        found[0] = False
        return found & (groups.records > 0)


def _width(labels: int) -> int:
    """One of few, so that places are multiplied once for several attributes."""
    return min(BUCKETS, 1 << (labels - 1).bit_length())
