"""Parts of values that may say something by themselves: how an identifier begins or ends, the year of a date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import polars as pl

from shoal.schema import Column

LONGEST_START, LONGEST_END = 10, 4


class Cut(StrEnum):
    FIRST = "first"
    LAST = "last"
    YEAR = "year"
    MONTH = "month"


@dataclass(frozen=True)
class Part:
    column: str
    cut: Cut
    length: int = 0
    date_format: str | None = None

    def of(self, values: pl.Series) -> pl.Series:
        """
        >>> Part("id", Cut.FIRST, 4).of(pl.Series(["1987-0012", "1991-0345"])).to_list()
        ['1987', '1991']
        """
        if self.cut in (Cut.YEAR, Cut.MONTH):
            if values.dtype == pl.String():
                values = values.str.strptime(pl.Datetime("us"), self.date_format, strict=False)
            return values.dt.strftime("%Y" if self.cut is Cut.YEAR else "%Y-%m")
        text = values.cast(pl.String)
        return text.str.head(self.length) if self.cut is Cut.FIRST else text.str.tail(self.length)


def parts_of(column: Column, longest: int) -> Iterator[Part]:
    """Of text and whole numbers their beginnings and ends, of dates their years and months."""
    if column.is_date:
        yield Part(column.name, Cut.YEAR, date_format=column.date_format)
        yield Part(column.name, Cut.MONTH, date_format=column.date_format)
        return
    for length in range(1, min(LONGEST_START, longest - 1) + 1):
        yield Part(column.name, Cut.FIRST, length)
    for length in range(1, min(LONGEST_END, longest - 1) + 1):
        yield Part(column.name, Cut.LAST, length)
