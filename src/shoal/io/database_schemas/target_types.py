"""Which type a column has in the copy: its own where nothing was done to it, else one that holds what it has become."""

from __future__ import annotations

from typing import Final

import polars as pl
from sqlalchemy import types as sql_types

from shoal.errors import DataError
from shoal.io.database_schemas.catalogue import TableColumn, is_plain_type
from shoal.io.database_schemas.statements import dialect_of
from shoal.io.databases.column_types import column_type

_KEY_LENGTH: Final = 255
"""Characters of a text that is a key, where a key can't be longer."""
_SHORT_KEYS: Final = {"mysql", "mssql", "oracle"}


def kept_type(column: TableColumn, source: str, target: str) -> str:
    """Of a column that is copied as it is."""
    if source == target:
        if column.declared == "unknown":
            raise DataError(f"column '{column.name}' has a type that can't be made anew")
        return _nameless(column, target)
    if column.is_binary:
        return _compiled(sql_types.LargeBinary(), target)
    if not is_plain_type(column):
        return _compiled(sql_types.Text(), target)
    generic = column.type.as_generic()
    length = getattr(generic, "length", None)
    if isinstance(generic, sql_types.String) and not length:
        generic = sql_types.Text()
    return _compiled(generic, target)


def _nameless(column: TableColumn, kind: str) -> str:
    """PostgreSQL's enumerations and domains are types of their own, which are not made anew: as text they hold less
    that could be wrong. MariaDB's stand in the table.
    """
    named = isinstance(column.type, sql_types.Enum) or type(column.type).__name__ == "DOMAIN"
    return "TEXT" if kind == "postgresql" and named else column.declared


def changed_type(column: TableColumn | None, dtype: pl.DataType, source: str, target: str, *, is_key: bool) -> str:
    """Of a column that was rewritten, or is new."""
    if column is not None and source == target and _still_fits(column, dtype):
        return column.declared
    if isinstance(dtype, pl.String) and is_key and target in _SHORT_KEYS:
        return _compiled(sql_types.String(_KEY_LENGTH), target)
    return _compiled(column_type(dtype), target)


def _still_fits(column: TableColumn, dtype: pl.DataType) -> bool:
    kinds: tuple[tuple[type[sql_types.TypeEngine[object]], bool], ...] = (
        (sql_types.Boolean, isinstance(dtype, pl.Boolean)),
        (sql_types.Integer, dtype.is_integer()),
        (sql_types.Numeric, dtype.is_numeric()),
        (sql_types.DateTime, isinstance(dtype, pl.Datetime)),
        (sql_types.Date, isinstance(dtype, pl.Date)),
    )
    return any(isinstance(column.type, kind) and fits for kind, fits in kinds)


def _compiled(kind: sql_types.TypeEngine[object], target: str) -> str:
    return str(kind.compile(dialect=dialect_of(target)))
