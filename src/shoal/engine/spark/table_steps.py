"""Steps that see the whole table. Spark arranges the records; what is done to them is the very step.

What comes out are positions with the columns that were written. It is kept by Spark, so it is made once; should an
executor be lost, what it held is made again, and comes out the same because all of it hangs on the positions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import polars as pl

from shoal.engine.spark.executor_tasks import WholePartitionTask
from shoal.engine.spark.record_ranks import deal, draw
from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.table_origins import FrameOrigin, OverlaidOrigin, map_batches
from shoal.engine.spark.type_mapping import carried, quoted
from shoal.engine.step_pipeline import empty_frame
from shoal.schema import ROW, Step
from shoal.schema.steps import FirstRecordRule

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FIRST: Final = "__shoal_first"

Keep = Callable[["DataFrame"], "DataFrame"]


class TableStepStrategy(StrEnum):
    """How a TABLE step is done, as it allows; the first that is possible."""

    RANKS = "by ranks"
    """Records meet only in Spark's own sorts and joins, so the table may have any size."""
    FIRSTS = "by the first record of each person"
    """Spark finds these; the step behind it sees no others."""
    STRATA = "in strata"
    """The records of a stratum come together on one executor, where they have to fit."""
    WHOLE = "on one executor"
    """The columns that the step reads, and no others, come together there and have to fit."""

    @classmethod
    def of(cls, step: Step) -> TableStepStrategy:
        if step.ranks is not None:
            return cls.RANKS
        if step.leads is not None:
            return cls.FIRSTS
        return cls.STRATA if step.apart else cls.WHOLE


@dataclass(frozen=True)
class TableStepRunner:
    keep: Keep
    """Has Spark keep a frame, until the engine is closed."""

    def after(self, table: SparkTable, step: Step) -> SparkTable:
        """The table after a TABLE step."""
        ranks = step.ranks
        if ranks is not None and ranks.draws is not None:
            return draw(table, step, ranks.draws)
        outcome = self.keep(self._outcome(table, step))
        schema = step.apply(empty_frame(table.schema)).drop(ROW).schema
        return SparkTable.over(OverlaidOrigin(table, outcome, schema, fewer=step.drops_records), table.order)

    def _outcome(self, table: SparkTable, step: Step) -> DataFrame:
        if step.ranks is not None:
            return deal(table, step, step.ranks.deals)
        if step.leads is not None:
            return self._following(table, step.leads)
        return _together(table, step)

    def _following(self, table: SparkTable, leads: FirstRecordRule) -> DataFrame:
        """The positions of the records that stay, because the first with the same value stays."""
        from pyspark.sql import functions as F  # noqa: N812

        who = quoted(leads.column)
        columns = tuple(dict.fromkeys((leads.column, *leads.step.reads)))
        records = table.select(columns, placed=True)
        named, unnamed = records.filter(F.col(who).isNotNull()), records.filter(F.col(who).isNull())
        others = [quoted(name) for name in columns if name != leads.column]
        first = named.groupBy(who).agg(F.min(F.struct(ROW, *others)).alias(_FIRST))
        firsts = first.select(who, f"{_FIRST}.*").select(*map(quoted, columns), ROW).union(unnamed)
        schema = pl.Schema({name: table.schema[name] for name in columns})
        stay = self.after(SparkTable.over(FrameOrigin(self.keep(firsts), schema)), leads.step)
        left = self.keep(stay.select((leads.column,), placed=True))
        alike = left.filter(F.col(who).isNotNull()).select(who)
        return (
            named.join(alike, leads.column, "leftsemi").select(ROW).union(left.filter(F.col(who).isNull()).select(ROW))
        )


def _together(table: SparkTable, step: Step) -> DataFrame:
    """The step applied to strata, or to the whole table, where all records of it are."""
    reads = tuple(dict.fromkeys(step.reads))
    before = pl.Schema({**{name: table.schema[name] for name in reads}, ROW: pl.UInt64()})
    after = carried({**step.apply(empty_frame(table.schema).select(*reads, ROW)).schema, ROW: pl.Int64()})
    records = table.select(reads, placed=True)
    near = records.repartition(*map(quoted, step.apart)) if step.apart else records.repartition(1)
    return map_batches(near.sortWithinPartitions(ROW), WholePartitionTask(step, before, after), after)
