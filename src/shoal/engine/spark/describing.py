"""Value types of columns, every value looked at: each batch is tallied on the executors, the tallies are added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from shoal.engine.spark.origins import map_batches
from shoal.engine.spark.shipped import Tally
from shoal.engine.spark.table import SparkTable
from shoal.engine.spark.types import quoted
from shoal.errors import DataError
from shoal.schema import Column, Columns, ValueType
from shoal.schema.detect import SAMPLE_ROWS, AmbiguousDate, Candidates, Facts, column_from, fact, screen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def describe(table: SparkTable, names: Sequence[str], declared: Columns) -> dict[str, Column]:
    records = table.select(tuple(names)).select(*map(quoted, names))
    sample = table.collect(records.limit(SAMPLE_ROWS))
    facts = _facts(records, Tally(sample.schema, _candidates(sample, declared)))
    found = (column_from(name, sample.schema[name], facts) for name in names)
    return {column.name: _as_said(column, declared.get(column.name), facts) for column in found}


def _candidates(sample: pl.DataFrame, declared: Columns) -> dict[str, Candidates]:
    """As on one machine, but an integer is counted as a decimal too: that saves a second pass."""
    screened = screen(sample)
    wider = {name: replace(found, decimal=found.decimal or found.integer) for name, found in screened.items()}
    settled = {
        name: Candidates(decimal=declared[name].type is ValueType.DECIMAL)
        for name in wider
        if name in declared and not _leaves_format_open(declared[name])
    }
    return wider | settled


def _facts(records: DataFrame, tally: Tally) -> Facts:
    from pyspark.sql import functions as F  # noqa: N812

    keys = tally.facts()
    tallies = map_batches(records, tally, pl.Schema(dict.fromkeys(keys, pl.Int64())))
    most = fact("", "scale")
    total = tallies.agg(*((F.max if key.endswith(most) else F.sum)(quoted(key)).alias(key) for key in keys))
    return pl.DataFrame(pl.from_arrow(total.toArrow())).row(0, named=True)


def _leaves_format_open(said: Column) -> bool:
    return said.is_date and said.date_format is None


def _as_said(found: Column, said: Column | None, facts: Facts) -> Column:
    if said is None:
        return found
    if _leaves_format_open(said) and found.missing < found.rows:
        if found.is_date or isinstance(found, AmbiguousDate):
            return found
        raise DataError(
            f"column '{found.name}': declared as {said.type}, but no known format fits every value",
            advice="declare its format",
        )
    scale = max(found.scale, facts.get(fact(found.name, "scale")) or 0) if said.type is ValueType.DECIMAL else 0
    return replace(found, type=said.type, scale=scale, date_format=said.date_format)
