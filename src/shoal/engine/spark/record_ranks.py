"""The rank of every record by a random key or by its position, found without bringing the table to one place.

Records are counted by the leading bits of what they are ranked by. The counts of all buckets before, which the driver
adds up, and the place in the bucket make the rank. It depends on the records alone, never on partitions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from shoal.engine.spark.executor_tasks import KEY, OrderKeyTask, RankCutoff
from shoal.engine.spark.table import SparkTable, key_bucket
from shoal.engine.spark.type_mapping import quoted
from shoal.engine.step_pipeline import Operation
from shoal.kernels.arrays import Integers
from shoal.schema import ROW, Step

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_ROW_BITS: Final = 20
"""A million positions to a bucket."""
_RANK: Final = "__shoal_rank"
_BUCKET: Final = "__shoal_bucket"
_RECORDS: Final = "__shoal_records"
_LAST: Final = "__shoal_last"


def deal(table: SparkTable, step: Step, columns: tuple[str, ...]) -> DataFrame:
    """Positions, in the order of the table, each with the columns of the record that has the same rank by key."""
    from pyspark.sql import functions as F  # noqa: N812

    keyed = table.keyed(step)
    counted = _counted(keyed.select((KEY,), placed=True), key_bucket())
    givers = _ranked(keyed.select((*columns, KEY), placed=True), key_bucket(), counted, [KEY, ROW])
    values = [F.col(quoted(name)) for name in columns]
    total, last = int(counted[_RECORDS].sum()), counted[_LAST].max()
    if not total or last == total - 1:
        # No position is missing: a record's rank by position is the position.
        return givers.select(*values, F.col(_RANK).alias(ROW))
    places = table.select((), placed=True)
    takers = _ranked(places, _row_bucket(), _counted(places, _row_bucket()), [ROW]).select(ROW, _RANK)
    return givers.select(*values, _RANK).join(takers, _RANK).select(*values, ROW)


def draw(table: SparkTable, step: Step, number: Callable[[int], int]) -> SparkTable:
    """The table with the records of the smallest keys only. The last one is found; each record knows its own key."""
    from pyspark.sql import functions as F  # noqa: N812

    keys = table.keyed(step).select((KEY,), placed=True)
    counted = _counted(keys, key_bucket())
    wanted = number(int(counted[_RECORDS].sum()))
    until = counted[_RECORDS].cum_sum()
    key, row = -(1 << 63), -1
    if wanted:
        place = int(until.search_sorted(wanted, side="left"))
        here = keys.filter(key_bucket() == F.lit(int(counted[_BUCKET][place])))
        among = pl.DataFrame(pl.from_arrow(here.toArrow())).sort(KEY, ROW)
        before = int(until[place - 1]) if place else 0
        key, row = among.select(KEY, ROW).row(wanted - before - 1)
    return table.having(Operation("draw", RankCutoff(OrderKeyTask(step), key, row), frozenset(), drops_records=True))


def _row_bucket() -> Column:
    from pyspark.sql import functions as F  # noqa: N812

    return F.shiftright(ROW, _ROW_BITS)


def _counted(records: DataFrame, bucket: Column) -> pl.DataFrame:
    """For each bucket that there is, in order, how many records and the last of their positions."""
    from pyspark.sql import functions as F  # noqa: N812

    grouped = records.groupBy(bucket.alias(_BUCKET)).agg(F.count(F.lit(1)).alias(_RECORDS), F.max(ROW).alias(_LAST))
    return pl.DataFrame(pl.from_arrow(grouped.toArrow())).sort(_BUCKET)


def _ranked(records: DataFrame, bucket: Column, counted: pl.DataFrame, by: list[str]) -> DataFrame:
    """The records with their rank, from 0."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    before = F.lit(_before(counted).tolist() or [0])[F.col(_BUCKET).cast("int")]
    place = F.row_number().over(Window.partitionBy(_BUCKET).orderBy(*by))
    bucketed = records.withColumn(_BUCKET, bucket)
    return bucketed.withColumn(_RANK, (place + before - F.lit(1)).cast("long")).drop(_BUCKET)


def _before(counted: pl.DataFrame) -> Integers:
    """By bucket, from 0 to the last: how many records are in all before it."""
    sizes = np.zeros(int(counted[_BUCKET].max() or 0) + 1, dtype=np.int64)  # type: ignore[arg-type]
    sizes[counted[_BUCKET].to_numpy()] = counted[_RECORDS].to_numpy()
    return np.asarray(np.cumsum(sizes) - sizes)
