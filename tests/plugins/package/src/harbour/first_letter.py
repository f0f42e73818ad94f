"""A hierarchy of two levels: the value, its first letter."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.hierarchy.base import BoundHierarchy, Hierarchy
from shoal.schema.columns import Column


class FirstLetter(Hierarchy):
    key = "first_letter"

    def refuse(self, column: Column) -> str | None:
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundHierarchy:
        return BoundFirstLetter(column)


@dataclass(frozen=True)
class BoundFirstLetter(BoundHierarchy):
    @property
    def height(self) -> int:
        return 2

    def label(self, values: pl.Series, level: int) -> pl.Series:
        return values.cast(pl.String).str.head(1) if level == 1 else values.cast(pl.String)

    def share(self, values: pl.Series, level: int) -> np.ndarray:
        return np.full(len(values), 0.5)
