"""Whole numbers of so many digits, none of them with a leading zero: six digits are 100000 … 999999."""

from __future__ import annotations

import polars as pl
from pydantic import Field

from shoal.kernels.arrays import Integers
from shoal.pseudonyms.formats.base import NarrowFormat


class Integer(NarrowFormat):
    """Released as whole numbers, so that a column of numbers stays one.

    >>> import numpy as np
    >>> Integer(digits=6).write(np.array([0, 899_999])).to_list()
    ['100000', '999999']
    """

    key = "integer"
    title = "Whole numbers"
    characters = frozenset("0123456789")
    storage = pl.Int64()

    digits: int = Field(18, ge=1, le=18)

    @property
    def size(self) -> int:
        return 9 * self._first

    @property
    def _first(self) -> int:
        return int(10 ** (self.digits - 1))

    def write(self, numbers: Integers) -> pl.Series:
        return pl.Series(numbers + self._first).cast(pl.String)

    def parse(self, values: pl.Series) -> pl.Series:
        return values.cast(pl.Int64, strict=False) - self._first
