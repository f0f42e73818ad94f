"""Values on a line, and the stretch of it that a label covers: low ≤ value < high."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.hierarchy.labels.ends import Ends, Kind
from shoal.hierarchy.labels.points import date_format, read_dates, read_numbers
from shoal.kernels.arrays import Floats, as_floats

_MONTH = r"^([0-9]{4}-[0-9]{2})$"


@dataclass(frozen=True)
class ValueLine:
    """The values as points: numbers, or dates as days. What isn't on the line is NaN."""

    kind: Kind
    points: Floats
    form: str | None = None
    """The format of dates that are text."""

    @classmethod
    def of(cls, values: pl.Series) -> ValueLine | None:
        """Only where more than half of the values that are there can be read as points."""
        there = len(values) - values.null_count()
        if isinstance(values.dtype, pl.Categorical | pl.Enum):
            values = values.cast(pl.String)
        for line in (cls._dates(values), cls._numbers(values)):
            if line is not None and 2 * int(np.isfinite(line.points).sum()) > there:
                return line
        return None

    @classmethod
    def _dates(cls, values: pl.Series) -> ValueLine | None:
        if isinstance(values.dtype, pl.Date | pl.Datetime):
            return cls("date", as_floats(read_dates(values)))
        if values.dtype != pl.String:
            return None
        form = date_format(values)
        # Months are dates of a coarser kind: their first day stands for them.
        months = read_dates(values.str.extract(_MONTH) + "-01", "%Y-%m-%d")
        return cls("date", as_floats(read_dates(values, form).fill_null(months)), form)

    @classmethod
    def _numbers(cls, values: pl.Series) -> ValueLine | None:
        if values.dtype.is_numeric() or values.dtype == pl.String:
            return cls("number", as_floats(read_numbers(values)))
        return None

    def stretches(self, labels: pl.Series) -> tuple[Floats, Floats]:
        """Where the stretch that each label (text) means begins, and where what follows does; NaN where it means none.

        >>> low, high = ValueLine.of(pl.Series([34, 41])).stretches(pl.Series(["30-39", "≥ 90", "elderly"]))
        >>> low.tolist(), high.tolist()
        ([30.0, 90.0, nan], [40.0, inf, nan])
        """
        start, stop = Ends.of(labels, self.kind).stretches()
        if self.form is None:
            return start, stop
        days = np.floor(as_floats(read_dates(labels, self.form)))
        single = np.isnan(start) & ~np.isnan(days)
        return np.where(single, days, start), np.where(single, days + 1, stop)
