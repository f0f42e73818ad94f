"""Whether two choices of rows can have no row in common, by what their conditions say about the same expression.

Only what follows from public words counts: comparisons of an expression with constants, put together with AND, OR and
NOT. A row on which a condition can't be worked out is chosen by none. What is not understood is taken to overlap.

>>> from shoal.dp.scalars import ScalarCall, ScalarColumn, ScalarConstant
>>> young, old = (ScalarCall(sign, (ScalarColumn("age"), ScalarConstant(65))) for sign in ("<", ">="))
>>> disjoint(young, old), disjoint(young, young)
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shoal.dp.scalars import Scalar, ScalarCall, ScalarColumn, ScalarConstant

_MOST: Final = 1000
"""Stretches that are compared; more are taken to overlap."""
_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}


@dataclass(frozen=True)
class Stretch:
    """Of values; None has no end on that side."""

    low: Any = None
    high: Any = None
    low_open: bool = False
    high_open: bool = False

    def __and__(self, other: Stretch) -> Stretch | None:
        low, low_open = self._inner(other, "low", lambda one, two: one > two)
        high, high_open = self._inner(other, "high", lambda one, two: one < two)
        if low is not None and high is not None and (low > high or (low == high and (low_open or high_open))):
            return None
        return Stretch(low, high, low_open, high_open)

    def _inner(self, other: Stretch, side: str, inner: Any) -> tuple[Any, bool]:
        mine, theirs = getattr(self, side), getattr(other, side)
        opens = getattr(self, f"{side}_open"), getattr(other, f"{side}_open")
        if mine is None or (theirs is not None and inner(theirs, mine)):
            return theirs, opens[1]
        if theirs is None or inner(mine, theirs):
            return mine, opens[0]
        return mine, any(opens)


Region = tuple[Stretch, ...]
Constraints = Mapping[str, Region]
"""By expression, as it is written."""


def disjoint(one: Scalar | None, other: Scalar | None) -> bool:
    if one is None or other is None:
        return False
    first, second = constraints(one), constraints(other)
    return any(not _common(first[name], second[name]) for name in first if name in second)


def constraints(condition: Scalar) -> Constraints:
    """What an expression's value must lie in wherever the condition holds."""
    if isinstance(condition, ScalarColumn):
        return {repr(condition): (Stretch(low=True, high=True),)}
    if not isinstance(condition, ScalarCall):
        return {}
    if condition.operator == "and":
        return _both(*(constraints(one) for one in condition.operands))
    if condition.operator == "or":
        return _either(*(constraints(one) for one in condition.operands))
    if condition.operator == "not":
        return _negated(condition.operands[0])
    return _compared(condition.operator, condition.operands)


def _negated(condition: Scalar) -> Constraints:
    if isinstance(condition, ScalarColumn):
        return {repr(condition): (Stretch(low=False, high=False),)}
    if not isinstance(condition, ScalarCall):
        return {}
    if condition.operator in ("and", "or"):
        parts = [_negated(one) for one in condition.operands]
        return _either(*parts) if condition.operator == "and" else _both(*parts)
    return _compared(_OPPOSITE.get(condition.operator, ""), condition.operands)


def _compared(operator: str, operands: Sequence[Scalar]) -> Constraints:
    if operator not in _FLIPPED:
        return {}
    left, right = operands
    if isinstance(left, ScalarConstant):
        left, right, operator = right, left, _FLIPPED[operator]
    if isinstance(left, ScalarConstant) or not isinstance(right, ScalarConstant) or right.value is None:
        return {}
    value = right.value
    below, above = Stretch(high=value, high_open=True), Stretch(low=value, low_open=True)
    regions: dict[str, Region] = {
        "=": (Stretch(value, value),),
        "<>": (below, above),
        "<": (below,),
        "<=": (Stretch(high=value),),
        ">": (above,),
        ">=": (Stretch(low=value),),
    }
    return {repr(left): regions[operator]}


def _both(first: Constraints, second: Constraints) -> Constraints:
    met = {name: _common(first[name], second[name]) for name in first if name in second}
    return {**first, **second, **met}


def _either(first: Constraints, second: Constraints) -> Constraints:
    return {name: (*first[name], *second[name]) for name in first if name in second}


def _common(one: Region, other: Region) -> Region:
    if len(one) * len(other) > _MOST * _MOST:
        return one
    return tuple(met for mine in one for theirs in other if (met := mine & theirs) is not None)
