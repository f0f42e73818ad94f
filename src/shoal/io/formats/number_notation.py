"""Numbers as a country writes them, 1.234,56 or 1 234,56 or 12,34,567.89, read as 1234.56.

A column is taken for numbers only where every value is one in the declared notation, and at least one of them is
written in a way that would be misread. What else a table holds (codes, dates, telephone numbers) stays as it is.

>>> frame = pl.LazyFrame({"fee": ["1.234,56", "7", None], "code": ["1.234", "A", "2"], "on": ["01.02.2026"] * 3})
>>> notation = NumberNotation.found(frame, ",")
>>> notation.columns, notation.read(frame).collect()["fee"].to_list()
(('fee',), ['1234.56', '7', None])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import polars as pl

_SPACES: Final = " \u00a0\u202f"
_SIGN: Final = r"^\s*[+\-\u2212]?"
_END: Final = r"(?:[eE][+-]?\d+)?\s*$"
_GROUPS: Final = {",": (r"\.", "'", "’", *_SPACES), ".": (",", "'", "’", *_SPACES)}
"""What may stand between groups of digits, by the decimal sign; in one number it is always the same."""


@dataclass(frozen=True)
class NumberNotation:
    """The columns of a table that hold numbers with this decimal sign."""

    decimal: str
    columns: tuple[str, ...]

    @classmethod
    def found(cls, frame: pl.LazyFrame, decimal: str) -> NumberNotation:
        """One pass over the text columns."""
        names = [name for name, kind in frame.collect_schema().items() if kind == pl.String]
        if not names:
            return cls(decimal, ())
        told = frame.select(_is_column_of_numbers(name, decimal) for name in names).collect(engine="streaming")
        return cls(decimal, tuple(name for name in names if told[name].item()))

    def read(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        """With these columns as a program writes numbers."""
        return frame.with_columns(_plain(name, self.decimal) for name in self.columns)


class CellNotation(NumberNotation):
    """For columns that are known to hold numbers: each cell is read by itself, and stays as it is where it is none.

    >>> CellNotation(",", ("fee",)).read(pl.LazyFrame({"fee": ["1.234,56", "much"]})).collect()["fee"].to_list()
    ['1234.56', 'much']
    """

    def read(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        numbers = (pl.col(name).str.contains(_pattern(self.decimal)) for name in self.columns)
        plain = (_plain(name, self.decimal) for name in self.columns)
        both = zip(self.columns, numbers, plain, strict=True)
        return frame.with_columns(pl.when(is_one).then(read).otherwise(pl.col(name)) for name, is_one, read in both)


def undeclared_columns(frame: pl.LazyFrame) -> tuple[str, ...]:
    """Columns that would be numbers if a decimal comma were declared; a part of the table tells."""
    found = NumberNotation.found(frame, ",")
    certain = [pl.col(name).str.contains(r"\d,\d").any() for name in found.columns]
    if not certain:
        return ()
    told = frame.select(certain).collect(engine="streaming")
    return tuple(name for name in found.columns if told[name].item())


def _pattern(decimal: str) -> str:
    grouped = "|".join(rf"[1-9]\d{{0,2}}(?:{sign}\d{{2,3}})*{sign}\d{{3}}" for sign in _GROUPS[decimal])
    return rf"{_SIGN}(?:\d+|{grouped})(?:\{decimal}\d+)?{_END}"


def _is_column_of_numbers(name: str, decimal: str) -> pl.Expr:
    """Whether all values are numbers, and one holds a sign that is not the decimal point."""
    cell = pl.col(name)
    special = cell.str.contains(f"[,'’{_SPACES}]" if decimal == "." else f"[,.'’{_SPACES}]")
    return (cell.str.contains(_pattern(decimal)).all() & special.any()).alias(name)


def _plain(name: str, decimal: str) -> pl.Expr:
    between = "".join(_GROUPS[decimal])
    digits = pl.col(name).str.replace_all(rf"[\s{between}]", "").str.replace("\u2212", "-", literal=True)
    return digits.str.replace(decimal, ".", literal=True) if decimal != "." else digits
