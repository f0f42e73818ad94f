"""Value types of columns, every value looked at: each batch is tallied on the executors, the tallies are added up.

What Spark can settle by itself, missing values and plain whole numbers, never goes through Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from shoal.engine.spark.executor_tasks import TypeTally
from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.table_origins import map_batches
from shoal.engine.spark.type_mapping import quoted
from shoal.schema import Column, Columns, ValueType
from shoal.schema.type_detection import (
    SAMPLE_ROWS,
    TypeCandidates,
    as_said,
    column_from,
    fact,
    leaves_format_open,
    screen,
)

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame


def describe(table: SparkTable, names: Sequence[str], declared: Columns) -> dict[str, Column]:
    records = table.select(tuple(names)).select(*map(quoted, names))
    sample = table.collect(records.limit(SAMPLE_ROWS))
    candidates = _candidates(sample, declared)
    # Records that steps have changed come out of Python anyway, and would be made twice.
    untouched = not table.pipeline.live(tuple(names))[0]
    facts = _settled_by_spark(records, sample.schema, candidates) if untouched else {}
    left = {name: candidates[name] for name in names if fact(name, "rows") not in facts}
    facts |= _tallied(records, sample.schema, left)
    found = (column_from(name, sample.schema[name], facts) for name in names)
    return {column.name: as_said(column, declared.get(column.name), facts) for column in found}


def _candidates(sample: pl.DataFrame, declared: Columns) -> dict[str, TypeCandidates]:
    """As on one machine, but an integer is counted as a decimal too: that saves a second pass."""
    screened = screen(sample)
    wider = {name: replace(found, decimal=found.decimal or found.integer) for name, found in screened.items()}
    settled = {
        name: TypeCandidates(decimal=declared[name].type is ValueType.DECIMAL)
        for name in wider
        if name in declared and not leaves_format_open(declared[name])
    }
    return wider | settled


def _settled_by_spark(
    records: DataFrame, schema: pl.Schema, candidates: Mapping[str, TypeCandidates]
) -> dict[str, int | None]:
    """The facts of columns whose values need no reading, and of text that is nothing but plain whole numbers."""
    from pyspark.sql import functions as F  # noqa: N812

    asked = {name: schema[name] for name in schema if _is_plain(schema[name], candidates[name])}
    asked |= {name: schema[name] for name in schema if candidates[name].integer}
    if not asked:
        return {}
    present = [F.count(quoted(name)) for name in asked]
    whole = [F.count_if(_is_whole(name)) if candidates[name].integer else F.lit(0) for name in asked]
    rows, *found = records.agg(F.count(F.lit(1)), *present, *whole).collect()[0]
    facts: dict[str, int | None] = {}
    for name, there, plain in zip(asked, found[: len(asked)], found[len(asked) :], strict=True):
        if candidates[name].integer and plain < there:
            continue
        facts |= {fact(name, "rows"): rows, fact(name, "missing"): rows - there}
        if asked[name].is_integer() or candidates[name].integer:
            facts |= {fact(name, "integer"): there, fact(name, "finite"): there}
    return facts


def _is_plain(storage: pl.DataType, candidates: TypeCandidates) -> bool:
    """Whether the facts are the same whatever the values are: no reading of text, no digits behind a point."""
    beyond_int64 = isinstance(storage, pl.UInt64 | pl.Int128 | pl.UInt128)
    return candidates == TypeCandidates() and not storage.is_float() and not beyond_int64


def _is_whole(name: str) -> SparkColumn:
    """Text that is a 64-bit number and is written as Spark would write it: no plus, no zero in front, no space."""
    from pyspark.sql import functions as F  # noqa: N812

    text = F.col(quoted(name))
    return text.try_cast("bigint").cast("string") == text


def _tallied(records: DataFrame, schema: pl.Schema, candidates: Mapping[str, TypeCandidates]) -> dict[str, int | None]:
    from pyspark.sql import functions as F  # noqa: N812

    if not candidates:
        return {}
    tally = TypeTally(pl.Schema({name: schema[name] for name in candidates}), candidates)
    keys = tally.facts()
    chosen = records.select(*map(quoted, candidates))
    tallies = map_batches(chosen, tally, pl.Schema(dict.fromkeys(keys, pl.Int64())))
    most = fact("", "scale")
    total = tallies.agg(*((F.max if key.endswith(most) else F.sum)(quoted(key)).alias(key) for key in keys))
    return pl.DataFrame(pl.from_arrow(total.toArrow())).row(0, named=True)
