"""Edits: what a scrubber did to a text, as places that changed, so that it can be done to the pieces the text came in.

A name in a document may begin in one run of characters and end in another. The pieces are joined, scrubbed as one text,
and each edit is carried back: what replaces it stands in the piece where it began, the rest of it leaves the others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Protocol

CHANGED: Final = "text"
"""The type of an edit where the scrubber doesn't tell."""
_MOST_COMPARED: Final = 1_000_000
_WORDS: Final = re.compile(r"\w+|\W")


class EditAction(Protocol):
    """What was done in one place: offsets in the text before and after."""

    @property
    def type(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def new_start(self) -> int: ...
    @property
    def new_end(self) -> int: ...


class EditedText(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def actions(self) -> Sequence[EditAction]: ...


Scrub = Callable[[str], "str | EditedText"]


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Characters ``start`` to ``end`` (exclusive) became ``new``."""

    start: int
    end: int
    new: str
    type: str = CHANGED


def edits_of(old: str, result: str | EditedText) -> list[TextEdit]:
    """The edits that lead from the old text to the new one, in order, none overlapping.

    A plain string tells no offsets, so whole words are compared: a word that is touched counts as replaced.

    >>> edits_of("Dear Asha Rao,", "Dear [PERSON],")
    [TextEdit(start=5, end=13, new='[PERSON]', type='text')]
    """
    if isinstance(result, str):
        return _compared(old, result)
    told = [
        TextEdit(one.start, one.end, result.text[one.new_start : one.new_end], one.type)
        for one in sorted(result.actions, key=lambda one: one.start)
    ]
    return told if applied(old, told) == result.text else _compared(old, result.text)


def applied(old: str, edits: Iterable[TextEdit]) -> str:
    return spread([old], edits)[0]


def spread(pieces: Sequence[str], edits: Iterable[TextEdit]) -> list[str]:
    """The pieces after the edits of the text that they make together.

    >>> spread(["Dear As", "ha Rao", ", hello"], [TextEdit(5, 13, "[PERSON]")])
    ['Dear [PERSON]', '', ', hello']
    """
    ordered = list(edits)
    result, begin, following = [], 0, 0
    for number, piece in enumerate(pieces):
        end, at, out = begin + len(piece), begin, []
        last = number == len(pieces) - 1
        while following < len(ordered):
            edit = ordered[following]
            if edit.start > end or (edit.start == end and not last):
                break
            if edit.start >= begin:
                out += [piece[at - begin : edit.start - begin], edit.new]
            at = max(at, min(edit.end, end))
            if edit.end > end:
                break
            following += 1
        out.append(piece[at - begin :])
        result.append("".join(out))
        begin = end
    return result


def _compared(old: str, new: str) -> list[TextEdit]:
    """Line by line where the lines are as many as before, so that a long text takes no longer than its lines."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if len(before) != len(after):
        return _compared_words(old, new, 0)
    pairs = zip(_starts(before), before, after, strict=False)
    return [edit for at, one, other in pairs if one != other for edit in _compared_words(one, other, at)]


def _compared_words(old: str, new: str, at: int) -> list[TextEdit]:
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    starts = _starts(before)
    if len(before) * len(after) > _MOST_COMPARED:
        codes = [_middle(before, after)]
    else:
        codes = [
            code[1:]
            for code in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
            if code[0] != "equal"
        ]
    return [
        TextEdit(at + starts[low], at + starts[high], "".join(after[new_low:new_high]))
        for low, high, new_low, new_high in codes
        if low < high or new_low < new_high
    ]


def _middle(before: Sequence[str], after: Sequence[str]) -> tuple[int, int, int, int]:
    """What lies between the same beginning and the same end."""
    shorter = min(len(before), len(after))
    start = next((at for at in range(shorter) if before[at] != after[at]), shorter)
    end = next((at for at in range(shorter - start) if before[-1 - at] != after[-1 - at]), shorter - start)
    return start, len(before) - end, start, len(after) - end


def _starts(words: Sequence[str]) -> list[int]:
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts
