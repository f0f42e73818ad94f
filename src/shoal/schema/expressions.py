"""Small expressions over columns, in SQL's syntax: ``weight / (height * height)``, ``age > 90 AND city = 'Pune'``.

Polars parses and runs them; there is no access to files, functions of Python or other tables. Columns are read by their
value type first, so that ``age > 90`` compares numbers even where the file stores text.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl
from polars.exceptions import PolarsError

from shoal.errors import DataError
from shoal.schema.columns import Column, Columns


def names_in(text: str) -> tuple[str, ...]:
    """The columns an expression names, in order. A text that is no expression is a ValueError."""
    return tuple(dict.fromkeys(_parse(text).meta.root_names()))


def _parse(text: str) -> pl.Expr:
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

    def evaluate(self, frame: pl.DataFrame) -> pl.Series:
        """One value per record. Errors name the columns, never a value."""
        typed = frame.select(_typed(column, frame[column.name]) for column in self.columns)
        try:
            return typed.select(_parse(self.text).alias("value"))["value"]
        except PolarsError:
            raise DataError(f"the expression over {', '.join(self.reads)} can't be computed on these columns") from None


def _typed(column: Column, values: pl.Series) -> pl.Series:
    if column.is_number:
        return column.numbers(values)
    if column.is_date:
        return column.dates(values)
    return values
