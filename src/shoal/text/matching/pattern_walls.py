"""Of what signs a wall between two texts can be built that a pattern doesn't reach across (see ``batch``)."""

from __future__ import annotations

from shoal.text.matching.pattern_syntax import (
    Characters,
    Choice,
    NodeSequence,
    PatternEdge,
    Repeat,
    least_length,
    read_pattern,
    singles,
)

LINE_END = "\n"
SIGNS = "}]{|^`~&;\\$%\0"


def separating_signs(pattern: str) -> str:
    """Those with which no match can begin or end, and which none can hold together with a line end."""
    parsed = read_pattern(pattern)
    if parsed is None:
        return ""
    found = set(singles(parsed))
    if any(isinstance(one, PatternEdge) and not one.is_of_word for one in found):
        return ""
    held = [one for one in found if isinstance(one, Characters)]
    over_lines = any(LINE_END in one for one in held)
    reached = _first_signs(parsed) | _first_signs(parsed, backwards=True)
    return "".join(
        sign for sign in SIGNS if sign not in reached and not (over_lines and any(sign in one for one in held))
    )


def _first_signs(nodes: NodeSequence, *, backwards: bool = False) -> set[str]:
    """Those with which a match can begin (or end)."""
    signs: set[str] = set()
    for node in reversed(nodes) if backwards else nodes:
        match node:
            case PatternEdge():
                continue
            case Characters():
                return signs | {sign for sign in SIGNS if sign in node}
            case Choice(branches):
                inner, may_be_left_out = branches, False
            case Repeat(low, _, repeated):
                inner, may_be_left_out = (repeated,), low == 0
        signs = signs.union(*(_first_signs(each, backwards=backwards) for each in inner))
        if not may_be_left_out and all(map(least_length, inner)):
            break
    return signs
