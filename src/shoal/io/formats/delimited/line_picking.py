"""Some records of a text file, found by counting its line ends: a sixth of the work of parsing it.

In a file without a quotation mark every line is a record, so the n-th record stands behind the n-th line end. Where it
is known how many lines end in each stretch of the file, a few records are found by reading a few stretches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np

from shoal.io.formats.delimited.dialect import Dialect
from shoal.io.formats.delimited.record_shape import STRETCH_BYTES, utf8_blocks
from shoal.kernels.arrays import Integers

_SPARSE: Final = 8
"""Stretches of the file for each record, from which on reading them one by one is quicker than the whole."""


@dataclass(frozen=True)
class LineIndex:
    before: Integers
    """Of each stretch of the file, how many lines end before it; of its end, how many do at all."""

    @classmethod
    def of(cls, ends_in: Iterable[int]) -> Self:
        return cls(np.cumsum([0, *ends_in]))

    def suits(self, places: Integers) -> bool:
        return len(places) * _SPARSE <= len(self.before)

    def lines_at(self, path: Path, dialect: Dialect, places: Integers) -> bytes | None:
        """As below, from stretches alone."""
        end = dialect.eol.encode()
        begins = np.searchsorted(self.before, places + 1) - 1
        closes = np.minimum(np.searchsorted(self.before, places + 2), len(self.before) - 1)
        skipped = places - self.before[begins]
        found: list[bytes] = []
        with path.open("rb") as file:
            for first, last, skip in zip(begins.tolist(), closes.tolist(), skipped.tolist(), strict=True):
                file.seek(first * STRETCH_BYTES)
                block = file.read((last - first) * STRETCH_BYTES)
                ends = np.flatnonzero(np.frombuffer(block, np.uint8) == end[0])
                if skip >= len(ends):
                    return None
                line = block[ends[skip] + 1 : ends[skip + 1] if skip + 1 < len(ends) else len(block)]
                if not line or b'"' in line:
                    return None
                found.append(line + end)
        return b"".join(found)


def lines_at(path: Path, dialect: Dialect, label: str, places: Integers) -> bytes | None:
    """The records at these places, which count from 0 and rise, each with its line end.

    None where that can't be told: a quotation mark stands in the file, or it has fewer records.
    """
    end = dialect.eol.encode()
    wanted = places + 1
    found: list[bytes] = []
    first, rest = 0, b""
    for block in _from_header(_unquoted(utf8_blocks(path, dialect, label), dialect)):
        if block is None:
            return None
        ends = np.flatnonzero(np.frombuffer(block, np.uint8) == end[0])
        number = len(ends)
        here = wanted[len(found) : np.searchsorted(wanted, first + number)] - first
        if len(here):
            begins = np.concatenate(([0], ends + 1))
            cuts = zip(begins[here].tolist(), begins[here + 1].tolist(), strict=True)
            lines = [block[one:other] for one, other in cuts]
            found += lines if here[0] else [rest + lines[0], *lines[1:]]
        rest = block[block.rfind(end) + 1 :] if number else rest + block
        first += number
    if rest and len(found) < len(wanted) and wanted[len(found)] == first:
        found.append(rest + end)
    return b"".join(found) if len(found) == len(places) else None


def _unquoted(blocks: Iterable[bytes], dialect: Dialect) -> Iterator[bytes | None]:
    """None, and no more, where a quotation mark stands."""
    quotes = {b'"', (dialect.quote or '"').encode()}
    for block in blocks:
        if any(quote in block for quote in quotes):
            yield None
            return
        yield block


def _from_header(blocks: Iterable[bytes | None]) -> Iterator[bytes | None]:
    """Empty lines before the header are none."""
    started = False
    for block in blocks:
        kept = block if started or block is None else block.lstrip(b"\r\n")
        started = started or bool(kept)
        if kept is None or kept:
            yield kept
