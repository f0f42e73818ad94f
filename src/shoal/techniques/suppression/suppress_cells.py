"""Suppression of cells that tell what was generalised elsewhere in the record (ISO/IEC 20889, 9.3.3).

Where a column splits an equivalence class by what it tells of a quasi-identifier, its cells are suppressed in all
records of that class: then nothing in it tells them apart. Text becomes ``*``, other values go missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl

from shoal.hierarchy.base import TOP
from shoal.techniques.base import Step

_MARK = "__shoal_mark "


@dataclass(frozen=True)
class SuppressCellsStep(Step):
    """``classes`` has a line per class: its quasi-identifiers as text, and per column whether its cells go.

    >>> table = pl.DataFrame({"age": ["30-39", "40-49"], "job": ["nun", "cook"], "visits": [3, 4]})
    >>> classes = pl.DataFrame({"age": ["30-39"], "job": [True], "visits": [True]})
    >>> SuppressCellsStep(("age",), ("job", "visits"), classes).apply(table).rows()
    [('30-39', '*', None), ('40-49', 'cook', 4)]
    """

    attributes: tuple[str, ...]
    columns: tuple[str, ...]
    classes: pl.DataFrame = field(repr=False, compare=False)
    whole: frozenset[str] = frozenset()
    """Columns that go in every record: the mark of a suppressed cell itself told something."""

    clause: ClassVar[str] = "ISO/IEC 20889, 9.3.3"

    @property
    def reads(self) -> tuple[str, ...]:
        return (*self.attributes, *self.columns)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        marks = self.marked(frame)
        return frame.with_columns(
            pl.when(marks[name]).then(suppressed_cell(frame.schema[name])).otherwise(pl.col(name)).alias(name)
            for name in self.columns
        )

    def marked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Of each record, which of the columns are suppressed."""
        keys = frame.select(pl.col(name).cast(pl.String) for name in self.attributes)
        known = self.classes.rename({name: f"{_MARK}{name}" for name in self.columns})
        found = keys.join(known, on=list(self.attributes), how="left", nulls_equal=True, maintain_order="left")
        return found.select(
            pl.col(f"{_MARK}{name}").fill_null(value=False).or_(pl.lit(name in self.whole)).alias(name)
            for name in self.columns
        )


def suppressed_cell(dtype: pl.DataType) -> pl.Expr:
    """Text becomes a star, other values go missing."""
    return pl.lit(TOP) if dtype == pl.String() else pl.lit(None, dtype)
