"""In the child: formulas of a sheet whose result is not in the file, because no spreadsheet program ever computed them.

Readers of values see an empty cell there, or a zero that the writing library put in: data that nobody entered.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from typing import Final

_CELL: Final = re.compile(rb"<(?:\w+:)?c\b([^>]*)>((?:(?!</(?:\w+:)?c>).)*?)</(?:\w+:)?c>", re.DOTALL)
_FORMULA: Final = re.compile(rb"<(?:\w+:)?f\b")
_RESULT: Final = re.compile(rb"<(?:\w+:)?v\b[^>]*>([^<]+)</")
_TEXT: Final = re.compile(rb'\bt="str"')
_PLACE: Final = re.compile(rb'\br="([A-Z]+)\d+"')
_SHEET: Final = re.compile(r"<(?:\w+:)?sheet\b[^>]*>")
_RELATION: Final = re.compile(r"<(?:\w+:)?Relationship\b[^>]*>")
_ATTRIBUTE: Final = re.compile(r'([\w:]+)="([^"]*)"')
_TO_BE_COMPUTED: Final = re.compile(r'fullCalcOnLoad="(?:1|true)"')
_BOOK: Final = "xl/workbook.xml"
_RELATIONS: Final = "xl/_rels/workbook.xml.rels"


def uncomputed_columns(path: str, place: int) -> list[str]:
    """The letters of the columns of a sheet, given by its place, that hold such formulas; none of other formats."""
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as archive:
        parts = set(archive.namelist())
        if _BOOK not in parts or _RELATIONS not in parts:
            return []
        book = archive.read(_BOOK).decode("utf-8", "replace")
        part = _part_of_sheet(book, archive.read(_RELATIONS).decode("utf-8", "replace"), place)
        if part not in parts:
            return []
        content = archive.read(part)
    if not _FORMULA.search(content):
        return []
    return _uncomputed(content, zeros=_TO_BE_COMPUTED.search(book) is not None)


def _part_of_sheet(book: str, relations: str, place: int) -> str:
    sheets = _SHEET.findall(book)
    if place >= len(sheets):
        return ""
    wanted = next((value for name, value in _ATTRIBUTE.findall(sheets[place]) if name.endswith(":id")), "")
    for relation in _RELATION.findall(relations):
        told = dict(_ATTRIBUTE.findall(relation))
        if told.get("Id") == wanted:
            target = told.get("Target", "")
            return target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"xl/{target}")
    return ""


def _uncomputed(content: bytes, *, zeros: bool) -> list[str]:
    """``zeros``: the file asks to be computed when it is opened, and a library has put 0 for every result."""
    empty, zero, formulas = dict[str, None](), dict[str, None](), 0
    zero_cells = 0
    for cell in _CELL.finditer(content):
        if not _FORMULA.search(cell[2]):
            continue
        formulas += 1
        column = found[1].decode() if (found := _PLACE.search(cell[1])) else "?"
        result = _RESULT.search(cell[2])
        if result is None and not _TEXT.search(cell[1]):
            empty[column] = None
        elif result is not None and result[1] == b"0":
            zero[column] = None
            zero_cells += 1
    if zeros and zero_cells == formulas:
        empty |= zero
    return list(empty)
