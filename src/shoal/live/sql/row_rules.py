"""Which rows a role sees: a condition over the columns of the table, in a small part of SQL.

Comparisons with values, ``IN``, ``BETWEEN``, ``IS NULL``, ``AND``, ``OR``, ``NOT``; nothing that could call, read or
reveal anything else. It is written anew for each dialect, so that text is compared letter by letter everywhere.
"""

from __future__ import annotations

import datetime
import logging
from collections.abc import Mapping
from typing import Final

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from shoal.errors import InputError
from shoal.live.sql.words import Sql, SqlWords
from shoal.schema.columns import Column
from shoal.schema.registry import did_you_mean

_SIGNS: Final[Mapping[type[exp.Expression], str]] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_JOINS: Final[Mapping[type[exp.Expression], str]] = {exp.And: "AND", exp.Or: "OR"}


class RowRule:
    """A condition, read; a text that is none is an InputError."""

    def __init__(self, text: str, columns: Mapping[str, Column], words: SqlWords, read: Mapping[str, Sql]) -> None:
        self._columns, self._words, self._read = columns, words, read
        logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
        try:
            (tree,) = sqlglot.parse(f"SELECT 1 WHERE {text}")
        except (SqlglotError, ValueError):
            raise _refused("it is no condition") from None
        where = tree.args.get("where") if isinstance(tree, exp.Select) else None
        if tree is None or where is None:
            raise _refused("it is no condition")
        if {key for key, value in tree.args.items() if value} - {"expressions", "where", "kind"}:
            raise _refused("it is more than a condition")
        self._condition_tree = where.this

    def sql(self) -> Sql:
        return self._condition(self._condition_tree)

    def _condition(self, node: exp.Expression) -> Sql:
        if isinstance(node, exp.Paren | exp.Not):
            return f"({'NOT ' if isinstance(node, exp.Not) else ''}{self._condition(node.this)})"
        if type(node) in _JOINS:
            return f"({self._condition(node.this)} {_JOINS[type(node)]} {self._condition(node.expression)})"
        return self._comparison(node)

    def _comparison(self, node: exp.Expression) -> Sql:
        if type(node) in _SIGNS:
            return self._compared(node.this, _SIGNS[type(node)], [node.expression])
        if isinstance(node, exp.In) and node.expressions and not node.args.get("query"):
            return self._compared(node.this, "IN", node.expressions)
        if isinstance(node, exp.Between):
            low = self._compared(node.this, ">=", [node.args["low"]])
            return f"({low} AND {self._compared(node.this, '<=', [node.args['high']])})"
        if isinstance(node, exp.Is) and isinstance(node.expression, exp.Null):
            return f"({self._column(node.this)[0]} IS NULL)"
        raise _refused(f"{node.key.upper()} is not among what it may hold")

    def _compared(self, left: exp.Expression, sign: str, right: list[exp.Expression]) -> Sql:
        x, column = self._column(left)
        text = not column.is_number and not column.is_date
        values = ", ".join(self._value(one, column) for one in right)
        return f"({self._words.as_text(x) if text else x} {sign} {f'({values})' if sign == 'IN' else values})"

    def _column(self, node: exp.Expression) -> tuple[Sql, Column]:
        if not isinstance(node, exp.Column) or node.table:
            raise _refused("a comparison begins with the name of a column")
        if node.name not in self._columns:
            raise _refused(f"there is no column '{node.name}'{did_you_mean(node.name, tuple(self._columns))}")
        return self._read[node.name], self._columns[node.name]

    def _value(self, node: exp.Expression, column: Column) -> Sql:
        negative = isinstance(node, exp.Neg)
        literal = node.this if negative else node
        if not isinstance(literal, exp.Literal) or literal.is_string == column.is_number:
            raise _refused(f"column '{column.name}' is {column.type} and is compared with such values only")
        if column.is_number:
            return self._words.number(-float(literal.name) if negative else float(literal.name))
        if column.is_date:
            try:
                return self._words.day(datetime.date.fromisoformat(literal.name))
            except ValueError:
                raise _refused(f"column '{column.name}' is compared with days such as 2027-01-31") from None
        return self._words.text(literal.name)


def _refused(why: str) -> InputError:
    return InputError(f"a condition on rows can't be used: {why}", advice="as in region = 'north' AND age >= 18")
