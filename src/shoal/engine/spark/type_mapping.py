"""Polars types in Spark: what Spark has no type for travels as the next wider one that keeps every value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import polars as pl

from shoal.errors import DataError

_WIDER: Final[Mapping[type[pl.DataType], pl.DataType]] = {
    pl.UInt8: pl.Int16(),
    pl.UInt16: pl.Int32(),
    pl.UInt32: pl.Int64(),
    pl.UInt64: pl.Decimal(20, 0),
    pl.Categorical: pl.String(),
    pl.Enum: pl.String(),
    pl.Null: pl.String(),
}
_NAMES: Final[Mapping[type[pl.DataType], str]] = {
    pl.Boolean: "boolean",
    pl.Int8: "tinyint",
    pl.Int16: "smallint",
    pl.Int32: "int",
    pl.Int64: "bigint",
    pl.Float32: "float",
    pl.Float64: "double",
    pl.String: "string",
    pl.Date: "date",
    pl.Binary: "binary",
}
_KNOWN: Final[Mapping[str, pl.DataType]] = {
    **{name: kind() for kind, name in _NAMES.items() if kind is not pl.Binary},
    "void": pl.String(),
    "timestamp": pl.Datetime("us", "UTC"),
    "timestamp_ntz": pl.Datetime("us"),
}


def carried(schema: Mapping[str, pl.DataType]) -> pl.Schema:
    """The types that the columns have while they travel."""
    return pl.Schema({name: _carried(dtype) for name, dtype in schema.items()})


def _carried(dtype: pl.DataType) -> pl.DataType:
    if isinstance(dtype, pl.Datetime):
        return pl.Datetime("us", "UTC" if dtype.time_zone else None)
    return _WIDER.get(dtype.base_type(), dtype)


def ddl(schema: pl.Schema) -> str:
    """The columns as Spark declares them.

    >>> ddl(carried({"age": pl.UInt8(), "seen": pl.Datetime("ms")}))
    '`age` smallint, `seen` timestamp_ntz'
    """
    return ", ".join(f"{quoted(name)} {_name(name, dtype)}" for name, dtype in schema.items())


def _name(column: str, dtype: pl.DataType) -> str:
    if isinstance(dtype, pl.Decimal):
        return f"decimal({dtype.precision},{dtype.scale})"
    if isinstance(dtype, pl.Datetime):
        return "timestamp" if dtype.time_zone else "timestamp_ntz"
    known = _NAMES.get(dtype.base_type())
    if known is None:
        raise DataError(f"column '{column}': Spark has no type for {dtype.base_type().__name__}")
    return known


def from_spark(names_and_types: Mapping[str, str], label: str) -> pl.Schema:
    """The types that steps see, of columns with Spark's types in their short form.

    >>> dict(from_spark({"age": "int", "paid": "decimal(10,2)"}, "table"))
    {'age': Int32, 'paid': Decimal(precision=10, scale=2)}
    """
    schema = {}
    for column, told in names_and_types.items():
        decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", told)
        text = re.match(r"(string|char|varchar)\b", told)
        known = pl.Decimal(int(decimal[1]), int(decimal[2])) if decimal else _KNOWN.get("string" if text else told)
        if known is None:
            kind = re.split(r"\W", told)[0]
            raise DataError(f"{label}: column '{column}' is of Spark's type {kind}, not one of single values")
        schema[column] = known
    return pl.Schema(schema)


def quoted(name: str) -> str:
    """A column's name as Spark takes it: a dot in it is no path.

    >>> quoted("a.b")
    '`a.b`'
    """
    return "`" + name.replace("`", "``") + "`"
