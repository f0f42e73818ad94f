"""How near the values that a technique writes are to those that it read: measured, whatever its parameters say.

Three shares, each in [0, 1]:

- *unchanged*: records whose value is what it was, but for case, spaces and punctuation, or in numbers;
- *told*: records from whose value the original can be told. A number (or date) tells it if it lies nearer to it than
  half the way to the next other value. A text does if at least ``CHARACTERS_LEFT`` of it are left (normalised edit
  distance), less the share of other people's originals that are as near (all begin with "CUSTOMER-");
- *elsewhere*: values that still stand whole in some record, if not in their own, less what chance gives where values
  are dense (four digits meet each other).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, Mask

TOLD_AT_MOST = 0.2
"""Of the records of a direct identifier. One in five is the chance at which a person may be picked where k = 5, the
threshold of PDPC's guide (step 4) for data that leave the organisation; the last look at the output allows none."""
CHARACTERS_LEFT = 0.75
"""Of a text. UIDAI shows 4 of 12 digits of a masked Aadhaar number (MeitY, table 2.d), PDPC's examples of masking up to
half of a value; beyond three quarters what is hidden can be tried out: 2 of 8 digits are 100 tries."""
LONGEST = 200
"""Characters of a text that are compared."""
SIGNS_OF_A_DIGIT, SIGNS_OF_A_LETTER = 10, 20
"""How many signs a place of a value could have held, for the chance that two values meet."""

_APART = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Nearness:
    records: int
    unchanged: float
    told: float
    elsewhere: float

    @property
    def changes_nothing(self) -> bool:
        return max(self.told, self.elsewhere) > TOLD_AT_MOST


def nearness(
    before: pl.Series, after: pl.Series, *, numbers: tuple[pl.Series, pl.Series] | None = None, records: int
) -> Nearness:
    """Of a sample of values, record beside record; ``records`` is how many the whole table has.

    ``numbers`` are the same values as numbers, where both can be read so.

    >>> found = nearness(pl.Series(["Asha Rao", "Ravi Iyer"]), pl.Series(["asha rao", "Ravi Iye*"]), records=2)
    >>> found.unchanged, found.told
    (0.5, 1.0)
    """
    there = before.is_not_null() & after.is_not_null()
    was, now = (_plain(values.filter(there)) for values in (before, after))
    if not was:
        return Nearness(0, 0.0, 0.0, 0.0)
    same = np.array([one == other for one, other in zip(was, now, strict=True)])
    unchanged = float(same.mean())
    if numbers is None:
        told = _beyond_others(was, now)
    else:
        before_it, after_it = (_floats(values.filter(there)) for values in numbers)
        told = float(_nearest(before_it, after_it, records).mean())
    return Nearness(len(was), unchanged, max(unchanged, told), _elsewhere(was, now))


def _plain(values: pl.Series) -> list[str]:
    return [_APART.sub("", value.casefold())[:LONGEST] for value in values.cast(pl.String).to_list()]


def _floats(values: pl.Series) -> Floats:
    return values.to_physical().cast(pl.Float64).to_numpy()


def _nearest(was: Floats, now: Floats, records: int) -> Mask:
    """Whether each number is nearer to its own original than half the way to the next other one.

    In the whole table the next one is nearer than in a sample, by as much as the table is larger.
    """
    distinct = np.unique(was)
    if len(distinct) < 2:
        return np.asarray(was == now)
    gaps = np.diff(distinct)
    left, right = np.append(np.inf, gaps), np.append(gaps, np.inf)
    next_one = np.minimum(left, right)[np.searchsorted(distinct, was)]
    return np.asarray(np.abs(now - was) < next_one * min(1.0, len(was) / max(records, 1)) / 2)


def _beyond_others(was: list[str], now: list[str]) -> float:
    """The share of values that are near to their originals, beyond those that are near to another's."""
    own = float(np.mean([_nearly(one, other) for one, other in zip(was, now, strict=True)]))
    half = len(was) // 2  # far off, since neighbours in a sorted table are alike
    another, its = was[half:] + was[:half], now[half:] + now[:half]
    others = [_nearly(one, it) for one, other, it in zip(was, another, its, strict=True) if one != other]
    by_chance = float(np.mean(others)) if others else 0.0
    return max(0.0, (own - by_chance) / (1 - by_chance)) if by_chance < 1 else 0.0


def _nearly(one: str, other: str) -> bool:
    longest = max(len(one), len(other))
    return _within(one, other, int(longest * (1 - CHARACTERS_LEFT)))


def _within(one: str, other: str, limit: int) -> bool:
    """Whether the edit distance of two texts is at most ``limit``."""
    shared = sum(min(one.count(sign), other.count(sign)) for sign in set(other))
    if max(len(one), len(other)) - shared > limit:  # every other sign has to be altered
        return False
    row = list(range(len(other) + 1))
    for place, character in enumerate(one, 1):
        above, row = row, [place]
        for at, sign in enumerate(other, 1):
            row.append(min(above[at] + 1, row[-1] + 1, above[at - 1] + (character != sign)))
        if min(row) > limit:
            return False
    return row[-1] <= limit


def _elsewhere(was: list[str], now: list[str]) -> float:
    """The share of distinct values that are written somewhere, beyond what values of their form would by chance."""
    values, written = {value for value in was if value}, set(now)
    if not values:
        return 0.0
    found = sum(value in written for value in values)
    chance = sum(min(1.0, len(written) * chance_of(value)) for value in values)
    return max(0.0, (found - chance) / len(values))


def chance_of(value: str) -> float:
    """That a value of the same form is this one.

    >>> chance_of("1234")
    0.0001
    """
    digits = sum(sign.isdigit() for sign in value)
    return float(SIGNS_OF_A_DIGIT) ** -digits * float(SIGNS_OF_A_LETTER) ** -(len(value) - digits)
