"""Rare values become one (PDPC annex B, race and marital status): those with few records → ``Others`` → ``*``.

A value that few people have singles them out; common values stay as they are. The group of rare values must not be
rare itself: where all of them together have fewer records than the minimum, they become ``*`` at once. No common value
fills the group up: its people would be called others beside those who keep the value.

Loss of a cell: (distinct values that became one − 1) ÷ (distinct values − 1); 1 for ``*``.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
from pydantic import Field

from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.bound_ladder import StarredLadder
from shoal.hierarchy.proposals import ColumnValues, HierarchyProposal
from shoal.kernels.arrays import Mask
from shoal.schema.columns import Column

RARE = 10


class RareHierarchy(Hierarchy):
    """Rare values to one group; common values stay as they are."""

    key = "rare"
    turn = 60
    shorthand = "minimum"

    minimum: int = Field(10, ge=2)
    """Values with fewer records are rare."""
    label: str = Field("Others", min_length=1)
    """The name of the group."""

    @classmethod
    def propose(cls, values: ColumnValues) -> Iterator[HierarchyProposal]:
        if values.is_named and values.share(values.distinct["records"] < RARE) < 1:
            reason = f"values that fewer than {RARE} records have become one group"
            yield HierarchyProposal({"minimum": RARE}, reason)

    def refuse(self, column: Column) -> str | None:
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundRare:
        """
        >>> known = pl.DataFrame({"value": ["Chinese", "Malay", "Indian"], "records": [12, 2, 1]})
        >>> bound = RareHierarchy(minimum=3).bind(Column("race"), known)
        >>> bound.generalise(known["value"], 1).to_list()
        ['Chinese', 'Others', 'Others']
        """
        values, records = pl.col("value"), pl.col("records")
        known = distinct.select(values.cast(pl.String), records.cast(pl.Int64)).filter(values.is_not_null())
        # A value that has the group's name already belongs to the group, however common it is.
        pooled = (records < self.minimum) | (values == self.label)
        enough = pooled & (records.filter(pooled).sum() >= self.minimum)
        labels = pl.when(enough).then(pl.lit(self.label)).when(pooled).then(pl.lit(TOP)).otherwise(values)
        return BoundRare.build(column, [known["value"], known.select(labels).to_series()], distinct)

    def bind_uncounted(self, column: Column, values: pl.Series) -> BoundRare:
        """Any value may have been one of a group that was large enough."""
        labels = [values, pl.Series("rung", [self.label]).new_from_index(0, len(values))]
        return BoundRare.build(column, labels, pl.DataFrame({"value": values, "records": [1] * len(values)}))


class BoundRare(StarredLadder):
    """A group that can't stand alone is starred for good."""

    def describe(self, level: int) -> str:
        groups = self.rungs[level].unique(maintain_order=True)
        named = groups.filter(~groups.is_in(self.rungs[0].implode()))
        return f"rare values as {', '.join(named)}" if len(named) else "rare values together"

    def pooled(self, values: pl.Series) -> Mask:
        """Whether level 1 calls a value by another name."""
        return (self.label(values, 1) != values.cast(pl.String)).fill_null(value=False).to_numpy()
