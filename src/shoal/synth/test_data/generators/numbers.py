"""Whole numbers and decimals from a range, serial numbers, yes and no."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, ClassVar, Final

import polars as pl
from pydantic import Field

from shoal.kernels.arrays import Integers
from shoal.synth.test_data.base import LARGEST, Assurance, Generator, NumberedGenerator, RangeGenerator, Standing
from shoal.synth.test_data.draws import Draws

MOST: Final = 1 << 61
Whole = Annotated[int, Field(ge=-MOST, le=MOST)]


class WholeNumbers(RangeGenerator):
    """
    >>> import numpy as np
    >>> WholeNumbers(low=18, high=99).write(np.array([0, 81])).to_list()
    [18, 99]
    """

    key = "integer"
    title = "Whole numbers from a range"
    stands_for: ClassVar = {"age": {"low": 0, "high": 99}, "year": {"low": 1940, "high": 2025}}

    low: Whole = 0
    high: Whole = 1_000_000

    @property
    def size(self) -> int:
        return self.high - self.low + 1

    def write(self, numbers: Integers) -> pl.Series:
        return pl.Series(numbers + self.low)


class DecimalNumbers(RangeGenerator):
    """
    >>> import numpy as np
    >>> DecimalNumbers(low="0.5", high="1.5", places=1).write(np.array([0, 3, 10])).to_list()
    [0.5, 0.8, 1.5]
    """

    key = "decimal"
    title = "Decimals from a range"
    stands_for: ClassVar = {
        "money": {"low": 0, "high": 100_000},
        "latitude": {"low": -90, "high": 90, "places": 5},
        "longitude": {"low": -180, "high": 180, "places": 5},
    }

    low: Decimal = Field(Decimal(0), ge=-(10**12), le=10**12)
    high: Decimal = Field(Decimal(1000), ge=-(10**12), le=10**12)
    places: int = Field(2, ge=0, le=6)
    """Digits behind the point."""

    @property
    def _ends(self) -> tuple[int, int]:
        """In units of the last place; the ends lie inside."""
        scaled = [bound.scaleb(self.places) for bound in (self.low, self.high)]
        return int(scaled[0].to_integral_value("ROUND_CEILING")), int(scaled[1].to_integral_value("ROUND_FLOOR"))

    @property
    def size(self) -> int:
        first, last = self._ends
        return last - first + 1

    def write(self, numbers: Integers) -> pl.Series:
        return pl.Series((numbers + self._ends[0]) / float(10**self.places))


class SerialNumbers(Generator):
    """Counted from the first row on."""

    key = "serial"
    title = "Serial numbers"
    shorthand = "first"

    first: Whole = 1

    @property
    def distinct(self) -> int:
        return LARGEST

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.IMPERSONAL, "the number of the row")

    def draw(self, draws: Draws) -> pl.Series:
        return pl.Series(draws.rows + self.first)


class TruthValues(NumberedGenerator):
    key = "boolean"
    title = "True and false"

    @property
    def size(self) -> int:
        return 2

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.IMPERSONAL, "yes or no, evenly")

    def write(self, numbers: Integers) -> pl.Series:
        return pl.Series(numbers == 1)
