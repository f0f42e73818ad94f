"""Distinct combinations with their counts, by Spark aggregations: only the combinations reach the driver.

With a person column, Spark also counts the people of each combination. Those who appear in several combinations are
listed, since no sum of counts can say how many people a union of combinations has; all others are only counted.

What reaches the driver is counted before it is sent. Beyond ``MOST`` it is refused, with the names of the finest
columns: whoever asked can have them rolled up by the executors, and ask again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from shoal.engine.protocol import TooManyCombinationsError
from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.type_mapping import quoted
from shoal.randomness import Randomness
from shoal.schema import Counts

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

MOST: Final = 50_000_000
"""Combinations, or pairs of a combination and a person, that the driver takes."""
SLICE: Final = 1_000_000
"""Lines that are sent at once, so that the driver's Java never holds more."""
RECORDS: Final = "__shoal_records"
PERSON: Final = "__shoal_who"
SINGLE: Final = "__shoal_single"
_PLACES: Final = "__shoal_places"
_NAMED: Final = 3


def count(table: SparkTable, attributes: tuple[str, ...], person: str | None) -> Counts:
    from pyspark.sql import functions as F  # noqa: N812

    records = F.count(F.lit(1)).alias(RECORDS)
    if person is None:
        counted = table.select(attributes).groupBy(*map(quoted, attributes)).agg(records)
        return Counts.from_frame(_fetched(table, counted, attributes), attributes, RECORDS)
    wanted = table.select(tuple(dict.fromkeys((*attributes, person))))
    pairs = wanted.select(*map(quoted, attributes), _fingerprint(F.col(quoted(person))).alias(PERSON))
    if attributes:
        return _with_people(table, attributes, pairs.groupBy(*map(quoted, attributes), PERSON).agg(records))
    # A missing person counts as one more, and is not counted by count_distinct.
    missing = F.max(F.col(PERSON).isNull().cast("int"))
    counted = pairs.agg(records, (F.count_distinct(PERSON) + missing).alias(PERSON))
    total = table.collect(counted)
    people = total[PERSON].fill_null(0).cast(pl.Int64).to_numpy()
    return replace(Counts.from_frame(total, (), RECORDS), people=people)


def _with_people(table: SparkTable, attributes: tuple[str, ...], pairs: DataFrame) -> Counts:
    """From the records of each pair of a combination and a person."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812

    places = F.count(F.lit(1)).over(Window.partitionBy(PERSON))
    with _kept(pairs.withColumn(_PLACES, places)) as people:
        single = F.count(F.when(F.col(_PLACES) == 1, 1)).alias(SINGLE)
        each = people.groupBy(*map(quoted, attributes)).agg(F.sum(RECORDS).alias(RECORDS), single)
        counted = _fetched(table, each, attributes)
        several = people.filter(F.col(_PLACES) > 1).select(*map(quoted, attributes), PERSON)
        shared = _fetched(table, several, attributes, "pairs of a person and one of their several combinations")
    return Counts.from_shared(counted, attributes, records=RECORDS, single=SINGLE, shared=shared, person=PERSON)


def _fetched(table: SparkTable, lines: DataFrame, attributes: tuple[str, ...], what: str = "") -> pl.DataFrame:
    """The lines on the driver, unless there are too many."""
    from pyspark.sql import functions as F  # noqa: N812

    if not attributes:
        return table.collect(lines)
    with _kept(lines) as kept:
        number = kept.count()
        if number > MOST:
            raise _too_many(table, attributes, number, what)
        slices = -(-number // SLICE)
        if slices <= 1:
            return table.collect(kept)
        slice_of = F.pmod(F.xxhash64(*map(quoted, kept.columns)), F.lit(slices))
        return pl.concat([table.collect(kept.filter(slice_of == F.lit(turn))) for turn in range(slices)])


@contextmanager
def _kept(frame: DataFrame) -> Iterator[DataFrame]:
    """Spark keeps it, so that it is counted and sent without being made twice."""
    frame.persist()
    try:
        yield frame
    finally:
        frame.unpersist()


def _too_many(table: SparkTable, attributes: tuple[str, ...], number: int, what: str) -> TooManyCombinationsError:
    from pyspark.sql import functions as F  # noqa: N812

    distinct = [F.approx_count_distinct(quoted(name)).alias(str(place)) for place, name in enumerate(attributes)]
    values = table.select(attributes).agg(*distinct).first()
    finest = sorted(zip(values or (), attributes, strict=False), reverse=True)[:_NAMED]
    listed = ", ".join(f"'{name}' (about {size:,} values)" for size, name in finest)
    of = what or "different combinations"
    return TooManyCombinationsError(
        f"there are {number:,} {of} of {', '.join(attributes)}; the driver takes {MOST:,}",
        advice=f"make them coarser before they are counted, by a technique such as generalise or round: {listed}",
    )


def _fingerprint(person: Column) -> Column:
    """64 bits instead of the identifier itself. Two people with one fingerprint would count as one: the safe side."""
    from pyspark.sql import functions as F  # noqa: N812

    words = Randomness().stream("person").words(np.arange(1, dtype=np.uint64)).view(np.int64).ravel()
    hashed = F.xxhash64(*(F.lit(int(word)) for word in words), person)
    return F.when(person.isNotNull(), hashed)
