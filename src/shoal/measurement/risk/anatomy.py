"""What is left to infer from two tables that are joined by a class (anatomisation), counted from the tables alone.

Whoever finds a person's record learns its class, and from the other table the values that the class has and how often.
The chance to name the right one is the largest share that a value has in the class; the tables are l-diverse if that is
1/l at most in every class (Xiao and Tao 2006). A missing value counts as a value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.kernels.arrays import Integers, sums_by
from shoal.kernels.group_counts import count_groups

_RECORDS = "__shoal_records"
_CLASS = "__shoal_class"


@dataclass(frozen=True)
class Diversity:
    """The least that any class has."""

    distinct: int
    """The smallest number of different values."""
    largest_share: float
    """The largest share that one value has: an attacker's best chance."""

    def reaches(self, l: int) -> bool:  # noqa: E741  # the name that the literature has
        """
        >>> Diversity(3, 1 / 3).reaches(3), Diversity(3, 0.5).reaches(3)
        (True, False)
        """
        return self.distinct >= l and self.largest_share * l <= 1 + 1e-9


@dataclass(frozen=True)
class Anatomy:
    """Two tables joined by their classes."""

    records: int
    classes: int
    together: Diversity
    """Of the sensitive attributes together, as one value."""
    attributes: Mapping[str, Diversity] = field(default_factory=dict)
    """Of each of them by itself."""


def measure_anatomy(
    data: pl.LazyFrame, attributes: pl.LazyFrame, sensitive: Sequence[str], *, class_name: str, count_name: str
) -> Anatomy:
    """Join the tables by class and count. Tables whose classes don't agree in their sizes are a DataError.

    >>> data = pl.LazyFrame({"age": [31, 36, 52, 58], "class": [1, 1, 2, 2]})
    >>> cut_off = pl.LazyFrame({"class": [1, 1, 2, 2], "ill": ["flu", "gout", "flu", "cold"], "count": [1, 1, 1, 1]})
    >>> measure_anatomy(data, cut_off, ["ill"], class_name="class", count_name="count").together
    Diversity(distinct=2, largest_share=0.5)
    """
    left = [name for name in sensitive if name in data.collect_schema()]
    if left:
        raise DataError(f"the data still has the column(s) {', '.join(left)} that were to be cut off")
    sizes = count_groups(data, [class_name], _RECORDS)
    places = sizes.select(pl.col(class_name).cast(pl.String), pl.int_range(pl.len()).alias(_CLASS))
    listed = attributes.with_columns(pl.col(class_name).cast(pl.String)).join(places.lazy(), class_name, how="left")
    lines = listed.select(_CLASS, *sensitive, pl.col(count_name).cast(pl.Int64)).collect(engine="streaming")
    records = lines[count_name].to_numpy()
    _need_to_fit(lines[_CLASS], records, sizes[class_name], sizes[_RECORDS].to_numpy())
    classes = lines[_CLASS].to_numpy()
    kinds = {name: _numbered(lines[name]) for name in sensitive}
    alone = {name: _diversity(classes, kind, records) for name, kind in kinds.items()}
    together = next(iter(alone.values()))
    if len(kinds) > 1:
        together = _diversity(classes, reduce(_combined, kinds.values()), records)
    return Anatomy(int(records.sum()), sizes.height, together, alone)


def _need_to_fit(classes: pl.Series, records: Integers, named: pl.Series, sizes: Integers) -> None:
    strange = classes.null_count() or named.null_count() or (records < 1).any()
    if strange or not np.array_equal(sums_by(classes.to_numpy(), records, len(sizes)), sizes):
        raise DataError("the classes of the two tables don't have the same numbers of records")


def _numbered(values: pl.Series) -> Integers:
    """Equal numbers for values that look alike in a file; 0 for a missing one."""
    known = values.cast(pl.String).cast(pl.Categorical).to_physical().cast(pl.Int64)
    numbers: Integers = (known + 1).fill_null(0).to_numpy()
    return numbers


def _combined(one: Integers, other: Integers) -> Integers:
    """A number for each pair, small again."""
    pairs = one * (int(other.max(initial=0)) + 1) + other
    numbers: Integers = np.unique(pairs, return_inverse=True)[1]
    return numbers


def _diversity(classes: Integers, kinds: Integers, records: Integers) -> Diversity:
    if not len(classes):
        return Diversity(0, 0.0)
    width = int(kinds.max()) + 1
    keys = classes * width + kinds
    order = np.argsort(keys)
    pairs = keys[order]
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    having = np.add.reduceat(records[order], starts)
    first = np.flatnonzero(np.diff(pairs[starts] // width, prepend=-1))
    shares = np.maximum.reduceat(having, first) / np.add.reduceat(having, first)
    distinct = np.diff(first, append=len(having))
    return Diversity(int(distinct.min()), float(shares.max()))
