"""How the values of an attribute lie among each other: their natural order, and their groups in a hierarchy."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
import polars as pl

from shoal.hierarchy.base import BoundHierarchy
from shoal.kernels.arrays import Floats, Integers
from shoal.schema.columns import Column


@dataclass(frozen=True)
class ValueOrder:
    column: Column
    bound: BoundHierarchy | None = None

    def order(self, values: pl.Series) -> Integers:
        """The place of each distinct value: numbers and dates by size, text by alphabet, a missing value last.

        >>> from shoal.schema.values import ValueType
        >>> ValueOrder(Column("dose", ValueType.INTEGER)).order(pl.Series(["10", "9", None])).tolist()
        [1, 0, 2]
        """
        read = values
        if self.column.is_number:
            read = self.column.numbers(values)
        elif self.column.is_date:
            read = self.column.dates(values)
        place = np.empty(len(values), dtype=np.int64)
        place[read.arg_sort(nulls_last=True).to_numpy()] = np.arange(len(values))
        return place

    def numbers(self, values: pl.Series) -> Floats | None:
        """The number that each value is, NaN for a missing one; None where the attribute has no numbers.

        >>> from shoal.schema.values import ValueType
        >>> ValueOrder(Column("dose", ValueType.INTEGER)).numbers(pl.Series(["10", "9", None])).tolist()
        [10.0, 9.0, nan]
        """
        if not self.column.is_number:
            return None
        return self.column.numbers(values).cast(pl.Float64).fill_null(nan).to_numpy()

    def tree(self, values: pl.Series) -> tuple[Integers, ...]:
        """Per level of the hierarchy, from 1 to the top, the group of each value; nothing without a hierarchy."""
        if self.bound is None:
            return ()
        return tuple(group_of(self.bound.generalise(values, level)) for level in range(1, self.bound.height + 1))


def group_of(labels: pl.Series) -> Integers:
    """A number for each label, missing ones too: equal labels, equal numbers."""
    ranks = labels.rank("dense").cast(pl.Int64)
    return (ranks.fill_null((ranks.max() or 0) + 1) - 1).to_numpy()  # type: ignore[operator]  # Int64 ranks, so an int
