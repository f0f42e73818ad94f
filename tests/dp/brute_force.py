"""Questions worked out row by row in plain Python: slow, and shares no code with what is tested but the algebra."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.dp.question import AggregateFunction, Question
from shoal.dp.scalars import Scalar, ScalarColumn, ScalarConstant

Row = Mapping[str, Any]


def worth(scalar: Scalar, row: Row) -> Any:
    """None where it can't be worked out."""
    if isinstance(scalar, ScalarColumn):
        return row[scalar.name]
    if isinstance(scalar, ScalarConstant):
        return scalar.value
    operands = [worth(one, row) for one in scalar.operands]
    return _LENIENT[scalar.operator](*operands) if scalar.operator in _LENIENT else _strict(scalar.operator, operands)


def _strict(operator: str, operands: list[Any]) -> Any:
    """Null with any null in it, or where Python can't work it out."""
    if any(one is None for one in operands):
        return None
    try:
        found = _STRICT[operator](*operands)
    except (ZeroDivisionError, ValueError, OverflowError):
        return None
    return None if isinstance(found, float) and not math.isfinite(found) else found


def _case(*parts: Any) -> Any:
    for condition, value in zip(parts[0:-1:2], parts[1:-1:2], strict=True):
        if condition:
            return value
    return parts[-1]


def _and(left: Any, right: Any) -> Any:
    return False if left is False or right is False else None if None in (left, right) else True


def _or(left: Any, right: Any) -> Any:
    return True if left is True or right is True else None if None in (left, right) else False


def _quarter(day: datetime.date) -> float:
    return float((day.month + 2) // 3)


_LENIENT = {
    "and": _and,
    "or": _or,
    "is null": lambda one: one is None,
    "coalesce": lambda *ones: next((one for one in ones if one is not None), None),
    "case": _case,
}
_STRICT: Mapping[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "%": math.fmod,
    "negate": lambda a: -a,
    "floor": lambda a: float(math.floor(a)),
    "ceil": lambda a: float(math.ceil(a)),
    "round": lambda a: float(round(a)),
    "abs": abs,
    "sqrt": math.sqrt,
    "ln": math.log,
    "least": min,
    "greatest": max,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "not": lambda a: not a,
    "year": lambda a: float(a.year),
    "quarter": _quarter,
    "month": lambda a: float(a.month),
    "day": lambda a: float(a.day),
    "weekday": lambda a: float(a.isoweekday()),
    "month of": lambda a: a.replace(day=1),
    "quarter of": lambda a: a.replace(month=int(_quarter(a)) * 3 - 2, day=1),
    "year of": lambda a: a.replace(month=1, day=1),
    "lower": str.lower,
    "upper": str.upper,
    "length": lambda a: float(len(a)),
    "like": lambda a, pattern: re.search(pattern.removesuffix("$") + r"\Z", a) is not None,
}


def counted(question: Question, rows: Sequence[Row], person: str | None) -> dict[tuple[Any, ...], list[Any]]:
    """By group: for each aggregate, the exact count, number of people, or list of values that are not null."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        if person is not None and row[person] is None:
            continue
        if question.where is not None and worth(question.where, row) is not True:
            continue
        key = tuple(worth(one.scalar, row) for one in question.keys)
        if None not in key:
            groups.setdefault(key, []).append(row)
    return {key: [_figure(one, members, person) for one in question.aggregates] for key, members in groups.items()}


def _figure(aggregate: Any, rows: list[Row], person: str | None) -> Any:
    if aggregate.function is AggregateFunction.PEOPLE:
        return len({row[person] for row in rows if person is not None})
    if aggregate.argument is None:
        return len(rows)
    values = [value for value in (worth(aggregate.argument, row) for row in rows) if value is not None]
    return len(values) if aggregate.function is AggregateFunction.COUNT else values
