"""Phone numbers at which nobody can be called, as E.164 writes them: ``+447700900123``.

| country | range | values | kept free by |
|---|---|---|---|
| none | +999 and ten digits | 10¹⁰ | ITU-T: 999 is a country code that is reserved and assigned to nobody |
| GB | +44 7700 900000 … 900999 | 1 000 | Ofcom, mobile numbers for drama |
| US | +1 (area) 555 0100 … 0199 | 71 200 | North American Numbering Plan, numbers for fiction in every area |
| AU | +61 (2, 3, 7, 8) 5550 and 7010 with four digits | 80 000 | ACMA, numbers for creative works |

India and Singapore publish no such range: any number in their form may be somebody's, so they are refused. (888, which
the ITU has withdrawn, is no way out: a messenger sells numbers that begin with it.)
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Literal

import numpy as np
import polars as pl
from pydantic import BeforeValidator

from shoal.kernels.arrays import Integers
from shoal.pseudonyms.formats.base import NarrowFormat


def _areas() -> list[int]:
    """Area codes of North America: the second digit is never 9, and codes such as 411 are services."""
    return [area for area in range(200, 1_000) if area // 10 % 10 != 9 and area % 100 != 11]


BLOCKS = {
    "none": ([999], 10),
    "GB": ([447_700_900], 3),
    "US": ([(1_000 + area) * 100_000 + 55_501 for area in _areas()], 2),
    "AU": ([6_100_000 + area * 10_000 + block for area in (2, 3, 7, 8) for block in (5_550, 7_010)], 4),
}
"""What the numbers begin with, and how many digits follow."""


def _known(country: object) -> object:
    if country in ("IN", "SG"):
        raise ValueError(
            f"no public range is kept free in {country}, so a number could be somebody's; take country: none"
        )
    return country


class Phone(NarrowFormat):
    """
    >>> Phone(country="US").write(np.array([0, 71_199])).to_list()
    ['+12005550100', '+19895550199']
    """

    key = "phone"
    title = "Phone numbers that are kept free"

    country: Annotated[Literal["none", "GB", "US", "AU"], BeforeValidator(_known)] = "none"

    @property
    def size(self) -> int:
        beginnings, free = BLOCKS[self.country]
        return len(beginnings) * int(10**free)

    def write(self, numbers: Integers) -> pl.Series:
        free = BLOCKS[self.country][1]
        block, rest = np.divmod(numbers, 10**free)
        return "+" + pl.Series(_beginnings(self.country)[block] * 10**free + rest).cast(pl.String)

    def parse(self, values: pl.Series) -> pl.Series:
        beginnings, free = _beginnings(self.country), BLOCKS[self.country][1]
        whole = values.str.strip_prefix("+").cast(pl.Int64, strict=False).fill_null(-1).to_numpy()
        beginning, rest = np.divmod(whole, 10**free)
        block = np.searchsorted(beginnings, beginning).clip(max=len(beginnings) - 1)
        return pl.Series(block * 10**free + rest)


@cache
def _beginnings(country: str) -> Integers:
    return np.array(BLOCKS[country][0], dtype=np.int64)
