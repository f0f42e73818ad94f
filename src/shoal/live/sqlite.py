"""One role's version of a SQLite file, for a program of one's own: views over functions, each access checked before it.

SQLite has no roles. A connection that is opened here reads nothing but its views: the tables under them, the schema and
every statement but SELECT are denied. Who has the file, or the process, has the data: this is for programs that pass on
what their users ask.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl

from shoal.errors import DataError, InputError, SourceError
from shoal.live.attribute_steps import (
    LiveAttribute,
    beyond_rows,
    bind_attribute,
    stated_level,
    unknown_levels,
    unmatched,
)
from shoal.live.served_tables import decimal_column, text_column, whole_column
from shoal.live.sql.refusal import NotInSqlError
from shoal.policy import Policy
from shoal.pseudonyms.secrets import Secrets
from shoal.schema.columns import Column
from shoal.schema.values import ValueType

_SCALE: Final = 6
_BLOCKED_FUNCTIONS: Final = frozenset({"load_extension", "writefile", "readfile", "edit", "fts3_tokenizer"})
_DENIED, _ALLOWED = sqlite3.SQLITE_DENY, sqlite3.SQLITE_OK


@contextmanager
def masked_connection(
    path: str | Path,
    policies: Mapping[str, Policy],
    *,
    levels: Mapping[str, int] | None = None,
    secrets: Secrets | None = None,
) -> Iterator[sqlite3.Connection]:
    """A connection on which each table is what its policy lets be seen; other tables are not there.

    ``levels`` says how far quasi-identifiers are generalised. Pseudonyms take a vault, as ``secrets``.
    """
    place = Path(path)
    if not place.is_file():
        raise SourceError(f"{place}: there is no such file")
    with closing(sqlite3.connect(f"{place.resolve().as_uri()}?mode=ro", uri=True)) as connection:
        views = set()
        for table, policy in policies.items():
            columns = _columns(connection, table)
            _make_view(connection, table, _shown(table, policy, columns, levels or {}, secrets))
            views.add(table)
        connection.set_authorizer(_authorizer(views))
        yield connection


def _columns(connection: sqlite3.Connection, table: str) -> dict[str, Column]:
    try:
        found = connection.execute("SELECT name, type FROM pragma_table_info(?, 'main')", (table,)).fetchall()
    except sqlite3.DatabaseError:
        raise SourceError("this is no SQLite database") from None
    if not found:
        raise SourceError(f"there is no table '{table}'")
    return {name: _column(name, str(declared).upper()) for name, declared in found}


def _column(name: str, declared: str) -> Column:
    """By the affinity of its declared type (SQLite, 3.1), and dates as they are written there."""
    if "INT" in declared:
        return whole_column(name)
    if any(word in declared for word in ("REAL", "FLOA", "DOUB", "DEC", "NUM")):
        return decimal_column(name, _SCALE)
    if declared == "DATE":
        return Column(name, ValueType.DATE, pl.String(), date_format="%Y-%m-%d")
    return text_column(name)


def _shown(
    table: str, policy: Policy, columns: Mapping[str, Column], levels: Mapping[str, int], secrets: Secrets | None
) -> dict[str, LiveAttribute]:
    problems = [*unmatched(policy, tuple(columns)), *beyond_rows(policy), *unknown_levels(policy, levels)]
    bound = {}
    for name, column in columns.items():
        attribute = policy.attributes.get(name)
        if attribute is None or not attribute.is_released:
            continue
        try:
            bound[name] = bind_attribute(attribute, column, stated_level(policy, name, levels), secrets)
        except (NotInSqlError, InputError) as error:
            problems.append(f"column '{name}': {error}")
    if problems or not bound:
        raise InputError(f"table '{table}': {'; '.join(problems) or 'nothing of it would be seen'}")
    return bound


def _make_view(connection: sqlite3.Connection, table: str, attributes: Mapping[str, LiveAttribute]) -> None:
    cells = []
    for place, (name, attribute) in enumerate(attributes.items()):
        cell = _quoted(name)
        if attribute.steps or attribute.level is not None:
            function = f"shoal_{table}_{place}"
            connection.create_function(function, 1, _one_by_one(attribute), deterministic=True)
            cell = f"{_quoted(function)}({cell})"
        cells.append(f"{cell} AS {_quoted(name)}")
    view = _quoted(table)
    connection.execute(f"CREATE TEMP VIEW {view} AS SELECT {', '.join(cells)} FROM main.{view}")  # noqa: S608  # quoted


def _one_by_one(attribute: LiveAttribute) -> Callable[[object], Any]:
    dtype = attribute.column.storage

    def shown(value: object) -> Any:
        """A value that is none of its column's type is seen by nobody."""
        try:
            (found,) = attribute.shown(pl.Series([value], dtype=dtype, strict=True)).to_list()
        except (DataError, TypeError, OverflowError, pl.exceptions.PolarsError):
            return None
        return found

    return shown


def _authorizer(views: set[str]) -> Callable[..., int]:
    """Reading, and only what a view of ours reads or the view itself."""

    def decide(action: int, first: str | None, second: str | None, database: str | None, inner: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return _ALLOWED
        if action == sqlite3.SQLITE_FUNCTION:
            ours = str(second).startswith("shoal_")
            blocked = str(second).lower() in _BLOCKED_FUNCTIONS or (ours and inner not in views)
            return _DENIED if blocked else _ALLOWED
        if action == sqlite3.SQLITE_READ:
            if first not in views:
                return _DENIED
            # No column at all: what counts the rows, of which the view has as many.
            return _ALLOWED if first == inner or database == "temp" or not second else _DENIED
        return _DENIED

    return decide


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
