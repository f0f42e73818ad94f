"""A cursor of any database driver (PEP 249) whose rows are masked by the names of their columns.

Names can be changed in SQL. So rows are handed out only of a SELECT that takes columns as they are from tables: one
with an alias, an expression, a subquery or a union is refused. Conditions are the application's own: who lets others
write them has to use views (see ``shoal live``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, Self

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from shoal.errors import DataError, InputError
from shoal.live.applications.field_masks import FieldMasks

_PARAMETER: Final = re.compile(r"%s|%\(\w+\)s")


class DriverCursor(Protocol):
    @property
    def description(self) -> Sequence[Sequence[Any]] | None: ...

    def execute(self, operation: str, *parameters: Any) -> Any: ...

    def fetchone(self) -> Any: ...

    def fetchmany(self, size: int = 1) -> Sequence[Any]: ...

    def fetchall(self) -> Sequence[Any]: ...

    def close(self) -> None: ...


@dataclass
class MaskedCursor:
    """Gives rows as tuples; of a column that the policy suppresses, None."""

    cursor: DriverCursor = field(repr=False)
    masks: FieldMasks
    dialect: str | None = None
    """As sqlglot calls it: postgres, mysql, sqlite; left out, usual SQL."""

    def execute(self, operation: str, *parameters: Any) -> Self:
        _refuse_renamed(operation, self.dialect)
        self.cursor.execute(operation, *parameters)
        for name in self._names():
            self.masks.shows(name)
        return self

    def fetchone(self) -> tuple[object, ...] | None:
        row = self.cursor.fetchone()
        return None if row is None else self._row(row)

    def fetchmany(self, size: int = 1) -> list[tuple[object, ...]]:
        return [self._row(row) for row in self.cursor.fetchmany(size)]

    def fetchall(self) -> list[tuple[object, ...]]:
        return [self._row(row) for row in self.cursor.fetchall()]

    def __iter__(self) -> Iterator[tuple[object, ...]]:
        while (row := self.fetchone()) is not None:
            yield row

    def close(self) -> None:
        self.cursor.close()

    def _names(self) -> list[str]:
        return [str(column[0]) for column in self.cursor.description or ()]

    def _row(self, row: Any) -> tuple[object, ...]:
        if not isinstance(row, Sequence):
            raise DataError("rows have to be sequences, as PEP 249 says")
        return tuple(self.masks.value(name, value) for name, value in zip(self._names(), row, strict=True))


def _refuse_renamed(operation: str, dialect: str | None) -> None:
    try:
        tree = sqlglot.parse_one(_PARAMETER.sub("NULL", operation), dialect=dialect)
    except SqlglotError:
        raise InputError("the statement can't be read, so its rows can't be masked") from None
    if not isinstance(tree, exp.Select) or len(list(tree.find_all(exp.Query))) > 1 or tree.args.get("laterals"):
        raise InputError("only a SELECT from tables can be masked by the names of its columns")
    plain = all(_as_it_is(one) for one in tree.expressions)
    if not plain or not all(_is_table(one.this) for one in tree.find_all(exp.From, exp.Join)):
        raise InputError("a SELECT can be masked only if it takes columns as they are, without aliases")


def _as_it_is(one: exp.Expression) -> bool:
    star = one.this if isinstance(one, exp.Column) else one
    return isinstance(star, exp.Identifier) or (isinstance(star, exp.Star) and not any(star.args.values()))


def _is_table(source: exp.Expression) -> bool:
    alias = source.args.get("alias")
    named = isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)
    return named and not (alias is not None and alias.args.get("columns"))
