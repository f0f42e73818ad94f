"""Redaction of characters from one side (ISO/IEC 20889, 9.3.2; MeitY table 2.v): ``411005`` → ``41100x`` → ``4110xx``….

Codes are written from the general to the particular: the shorter the part that is left, the more people share it. The
label of a level is a function of the label of the level below (one more character goes), so the levels nest for values
of any length.

Values of different lengths: each loses its own last characters. With ``align`` they are first laid beside the longest
one, and a shorter value loses its characters only when the redaction reaches them (``E11.9`` and ``I10`` → ``E11xx``,
``I10xx``). Loss of a cell: (distinct values with the same label − 1) ÷ (distinct values − 1).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

import polars as pl
from pydantic import Field, field_validator

from shoal.errors import DataError
from shoal.hierarchy.base import BoundHierarchy, Hierarchy
from shoal.hierarchy.bound_ladder import shares
from shoal.hierarchy.proposals import ColumnValues, HierarchyProposal
from shoal.kernels.arrays import Floats
from shoal.schema.columns import Column
from shoal.schema.values import ValueType

MOST_LEVELS = 64


class Side(StrEnum):
    RIGHT = "right"
    LEFT = "left"


class RedactionHierarchy(Hierarchy):
    """Characters redacted from one side, one more on each level."""

    key = "redact"
    turn = 50

    side: Side = Side.RIGHT
    """The side from which characters are redacted."""
    char: str = Field("x", min_length=1, max_length=1)
    """What stands for a redacted character."""
    keep_length: bool = True
    """One ``char`` for each redacted character; if not, one for all of them, and the length is hidden too."""
    align: bool = False
    """Lay shorter values beside the longest one before the redaction."""
    steps: tuple[Annotated[int, Field(ge=1)], ...] | None = Field(None, min_length=1)
    """How many characters are redacted on each level; by default one more on each."""

    @field_validator("steps")
    @classmethod
    def _growing(cls, steps: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if steps is not None and any(more <= fewer for fewer, more in itertools.pairwise(steps)):
            raise ValueError("each level has to redact more characters than the one before, e.g. [1, 3, 6]")
        return steps

    @classmethod
    def propose(cls, values: ColumnValues) -> Iterator[HierarchyProposal]:
        """Codes of one length, as postal codes are: the last characters go first."""
        lengths = values.texts.str.len_chars().unique().to_list()
        coded = bool(values.texts.str.contains(r"^[\w-]*\d[\w-]*$").all())
        if values.is_named and len(lengths) == 1 and 3 <= lengths[0] <= 12 and coded:
            half = max(2, lengths[0] // 2)
            steps = sorted({1, half, lengths[0] - 1})
            yield HierarchyProposal({"steps": steps}, "codes of one length: their last characters go first")

    def refuse(self, column: Column) -> str | None:
        if column.type is ValueType.INTEGER or isinstance(column.storage, pl.String):
            return None
        return f"redact works on text and whole numbers; column '{column.name}' is stored as {column.type}"

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundRedact:
        leaves = distinct["value"].cast(pl.String).drop_nulls().unique().sort()
        lengths = leaves.str.len_chars().to_numpy()
        longest = int(lengths.max(initial=0))
        if self.steps is None and longest > MOST_LEVELS:
            raise DataError(
                f"column '{column.name}': redaction would have {longest} levels, one for each character",
                advice="choose some of them with steps, e.g. [10, 20, 40]",
            )
        steps = self.steps or tuple(range(1, longest))
        return BoundRedact(column, self, longest, tuple(step for step in steps if step < longest), leaves)


@dataclass(frozen=True)
class BoundRedact(BoundHierarchy):
    """
    >>> known = pl.DataFrame({"value": ["411005", "411028"], "records": [1, 1]})
    >>> bound = RedactionHierarchy(char="*").bind(Column("pin"), known)
    >>> bound.height, bound.generalise(known["value"], 3).to_list()
    (6, ['411***', '411***'])
    """

    how: RedactionHierarchy
    longest: int
    steps: tuple[int, ...]
    leaves: pl.Series = field(repr=False, compare=False)

    @property
    def height(self) -> int:
        return len(self.steps) + 1

    def describe(self, level: int) -> str:
        step, end = self.steps[level - 1], "last" if self.how.side is Side.RIGHT else "first"
        return f"the {end} {step} of {self.longest} characters covered" if step > 1 else f"the {end} character covered"

    def label(self, values: pl.Series, level: int) -> pl.Series:
        text = values.cast(pl.String)
        step = self.steps[level - 1]
        # A negative count leaves out that many characters of the other side.
        count = self.longest - step if self.how.align else -step
        kept = text.str.head(count) if self.how.side is Side.RIGHT else text.str.tail(count)
        if not self.how.keep_length:
            return kept + self.how.char if self.how.side is Side.RIGHT else self.how.char + kept
        length = self.longest if self.how.align else text.str.len_chars()
        pad = kept.str.pad_end if self.how.side is Side.RIGHT else kept.str.pad_start
        return pad(length, self.how.char)

    def share(self, values: pl.Series, level: int) -> Floats:
        labels = self.label(self.leaves, level)
        table = pl.DataFrame({"label": labels, "share": shares(labels)}).unique()
        asked = pl.DataFrame({"label": self.label(values, level)})
        found = asked.join(table, on="label", how="left", maintain_order="left")["share"]
        return found.fill_null(0.0).to_numpy()
