"""Which type a column has in the copy: its own where nothing was done to it, else one that holds what it has become."""

from __future__ import annotations

from typing import Any, Final

import polars as pl
from sqlalchemy import types as sql_types
from sqlalchemy.dialects import mssql, mysql

from shoal.errors import DataError
from shoal.io.database_schemas.catalogue import TableColumn, is_plain_type
from shoal.io.database_schemas.statements import dialect_of
from shoal.io.databases.column_types import column_type

_KEY_LENGTH: Final = 255
"""Characters of a text that is a key, where a key can't be longer."""
_SHORT_KEYS: Final = {"mysql", "mssql", "oracle"}
_MOMENTS: Final[dict[str, sql_types.TypeEngine[Any]]] = {
    "mssql": mssql.DATETIME2(),  # type: ignore[no-untyped-call]
    "oracle": sql_types.TIMESTAMP(),
    "mysql": mysql.DATETIME(fsp=6),
}


def kept_type(column: TableColumn, source: str, target: str) -> str:
    """Of a column that is copied as it is."""
    if source == target:
        if target == "postgresql":
            return _nameless(column)
        if column.declared == "unknown":
            raise DataError(f"column '{column.name}' has a type that can't be made anew")
        return column.declared
    if column.is_binary:
        return _compiled(sql_types.LargeBinary(), target)
    if not is_plain_type(column):
        return _compiled(sql_types.Text(), target)
    generic = column.type.as_generic()
    length = getattr(generic, "length", None)
    if isinstance(generic, sql_types.String) and not length:
        generic = sql_types.Text()
    return _compiled(generic, target)


def _nameless(column: TableColumn) -> str:
    """PostgreSQL's enumerations, domains and types of extensions are things of their own, which are not made anew: such
    values are copied as text.
    """
    if column.declared == "unknown" or _is_named(column.type):
        return "TEXT"
    return "TEXT[]" if _is_named(getattr(column.type, "item_type", None)) else column.declared


def _is_named(kind: object) -> bool:
    return isinstance(kind, sql_types.Enum) or type(kind).__name__ == "DOMAIN"


def changed_type(column: TableColumn | None, dtype: pl.DataType, source: str, target: str, *, is_key: bool) -> str:
    """Of a column that was rewritten, or is new."""
    if column is not None and source == target and _still_fits(column, dtype):
        return column.declared
    if isinstance(dtype, pl.String) and is_key and target in _SHORT_KEYS:
        return _compiled(sql_types.String(_KEY_LENGTH), target)
    return _compiled(column_type(dtype), target)


def _still_fits(column: TableColumn, dtype: pl.DataType) -> bool:
    kinds: tuple[tuple[type[sql_types.TypeEngine[Any]], bool], ...] = (
        (sql_types.Boolean, isinstance(dtype, pl.Boolean)),
        (sql_types.Integer, dtype.is_integer()),
        (sql_types.Numeric, dtype.is_numeric()),
        (sql_types.DateTime, isinstance(dtype, pl.Datetime)),
        (sql_types.Date, isinstance(dtype, pl.Date)),
    )
    return any(isinstance(column.type, kind) and fits for kind, fits in kinds)


def _compiled(kind: sql_types.TypeEngine[Any], target: str) -> str:
    """Where the usual type would lose something, as fractions of seconds or letters beyond Latin ones, a wider one."""
    wider: sql_types.TypeEngine[Any] | None = None
    if isinstance(kind, sql_types.DateTime) and target in _MOMENTS:
        wider = _MOMENTS[target]
    elif isinstance(kind, sql_types.String) and target == "mssql":
        wider = sql_types.Unicode(kind.length) if kind.length else sql_types.UnicodeText()
    return str((wider or kind).compile(dialect=dialect_of(target)))
