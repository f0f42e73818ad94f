"""Parts of values that may say something by themselves: how an identifier begins or ends, the year of a date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl

from shoal.measurement.read_back.characters import laid_out
from shoal.measurement.read_back.screen import Groups
from shoal.schema import Column

LONGEST_START, LONGEST_END = 10, 4


class PartKind(StrEnum):
    FIRST = "first"
    LAST = "last"
    YEAR = "year"
    MONTH = "month"


@dataclass(frozen=True)
class ValuePart:
    column: str
    cut: PartKind
    length: int = 0
    date_format: str | None = None

    def of(self, values: pl.Series) -> pl.Series:
        """
        >>> ValuePart("id", PartKind.FIRST, 4).of(pl.Series(["1987-0012", "1991-0345"])).to_list()
        ['1987', '1991']
        """
        if self.cut in (PartKind.YEAR, PartKind.MONTH):
            if values.dtype == pl.String():
                values = values.str.strptime(pl.Datetime("us"), self.date_format, strict=False)
            years = values.dt.year()
            return years if self.cut is PartKind.YEAR else years * 12 + values.dt.month()
        text = values.cast(pl.String)
        return text.str.head(self.length) if self.cut is PartKind.FIRST else text.str.tail(self.length)


def parts_of(column: Column, longest: int) -> Iterator[ValuePart]:
    """Of text and whole numbers their beginnings and ends, of dates their years and months."""
    if column.is_date:
        yield ValuePart(column.name, PartKind.YEAR, date_format=column.date_format)
        yield ValuePart(column.name, PartKind.MONTH, date_format=column.date_format)
        return
    for length in range(1, min(LONGEST_START, longest - 1) + 1):
        yield ValuePart(column.name, PartKind.FIRST, length)
    for length in range(1, min(LONGEST_END, longest - 1) + 1):
        yield ValuePart(column.name, PartKind.LAST, length)


def nested_groups(text: pl.Series, cut: PartKind, lengths: int, least: int) -> Iterator[tuple[int, Groups]]:
    """By parts of one character, two, and so on, as long as any is common: the length, and the texts in groups; those
    whose part fewer than ``least`` have are in none.

    A longer part divides the groups of a shorter one, so what is too rare stays so.
    """
    text = text.fill_null(_NOTHING)
    ends = text.str.head(lengths) if cut is PartKind.FIRST else text.str.tail(lengths).str.reverse()
    letters = laid_out(ends)
    groups, number = np.ones(len(text), dtype=np.int64), 1
    for place in range(min(lengths, letters.shape[1])):
        alphabet, letter = np.unique(letters[:, place], return_inverse=True)
        key = groups * len(alphabet) + letter
        counted = np.bincount(key, minlength=(number + 1) * len(alphabet))
        enough = counted >= least
        enough[: len(alphabet)] = False
        number = int(enough.sum())
        if not number:
            return
        groups = np.where(enough, np.cumsum(enough), 0)[key]
        yield place + 1, Groups(groups, number)


_NOTHING = "\x01"
"""Stands for a missing text; parts of no other have it."""
