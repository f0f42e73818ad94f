"""The hierarchy of a quasi-identifier for which the policy gives none: as it is, and ``*``.

>>> bound = FlatHierarchy().bind(Column("sex"), pl.DataFrame({"value": ["F"], "records": [3]}))
>>> bound.generalise(pl.Series(["F"]), 1).to_list()
['*']
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.hierarchy.base import BoundHierarchy, Hierarchy
from shoal.kernels.arrays import Floats
from shoal.schema.columns import Column


class FlatHierarchy(Hierarchy):
    """Has no key: it is what the absence of a hierarchy means."""

    data_independent = True

    def refuse(self, column: Column) -> str | None:
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundFlat:
        return BoundFlat(column)


@dataclass(frozen=True)
class BoundFlat(BoundHierarchy):
    @property
    def height(self) -> int:
        return 1

    def label(self, values: pl.Series, level: int) -> pl.Series:
        """There is no level between 0 and the top; kept for completeness, and truthful."""
        return values.cast(pl.String)

    def share(self, values: pl.Series, level: int) -> Floats:
        return np.zeros(len(values))
