"""Days, and moments to the second, from a range."""

from __future__ import annotations

import datetime
from typing import Annotated, ClassVar

import polars as pl
from pydantic import AfterValidator, Field

from shoal.kernels.arrays import Integers
from shoal.synth.test_data.base import RangeGenerator


def _in_universal_time(moment: datetime.datetime) -> datetime.datetime:
    """A moment without a zone is one of universal time."""
    return moment.replace(tzinfo=moment.tzinfo or datetime.UTC).astimezone(datetime.UTC)


Moment = Annotated[datetime.datetime, AfterValidator(_in_universal_time)]


class _Formatted(RangeGenerator):
    format: str | None = Field(default=None, min_length=2, max_length=40, pattern="%")
    """A strftime pattern, where they are to be text."""

    @property
    def distinct(self) -> int:
        """A pattern may leave out what tells two apart."""
        return self.size if self.format is None else 0

    def _formatted(self, points: pl.Series) -> pl.Series:
        return points if self.format is None else points.dt.strftime(self.format)


class Dates(_Formatted):
    """
    >>> import numpy as np
    >>> Dates(first=datetime.date(2024, 2, 28), last=datetime.date(2024, 3, 1)).write(np.array([1])).to_list()
    [datetime.date(2024, 2, 29)]
    """

    key = "date"
    title = "Days from a range"
    stands_for: ClassVar = {"date": {}, "birth_date": {}}

    first: datetime.date = datetime.date(1940, 1, 1)
    last: datetime.date = datetime.date(2020, 12, 31)

    @property
    def size(self) -> int:
        return (self.last - self.first).days + 1

    def write(self, numbers: Integers) -> pl.Series:
        origin = (self.first - datetime.date(1970, 1, 1)).days
        return self._formatted(pl.Series(numbers + origin).cast(pl.Int32).cast(pl.Date))


class Moments(_Formatted):
    key = "datetime"
    title = "Moments from a range, to the second"

    first: Moment = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    last: Moment = datetime.datetime(2025, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)

    @property
    def size(self) -> int:
        return int((self.last - self.first).total_seconds()) + 1

    def write(self, numbers: Integers) -> pl.Series:
        origin = int(self.first.timestamp())
        return self._formatted(pl.Series((numbers + origin) * 1_000_000).cast(pl.Datetime("us")))
