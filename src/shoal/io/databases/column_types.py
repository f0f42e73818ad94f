"""A Polars schema as a table of a database: which column type holds each kind of value without loss.

What a database has no type for goes in as text: times of day and durations everywhere, decimals in SQLite (which would
turn them into binary fractions). Whole numbers beyond 64 bits become decimals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from shoal.errors import TargetError

if TYPE_CHECKING:
    from sqlalchemy import Table
    from sqlalchemy.types import TypeEngine

DIGITS: Final = 38


def storable(schema: pl.Schema, kind: str, label: str) -> pl.Schema:
    """The types as they are handed to the database."""
    nested = [name for name, dtype in schema.items() if dtype.is_nested() or isinstance(dtype, pl.Object)]
    if nested:
        raise TargetError(f"{label}: column(s) {', '.join(nested)} hold lists or records; a table can't")
    return pl.Schema({name: _stored(dtype, kind) for name, dtype in schema.items()})


def _stored(dtype: pl.DataType, kind: str) -> pl.DataType:
    if isinstance(dtype, pl.UInt64 | pl.Int128 | pl.UInt128):
        dtype = pl.Decimal(DIGITS, 0)
    if isinstance(dtype, pl.Decimal):
        return pl.String() if kind == "sqlite" else dtype
    if isinstance(dtype, pl.Datetime):
        zone = "UTC" if dtype.time_zone and kind == "postgresql" else None
        return pl.Datetime("us", zone)
    if isinstance(dtype, pl.Categorical | pl.Enum | pl.Null | pl.Time | pl.Duration):
        return pl.String()
    if isinstance(dtype, pl.UInt32):
        return pl.Int64()
    if isinstance(dtype, pl.UInt16):
        return pl.Int32()
    return pl.Int16() if isinstance(dtype, pl.UInt8 | pl.Int8) else dtype


def converted(frame: pl.LazyFrame, stored: pl.Schema) -> pl.LazyFrame:
    """The frame with those types. A moment with a time zone loses the zone only where it has been put in UTC."""
    given = frame.collect_schema()

    def cast(name: str, dtype: pl.DataType) -> pl.Expr:
        column, was = pl.col(name), given[name]
        if isinstance(was, pl.Datetime) and was.time_zone:
            column = column.dt.convert_time_zone("UTC")
            if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
                column = column.dt.replace_time_zone(None)
        return column.cast(dtype)

    return frame.select(cast(name, dtype) for name, dtype in stored.items())


def table_of(name: str, db_schema: str | None, stored: pl.Schema, *, temporary: bool = False) -> Table:
    from sqlalchemy import Column, MetaData, Table

    from shoal.io.databases.relations import quoted

    columns = [Column(quoted(column), column_type(dtype)) for column, dtype in stored.items()]
    place = quoted(db_schema) if db_schema else None
    return Table(quoted(name), MetaData(), *columns, schema=place, prefixes=["TEMPORARY"] if temporary else [])


def column_type(dtype: pl.DataType) -> TypeEngine[Any]:
    import sqlalchemy as sa
    from sqlalchemy.dialects import mysql

    if isinstance(dtype, pl.Decimal):
        return sa.Numeric(dtype.precision or DIGITS, dtype.scale)
    if isinstance(dtype, pl.Datetime):
        return sa.DateTime(timezone=dtype.time_zone is not None).with_variant(mysql.DATETIME(fsp=6), "mysql", "mariadb")
    types: dict[type[pl.DataType], TypeEngine[Any]] = {
        pl.Boolean: sa.Boolean(),
        pl.Int16: sa.SmallInteger(),
        pl.Int32: sa.Integer(),
        pl.Int64: sa.BigInteger(),
        pl.Float32: sa.REAL().with_variant(mysql.FLOAT(), "mysql", "mariadb"),
        pl.Float64: sa.Double(),
        pl.Date: sa.Date(),
        pl.Binary: sa.LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb"),
    }
    return types.get(type(dtype), sa.Text().with_variant(mysql.LONGTEXT(), "mysql", "mariadb"))
