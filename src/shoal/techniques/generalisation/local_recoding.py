"""Recoding combination by combination: what local recoding and cell suppression do to the table.

Each distinct combination of quasi-identifiers has released cells of its own, worked out beforehand for all of them. A
combination that wasn't there then stops the run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import polars as pl

from shoal.errors import DataError
from shoal.schema.columns import ROW
from shoal.techniques.base import Step

_KNOWN = "__shoal_known"
_NEW = "__shoal_new "


@dataclass(frozen=True)
class RecodeStep(Step):
    """
    >>> known, cells = pl.DataFrame({"age": ["31", "38"]}), pl.DataFrame({"age": ["30-39", "38"]})
    >>> RecodeStep(("age",), known, cells).apply(pl.DataFrame({"age": ["38", "31"]}))["age"].to_list()
    ['38', '30-39']
    """

    attributes: tuple[str, ...]
    known: pl.DataFrame = field(repr=False, compare=False)
    """The combinations as they are in the table."""
    cells: pl.DataFrame = field(repr=False, compare=False)
    """What becomes of each, as text."""
    withheld: pl.Series | None = field(default=None, repr=False, compare=False)
    """Combinations whose records are left out."""

    drops_records: ClassVar[bool] = True

    @property
    def reads(self) -> tuple[str, ...]:
        return self.attributes

    @cached_property
    def _table(self) -> pl.DataFrame:
        added = self.cells.select(pl.col(name).alias(f"{_NEW}{name}") for name in self.attributes)
        kept = pl.lit(value=True) if self.withheld is None else ~self.withheld
        return self.known.hstack(added).with_columns(kept.alias(_KNOWN))

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        joined = frame.join(self._table, on=self.attributes, how="left", nulls_equal=True, maintain_order="left")
        if joined[_KNOWN].null_count():
            raise DataError("there are combinations of quasi-identifiers that were not there when they were counted")
        if self.withheld is not None:
            joined = joined.filter(_KNOWN)
        recoded = joined.with_columns(pl.col(f"{_NEW}{name}").alias(name) for name in self.attributes)
        return recoded.select(*(name for name in frame.columns if name != ROW), *({ROW} & set(frame.columns)))
