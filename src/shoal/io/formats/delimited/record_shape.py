"""Whether every record of a text file has as many cells as the header, found out at the speed of reading the file.

Polars refuses records that are too long and fills up records that are too short with missing values in silence, which
would move a person's values away or invent gaps. Since no record is too long, the records are all whole exactly if the
number of separators outside quotes is (columns - 1) × (records + 1), the header included. Counting needs no parsing:
a block of bytes becomes bits, one per byte, and a prefix-xor over the bits of the quotes marks what stands inside
them. Measured on two cores: 0.21 s for a CSV of 529 MB that Polars copies in 2.1 s.

>>> census([b'a,b\\n1,"x,\\ny"\\n2\\n'], Dialect())
Census(line_ends=3, separators=2, blank_end=0, open_end=False, open_quote=False, quotes=True)
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.errors import SourceError
from shoal.io.formats.delimited.dialect import Dialect, csv_reader

BLOCK_BYTES: Final = 1 << 18
STRETCH_BYTES: Final = 1 << 16
_WORD: Final = 64
_FULL: Final = np.uint64(2**64 - 1)
_SHOWN_LINES: Final = 3


@dataclass(frozen=True)
class Census:
    """Counts outside quotes. ``blank_end`` is the number of empty lines at the end of the file."""

    line_ends: int
    separators: int
    blank_end: int
    open_end: bool
    open_quote: bool
    quotes: bool = False
    """Whether a quotation mark stands anywhere in the file."""
    longest: int = field(default=0, repr=False, compare=False)
    """Bytes of the longest run of blocks in which no record ends."""
    ends_in: tuple[int, ...] = field(default=(), repr=False, compare=False)
    """Line ends in each stretch of the bytes; none where a quotation mark stands or bytes were left out."""

    @property
    def lines(self) -> int:
        """Header and records, without empty lines at the end."""
        return self.line_ends - self.blank_end + self.open_end


def utf8_blocks(path: Path, dialect: Dialect, label: str) -> Iterator[bytes]:
    """The file as UTF-8 without a byte-order mark and titles, block by block, whatever its encoding."""
    with path.open("rb") as file:
        blocks = iter(partial(file.read, BLOCK_BYTES), b"")
        plain = _without_mark(blocks) if dialect.encoding == "utf-8" else _transcoded(blocks, dialect.encoding, label)
        yield from _below(plain, dialect.preamble, dialect.eol.encode())


def _without_mark(blocks: Iterator[bytes]) -> Iterator[bytes]:
    yield next(blocks, b"").removeprefix(codecs.BOM_UTF8)
    yield from blocks


def _below(blocks: Iterable[bytes], lines: int, end: bytes) -> Iterator[bytes]:
    """What comes after so many lines."""
    left = lines
    for block in blocks:
        rest = block
        while left and rest:
            _, cut, rest = rest.partition(end)
            left -= bool(cut)
        if rest:
            yield rest


def _transcoded(blocks: Iterable[bytes], encoding: str, label: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    mark = "\ufeff"
    try:
        for block in blocks:
            text = decoder.decode(block)
            yield text.removeprefix(mark).encode()
            mark = mark if not text else ""
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError:
        raise SourceError(f"{label}: is not text in {encoding} throughout") from None


def census(blocks: Iterable[bytes], dialect: Dialect) -> Census:
    """Separators and line ends outside quotes. Empty lines before the header are skipped, as Polars does."""
    end = dialect.eol.encode()
    line_ends = separators = blank_end = run = longest = 0
    inside = started = quoted = left_out = False
    last, stretches = b"", list[int]()
    for block in blocks:
        kept = block if started else block.lstrip(b"\r\n")
        left_out = left_out or kept != block
        if not kept:
            continue
        started = True
        if inside or (dialect.quote and dialect.quote.encode() in kept):
            quotes, inside = _inside(_bits(kept, dialect.quote or ""), inside)
            found, ends, quoted = *(_count(_bits(kept, one), quotes) for one in (dialect.separator, dialect.eol)), True
        else:
            here = _in_stretches(kept, dialect.eol)
            stretches += here
            found, ends = sum(_in_stretches(kept, dialect.separator)), sum(here)
        separators += found
        line_ends += ends
        run = 0 if ends else run + len(kept)
        longest = max(longest, run)
        body = kept.rstrip(b"\r\n")
        closing = kept[len(body) :].count(end)
        blank_end = closing - 1 if body else blank_end + closing
        last = kept[-1:]
    known = () if quoted or left_out else tuple(stretches)
    is_open = last not in (b"", end)
    return Census(line_ends, separators, max(blank_end, 0), is_open, inside, quoted, longest, known)


def _in_stretches(block: bytes, character: str) -> list[int]:
    """How often it stands in each stretch of the block."""
    hits = np.frombuffer(block, np.uint8) == ord(character)
    return [int(np.count_nonzero(hits[at : at + STRETCH_BYTES])) for at in range(0, len(block), STRETCH_BYTES)]


def _bits(block: bytes, character: str) -> NDArray[np.uint64]:
    """One bit per byte: whether it is the character."""
    hits = np.packbits(np.frombuffer(block, np.uint8) == ord(character), bitorder="little")
    words = np.zeros(-(-len(block) // _WORD), dtype="<u8")
    words.view(np.uint8)[: len(hits)] = hits
    return words


def _inside(quotes: NDArray[np.uint64], inside: bool) -> tuple[NDArray[np.uint64] | None, bool]:  # noqa: FBT001 - a bit
    """The bits of what stands inside quotes, and whether the block ends inside. A doubled quote cancels itself."""
    if not inside and not quotes.any():
        return None, False
    for shift in (1, 2, 4, 8, 16, 32):
        quotes ^= quotes << np.uint64(shift)
    odd = np.logical_xor.accumulate(quotes >> np.uint64(_WORD - 1) != 0)
    before = np.concatenate(([inside], odd[:-1] ^ inside))
    quotes ^= np.where(before, _FULL, np.uint64(0))
    return quotes, bool(odd[-1]) ^ inside


def _count(hits: NDArray[np.uint64], inside: NDArray[np.uint64] | None) -> int:
    outside = hits if inside is None else hits & ~inside
    return int(np.bitwise_count(outside).sum())


def ragged(blocks: Iterable[bytes], dialect: Dialect, columns: int) -> str:
    """How many records have another number of cells than the header, and where the first ones stand.

    A slow, careful pass for the error message; "" if none is found.
    """
    wrong, lines, blank = 0, list[int](), list[int]()
    for line, cells in _records(blocks, dialect):
        if cells == 0:
            blank.append(line)  # harmless at the end of the file
            continue
        bad = [*blank, line] if cells != columns else blank
        wrong += len(bad)
        lines += bad[: _SHOWN_LINES - len(lines)]
        blank = []
    if not wrong:
        return ""
    shown = ", ".join(map(str, lines)) + (" …" if wrong > len(lines) else "")
    return f"{wrong} row(s) have more or fewer cells than the header's {columns} (line {shown})"


def _records(blocks: Iterable[bytes], dialect: Dialect) -> Iterator[tuple[int, int]]:
    """The line on which each record begins and the number of its cells, from the header on."""
    reader = csv_reader(_lines(blocks, dialect.eol), dialect.separator, dialect.quote)
    begins, started = 1 + dialect.preamble, False
    try:
        for record in reader:
            started = started or bool(record)
            if started:
                yield begins, len(record)
            begins = dialect.preamble + reader.line_num + 1
    except csv.Error:  # a cell beyond the module's limit: what was found so far is shown
        return


def _lines(blocks: Iterable[bytes], end: str) -> Iterator[str]:
    """Lines across blocks; what is no UTF-8 is replaced, since cells are only counted."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    for block in blocks:
        *whole, rest = (rest + decoder.decode(block)).split(end)
        yield from (f"{line}\n" for line in whole)
    if rest:
        yield rest
