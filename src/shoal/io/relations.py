"""What is read from a database, as an SQLAlchemy expression: names are always quoted, text is never put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import ColumnClause, ColumnElement, FromClause, Select, column, select, table, text
from sqlalchemy.sql import quoted_name

Query: TypeAlias = "Select[*tuple[Any, ...]]"


@dataclass(frozen=True)
class Relation:
    """A table, or a query."""

    table: str | None = None
    db_schema: str | None = None
    query: str | None = None

    def clause(self, columns: Iterable[str] = ()) -> FromClause:
        """What stands after FROM; ``columns`` are those that will be named."""
        named: list[ColumnClause[Any]] = [column(quoted(name)) for name in columns]
        if self.query is None:
            return table(quoted(self.table or ""), *named, schema=quoted(self.db_schema) if self.db_schema else None)
        # A colon would begin a parameter; the line end closes a comment on the query's last line.
        bare = self.query.strip().rstrip(";").replace(":", r"\:")
        return text(f"{bare}\n").columns(*named).subquery("source")

    def everything(self) -> Query:
        return select(text("*")).select_from(self.clause())

    def nothing(self) -> Query:
        """All columns of no row."""
        return select(text("*")).select_from(self.clause()).limit(0)

    def chosen(self, clause: FromClause, columns: Sequence[ColumnElement[object]], order: Sequence[str]) -> Query:
        """The columns, in the order of the key where there is one."""
        return select(*columns).select_from(clause).order_by(*(clause.c[name] for name in order))


def quoted(name: str) -> quoted_name:
    return quoted_name(name, quote=True)
