r"""The outline of a pattern: what is left of it when every digit is a 0 and every letter an a.

Numbers of many kinds differ in their digits and share few outlines. Where the outline of a piece of text fits none of a
pattern's, the pattern can't match there; and what fits an outline once is known for all pieces that look the same.

>>> pattern_shape(r"[A-Z]{2}[0-9]{2} ?X")
'(?:a){2,2}(?:0){2,2}(?:\\ )?a'
>>> least(r"[A-Z]{2}[0-9]{2}(?:[0-9]{4}|1A)")
3
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import accumulate

from shoal.text.matching.pattern_syntax import (
    Characters,
    Choice,
    Node,
    NodeSequence,
    PatternEdge,
    Repeat,
    read_pattern,
    singles,
)

DIGIT, LETTER = "0", "a"
BLANKS = " \t\n\r\f"
"""The vertical tab, on which engines differ, is read as one of them."""
SIGNS = bytes(
    ord(DIGIT) if chr(code).isdigit() else ord(LETTER) if chr(code).isalpha() else code for code in range(128)
) + bytes(range(128, 256))
"""For ``bytes.translate``: a text's outline."""
_OF_ASCII = [re.escape(chr(code)) for code in SIGNS[:128]]
_ANYTHING = "(?s:.)"


def pattern_shape(pattern: str) -> str | None:
    """An expression that matches the outline of whatever the pattern matches; None where it can't be told."""
    parsed = read_pattern(pattern)
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
        return DigitSpread(
            max(self.free, other.free), max(self.lead, other.lead), max(self.gap, other.gap), max(self.tail, other.tail)
        )


NOTHING = DigitSpread(0, -math.inf, 0, -math.inf)
ONE_DIGIT = DigitSpread(-math.inf, 0, 0, 0)
WIDEST = 64
"""Repeats beyond this are as good as without end."""


def digit_spread(pattern: str) -> DigitSpread | None:
    """
    >>> digit_spread("EMP-[0-9]{4}")
    DigitSpread(free=-inf, lead=4, gap=0, tail=0)
    """
    parsed = read_pattern(pattern)
    return None if parsed is None else _spread(parsed)


def least(pattern: str, sign: str = DIGIT) -> int:
    """How many digits, or other signs, a match has at least."""
    parsed = read_pattern(pattern)
    return 0 if parsed is None else _least(parsed, sign)


def may_hold_blanks(pattern: str) -> bool:
    parsed = read_pattern(pattern)
    return parsed is None or any(
        blank in one for one in set(singles(parsed)) if isinstance(one, Characters) for blank in BLANKS
    )


def _sequence(nodes: NodeSequence) -> str:
    return "".join(map(_node, nodes))


def _node(node: Node) -> str:
    match node:
        case Characters():
            return _class(node) if node.only is None else _sign(node.only)
        case Choice(branches):
            return f"(?:{'|'.join(dict.fromkeys(map(_sequence, branches)))})"
        case Repeat(low, high, inner):
            return f"(?:{_sequence(inner)}){_times(low, high)}"
    return r"\b" if node.sign == "b" else ""


@lru_cache(maxsize=64)
def _class(characters: Characters) -> str:
    """The outlines of all that a single character can be."""
    if characters.negated or set(characters.categories) - {"d"}:
        return _ANYTHING
    signs = dict.fromkeys(DIGIT for _ in characters.categories)
    for low, high in characters.ranges:
        if high >= 128 and low < high:
            return _ANYTHING
        signs.update(dict.fromkeys(map(_sign, range(low, high + 1))))
    return f"(?:{'|'.join(signs)})" if len(signs) > 1 else next(iter(signs))


def _sign(code: int) -> str:
    return _OF_ASCII[code] if code < len(_OF_ASCII) else re.escape(chr(code))


def _times(low: int, high: int | None) -> str:
    if high is None:
        return "*" if low == 0 else f"{{{low},}}"
    return "?" if (low, high) == (0, 1) else f"{{{low},{high}}}"


def _least(nodes: NodeSequence, sign: str) -> int:
    return sum(_least_in(node, sign) for node in nodes)


def _least_in(node: Node, sign: str) -> int:
    match node:
        case Characters():
            return int(_node(node) == sign)
        case Choice(branches):
            return min(_least(branch, sign) for branch in branches)
        case Repeat(low, _, inner):
            return low * _least(inner, sign)
    return 0


def _spread(nodes: NodeSequence) -> DigitSpread:
    return reduce(DigitSpread.then, map(_spread_of, nodes), NOTHING)


def _spread_of(node: Node) -> DigitSpread:
    match node:
        case PatternEdge():
            return NOTHING
        case Choice(branches):
            return reduce(DigitSpread.instead, map(_spread, branches))
        case Repeat(low, high, inner):
            return _repeated(_spread(inner), low, high)
    signs = _node(node)
    if signs == DIGIT:
        return ONE_DIGIT
    other = DigitSpread(1 if signs.isascii() and signs != _ANYTHING else 4, -math.inf, 0, -math.inf)
    return other.instead(ONE_DIGIT) if DIGIT in signs or signs == _ANYTHING else other


def _repeated(one: DigitSpread, low: int, high: int | None) -> DigitSpread:
    most = WIDEST if high is None else min(high, WIDEST)
    repeated = list(accumulate([one] * most, DigitSpread.then, initial=NOTHING))
    return repeated[most].instead(repeated[min(low, most)])
