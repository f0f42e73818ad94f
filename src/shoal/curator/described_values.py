"""What of a table is not as its description says, counted: for whoever keeps the data. Exact counts are not private.

An answer can't say any of this. There a value that is not as described counts as missing, one beyond the bounds as the
bound, and of a person with too many rows some are used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from shoal.curator.opened_sources import OpenedSources
from shoal.dp.description import DatasetColumn, DatasetDescription, TableDescription
from shoal.dp.scalars import as_described, readable, typed
from shoal.dp.tabulation import missing_columns, unlike_described
from shoal.io import Source, explained
from shoal.kernels.calendar import on_calendar
from shoal.results.base import ResultModel

_STREAMED: Final = "streaming"
_PEOPLE: Final = "\x00people"


class ColumnFit(ResultModel):
    column: str
    values: int
    """That are there at all."""
    unlike: int
    """That can't be read as described, or are none of the categories."""
    beyond: int
    """That lie outside the bounds."""


class TableFit(ResultModel):
    table: str
    rows: int
    columns: tuple[ColumnFit, ...]
    nameless: int
    """Rows that name no person, where persons are named."""
    people_above: int
    """Who have more rows than are used."""


def described_values(dataset: object) -> tuple[TableFit, ...]:
    """Of each table, compared with its description. A DataError where a column is not there, or of another type."""
    description = DatasetDescription.of(dataset)
    sources = OpenedSources(description.folder)
    tables = {name: one for name, one in description.described_tables.items() if name != "t" or description.tables}
    return tuple(_fit(name, table, sources.opened(table)) for name, table in tables.items())


def _fit(name: str, table: TableDescription, source: Source) -> TableFit:
    with explained(source):
        frame = source.scan()
        schema = frame.collect_schema()
        _refuse_unlike(table, schema)
        counts = [one for place, named in enumerate(table.columns.items()) for one in _counted(place, *named, schema)]
        found = frame.select(pl.len().alias("rows"), *counts).collect(engine=_STREAMED).row(0, named=True)
        nameless, above = _people(table, frame)
    columns = tuple(
        ColumnFit(column=column, **{what: int(found[f"{what} {place}"]) for what in ("values", "unlike", "beyond")})
        for place, column in enumerate(table.columns)
    )
    return TableFit(table=name, rows=int(found["rows"]), columns=columns, nameless=nameless, people_above=above)


def _refuse_unlike(table: TableDescription, schema: Mapping[str, pl.DataType]) -> None:
    named = [*table.columns, *([] if table.person is None else [table.person])]
    missing = [name for name in named if name not in schema]
    if missing:
        raise missing_columns(missing)
    for name, column in table.columns.items():
        if not readable(column.type, schema[name]):
            raise unlike_described(name, column, schema[name])


def _counted(place: int, name: str, column: DatasetColumn, schema: Mapping[str, pl.DataType]) -> Iterator[pl.Expr]:
    given = schema[name]
    raw = on_calendar(pl.col(name), given)
    there = raw.str.strip_chars() != "" if given == pl.String else pl.col(name).is_not_null()
    free = column.model_copy(update={"bounds": None})
    read = as_described(typed(name, free, given), free, given)
    yield there.sum().alias(f"values {place}")
    yield (there & read.is_null()).sum().alias(f"unlike {place}")
    beyond = pl.lit(value=False) if column.bounds is None else ~read.is_between(*column.bounds)
    yield beyond.sum().alias(f"beyond {place}")


def _people(table: TableDescription, frame: pl.LazyFrame) -> tuple[int, int]:
    if table.person is None:
        return 0, 0
    rows = frame.group_by(pl.col(table.person).alias(_PEOPLE)).len()
    named = pl.col(_PEOPLE).is_not_null()
    above = (named & (pl.col("len") > (table.rows_per_person or 1))).sum()
    nameless = pl.when(~named).then(pl.col("len")).otherwise(0).sum()
    found = rows.select(nameless.alias("nameless"), above.alias("above")).collect(engine=_STREAMED).row(0, named=True)
    return int(found["nameless"]), int(found["above"])
