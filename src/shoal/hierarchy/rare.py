"""Rare values become one (PDPC annex B, race and marital status): those with few records → ``Others`` → ``*``.

A value that few people have singles them out; common values stay as they are. The group of rare values must not be
rare itself: while it has fewer records than the minimum, the next rarest value joins it.

Loss of a cell: (distinct values that became one − 1) ÷ (distinct values − 1).
"""

from __future__ import annotations

import polars as pl
from pydantic import Field

from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.ladder import Ladder
from shoal.schema.columns import Column


class Rare(Hierarchy):
    """Rare values to one group; common values stay as they are."""

    key = "rare"
    shorthand = "minimum"

    minimum: int = Field(10, ge=2)
    """Values with fewer records are rare."""
    label: str = Field("Others", min_length=1)
    """The name of the group."""

    def refuse(self, column: Column) -> str | None:
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> Ladder:
        """
        >>> known = pl.DataFrame({"value": ["Chinese", "Malay", "Indian"], "records": [12, 2, 1]})
        >>> bound = Rare(minimum=3).bind(Column("race"), known)
        >>> bound.generalise(known["value"], 1).to_list()
        ['Chinese', 'Others', 'Others']
        """
        values, records = pl.col("value"), pl.col("records")
        known = distinct.select(values.cast(pl.String), records.cast(pl.Int64)).filter(values.is_not_null())
        # Rarest first; a value that has the group's name already belongs to the group, however common it is.
        known = known.sort(values != self.label, records, values)
        rare = records < self.minimum
        needed = rare.any() & (records.cum_sum() - records < self.minimum)
        labels = pl.when(rare | needed).then(pl.lit(self.label)).otherwise(values)
        return Ladder.build(column, [known["value"], known.select(labels).to_series()], distinct)
