"""Small expressions over columns, in SQL's syntax: ``weight / (height * height)``, ``age > 90 AND city = 'Pune'``.

Polars parses and runs them; there is no access to files, functions of Python or other tables. Columns are read by their
value type first, so that ``age > 90`` compares numbers even where the file stores text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import DataError
from shoal.schema.columns import Column, Columns
from shoal.schema.values import ValueType

_LONGEST = 4000
_OTHER_RECORDS = frozenset({"Agg", "Correlation", "Explode", "Len", "Over", "Quantile", "SubPlan"})
"""Nodes of a Polars expression whose value depends on more than one record."""


def names_in(text: str) -> tuple[str, ...]:
    """The columns an expression names, in order. A text that is no expression is a ValueError."""
    return tuple(dict.fromkeys(_parse(text).meta.root_names()))


def of_one_record(text: str) -> str:
    """The text, if it is an expression over the columns of one record; a ValueError says why it isn't."""
    if not names_in(text):
        raise ValueError("the expression names no column")
    try:
        tree = json.loads(_parse(text).meta.serialize(format="json"))
        others = not _OTHER_RECORDS.isdisjoint(_nodes(tree))
    except RecursionError:
        raise ValueError("the expression is nested too deep") from None
    if others:
        raise ValueError("the expression looks at other records; use aggregate for sums and counts")
    return text


def _nodes(tree: object) -> Iterator[str]:
    """The names of all nodes. What stands in columns and literals is the user's own text."""
    if isinstance(tree, dict):
        for name, branch in tree.items():
            yield name
            if name not in ("Column", "Literal"):
                yield from _nodes(branch)
    elif isinstance(tree, list):
        for branch in tree:
            yield from _nodes(branch)
    elif isinstance(tree, str):
        yield tree


def _parse(text: str) -> pl.Expr:
    if len(text) > _LONGEST:
        raise ValueError(f"an expression has at most {_LONGEST:,} characters")
    try:
        return pl.sql_expr(text)
    except PolarsError as error:
        raise ValueError(f"not an expression: {error}") from None


@dataclass(frozen=True)
class Expression:
    """An expression bound to the columns it names.

    >>> bmi = Expression("weight / (height * height)", (Column("weight"), Column("height")))
    >>> bmi.reads
    ('weight', 'height')
    """

    text: str
    columns: tuple[Column, ...]

    @classmethod
    def bind(cls, text: str, columns: Columns) -> Expression:
        return cls(text, tuple(columns[name] for name in names_in(text)))

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def readable(self, schema: pl.Schema) -> tuple[pl.Expr, ...]:
        """Its columns in a lazy frame, by their value types; what can't be read so is missing."""
        return tuple(_readable(column, schema[column.name]) for column in self.columns)

    @property
    def expression(self) -> pl.Expr:
        """Of columns that are ``readable``."""
        return _parse(self.text)

    def evaluate(self, frame: pl.DataFrame) -> pl.Series:
        """One value per record, also where all take a constant branch. Errors name the columns, never a value."""
        typed = frame.select(_typed(column, frame[column.name]) for column in self.columns)
        try:
            values = typed.select(_parse(self.text).alias("value"))["value"]
        except PolarsError:
            raise DataError(f"the expression over {', '.join(self.reads)} can't be computed on these columns") from None
        return values if values.len() == frame.height else values.new_from_index(0, frame.height)


def _readable(column: Column, stored: pl.DataType) -> pl.Expr:
    values = pl.col(column.name)
    if column.is_number:
        return values.cast(pl.Float64, strict=False)
    if not column.is_date:
        return values.cast(pl.String) if column.type is ValueType.TEXT else values
    kind = pl.Date() if column.type is ValueType.DATE else pl.Datetime("us")
    if stored == pl.String():
        return values.str.strptime(kind, column.date_format, strict=False)
    return values.cast(kind, strict=False)


def _typed(column: Column, values: pl.Series) -> pl.Series:
    if column.is_number:
        return column.numbers(values)
    if column.is_date:
        return column.dates(values)
    return values
