"""Which row names the columns, where titles and notes stand above a table, as in many files that people make by hand.

It is found only beyond doubt, since names that are taken for a title would be lost and a record taken for names would
be shown. In all other cases the first row is it, or somebody has to say which.

>>> rows = [["Visits 2026", None, None], [None, None, None], ["name", "ward", "age"], ["Asha", "B", "34"]]
>>> find_header(rows)
3
>>> find_header([["name", "ward", None], ["Asha", "B", "34"]]) is None
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

Cells = Sequence[str | None]
LOOKED_AT: Final = 40
"""Rows that are looked at."""
_LEAST_COLUMNS: Final = 3
"""A line with one cell above a table of two may be a title as well as a name that lacks its neighbour."""


def find_header(rows: Sequence[Cells]) -> int | None:
    """Its number from 1; None where the first row is it, or where that can't be told."""
    filled = [sum(map(_is_filled, row)) for row in rows]
    width = max(filled, default=0)
    if width < _LEAST_COLUMNS:
        return None
    place = filled.index(width)
    names = [(cell or "").strip() for cell in rows[place] if _is_filled(cell)]
    titles = place > 0 and all(count <= width // 2 for count in filled[:place])
    if titles and _are_names(names) and _differ(rows[place], rows[place + 1 :]):
        return place + 1
    return None


def _is_filled(cell: str | None) -> bool:
    return bool(cell and cell.strip())


def _are_names(cells: Sequence[str]) -> bool:
    return len(set(cells)) == len(cells) and all(any(map(str.isalpha, cell)) for cell in cells)


def _differ(header: Cells, below: Sequence[Cells]) -> bool:
    """Whether a column has a number in every row below it, and none in its name."""
    for place, name in enumerate(header):
        values = [row[place] for row in below if place < len(row) and _is_filled(row[place])]
        if values and not _has_digit(name) and all(map(_has_digit, values)):
            return True
    return False


def _has_digit(cell: str | None) -> bool:
    return any(map(str.isdigit, cell or ""))
