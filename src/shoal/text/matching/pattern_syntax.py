r"""Patterns of recognisers as a tree: what stands after what, one of which, how often.

Read is the part of RE2's syntax (github.com/google/re2/wiki/Syntax) that recognisers are written in: characters,
classes, ``\d \s \w``, groups with or without a name or flags, alternatives, greedy and lazy repeats, edges. Whatever
else there is makes a pattern unreadable, and the caller does without the tree; nothing is guessed.

>>> least_length(read_pattern("[0-9]{2}(?:A|BC)?"))
2
>>> read_pattern("a(?=b)") is None
True
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

CATEGORIES: Final = {
    "d": frozenset(string.digits),
    "s": frozenset("\t\n\f\r "),
    "w": frozenset(string.ascii_letters + string.digits + "_"),
}
"""As RE2 has them: of ASCII only."""
_CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_EDGES: Final = frozenset("bBAz")
_GROUP: Final = re.compile(r"\?(?:P?<[A-Za-z_]\w*>|[ims]*(?:-[ims]+)?(?P<flags>[:)]))")
_TIMES: Final = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_NO_LOWER_BOUND: Final = re.compile(r"\{,\d*\}")
_HEXADECIMAL: Final = re.compile(r"[0-9A-Fa-f]{2}")
_PLAIN: Final = re.compile(r"[^][(){}|\\.^$*+?]+(?![*+?{])")
"""Characters that stand for themselves, each once."""
_DEEPEST: Final = 100


@dataclass(frozen=True)
class Characters:
    """One character, out of ranges of code points and categories (``d``, or ``D`` for all others)."""

    ranges: tuple[tuple[int, int], ...]
    categories: str = ""
    negated: bool = False
    only: int | None = None
    """The code point, of a character that stands for itself."""

    def __contains__(self, character: str) -> bool:
        code = ord(character)
        named = any(low <= code <= high for low, high in self.ranges) or any(
            (character in CATEGORIES[one.lower()]) is one.islower() for one in self.categories
        )
        return named is not self.negated


@dataclass(frozen=True)
class PatternEdge:
    """A place between characters: ``\\b`` is ``b``."""

    sign: str

    @property
    def is_of_word(self) -> bool:
        return self.sign in "bB"


@dataclass(frozen=True)
class Choice:
    """One of several sequences; a group has one."""

    branches: tuple[NodeSequence, ...]


@dataclass(frozen=True)
class Repeat:
    low: int
    high: int | None
    """None without end."""
    inner: NodeSequence


SingleNode = Characters | PatternEdge
Node = SingleNode | Choice | Repeat
NodeSequence = tuple[Node, ...]


@lru_cache(maxsize=16)
def read_pattern(pattern: str) -> NodeSequence | None:
    """The tree; None for a pattern that has anything else in it, or is none."""
    reader = _PatternReader(pattern)
    try:
        branches = reader.branches(0)
        reader.expect_end()
    except _UnreadableError:
        return None
    return branches[0] if len(branches) == 1 else (Choice(branches),)


def least_length(nodes: NodeSequence) -> int:
    """The fewest characters of a match."""
    return sum(map(_least_length, nodes))


def singles(nodes: NodeSequence) -> Iterator[SingleNode]:
    """What the tree is made of: characters and edges, in the order of the pattern."""
    for node in nodes:
        match node:
            case Choice(branches):
                for branch in branches:
                    yield from singles(branch)
            case Repeat(_, _, inner):
                yield from singles(inner)
            case _:
                yield node


def _least_length(node: Node) -> int:
    match node:
        case PatternEdge():
            return 0
        case Choice(branches):
            return min(map(least_length, branches))
        case Repeat(low, _, inner):
            return low * least_length(inner)
    return 1


class _UnreadableError(Exception):
    """The pattern is none, or beyond what is read here."""


class _PatternReader:
    """Recursive descent: alternatives of sequences of repeated atoms."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    def branches(self, depth: int) -> tuple[NodeSequence, ...]:
        if depth > _DEEPEST:
            raise _UnreadableError
        found = [self._sequence(depth)]
        while self._took("|"):
            found.append(self._sequence(depth))
        return tuple(found)

    def expect_end(self) -> None:
        if self._at < len(self._pattern):
            raise _UnreadableError

    def _sequence(self, depth: int) -> NodeSequence:
        nodes: list[Node] = []
        while True:
            plain = _PLAIN.match(self._pattern, self._at)
            if plain is not None:
                nodes += map(_literal, plain[0])
                self._at = plain.end()
            if self._next() in ("", "|", ")"):
                break
            atom = self._atom(depth)
            if atom is not None:
                nodes.append(self._repeated(atom))
        return tuple(nodes)

    def _atom(self, depth: int) -> Node | None:
        """None for flags, which say nothing of the characters' kinds."""
        sign = self._take()
        match sign:
            case "(":
                return self._group(depth)
            case "[":
                return self._class()
            case "\\":
                return self._escape()
            case ".":
                return Characters((), negated=True)
            case "^" | "$":
                return PatternEdge(sign)
            case "*" | "+" | "?":
                raise _UnreadableError
            case "{" if _TIMES.match(self._pattern, self._at - 1) or _NO_LOWER_BOUND.match(self._pattern, self._at - 1):
                raise _UnreadableError
        return _literal(sign)

    def _group(self, depth: int) -> Choice | None:
        if self._next() == "?":
            opened = _GROUP.match(self._pattern, self._at)
            if opened is None:
                raise _UnreadableError
            self._at = opened.end()
            if opened["flags"] == ")":
                return None
        group = Choice(self.branches(depth + 1))
        if not self._took(")"):
            raise _UnreadableError
        return group

    def _class(self) -> Characters:
        negated = self._took("^")
        ranges: list[tuple[int, int]] = []
        categories = ""
        first = True
        while first or self._next() != "]":
            first = False
            low = self._class_member()
            if isinstance(low, str):
                categories += low
                continue
            high = low
            if self._next() == "-" and self._next(1) not in ("]", ""):
                self._take()
                end = self._class_member()
                if isinstance(end, str) or end < low:
                    raise _UnreadableError
                high = end
            ranges.append((low, high))
        self._take()
        return Characters(tuple(ranges), categories, negated)

    def _class_member(self) -> int | str:
        """A code point, or a category."""
        sign = self._take()
        if sign == "[" and self._next() == ":":
            raise _UnreadableError
        if sign != "\\":
            return ord(sign)
        escaped = self._escape()
        if not isinstance(escaped, Characters):
            raise _UnreadableError
        return escaped.categories or escaped.ranges[0][0]

    def _escape(self) -> Characters | PatternEdge:
        sign = self._take()
        if sign in _EDGES:
            return PatternEdge(sign)
        if sign.lower() in CATEGORIES:
            return Characters((), sign)
        if sign in _CONTROLS:
            return _literal(_CONTROLS[sign])
        if sign == "x":
            digits = _HEXADECIMAL.match(self._pattern, self._at)
            if digits is None:
                raise _UnreadableError
            self._at = digits.end()
            return _literal(chr(int(digits[0], 16)))
        if sign.isascii() and sign.isalnum():
            raise _UnreadableError
        return _literal(sign)

    def _repeated(self, atom: Node) -> Node:
        times = self._times()
        if times is None:
            return atom
        self._took("?")
        if isinstance(atom, PatternEdge) or self._next() in ("*", "+", "?") or _TIMES.match(self._pattern, self._at):
            raise _UnreadableError
        return Repeat(*times, (atom,))

    def _times(self) -> tuple[int, int | None] | None:
        for sign, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._took(sign):
                return low, high
        found = _TIMES.match(self._pattern, self._at)
        if found is None:
            return None
        self._at = found.end()
        low = int(found[1])
        high = low if found[2] is None else int(found[3]) if found[3] else None
        if high is not None and high < low:
            raise _UnreadableError
        return low, high

    def _next(self, ahead: int = 0) -> str:
        return self._pattern[self._at + ahead : self._at + ahead + 1]

    def _take(self) -> str:
        sign = self._next()
        if not sign:
            raise _UnreadableError
        self._at += 1
        return sign

    def _took(self, sign: str) -> bool:
        if self._next() != sign:
            return False
        self._at += 1
        return True


_ASCII: Final = tuple(Characters(((code, code),), only=code) for code in range(128))


def _literal(sign: str) -> Characters:
    code = ord(sign)
    return _ASCII[code] if code < len(_ASCII) else Characters(((code, code),), only=code)
