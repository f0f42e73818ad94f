r"""The outline of a pattern: what is left of it when every digit is a 0 and every letter an a.

Numbers of many kinds differ in their digits and share few outlines. Where the outline of a piece of text fits none of a
pattern's, the pattern can't match there; and what fits an outline once is known for all pieces that look the same.

>>> pattern_shape(r"[A-Z]{2}[0-9]{2} ?X")
'(?:a){2,2}(?:0){2,2}(?:\\ )?a'
>>> least(r"[A-Z]{2}[0-9]{2}(?:[0-9]{4}|1A)")
3
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from functools import reduce
from typing import Any

Node = tuple[Any, Any]
DIGIT, LETTER = "0", "a"
SIGNS = bytes(
    ord(DIGIT) if chr(code).isdigit() else ord(LETTER) if chr(code).isalpha() else code for code in range(128)
) + bytes(range(128, 256))
"""For ``bytes.translate``: a text's outline."""
_parser = importlib.import_module("re._parser")
_ANYTHING = "(?s:.)"


def pattern_shape(pattern: str) -> str | None:
    """An expression that matches the outline of whatever the pattern matches; None where it can't be told."""
    parsed = _parsed(pattern)
    return None if parsed is None else _sequence(parsed)


@dataclass(frozen=True)
class DigitSpread:
    """How digits can be spread over a match, in bytes: the most of anything else before, between and after them."""

    free: float
    """The longest match without a digit; minus infinity if there is none."""
    lead: float
    gap: float
    tail: float

    def then(self, other: DigitSpread) -> DigitSpread:
        return DigitSpread(
            self.free + other.free,
            max(self.lead, self.free + other.lead),
            max(self.gap, other.gap, self.tail + other.lead),
            max(other.tail, self.tail + other.free),
        )

    def instead(self, other: DigitSpread) -> DigitSpread:
        return DigitSpread(*map(max, astuple(self), astuple(other)))


NOTHING = DigitSpread(0, -math.inf, 0, -math.inf)
ONE_DIGIT = DigitSpread(-math.inf, 0, 0, 0)
WIDEST = 64
"""Repeats beyond this are as good as without end."""


def digit_spread(pattern: str) -> DigitSpread | None:
    """
    >>> digit_spread("EMP-[0-9]{4}")
    Spread(free=-inf, lead=4, gap=0, tail=0)
    """
    parsed = _parsed(pattern)
    return None if parsed is None else _spread(parsed)


def least(pattern: str, sign: str = DIGIT) -> int:
    """How many digits, or other signs, a match has at least."""
    parsed = _parsed(pattern)
    return 0 if parsed is None else _least(parsed, sign)


def may_hold_blanks(pattern: str) -> bool:
    parsed = _parsed(pattern)
    return parsed is None or any(_blank(str(kind), value) for kind, value in _flat(parsed))


def _parsed(pattern: str) -> Any:
    try:
        return _parser.parse(pattern)
    except (re.error, OverflowError):
        return None


def _sequence(nodes: Iterable[Node]) -> str:
    return "".join(_node(str(kind), value) for kind, value in nodes)


def _node(kind: str, value: Any) -> str:
    match kind:
        case "LITERAL" | "IN":
            return _sign(value) if kind == "LITERAL" else _class(value)
        case "BRANCH":
            return f"(?:{'|'.join(dict.fromkeys(map(_sequence, value[1])))})"
        case "SUBPATTERN":
            return f"(?:{_sequence(value[3])})"
        case "MAX_REPEAT" | "MIN_REPEAT":
            return f"(?:{_sequence(value[2])}){_times(value[0], value[1])}"
        case "AT":
            return r"\b" if str(value) == "AT_BOUNDARY" else ""
    return _ANYTHING


def _sign(code: int) -> str:
    character = chr(code)
    if not character.isascii():
        return re.escape(character)
    return DIGIT if character.isdigit() else LETTER if character.isalpha() else re.escape(character)


def _class(items: list[Node]) -> str:
    signs: dict[str, None] = {}
    for kind, value in items:
        match str(kind):
            case "LITERAL":
                signs[_sign(value)] = None
            case "RANGE" if value[1] < 128:
                signs.update(dict.fromkeys(_sign(code) for code in range(value[0], value[1] + 1)))
            case "CATEGORY" if str(value) == "CATEGORY_DIGIT":
                signs[DIGIT] = None
            case _:
                return _ANYTHING
    return f"(?:{'|'.join(signs)})" if len(signs) > 1 else next(iter(signs))


def _times(low: int, high: Any) -> str:
    if str(high) == "MAXREPEAT":
        return "*" if low == 0 else f"{{{low},}}"
    return "?" if (low, high) == (0, 1) else f"{{{low},{high}}}"


def _least(nodes: Iterable[Node], sign: str) -> int:
    return sum(_least_in(str(kind), value, sign) for kind, value in nodes)


def _least_in(kind: str, value: Any, sign: str) -> int:
    match kind:
        case "LITERAL" | "IN":
            return int(_node(kind, value) == sign)
        case "BRANCH":
            return min(_least(branch, sign) for branch in value[1])
        case "SUBPATTERN":
            return _least(value[3], sign)
        case "MAX_REPEAT" | "MIN_REPEAT":
            return int(value[0]) * _least(value[2], sign)
    return 0


def _spread(nodes: Iterable[Node]) -> DigitSpread:
    return reduce(DigitSpread.then, (_spread_of(str(kind), value) for kind, value in nodes), NOTHING)


def _spread_of(kind: str, value: Any) -> DigitSpread:
    match kind:
        case "AT":
            return NOTHING
        case "BRANCH":
            return reduce(DigitSpread.instead, map(_spread, value[1]))
        case "SUBPATTERN":
            return _spread(value[3])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeated(_spread(value[2]), int(value[0]), value[1])
    signs = _node(kind, value)
    if signs == DIGIT:
        return ONE_DIGIT
    other = DigitSpread(1 if signs.isascii() and signs != _ANYTHING else 4, -math.inf, 0, -math.inf)
    return other.instead(ONE_DIGIT) if DIGIT in signs or signs == _ANYTHING else other


def _repeated(one: DigitSpread, low: int, high: Any) -> DigitSpread:
    most = WIDEST if str(high) == "MAXREPEAT" else min(int(high), WIDEST)
    whole = reduce(DigitSpread.then, [one] * most, NOTHING)
    fewer = reduce(DigitSpread.then, [one] * min(low, WIDEST), NOTHING)
    return whole.instead(fewer)


def _flat(nodes: Iterable[Node]) -> Iterator[Node]:
    for kind, value in nodes:
        match str(kind):
            case "BRANCH":
                for branch in value[1]:
                    yield from _flat(branch)
            case "SUBPATTERN":
                yield from _flat(value[3])
            case "MAX_REPEAT" | "MIN_REPEAT":
                yield from _flat(value[2])
            case _:
                yield kind, value


def _blank(kind: str, value: Any) -> bool:
    """Whether a single character can be a blank."""
    if kind == "AT":
        return False
    if kind != "IN":
        return kind != "LITERAL" or chr(value).isspace()
    negated = str(value[0][0]) == "NEGATE"
    return any(_names_blank(str(name), what) for name, what in value) != negated


def _names_blank(kind: str, value: Any) -> bool:
    match kind:
        case "LITERAL":
            return chr(value) == " "
        case "RANGE":
            return bool(value[0] <= ord(" ") <= value[1])
    return kind == "CATEGORY" and str(value) in ("CATEGORY_SPACE", "CATEGORY_NOT_DIGIT", "CATEGORY_NOT_WORD")
