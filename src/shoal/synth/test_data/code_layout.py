"""Codes of one width, made of letters, digits and signs by their place: number *n* of all codes of a layout.

A part is a list of texts of 1, 2, 4 or 8 characters, each kept as one whole number, so that a part is written for all
rows by one look-up. Digits go four at a time.
"""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers

Characters = NDArray[np.uint8]
_WIDTHS = (8, 4, 2, 1)


@dataclass(frozen=True)
class CodePart:
    """What may stand at a place: texts of one width, as numbers of that many bytes."""

    texts: NDArray[np.unsignedinteger]

    @classmethod
    def of(cls, texts: Iterable[str]) -> CodePart:
        listed = list(texts)
        if len({len(text) for text in listed}) != 1 or len(listed[0]) not in _WIDTHS:
            raise ValueError("the texts of a part have one width: 1, 2, 4 or 8")
        return cls(np.frombuffer("".join(listed).encode("ascii"), f"<u{len(listed[0])}"))


def literal(text: str) -> list[CodePart]:
    """The same in every code.

    >>> CodeLayout(literal("SG-") + digits(2)).characters(np.array([7])).tobytes()
    b'SG-07'
    """
    return [CodePart.of([piece]) for piece in _pieces(text)]


def digits(count: int) -> list[CodePart]:
    return [_of_alphabet(string.digits, len(piece)) for piece in _pieces("0" * count, 4)]


def letters(count: int) -> list[CodePart]:
    return [_of_alphabet(string.ascii_uppercase, len(piece)) for piece in _pieces("A" * count, 2)]


def one_of(characters: str) -> list[CodePart]:
    return [CodePart.of(characters)]


def _of_alphabet(alphabet: str, width: int) -> CodePart:
    return CodePart.of("".join(chosen) for chosen in product(alphabet, repeat=width))


def _pieces(text: str, widest: int = 8) -> list[str]:
    pieces = []
    while text:
        width = next(width for width in _WIDTHS if width <= min(widest, len(text)))
        pieces.append(text[:width])
        text = text[width:]
    return pieces


@dataclass(frozen=True)
class CodeLayout:
    """Parts, one behind the other; the last changes first from one number to the next."""

    parts: list[CodePart]

    @property
    def size(self) -> int:
        return prod(len(part.texts) for part in self.parts)

    @cached_property
    def width(self) -> int:
        return self._row.itemsize

    def characters(self, numbers: Integers) -> Characters:
        """A row of character codes for each number; it may be written to."""
        rows = np.empty(len(numbers), self._row)
        for place in reversed(range(len(self.parts))):
            texts = self.parts[place].texts
            if len(texts) == 1:
                rows[f"f{place}"] = texts[0]
                continue
            above = numbers // len(texts)
            rows[f"f{place}"] = texts[numbers - above * len(texts)]
            numbers = above
        return rows.view(np.uint8).reshape(len(numbers), self.width)

    @cached_property
    def _row(self) -> np.dtype[np.void]:
        return np.dtype([(f"f{place}", part.texts.dtype) for place, part in enumerate(self.parts)])
