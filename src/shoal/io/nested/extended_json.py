"""Single values of documents: those of JSON, and those that MongoDB writes as objects, as ``{"$date": …}``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from math import isfinite
from typing import Final

import polars as pl

_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # as the tables have moments: in UTC, without saying so
_OBJECT_ID: Final = re.compile(r"[0-9a-f]{24}")
_WHOLE: Final = range(-(1 << 63), 1 << 63)
_DIGITS: Final = 15
"""What a floating-point number keeps of a decimal one, in any case."""


class LeafKind(StrEnum):
    TEXT = "text"
    WHOLE = "whole"
    NUMBER = "number"
    BOOLEAN = "boolean"
    MOMENT = "moment"

    @property
    def dtype(self) -> pl.DataType:
        return _DTYPES[self]


_DTYPES: Final[Mapping[LeafKind, pl.DataType]] = {
    LeafKind.TEXT: pl.String(),
    LeafKind.WHOLE: pl.Int64(),
    LeafKind.NUMBER: pl.Float64(),
    LeafKind.BOOLEAN: pl.Boolean(),
    LeafKind.MOMENT: pl.Datetime("ms"),
}


class UnreadableLeafError(ValueError):
    """A value of which nothing can be said but that it is there; what it is stands in no message."""


@dataclass(frozen=True, slots=True)
class Leaf:
    kind: LeafKind
    value: str | float | bool | datetime
    wrapper: str = ""
    """The key of the object that the value was written in, as ``$date``."""

    def as_text(self) -> str:
        """Where a path holds values of several kinds."""
        if isinstance(self.value, str):
            return self.value
        return self.value.isoformat() if isinstance(self.value, datetime) else json.dumps(self.value)


def leaf_of(value: object) -> Leaf:
    """A value of JSON that is no object and no array, and not missing."""
    if isinstance(value, str):
        return Leaf(LeafKind.TEXT, value)
    if isinstance(value, bool):
        return Leaf(LeafKind.BOOLEAN, value)
    if isinstance(value, int):
        return Leaf(LeafKind.WHOLE, value) if value in _WHOLE else Leaf(LeafKind.TEXT, str(value))
    if isinstance(value, float):
        return Leaf(LeafKind.NUMBER, value)
    raise UnreadableLeafError


def is_wrapped(value: Mapping[str, object]) -> bool:
    """Whether an object stands for a single value."""
    return any(key.startswith("$") for key in value)


def unwrapped(value: Mapping[str, object]) -> Leaf | None:
    """The value in the object of it; None where it is missing.

    >>> unwrapped({"$numberLong": "5"}), unwrapped({"$date": "2026-01-02T03:04:05Z"}).value.hour
    (Leaf(kind=<LeafKind.WHOLE: 'whole'>, value=5, wrapper='$numberLong'), 3)
    """
    if len(value) != 1:
        raise UnreadableLeafError
    ((wrapper, inner),) = value.items()
    try:
        if wrapper == "$oid" and isinstance(inner, str):
            return Leaf(LeafKind.TEXT, inner, wrapper)
        if wrapper in ("$numberLong", "$numberInt") and int(str(inner)) in _WHOLE:
            return Leaf(LeafKind.WHOLE, int(str(inner)), wrapper)
        if wrapper in ("$numberDouble", "$numberDecimal"):
            return Leaf(LeafKind.NUMBER, _number(str(inner)), wrapper)
        if wrapper == "$date":
            return Leaf(LeafKind.MOMENT, _moment(inner), wrapper)
    except (ValueError, OverflowError, InvalidOperation):
        raise UnreadableLeafError from None
    if wrapper == "$undefined":
        return None
    raise UnreadableLeafError


def wrapped(value: object, wrapper: str) -> object:
    """A released value in the object that it came in, where it still is such a value.

    >>> wrapped(7, "$numberLong"), wrapped("1-10", "$numberLong"), wrapped("pseudonym", "$oid")
    ({'$numberLong': '7'}, '1-10', 'pseudonym')
    """
    if isinstance(value, datetime):
        text = f"{value.isoformat(timespec='milliseconds')}Z"
        return {wrapper: text} if wrapper == "$date" else text
    if wrapper == "$oid" and isinstance(value, str) and _OBJECT_ID.fullmatch(value):
        return {wrapper: value}
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if wrapper in ("$numberLong", "$numberInt") and number and isinstance(value, int):
        return {wrapper: str(value)}
    if wrapper in ("$numberDouble", "$numberDecimal") and number:
        return {wrapper: repr(value)}
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        value = float(value)
    return None if isinstance(value, float) and not isfinite(value) else value


def _number(text: str) -> float:
    exact = Decimal(text)
    if not exact.is_finite() or len(exact.normalize().as_tuple().digits) > _DIGITS:
        raise UnreadableLeafError
    return float(exact)


def _moment(inner: object) -> datetime:
    if isinstance(inner, Mapping) and set(inner) == {"$numberLong"}:
        inner = int(str(inner["$numberLong"]))
    if isinstance(inner, int):
        return _EPOCH + timedelta(milliseconds=inner)
    moment = datetime.fromisoformat(str(inner))
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
