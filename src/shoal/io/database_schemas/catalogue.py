"""What a schema of a database is made of: its tables with their columns and keys, its views, and what else is in it.

Nothing here is a row. The ``fingerprint`` changes with every change of a name, a type or a key, so that a schema that
is no longer what it was is seen.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from sqlalchemy import Connection, Enum, inspect, text
from sqlalchemy import types as sql_types
from sqlalchemy.engine.reflection import Inspector
from sqlalchemy.types import TypeEngine

PROGRESS_TABLE: Final = "shoal_copy_progress"
"""Keeps which tables of an unfinished copy are complete, in the target itself; gone when the copy is done."""


@dataclass(frozen=True)
class TableColumn:
    """A column as the database declares it."""

    name: str
    type: TypeEngine[Any] = field(compare=False)
    declared: str
    """The type in the words of the database."""
    nullable: bool = True
    default: str | None = None
    numbered: bool = False
    """Whether the database gives rows their numbers here."""
    computed: bool = False
    comment: str | None = None

    @property
    def is_binary(self) -> bool:
        return isinstance(self.type, sql_types.LargeBinary | sql_types.BINARY | sql_types.VARBINARY)


@dataclass(frozen=True)
class UniqueKey:
    """Columns of which no two rows have the same values: a primary key, a constraint or a unique index."""

    columns: tuple[str, ...]
    name: str | None = None


@dataclass(frozen=True)
class ForeignKey:
    """Columns that hold keys of a table, which may be their own."""

    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]
    name: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    """What happens when the parent is deleted or changed, and when the key is looked at."""
    elsewhere: bool = False
    """Whether the parent is in another schema."""


@dataclass(frozen=True)
class PlainIndex:
    """An index that only makes reading faster."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class CheckRule:
    name: str | None
    condition: str


@dataclass(frozen=True)
class TableFacts:
    """A table, without its rows."""

    name: str
    columns: tuple[TableColumn, ...]
    primary_key: UniqueKey | None = None
    unique_keys: tuple[UniqueKey, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    indexes: tuple[PlainIndex, ...] = ()
    checks: tuple[CheckRule, ...] = ()
    odd_indexes: tuple[str, ...] = ()
    """Over expressions, or of some rows only."""
    odd_unique: tuple[str, ...] = ()
    """Those of them that let no two rows be the same."""
    comment: str | None = None

    @cached_property
    def by_name(self) -> dict[str, TableColumn]:
        return {column.name: column for column in self.columns}

    @property
    def keys(self) -> tuple[UniqueKey, ...]:
        return (*((self.primary_key,) if self.primary_key else ()), *self.unique_keys)

    def described(self) -> list[object]:
        return [
            self.name,
            [[one.name, one.declared, one.nullable, one.computed] for one in self.columns],
            [list(key.columns) for key in self.keys],
            [[list(key.columns), key.parent, list(key.parent_columns)] for key in self.foreign_keys],
        ]


@dataclass(frozen=True)
class ViewFacts:
    name: str
    definition: str


@dataclass(frozen=True)
class Catalogue:
    """A schema."""

    kind: str
    tables: tuple[TableFacts, ...]
    views: tuple[ViewFacts, ...] = ()
    further: tuple[str, ...] = ()
    """What else is there, in words: triggers, functions, sequences of their own."""
    db_schema: str | None = None

    @cached_property
    def by_name(self) -> dict[str, TableFacts]:
        return {table.name: table for table in self.tables}

    @property
    def fingerprint(self) -> str:
        told = json.dumps([table.described() for table in self.tables], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()


def read_catalogue(connection: Connection, db_schema: str | None = None) -> Catalogue:
    """The schema, tables by name."""
    seen, kind = inspect(connection), connection.dialect.name
    kind = "mysql" if kind == "mariadb" else kind
    parts = _partitions(connection, seen, db_schema)
    names = sorted(set(seen.get_table_names(schema=db_schema)) - parts - {PROGRESS_TABLE})
    tables = tuple(_table(seen, connection, name, db_schema) for name in names)
    views = tuple(
        ViewFacts(name, seen.get_view_definition(name, schema=db_schema) or "")
        for name in sorted(seen.get_view_names(schema=db_schema))
    )
    return Catalogue(kind, tables, views, tuple(_further(connection, seen, db_schema)), db_schema)


def _table(seen: Inspector, connection: Connection, name: str, db_schema: str | None) -> TableFacts:
    indexes = seen.get_indexes(name, schema=db_schema)
    constraints = seen.get_unique_constraints(name, schema=db_schema)
    named = {one["name"] for one in constraints}
    plain = [one for one in indexes if _is_plain(one)]
    unique = [UniqueKey(tuple(one["column_names"]), one["name"]) for one in constraints]
    unique += [
        UniqueKey(_columns(one), str(one["name"])) for one in plain if one["unique"] and one["name"] not in named
    ]
    key = seen.get_pk_constraint(name, schema=db_schema)
    return TableFacts(
        name,
        tuple(_column(one, connection) for one in seen.get_columns(name, schema=db_schema)),
        UniqueKey(tuple(key["constrained_columns"]), key.get("name")) if key["constrained_columns"] else None,
        tuple(sorted(unique, key=lambda one: (one.name or "", one.columns))),
        tuple(_foreign_keys(seen, name, db_schema)),
        tuple(PlainIndex(str(one["name"]), _columns(one)) for one in plain if not one["unique"]),
        tuple(_checks(seen, name, db_schema)),
        tuple(str(one["name"]) for one in indexes if not _is_plain(one)),
        tuple(str(one["name"]) for one in indexes if not _is_plain(one) and one["unique"]),
        _comment(seen, name, db_schema),
    )


def _columns(index: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in index["column_names"])


def _is_plain(index: Any) -> bool:
    options = index.get("dialect_options", {})
    partial = any(key.endswith(("_where", "_prefix", "_length")) and value for key, value in options.items())
    return all(index["column_names"]) and not index.get("expressions") and not partial


def _column(one: Any, connection: Connection) -> TableColumn:
    numbered = bool(one.get("identity")) or "nextval(" in str(one.get("default") or "")
    numbered = numbered or (connection.dialect.name in {"mysql", "mariadb"} and one.get("autoincrement") is True)
    return TableColumn(
        one["name"],
        one["type"],
        _declared(one["type"], connection),
        bool(one["nullable"]),
        None if numbered else one.get("default"),
        numbered,
        bool(one.get("computed")),
        one.get("comment"),
    )


def _declared(kind: TypeEngine[Any], connection: Connection) -> str:
    try:
        return str(kind.compile(dialect=connection.dialect))
    except Exception:  # noqa: BLE001  # a type of an extension, which no dialect knows
        return "unknown"


def _foreign_keys(seen: Inspector, name: str, db_schema: str | None) -> Iterator[ForeignKey]:
    for one in seen.get_foreign_keys(name, schema=db_schema):
        own, other = tuple(one["constrained_columns"]), tuple(one["referred_columns"])
        options = tuple(sorted((key, str(value)) for key, value in (one.get("options") or {}).items() if value))
        away = one.get("referred_schema") not in (None, db_schema)
        parent = one["referred_table"]
        if not any(other):  # SQLite: the primary key is meant
            other = tuple(seen.get_pk_constraint(parent, schema=db_schema)["constrained_columns"])
        yield ForeignKey(own, parent, other, one.get("name"), options, away)


def _checks(seen: Inspector, name: str, db_schema: str | None) -> Iterator[CheckRule]:
    try:
        found = seen.get_check_constraints(name, schema=db_schema)
    except NotImplementedError:
        return
    for one in found:
        yield CheckRule(one.get("name"), one["sqltext"])


def _comment(seen: Inspector, name: str, db_schema: str | None) -> str | None:
    try:
        return seen.get_table_comment(name, schema=db_schema)["text"]
    except NotImplementedError:
        return None


_FURTHER: Final = {
    "postgresql": """
SELECT 'trigger ' || t.tgname FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_class c ON c.oid = t.tgrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal AND n.nspname = COALESCE(:place, current_schema())
UNION ALL SELECT CASE p.prokind WHEN 'p' THEN 'procedure ' ELSE 'function ' END || p.proname
FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = COALESCE(:place, current_schema())
AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
UNION ALL SELECT CASE c.relkind WHEN 'm' THEN 'materialised view ' WHEN 'f' THEN 'foreign table ' ELSE 'sequence ' END
|| c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = COALESCE(:place, current_schema()) AND (c.relkind IN ('m', 'f') OR (c.relkind = 'S' AND NOT EXISTS
(SELECT 1 FROM pg_catalog.pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0)))
UNION ALL SELECT 'row rule ' || p.polname FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = COALESCE(:place, current_schema())
UNION ALL SELECT 'partition ' || c.relname FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relispartition AND c.relkind IN ('r', 'p') AND n.nspname = COALESCE(:place, current_schema())
ORDER BY 1""",
    "mysql": """
SELECT CONCAT('trigger ', trigger_name) FROM information_schema.triggers
WHERE trigger_schema = COALESCE(:place, DATABASE())
UNION ALL SELECT CONCAT(LOWER(routine_type), ' ', routine_name) FROM information_schema.routines
WHERE routine_schema = COALESCE(:place, DATABASE())
UNION ALL SELECT CONCAT('event ', event_name) FROM information_schema.events
WHERE event_schema = COALESCE(:place, DATABASE()) ORDER BY 1""",
    "sqlite": "SELECT 'trigger ' || name FROM sqlite_master WHERE type = 'trigger' AND :place IS NULL ORDER BY 1",
}
_PARTITIONS: Final = """
SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relispartition AND n.nspname = COALESCE(CAST(:place AS text), current_schema())"""


def _further(connection: Connection, seen: Inspector, db_schema: str | None) -> Iterator[str]:
    statement = _FURTHER.get("mysql" if seen.dialect.name == "mariadb" else seen.dialect.name)
    if statement is not None:
        if seen.dialect.name == "postgresql":
            statement = statement.replace(":place", "CAST(:place AS text)")
        for (told,) in connection.execute(text(statement), {"place": db_schema}):
            yield str(told)
    for name in (
        seen.get_sequence_names(schema=db_schema) if seen.dialect.name in {"oracle", "mssql", "mariadb"} else ()
    ):
        yield f"sequence {name}"


def _partitions(connection: Connection, seen: Inspector, db_schema: str | None) -> set[str]:
    """Their rows are read with the table that they are parts of."""
    if seen.dialect.name != "postgresql":
        return set()
    return {str(name) for (name,) in connection.execute(text(_PARTITIONS), {"place": db_schema})}


def is_plain_type(column: TableColumn) -> bool:
    """Whether its values are numbers, texts, dates or truth values, which techniques work on as such."""
    plain = (
        sql_types.Integer,
        sql_types.Numeric,
        sql_types.String,
        sql_types.Boolean,
        sql_types.Date,
        sql_types.DateTime,
    )
    return isinstance(column.type, plain) and not isinstance(column.type, Enum)
