"""Covering characters by position: how many at each end stay, all others become one symbol.

The result is a function of the kept characters, of the length (unless it is fixed) and of where separators stand (if
they are kept), so two values that differ only in covered characters give the same result. A value too short to cover
at least one character is covered whole. Positions count Unicode code points: a letter and its combining accent are
two, and can be parted; nothing more than the kept code points is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

SEPARATORS = " -./:,_()+"
"""All ASCII. What isn't listed is covered."""

_MARK, _DROPPED = "\x01", "\x00"

_PREFIX, _INLINE = 4, 12
"""A view of Arrow's is the size in four bytes and, where they fit, the twelve bytes of the text itself."""
_NOT_ASCII: NDArray[np.uint64] = np.frombuffer(b"\x00" * _PREFIX + b"\x80" * _INLINE, dtype="<u8")


class Masker(Protocol):
    """Text in, masked text out; nulls stay null. Frozen and picklable."""

    def mask(self, values: pl.Series) -> pl.Series: ...


@dataclass(frozen=True)
class PositionMask:
    """
    >>> PositionMask(last=4, char="x").mask(pl.Series(["234567891234", "123"])).to_list()
    ['xxxxxxxx1234', 'xxx']
    """

    first: int = 0
    last: int = 0
    char: str = "*"
    length: int | None = None
    separators: bool = False

    def mask(self, values: pl.Series) -> pl.Series:
        if self.separators:
            covered = cover_all_but_separators(values, self.char)
            return pl.DataFrame({"value": values, "covered": covered}).select(self._between()).to_series()
        masked = self._inline(values)
        if masked is not None:
            return masked
        frame = pl.DataFrame({"value": values, "size": values.str.len_chars().cast(pl.Int64)})
        return frame.select(self._padded(frame["size"])).to_series()

    def _inline(self, values: pl.Series) -> pl.Series | None:
        """ASCII values of one length that lie within their views: the symbols are laid over them, eight bytes at once.

        None where that doesn't fit. Numbers of a fixed length are what is masked most, and this takes a third of the
        time.
        """
        first = values.first()
        size = len(first) if isinstance(first, str) else 0
        if not self.first + self.last < size <= _INLINE or not self.char.isascii() or self.length not in (None, size):
            return None
        text = values.to_arrow(compat_level=pl.CompatLevel.newest())
        views = np.frombuffer(text.buffers()[1], dtype="<u8").reshape(-1, 2)[text.offset : text.offset + len(text)]
        if text.null_count or (views[:, 0] & 0xFFFFFFFF != size).any() or (views & _NOT_ASCII).any():
            return None
        kept, symbols = self._stencil(size)
        covered = views & kept
        covered |= symbols
        array = pa.Array.from_buffers(pa.string_view(), len(text), [None, pa.py_buffer(covered)], 0)
        return pl.Series(values.name, array)

    def _stencil(self, size: int) -> NDArray[np.uint64]:
        """A view's bytes that stay (its size among them), and the symbols for the others."""
        hidden = size - self.first - self.last
        ends = _PREFIX + self.first, _INLINE - self.first - hidden
        kept = b"\xff" * ends[0] + b"\x00" * hidden + b"\xff" * ends[1]
        symbols = b"\x00" * ends[0] + self.char.encode() * hidden + b"\x00" * ends[1]
        return np.frombuffer(kept + symbols, dtype="<u8").reshape(2, 2)

    def _padded(self, sizes: pl.Series) -> pl.Expr:
        """The kept ends with symbols in the gap: by measurement ten times faster than a regular expression."""
        size = sizes.max()
        if isinstance(size, int) and self.first + self.last < size == sizes.min() and self.char not in "{}":
            return self._templated(self.length or size)
        short = pl.col("size") <= self.first + self.last
        left = pl.when(short).then(pl.lit("")).otherwise(pl.col("value").str.head(self.first))
        right = pl.when(short).then(pl.lit("")).otherwise(pl.col("value").str.tail(self.last))
        width = pl.col("size") if self.length is None else pl.lit(self.length)
        if not self.last:
            return left.str.pad_end(width, self.char)
        if not self.first:
            return right.str.pad_start(width, self.char)
        longest = self.length or sizes.max()
        symbols = self.char * longest if isinstance(longest, int) else ""
        gap = pl.when(short).then(width).otherwise(width - self.first - self.last)
        return pl.concat_str(left, pl.lit(symbols).str.head(gap), right)

    def _templated(self, width: int) -> pl.Expr:
        """Values of one length: the symbols are the same for all of them."""
        symbols = self.char * (width - self.first - self.last)
        left = [pl.col("value").str.head(self.first)] if self.first else []
        right = [pl.col("value").str.tail(self.last)] if self.last else []
        if not left and not right:
            return pl.when(pl.col("value").is_not_null()).then(pl.lit(symbols))
        return pl.format("{}" * len(left) + symbols + "{}" * len(right), *left, *right)

    def _between(self) -> pl.Expr:
        value, covered = pl.col("value"), pl.col("covered")
        middle = covered.str.slice(self.first)
        middle = middle.str.head(-self.last) if self.last else middle
        left = [value.str.head(self.first)] if self.first else []
        right = [value.str.tail(self.last)] if self.last else []
        # Separators aren't hidden: a value is long enough only if something else stands between the kept ends.
        hides = middle.str.contains(self.char, literal=True)
        return pl.when(~hides).then(covered).otherwise(pl.concat_str(*left, middle, *right))


def cover_all_but_separators(values: pl.Series, char: str) -> pl.Series:
    """Each character but the separators becomes ``char``.

    One look-up per byte instead of a regular expression per character: of a character's UTF-8 bytes the first becomes
    a mark and the others are dropped. The marks can't be in the data any more, for they would be covered themselves.
    """
    text = values.to_arrow(compat_level=pl.CompatLevel.oldest())
    valid, offsets, data = text.buffers()
    if data is None:
        return values
    read = np.frombuffer(data, dtype=np.uint8)
    symbol = char if char.isascii() else _MARK
    marked = pa.py_buffer(_byte_table(symbol)[read])
    array = pa.LargeStringArray.from_buffers(len(text), offsets, marked, valid, -1, text.offset)
    covered = pl.Series(values.name, array, dtype=pl.String)
    if (read >= 0x80).any():
        covered = covered.str.replace_all(_DROPPED, "", literal=True)
    return covered if symbol == char else covered.str.replace_all(symbol, char, literal=True)


def _byte_table(symbol: str) -> NDArray[np.uint8]:
    table = np.full(256, ord(symbol), dtype=np.uint8)
    table[0x80:0xC0] = ord(_DROPPED)
    separators = np.frombuffer(SEPARATORS.encode(), dtype=np.uint8)
    table[separators] = separators
    return table
