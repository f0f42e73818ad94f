"""What is asked, as a frozen algebra: rows that are chosen one by one, groups, aggregates, and what is made of them.

Only aggregates look at more than one row, and only they cost anything. Whatever comes after them (arithmetic on
figures, HAVING, ORDER BY, LIMIT) works on figures that have their noise already.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final

from shoal.dp.scalars import Scalar


class AggregateFunction(StrEnum):
    COUNT = "count"
    PEOPLE = "people"
    SUM = "sum"
    MEAN = "mean"
    VARIANCE = "variance"
    DEVIATION = "deviation"
    QUANTILE = "quantile"


@dataclass(frozen=True)
class AskedFigure:
    function: AggregateFunction
    argument: Scalar | None = None
    """None counts rows."""
    fraction: float | None = None
    """Of a quantile."""


@dataclass(frozen=True)
class GroupKey:
    name: str
    scalar: Scalar


@dataclass(frozen=True)
class OutputColumn:
    """Over group keys by their names and aggregates by ``aggregate_name``."""

    name: str
    scalar: Scalar


@dataclass(frozen=True)
class Ordering:
    scalar: Scalar
    descending: bool = False


@dataclass(frozen=True)
class Question:
    """One SELECT."""

    tables: tuple[str, ...]
    """Joined by the person, where there are several."""
    where: Scalar | None
    keys: tuple[GroupKey, ...]
    aggregates: tuple[AskedFigure, ...]
    outputs: tuple[OutputColumn, ...]
    having: Scalar | None = None
    order: tuple[Ordering, ...] = ()
    limit: int | None = None
    levels: tuple[tuple[int, ...], ...] = ()
    """Which keys stay at each level of totals, by their places; none where every key stays and that is all."""
    non_negative: bool = False
    """Whether counts below nought are put right."""

    def fingerprint(self) -> str:
        """Equal for questions that ask the same in other words, such as other spaces or another case of keywords."""
        told = json.dumps(asdict(self), sort_keys=True, default=repr, ensure_ascii=False)
        return hashlib.sha256(told.encode()).hexdigest()


ENDINGS: Final = ("", "_low", "_high", "_error")
"""Of the columns that an estimate has in an answer: itself, the ends of its interval, its standard error."""


def aggregate_name(place: int) -> str:
    """The column of an aggregate among those that outputs are made of; no name in SQL can be the same."""
    return f"\x00{place}"
