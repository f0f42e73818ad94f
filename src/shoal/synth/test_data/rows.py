"""The rows of a schema, batch by batch, in bounded memory.

A value depends on the seed, the name of its column and the number of its row, and on nothing else: neither on the size
of the batches nor on the other columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from shoal.errors import InputError
from shoal.randomness import Randomness
from shoal.synth.test_data.draws import DistinctDraws, Draws
from shoal.synth.test_data.table_schema import ColumnSchema, TableSchema

BATCH = 100_000


def rows_of(schema: TableSchema, rows: int, randomness: Randomness, batch: int = BATCH) -> Iterator[pl.DataFrame]:
    """At least one frame, so that whoever writes them knows the columns.

    >>> schema = TableSchema.of({"shoal": 1, "columns": {"id": {"nric": "T", "unique": True}, "city": "city"}})
    >>> [len(frame) for frame in rows_of(schema, 5, Randomness(seed=7), batch=2)]
    [2, 2, 1]
    """
    if rows < 0 or batch < 1:
        raise InputError("rows: at least 0; batch: at least 1")
    for name, column in schema.columns.items():
        _check_size(name, column, rows)
    return _frames(schema, rows, randomness, batch)


def rows_between(schema: TableSchema, first: int, until: int, randomness: Randomness) -> pl.DataFrame:
    """The rows of some numbers, the same as ``rows_of`` has there."""
    for name, column in schema.columns.items():
        _check_size(name, column, until)
    columns = [_Column.of(name, column, randomness) for name, column in schema.columns.items()]
    return pl.DataFrame([column.values(first, until) for column in columns])


def _check_size(name: str, column: ColumnSchema, rows: int) -> None:
    most = column.generator.distinct
    if column.unique and rows > most:
        raise InputError(
            f"column '{name}': '{column.generator.key}' has {most:,} different values, and {rows:,} are asked for",
            advice="leave out unique, ask for fewer rows, or choose another generator",
        )


def _frames(schema: TableSchema, rows: int, randomness: Randomness, batch: int) -> Iterator[pl.DataFrame]:
    columns = [_Column.of(name, column, randomness) for name, column in schema.columns.items()]
    for start in range(0, max(rows, 1), batch):
        stop = min(start + batch, rows)
        yield pl.DataFrame([column.values(start, stop) for column in columns])


@dataclass(frozen=True)
class _Column:
    name: str
    schema: ColumnSchema
    draws: Draws
    gaps: Draws

    @classmethod
    def of(cls, name: str, schema: ColumnSchema, randomness: Randomness) -> _Column:
        kind = DistinctDraws if schema.unique else Draws
        draws, gaps = (randomness.stream("test data", name, purpose) for purpose in ("values", "missing"))
        return cls(name, schema, kind(draws, 0, 0), Draws(gaps, 0, 0))

    def values(self, start: int, stop: int) -> pl.Series:
        values: pl.Series = self.schema.generator.draw(self.draws.at(start, stop))
        if self.schema.missing:
            values = values.set(pl.Series(self.gaps.at(start, stop).chosen(self.schema.missing)), None)
        return values.alias(self.name)
