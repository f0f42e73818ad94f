"""What is read from a database, as an SQLAlchemy expression: names are always quoted, text is never put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import ColumnClause, FromClause, Select, Text, TextClause, cast, column, select, table, text
from sqlalchemy.sql import quoted_name

Statement: TypeAlias = "Select[*tuple[Any, ...]] | TextClause"


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
        return self._written().columns(*named).subquery("source")

    def whole(self, columns: Sequence[str], key: Sequence[str]) -> Statement:
        """All rows: a query as it stands, since its order may get lost in another query; a table by its key."""
        if self.query is not None:
            return self._written()
        clause = self.clause(columns)
        return select(*(clause.c[name] for name in columns)).order_by(*(clause.c[name] for name in key))

    def cast_to_text(self, columns: Sequence[str], texts: Collection[str], key: Sequence[str]) -> Statement:
        """All rows, some columns as text."""
        clause = self.clause(columns)
        parts = [cast(clause.c[name], Text).label(name) if name in texts else clause.c[name] for name in columns]
        return select(*parts).order_by(*(clause.c[name] for name in key))

    def nothing(self) -> Statement:
        """All columns of no row."""
        return select(text("*")).select_from(self.clause()).limit(0)

    def _written(self) -> TextClause:
        # A colon would begin a parameter; the line end closes a comment on the query's last line.
        bare = (self.query or "").strip().rstrip(";").replace(":", r"\:")
        return text(f"{bare}\n")


def quoted(name: str) -> quoted_name:
    return quoted_name(name, quote=True)
