"""Regular expressions of recognisers: written for a reader, turned into what a linear-time engine is given.

The low line counts as a letter for engines and as a gap for readers. So it is read as a sign of its own, LOW_LINE, in
texts and in patterns alike, and ``id_S1234567D`` has an edge where a reader sees one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import re2  # type: ignore[import-untyped]

Edges = Literal["both", "start", "end", "none"]

LOW_LINE = "\x1f"
_WHOLE = re2._Anchor.ANCHOR_BOTH
_AT_START = re2._Anchor.ANCHOR_START
_UNANCHORED = re2._Anchor.UNANCHORED
_LOW = r"\x1f"
_WORD = rf"0-9A-Za-z{_LOW}"
_NUMBER_WORDS = "no|nos|num|number|nr|id|code|nummer|numéro|numero|número|nº|n°|№|#"
_GLUE = (
    rf"""['"]?[ \t{_LOW}-]?(?:(?:{_NUMBER_WORDS})\b[.]?|#)?['")]?[ \t]?"""
    r"""(?:is|was|are|ist|est|es|è|:=|=>|->|[:=#：-])?\s{0,3}['"(\[<]?"""
)
"""What may stand between a label and its value: ``MRN no. is``, ``"mrn": "``, ``MRN #``."""


class LinearError(ValueError):
    """A pattern that can't be matched in linear time, or is not one at all."""


def linear(pattern: str) -> Any:
    """The pattern compiled by RE2: leftmost and longest, over bytes."""
    options = re2_options(16)
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        reason = error.args[0]
        raise LinearError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None


class LinearOnUse(dict[int, Any]):
    """Patterns by number, each compiled when it is first asked for."""

    def __init__(self, patterns: Mapping[int, str]) -> None:
        super().__init__()
        self.patterns = patterns

    def __missing__(self, number: int) -> Any:
        found = self[number] = linear(self.patterns[number])
        return found


def spans(compiled: Any, data: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """All matches between two places, as ``finditer`` gives them, without an object for each. None of them is empty."""
    match = compiled._regexp.Match
    found = []
    while start < end:
        span = match(_UNANCHORED, data, start, end)[0]
        if span[0] < 0:
            break
        found.append(span)
        start = span[1]
    return found


def is_whole(compiled: Any, data: bytes) -> bool:
    """Whether all of it is one match."""
    return bool(compiled._regexp.Match(_WHOLE, data, 0, len(data))[0][0] == 0)


def first_group(compiled: Any, data: bytes) -> tuple[int, int] | None:
    """Where the first group is, if the data begin with a match."""
    groups = compiled._regexp.Match(_AT_START, data, 0, len(data))
    return (groups[1][0], groups[1][1]) if groups[0][0] == 0 else None


def re2_options(megabytes: int) -> Any:
    options = re2.Options()
    options.longest_match = True
    options.log_errors = False
    options.max_mem = megabytes << 20
    return options


def within_edges(pattern: str, edges: Edges = "both", *, exact_case: bool = False) -> str:
    """The pattern as an engine is given it: in any case, and no letter or digit may touch it on the sides named."""
    start = r"\b" if edges in ("both", "start") else ""
    end = r"\b" if edges in ("both", "end") else ""
    return f"{start}{_value(pattern, exact_case=exact_case)}{end}"


def any_label(labels: Sequence[str]) -> str:
    """An expression for the labels, in any case."""
    longest_first = sorted(labels, key=len, reverse=True)
    return f"(?i:{'|'.join(_label(label) for label in longest_first)})"


def after_label(labels: Sequence[str], pattern: str, edges: Edges = "both", *, exact_case: bool = False) -> str:
    """A label and, as the first group, the value that belongs to it."""
    end = r"\b" if edges in ("both", "end") else ""
    return f"{any_label(labels)}(?i:{_GLUE})({_value(pattern, exact_case=exact_case)}){end}"


def _value(pattern: str, *, exact_case: bool) -> str:
    return f"(?:{_read(pattern)})" if exact_case else f"(?i:{_read(pattern)})"


def _label(label: str) -> str:
    """A label's words may be joined by a blank, a hyphen, a low line or nothing: ``medical_record``."""
    words = rf"[ \t{_LOW}-]?".join(re.escape(word) for word in label.split())
    start = r"\b" if label[0].isascii() and label[0].isalnum() else ""
    end = r"\b" if label[-1].isascii() and label[-1].isalpha() else ""
    return f"{start}{words}{end}"


def _read(pattern: str) -> str:
    r"""
    >>> _read(r"a_[\w.]\_\w") == r"a\x1f[0-9A-Za-z\x1f.]\x1f[0-9A-Za-z\x1f]"
    True
    """
    inside = False
    parts = []
    for part in re.findall(r"\\.|\[\^?\]?|.", pattern, re.DOTALL):
        if part in ("_", r"\_"):
            parts.append(_LOW)
        elif part == r"\w":
            parts.append(_WORD if inside else f"[{_WORD}]")
        else:
            parts.append(part)
            inside = part != "]" if inside else part.startswith("[")
    return "".join(parts)
