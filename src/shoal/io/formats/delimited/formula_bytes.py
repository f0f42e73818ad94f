"""Cells that begin as a formula, counted in the bytes of a text file: a tenth of the work of parsing it.

In a file without a quotation mark a cell begins behind a separator or a line end and nowhere else. Where one begins
with a byte that a formula could begin with, the cell is looked at; there are few of them, or else nothing is gained.
"""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.io.formats.delimited.dialect import Dialect
from shoal.io.formats.delimited.formula_escapes import is_formula
from shoal.kernels.arrays import Mask

_BLOCK: Final = 1 << 18
_OPENINGS: Final = b"=@\t\r+-\xef"
"""First bytes of what a formula begins with; full-width signs begin with the last."""
MOST_CANDIDATES: Final = 100_000
"""Beyond that, parsing is quicker."""


def digest_and_formulas(path: Path, dialect: Dialect) -> tuple[str, int | None]:
    """The SHA-256 of a file, and how many of its cells a spreadsheet would run (None: only parsing tells), at once."""
    digest, counter, counting = hashlib.sha256(), FormulaCounter(dialect), True
    with path.open("rb") as file:
        for block in iter(partial(file.read, _BLOCK), b""):
            digest.update(block)
            counting = counting and counter.take(block)
    return digest.hexdigest(), counter.found() if counting else None


class FormulaCounter:
    """Is given a file, header first, block after block."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._quote = (dialect.quote or "").encode()
        self._end = dialect.eol.encode()
        self._ends = (dialect.separator + dialect.eol).encode()
        self._openings = bytes(byte for byte in _OPENINGS if byte not in self._ends)
        self._rest, self._started = b"", False
        self._found = self._looked_at = 0

    def take(self, block: bytes) -> bool:
        """False, and then no more is wanted, where only parsing would tell."""
        rest = self._rest + block
        if not self._started:
            cut = rest.find(self._end)
            self._started, rest = cut >= 0, rest[max(cut, 0) :]
        cut = rest.rfind(self._end)
        if not self._started or cut <= 0:
            self._rest = rest
            return True
        self._rest = rest[cut:]
        return self._count(rest[: cut + 1])

    def found(self) -> int | None:
        if self._started and len(self._rest) > len(self._end) and not self._count(self._rest):
            return None
        return self._found

    def _count(self, lines: bytes) -> bool:
        """Whole records, with the line end before them."""
        if self._quote and self._quote in lines:
            return False
        for begin in _candidates(lines, self._ends, self._openings):
            self._looked_at += 1
            self._found += is_formula(_cell(lines, begin, self._dialect))
        return self._looked_at <= MOST_CANDIDATES


def _candidates(block: bytes, ends: bytes, openings: bytes) -> list[int]:
    """Where cells begin with such a byte. Bytes that the block has nowhere need no comparing."""
    present = bytes(byte for byte in openings if byte in block)
    if not present:
        return []
    read = np.frombuffer(block, np.uint8)
    begins: list[int] = np.flatnonzero(_is_one_of(read[:-1], ends) & _is_one_of(read[1:], present)).tolist()
    return [begin + 1 for begin in begins]


def _is_one_of(read: NDArray[np.uint8], wanted: bytes) -> Mask:
    """To compare a whole block with one byte after the other is quicker than to look up each of its bytes."""
    found: Mask = read == wanted[0]
    for byte in wanted[1:]:
        found |= read == byte
    return found


def _cell(block: bytes, begin: int, dialect: Dialect) -> str:
    end = block.find(dialect.eol.encode(), begin)
    line = block[begin : len(block) if end < 0 else end]
    cell = line.split(dialect.separator.encode(), 1)[0]
    return cell.removesuffix(b"\r").decode("utf-8", "replace")
