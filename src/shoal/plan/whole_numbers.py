"""Whole numbers are written as such: a text column that was rounded to hundreds says 18100, not 18100.0."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.schema import Step


@dataclass(frozen=True)
class WholeNumberStep(Step):
    """
    >>> WholeNumberStep(("bill",)).apply(pl.DataFrame({"bill": [18100.0, None]}))["bill"].to_list()
    [18100, None]
    """

    columns: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return self.columns

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col(self.columns).cast(pl.Int64))
