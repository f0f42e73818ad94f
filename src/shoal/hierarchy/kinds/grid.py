"""A grid of coordinates (PDPC annex B, GPS location): ``1.27434`` → ``1.274`` → ``1.27`` → ``1.2`` → ``1`` → ``*``.

A coordinate becomes the lower edge of its cell: three decimals of a degree are cells of about 111 m, two 1.1 km, one
11 km, none 111 km (along a meridian). Cells begin at their label and do not lie around it, because cells that are
rounded to the nearest label don't nest: 1.2746 and 1.2754 share 1.275, but not 1.27.

Latitude and longitude are one attribute each; both need a hierarchy, or the finer of the two gives the place away.
"""

from __future__ import annotations

import itertools
from typing import Annotated

import polars as pl
from pydantic import Field, field_validator

from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.kinds.intervals import BoundIntervals
from shoal.schema.columns import Column
from shoal.schema.values import ValueType


class GridHierarchy(Hierarchy):
    """Coordinates to cells of a grid."""

    key = "grid"
    data_independent = True
    shorthand = "decimals"

    decimals: tuple[Annotated[int, Field(ge=0, le=9)], ...] = Field((3, 2, 1, 0), min_length=1)
    """How many decimals are kept on each level; fewer on each."""

    @field_validator("decimals")
    @classmethod
    def _coarser(cls, decimals: tuple[int, ...]) -> tuple[int, ...]:
        if any(coarse >= fine for fine, coarse in itertools.pairwise(decimals)):
            raise ValueError("each level has to keep fewer decimals than the one before, e.g. [3, 2, 1, 0]")
        return decimals

    def refuse(self, column: Column) -> str | None:
        if column.type is not ValueType.DECIMAL:
            return f"grid works on decimal columns; column '{column.name}' is {column.type}"
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundIntervals:
        """
        >>> column = Column("latitude", ValueType.DECIMAL)
        >>> cells = GridHierarchy(decimals=(3, 1)).bind(column, pl.DataFrame({"value": ["1.27434"], "records": [1]}))
        >>> [cells.generalise(pl.Series(["1.27434"]), level).item() for level in (1, 2, 3)]
        ['1.274', '1.2', '*']
        """
        scale = self.decimals[0]
        widths = tuple(10 ** (scale - digits) for digits in self.decimals)
        return BoundIntervals(column, scale, self.decimals, widths, template="{low}").over(distinct["value"])
