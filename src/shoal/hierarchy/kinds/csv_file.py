"""A hierarchy in a file, as ARX writes them: one line per value, ``value;level 1;level 2;…``, no header.

The last column is the top where it holds a single value, so that level numbers are those of ARX; otherwise a top is
added above it. The empty value on a line of its own says what becomes of missing values.

Loss of a cell: (lines with the same label − 1) ÷ (lines − 1); every line counts, also those with no record in the data.
The file may name people's values: messages give line numbers, never what stands on a line.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import polars as pl
from pydantic import Field

from shoal.errors import SourceError
from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.bound_ladder import BoundLadder, two_parents
from shoal.schema.columns import Column

SEPARATORS = (";", "\t", "|", ",")
MAX_BYTES = 1 << 27


class CsvHierarchy(Hierarchy):
    """Categories to wider categories, by a file in ARX's format."""

    key = "csv"
    data_independent = True
    shorthand = "path"

    path: Path
    """Relative to the folder of the policy."""
    separator: str | None = Field(None, min_length=1, max_length=1)
    """Found out where it isn't given."""
    encoding: str = "utf-8"
    """How the file is encoded."""

    def resolve(self, base: Path) -> Self:
        return self.model_copy(update={"path": base / self.path})

    def listed(self) -> tuple[str, ...]:
        return self.load()[0]

    def refuse(self, column: Column) -> str | None:
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundLadder:
        rungs = self.load()
        return BoundLadder.build(column, rungs, distinct, lists_missing="" in rungs[0])

    def load(self) -> list[tuple[str, ...]]:
        """The values and their labels on each level below the top. A file that is no hierarchy is a SourceError."""
        table = _read(self.path, self._text(), self.separator)
        table.check()
        columns = table.columns()
        return columns[:-1] if len(columns) > 1 and len(set(columns[-1])) == 1 else columns

    def _text(self) -> str:
        try:
            if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):
                raise SourceError(f"hierarchy {self.path}: is not a file")
            if self.path.stat().st_size > MAX_BYTES:
                raise SourceError(f"hierarchy {self.path}: is larger than {MAX_BYTES >> 20} MB")
            # A mark at the start of the file ("BOM") is no part of the first value.
            return self.path.read_text(self.encoding).removeprefix("\ufeff")
        except (OSError, LookupError) as error:
            reason = error.strerror if isinstance(error, OSError) else f"unknown encoding {self.encoding!r}"
            raise SourceError(f"hierarchy {self.path}: {reason}") from None
        except UnicodeError:
            raise SourceError(
                f"hierarchy {self.path}: is not {self.encoding}", advice="say which with encoding, e.g. latin-1"
            ) from None


@dataclass(frozen=True)
class _Table:
    path: Path
    numbers: tuple[int, ...]
    """The line of the file on which each row ends."""
    rows: tuple[tuple[str, ...], ...]

    def columns(self) -> list[tuple[str, ...]]:
        return list(zip(*self.rows, strict=True))

    def ragged(self) -> list[int]:
        """The lines that have not as many columns as the first."""
        return [number for number, row in zip(self.numbers, self.rows, strict=True) if len(row) != len(self.rows[0])]

    def check(self) -> None:
        if not self.rows:
            raise self._error("has no lines")
        ragged = self.ragged()
        if ragged:
            raise self._error(f"{_lines(ragged)}: not {len(self.rows[0])} column(s) as on line {self.numbers[0]}")
        empty = [number for number, row in zip(self.numbers, self.rows, strict=True) if "" in row[1:]]
        if empty:
            raise self._error(f"{_lines(empty)}: an empty label would look like a missing value")
        columns = self.columns()
        if len(self.rows) > 2 and columns[-1][0] != TOP and set(columns[-1][1:]) == {TOP}:
            raise self._error(f"line {self.numbers[0]} looks like a header: a hierarchy has none")
        self._check_nesting(columns)

    def _check_nesting(self, columns: Sequence[Sequence[str]]) -> None:
        twice = two_parents(columns[0], [str(number) for number in self.numbers])
        if twice:
            raise self._error(f"{self._where(twice)}: the same value")
        for level, (children, parents) in enumerate(itertools.pairwise(columns)):
            clash = two_parents(children, parents)
            if clash:
                raise self._error(f"{self._where(clash)}: same on level {level}, different on level {level + 1}")

    def _where(self, places: tuple[int, int]) -> str:
        return _lines([self.numbers[place] for place in places])

    def _error(self, what: str) -> SourceError:
        return SourceError(f"hierarchy {self.path}: {what}")


def _read(path: Path, text: str, separator: str | None) -> _Table:
    if separator is not None:
        return _split(path, text, separator)
    tables = []
    for candidate in SEPARATORS:
        table = _split(path, text, candidate)
        if {len(row) for row in table.rows} - {1} and not table.ragged():
            return table
        tables.append(table)
    return next((table for table in tables if table.ragged()), tables[0])


def _split(path: Path, text: str, separator: str) -> _Table:
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        lines = [(reader.line_num, tuple(row)) for row in reader if row]
    except csv.Error:
        raise SourceError(f"hierarchy {path}: line {reader.line_num} can't be read as CSV") from None
    return _Table(path, tuple(number for number, _ in lines), tuple(row for _, row in lines))


def _lines(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:5])
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"line{'s' if len(numbers) > 1 else ''} {shown}{more}"
