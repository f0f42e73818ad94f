"""Attacks on pseudonyms that keep frequencies or order (Naveed, Kamara & Wright 2015, sections 4 and 5).

Frequency: the commonest pseudonym is the commonest value, the second the second, and so on. Among all one-to-one
matchings this one has the least sum of squared differences of the two histograms, since a convex cost is least where
both sides are sorted. Cumulative: where pseudonyms are ordered as the values are, each also has a known share of
records below it; the matching with the least squared difference in both is found as an assignment problem. Sorting:
where every value of the domain occurs, the i-th pseudonym is the i-th value.

Success counts records, not distinct pseudonyms. Where frequencies are equal the attacker draws lots, and the
expectation is counted. The records of one pseudonym fall together, so an interval that takes them for independent
trials is narrower than it should be; ``values`` gives the share of distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma

import numpy as np
import polars as pl

from shoal.attack.result import Attack, NothingToTryError, Rate
from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers

ASSIGNED = 1_500
"""With more distinct values than this, on either side, each pseudonym takes the value of the nearest cumulative share:
the assignment problem grows with their cube."""
RARELY = 1_000
"""Of so many orders that frequencies can have, the right one comes by chance once."""


@dataclass(frozen=True)
class PairedColumn:
    """A pseudonymised column beside its original: both in order, with the frequencies that an attacker sees."""

    name: str
    records: Integers
    """Of each pseudonym, in the order of pseudonyms."""
    truth: Integers
    """Which value the pseudonym stands for, as its place among the attacker's values; −1 for one they lack."""
    known: Floats
    """How often each of the attacker's values occurs in what they know, in the order of values."""
    deterministic: bool
    """Whether equal values have equal pseudonyms, and different ones different."""
    ordered: bool
    """Whether pseudonyms are ordered as the values are."""

    @classmethod
    def of(cls, released: pl.Series, original: pl.Series, auxiliary: pl.Series | None = None) -> PairedColumn:
        """Of two aligned columns; ``auxiliary`` is what the attacker has of such values, the original by default."""
        if len(released) != len(original):
            raise DataError(f"{released.name}: the released and the original column differ in length")
        both = pl.DataFrame({"pseudonym": released, "value": original}).drop_nulls()
        pairs = both.group_by("pseudonym", "value").len().sort("pseudonym", "value")
        if not pairs.height:
            raise NothingToTryError(f"{released.name}: no record has both a pseudonym and a value")
        one_each = pairs["pseudonym"].n_unique() == pairs.height == pairs["value"].n_unique()
        ordered = one_each and pairs.height > 1 and pairs["value"].is_sorted()
        known = _frequencies(original if auxiliary is None else auxiliary, original)
        return cls(released.name, *_counted(pairs, known), one_each, ordered)

    @classmethod
    def by_counts(
        cls, released: pl.Series, original: pl.Series, auxiliary: pl.Series | None = None
    ) -> PairedColumn | None:
        """Of two columns of which it is not known which record is whose.

        A pseudonym of one value occurs as often as the value. Where pseudonyms and values occur equally often, each of
        them has its pair, up to those that occur as often as each other, which no attack by frequency tells apart
        either. They are taken for ordered where the frequencies follow each other in the same order, and chance would
        hardly put them so. None where frequencies differ: then equal values don't have equal pseudonyms.
        """
        mine, theirs = (_frequencies(each, each) for each in (released, original))
        as_often = [each["records"] for each in (mine, theirs)]
        if not as_often[0].sort().equals(as_often[1].sort()):
            return None
        ordered = as_often[0].equals(as_often[1]) and _arrangements(as_often[0]) > RARELY
        by = "value" if ordered else "records"
        mine, theirs = (each.sort(by, maintain_order=True) for each in (mine, theirs))
        pairs = pl.DataFrame({"pseudonym": mine["value"], "value": theirs["value"], "len": mine["records"]})
        known = _frequencies(original if auxiliary is None else auxiliary, original)
        return cls(released.name, *_counted(pairs.sort("pseudonym"), known), deterministic=True, ordered=ordered)

    @property
    def repeats(self) -> bool:
        """Whether some pseudonym occurs more than once: otherwise frequencies tell nothing."""
        return bool((self.records > 1).any())

    @property
    def dense(self) -> bool:
        """Whether as many pseudonyms occur as the attacker knows values."""
        return len(self.records) == len(self.known)

    def attack(self, key: str, title: str, knows: str, right: Floats) -> Attack:
        """The result, given the chance of each pseudonym to be read rightly."""
        total = int(self.records.sum())
        modes = np.flatnonzero(self.known == self.known.max())
        guessed = float(self.records[np.isin(self.truth, modes)].sum()) / len(modes)
        return Attack(
            key,
            title,
            knows,
            Rate(float(right @ self.records), total),
            Rate(guessed, total),
            attribute=self.name,
            details={"values": float(right.mean()), "pseudonyms": float(len(right))},
        )


def frequency(paired: PairedColumn) -> Attack:
    """Match pseudonyms and values by the rank of their frequency."""
    _need_deterministic(paired)
    first, after = _ranks(paired.records.astype(np.float64))
    known_first, known_after = _ranks(paired.known)
    low, high = known_first[paired.truth], known_after[paired.truth]
    common = np.clip(np.minimum(after, high) - np.maximum(first, low), 0, None)
    right = np.where(paired.truth >= 0, common / ((after - first) * (high - low)), 0.0)
    knows = "how often each value occurs"
    return paired.attack("frequency", "Frequencies of a deterministic pseudonym", knows, right)


def cumulative(paired: PairedColumn) -> Attack:
    """Match ordered pseudonyms and values by frequency and cumulative frequency."""
    _need_order(paired)
    mine, theirs = paired.records / paired.records.sum(), paired.known / paired.known.sum()
    right = (_assigned(mine, theirs) == paired.truth).astype(np.float64)
    knows = "how often each value occurs, and their order"
    return paired.attack("cumulative", "Cumulative frequencies of an ordered pseudonym", knows, right)


def sorting(paired: PairedColumn) -> Attack:
    """Match the i-th pseudonym with the i-th value, where all values occur."""
    _need_order(paired)
    if not paired.dense:
        raise DataError(f"{paired.name}: sorting needs every known value to occur in the column")
    right = (np.arange(len(paired.truth)) == paired.truth).astype(np.float64)
    return paired.attack("sorting", "Sorting of an ordered pseudonym", "which values there are, and their order", right)


def _frequencies(values: pl.Series, like: pl.Series) -> pl.DataFrame:
    """Each ``value``, in order, and its ``records``."""
    aux = _alike(values, like.dtype)
    known = aux.drop_nulls().value_counts(name="records").rename({aux.name: "value"}).sort("value")
    if not known.height:
        raise NothingToTryError(f"{like.name}: nothing is known of the values' frequencies")
    return known


def _counted(pairs: pl.DataFrame, known: pl.DataFrame) -> tuple[Integers, Integers, Floats]:
    """The records of each pseudonym, its value's place among the known ones, and their frequencies."""
    places = known.select("value").with_row_index("place")
    found = pairs.join(places, on="value", how="left", maintain_order="left")["place"]
    return (
        pairs["len"].cast(pl.Int64).to_numpy(),
        found.cast(pl.Int64).fill_null(-1).to_numpy(),
        known["records"].cast(pl.Float64).to_numpy(),
    )


def _arrangements(counts: pl.Series) -> float:
    """In how many different orders the counts can follow each other.

    >>> _arrangements(pl.Series([5, 3, 3]))
    3.0
    """
    alike = counts.value_counts()["count"].to_list()
    logarithm = lgamma(len(counts) + 1) - sum(lgamma(each + 1) for each in alike)
    return round(exp(min(logarithm, 100.0)), 6)


def _ranks(counts: Floats) -> tuple[Integers, Integers]:
    """For each entry the ranks, from the commonest, that it and its ties take: from the first to before the last."""
    rising = np.sort(-counts)
    return np.searchsorted(rising, -counts, "left"), np.searchsorted(rising, -counts, "right")


def _assigned(mine: Floats, theirs: Floats) -> Integers:
    """The value that each pseudonym takes."""
    from scipy.optimize import linear_sum_assignment

    below, known_below = np.cumsum(mine), np.cumsum(theirs)
    if max(len(mine), len(theirs)) > ASSIGNED:
        middles, known_middles = below - mine / 2, known_below - theirs / 2
        return np.searchsorted((known_middles[1:] + known_middles[:-1]) / 2, middles).astype(np.int64)
    cost = (mine[:, None] - theirs) ** 2 + (below[:, None] - known_below) ** 2
    rows, columns = linear_sum_assignment(cost)
    taken = np.full(len(mine), -2, dtype=np.int64)
    taken[rows] = columns
    return taken


def _need_deterministic(paired: PairedColumn) -> None:
    if not paired.deterministic:
        raise DataError(f"{paired.name}: frequencies need one pseudonym for each value")


def _need_order(paired: PairedColumn) -> None:
    if not paired.ordered:
        raise DataError(f"{paired.name}: the pseudonyms aren't ordered as the values are")


def _alike(values: pl.Series, dtype: pl.DataType) -> pl.Series:
    """The attacker's values in the original's type, so that both are ordered and compared alike."""
    try:
        return values.cast(dtype)
    except pl.exceptions.InvalidOperationError:
        raise DataError(f"{values.name}: the auxiliary values are of another type than the original") from None
