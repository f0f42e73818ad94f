"""Writing without quotes where none can be needed.

Searching each cell for separators and quotation marks is a quarter of the work of writing a CSV. A source file in which
no quotation mark stands has no cell that holds a separator or a line end, so the columns that are passed on as they
are need no search, nor do those whose technique says which characters it adds. The others are searched batch by batch,
as whole blocks of bytes. If such a cell turns up after all, ``QuotesNeeded`` is raised and the file is written again,
with quotes.
"""

from __future__ import annotations

import polars as pl


class QuotesNeeded(Exception):  # noqa: N818  # no error: the writer's cue to begin again
    """A cell holds a character that only quotes protect."""


def refuse_specials(values: pl.Series, specials: str) -> None:
    """Raise QuotesNeeded if a cell holds one of the characters, or is empty (which unquoted would mean missing).

    >>> refuse_specials(pl.Series(["20-29", None]), ',"')
    >>> refuse_specials(pl.Series(["[20, 30)"]), ',"')
    Traceback (most recent call last):
        ...
    shoal.io.formats.delimited.quote_free.QuotesNeeded
    """
    text = values.to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()[2]
    block = b"" if text is None else text.to_pybytes()
    if any(special.encode() in block for special in specials) or values.str.len_bytes().min() == 0:
        raise QuotesNeeded
