"""Only the first records of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from shoal.techniques.base import ANY_ROLE, ANY_TYPE, Context, Facts, Lowers, Stage, Step, TableTechnique


class FirstRecords(TableTechnique):
    key = "first_records"
    facts = Facts("The first records", "none", True, ANY_TYPE, ANY_ROLE, Lowers.NO, Lowers.NO, Lowers.NO)
    stage = Stage.BEFORE_ATTRIBUTES

    number: int

    def columns(self, person: str | None) -> tuple[str, ...]:
        return ()

    def bind(self, context: Context) -> Step:
        return FirstRecordsStep(self.number)


@dataclass(frozen=True)
class FirstRecordsStep(Step):
    drops_records: ClassVar[bool] = True
    number: int

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.filter(pl.col("__shoal_row__") < self.number)
