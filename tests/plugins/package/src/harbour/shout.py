"""Shouting: text in capitals. Protects nothing."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.schema.columns import Column
from shoal.techniques.base import ANY_ROLE, ANY_TYPE, Context, Facts, Lowers, Step, Technique


class Shout(Technique):
    key = "shout"
    facts = Facts("Shouting", "none", True, ANY_TYPE, ANY_ROLE, Lowers.NO, Lowers.NO, Lowers.NO)

    def bind(self, column: Column, context: Context) -> Step:
        return ShoutStep(column.name)


@dataclass(frozen=True)
class ShoutStep(Step):
    name: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.name,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col(self.name).cast(pl.String).str.to_uppercase())
