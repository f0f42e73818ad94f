"""Local suppression of rare values (ISO/IEC 20889, 9.3.3; the minimum frequency rule of statistical offices).

A value that fewer than ``k`` have works like a name: whoever knows that somebody has it needs nothing else. Its cells
are suppressed, in whatever record they stand: text becomes ``*``, other values go missing. Values that k or more have
stay as they are, so most cells of a common attribute are untouched.

**k counts people** where the policy names a person column (all records that name no one count as one person), otherwise
records. A value that many records have may be one person's.

Numbers of which hardly two are alike would all go: round or microaggregate those.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from shoal.hierarchy.base import escape_top
from shoal.schema.columns import Column
from shoal.techniques.base import EACH_PARTIALLY, AttributeStep, Context, Technique, table_a1
from shoal.techniques.suppression.suppress_cells import suppressed_cell


class SuppressRare(Technique):
    key = "suppress_rare"
    facts = table_a1("Suppression of rare values", "9.3.3", EACH_PARTIALLY)
    counts_people: ClassVar[bool] = True

    k: int = Field(ge=2, description="The fewest that a value has to have: people where the policy names them.")

    def wants(self, attribute: str) -> tuple[tuple[str, ...], ...]:
        return ((attribute,),)

    def bind(self, column: Column, context: Context) -> SuppressRareStep:
        counts = context.counts[(column.name,)]
        values = counts.values_of(column.name)
        people = pl.Series(counts.people_in(counts.codes[:, 0].astype(np.int64), len(values)))
        return SuppressRareStep(column.name, values.filter(people < self.k).drop_nulls())


@dataclass(frozen=True)
class SuppressRareStep(AttributeStep):
    """
    >>> step = SuppressRareStep("illness", pl.Series(["kuru"]))
    >>> step.apply(pl.DataFrame({"illness": ["flu", "kuru", None]}))["illness"].to_list()
    ['flu', '*', None]
    """

    rare: pl.Series = field(repr=False, compare=False)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        values = frame[self.attribute]
        rare = values.is_in(self.rare.implode()).fill_null(value=False)
        cell = pl.when(rare).then(suppressed_cell(values.dtype)).otherwise(escape_top(values))
        return frame.with_columns(cell.alias(self.attribute))
