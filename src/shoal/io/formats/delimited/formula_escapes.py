"""Cells of a text file that a spreadsheet would take for a formula, and run (OWASP, CSV injection).

Such a cell begins with ``=``, ``@``, a tab or the end of a line, or with a sign that no number follows. Escaped it has
an apostrophe in front, which spreadsheets take for "this is text". A cell that begins with apostrophes before such a
beginning gets one more, so that what was escaped can be read back.

>>> cells = pl.DataFrame({"a": ["=cmd|'/C calc'!A0", "-5", "+3.2", "-x", "'=1", "ward"]})
>>> cells.select(escaped("a"))["a"].to_list()
["'=cmd|'/C calc'!A0", '-5', '+3.2', "'-x", "''=1", 'ward']
>>> cells.select(escaped("a")).select(unescaped("a")).equals(cells)
True
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import polars as pl

_SIGNS: Final = r"+＋\-－"
_NUMBER: Final = rf"[{_SIGNS}][\d\s.,:/()%–—{_SIGNS}]*(?:[eE][+-]?\d+)?"
"""Digits and what stands between them, with a sign in front: a number, a day, a telephone; a sign alone is a dash."""
_BEGINS: Final = rf"^'*[=＝@＠\t\r\n{_SIGNS}]"
_HARMLESS: Final = rf"^'*{_NUMBER}$"
_ESCAPED: Final = rf"^'+[=＝@＠\t\r\n{_SIGNS}]"


def escaped(name: str) -> pl.Expr:
    """The column with an apostrophe before each cell that begins as a formula, however many are there already."""
    cell = pl.col(name)
    return pl.when(_is_risky(cell)).then(pl.lit("'") + cell).otherwise(cell).alias(name)


def unescaped(name: str) -> pl.Expr:
    cell = pl.col(name)
    was = cell.str.contains(_ESCAPED) & ~cell.str.contains(_HARMLESS)
    return pl.when(was).then(cell.str.slice(1)).otherwise(cell).alias(name)


def without_escapes(frame: pl.LazyFrame) -> pl.LazyFrame:
    return frame.with_columns(unescaped(name) for name in texts_in(frame.collect_schema()))


def count_formulas(frame: pl.LazyFrame) -> int:
    """Cells that a spreadsheet would run."""
    names = texts_in(frame.collect_schema())
    if not names:
        return 0
    few = [pl.col(name).filter(_may_begin_so(pl.col(name))) for name in names]
    cells = [(_is_risky(cell) & ~cell.str.starts_with("'")).sum() for cell in few]
    return int(frame.select(pl.sum_horizontal(cells)).collect(engine="streaming").item() or 0)


def texts_in(schema: pl.Schema) -> list[str]:
    return [name for name, kind in schema.items() if kind == pl.String]


def formula_warnings(found: Iterable[tuple[str, int]], *, escape: bool) -> Iterable[str]:
    """What whoever opens the files (named, with their counts) should know."""
    for path, cells in found:
        if not cells:
            continue
        what = f"{cells:,} {'cell begins' if cells == 1 else 'cells begin'}"
        if escape:
            yield f"{path}: {what} as a formula does (=, +, -, @); with an apostrophe in front, no spreadsheet runs it"
        else:
            yield (
                f"{path}: {what} as a formula does (=, +, -, @), which a spreadsheet would run; "
                "`output: {escape_formulas: true}` puts an apostrophe in front"
            )


def _may_begin_so(cell: pl.Expr) -> pl.Expr:
    """By the order of letters, eight times as quick as a search: neither with a digit nor with a letter."""
    return (cell < "0") | ((cell >= "=") & (cell < "A")) | (cell >= "＋")


def is_formula(cell: str) -> bool:
    """The same of one cell."""
    return not cell.startswith("'") and re.match(_BEGINS, cell) is not None and re.fullmatch(_HARMLESS, cell) is None


def _is_risky(cell: pl.Expr) -> pl.Expr:
    return cell.str.contains(_BEGINS) & ~cell.str.contains(_HARMLESS)
