"""Of what signs a wall between two texts can be built that a pattern doesn't reach across (see ``batch``)."""

from __future__ import annotations

from collections.abc import Iterable

from shoal.text.matching.pattern_syntax import (
    Characters,
    Choice,
    NodeSequence,
    PatternEdge,
    Repeat,
    SingleNode,
    least_length,
    read_pattern,
    singles,
)

LINE_END = "\n"
SIGNS = "}]{|^`~&;\\$%\0"


def separating_signs(pattern: str) -> str:
    """Those with which no match can begin or end, and which none can hold together with a line end."""
    parsed = read_pattern(pattern)
    return "" if parsed is None else "".join(sign for sign in SIGNS if _separates(sign, parsed))


def _separates(sign: str, parsed: NodeSequence) -> bool:
    if _begins(parsed, sign) or _begins(parsed, sign, backwards=True):
        return False
    found = list(singles(parsed))
    bound = any(isinstance(one, PatternEdge) and not one.is_of_word for one in found)
    return not bound and not (_any_is(found, sign) and _any_is(found, LINE_END))


def _any_is(found: Iterable[SingleNode], sign: str) -> bool:
    return any(isinstance(one, Characters) and sign in one for one in found)


def _begins(nodes: NodeSequence, sign: str, *, backwards: bool = False) -> bool:
    """Whether a match can begin (or end) with the sign."""
    for node in reversed(nodes) if backwards else nodes:
        match node:
            case PatternEdge():
                continue
            case Characters():
                return sign in node
            case Choice(branches):
                inner, may_be_left_out = branches, False
            case Repeat(low, _, repeated):
                inner, may_be_left_out = (repeated,), low == 0
        if any(_begins(each, sign, backwards=backwards) for each in inner):
            return True
        if not may_be_left_out and all(map(least_length, inner)):
            return False
    return False
