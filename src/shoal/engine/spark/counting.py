"""Distinct combinations with their counts, by a Spark aggregation: only the combinations reach the driver."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.types import quoted
from shoal.randomness import Randomness
from shoal.schema import Counts

if TYPE_CHECKING:
    from pyspark.sql import Column

RECORDS = "__shoal_records"
PERSON = "__shoal_who"


def count(table: SparkTable, attributes: tuple[str, ...], person: str | None) -> Counts:
    from pyspark.sql import functions as F  # noqa: N812

    keys = [F.col(quoted(name)) for name in attributes]
    records = F.count(F.lit(1)).alias(RECORDS)
    if person is None:
        counted = table.collect(table.select(attributes).groupBy(*keys).agg(records))
        return Counts.from_frame(counted, attributes, RECORDS)
    wanted = table.select(tuple(dict.fromkeys((*attributes, person))))
    pairs = wanted.select(*keys, _fingerprint(F.col(quoted(person))).alias(PERSON))
    if attributes:
        counted = table.collect(pairs.groupBy(*keys, PERSON).agg(records))
        return Counts.from_pairs(counted, attributes, PERSON, RECORDS)
    # A missing person counts as one more, and is not counted by count_distinct.
    missing = F.max(F.col(PERSON).isNull().cast("int"))
    counted = table.collect(pairs.agg(records, (F.count_distinct(PERSON) + missing).alias(PERSON)))
    people = counted[PERSON].fill_null(0).cast(pl.Int64).to_numpy()
    return replace(Counts.from_frame(counted, (), RECORDS), people=people)


def _fingerprint(person: Column) -> Column:
    """64 bits instead of the identifier itself. Two people with one fingerprint would count as one: the safe side."""
    from pyspark.sql import functions as F  # noqa: N812

    words = Randomness().stream("person").words(np.arange(1, dtype=np.uint64)).view(np.int64).ravel()
    hashed = F.xxhash64(*(F.lit(int(word)) for word in words), person)
    return F.when(person.isNotNull(), hashed)
