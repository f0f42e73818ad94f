"""A workbook as it is stored: its sheets by name, its cells with their place and heading, its texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from shoal.documents.base import DocumentText, damaged
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.office.formulas import RenamedReferences
from shoal.documents.office.ooxml import attribute, leaves, local, text_of
from shoal.documents.office.package import OfficePackage

GROUPS: Final = frozenset({"si", "is", "text", "p"})
"""Elements that hold runs of one text."""
TEXT: Final = frozenset({"t"})
FREE: Final = frozenset(
    "prompt promptTitle error errorTitle display tooltip descr title alt comment description help statusBar text "  # noqa: SIM905
    "totalsRowLabel val1 string altText altTextSummary".split()
)
_WHOLE: Final = re.compile(r"(\d+)(?:\.0+)?(?:[eE]\+?(\d+))?|(\d)\.(\d+)[eE]\+?(\d+)")


@dataclass(frozen=True)
class Workbook:
    """The parts of a workbook by name, and the texts that its cells point to."""

    sheets: dict[str, str]
    """Parts that are sheets, by the sheet's name."""
    names: tuple[str, ...]
    strings: str
    texts: tuple[str, ...]

    @classmethod
    def of(cls, package: OfficePackage) -> Workbook:
        main = package.main()
        if "spreadsheetml" not in package.type_of(main) and "ms-excel" not in package.type_of(main):
            raise damaged(package.label, "Excel")
        tree = package.tree(main)
        related = {one.id: one for one in package.relationships(main)}
        sheets = {}
        for sheet in tree.iter("{*}sheet"):
            to = related.get(next((value for name, value in sheet.attrib.items() if attribute(name) == "id"), ""))
            if to is not None:
                sheets[to.target] = sheet.get("name", "")
        names = tuple(one.get("name", "") for one in tree.iter("{*}definedName"))
        strings = next(
            (one.target for one in related.values() if one.kind == "sharedStrings" and one.target in package), ""
        )
        texts: tuple[str, ...] = ()
        if strings:
            texts = tuple("".join(text_of(leaves(one, GROUPS, TEXT))) for one in package.tree(strings).iter("{*}si"))
        return cls(sheets, names, strings, texts)

    def renamed(self, ledger: EditRecorder) -> RenamedReferences:
        """New names for sheets and ranges whose names tell too much."""
        sheets = _fresh(self.sheets.values(), "Sheet ", ledger)
        return RenamedReferences(
            sheets, _fresh((one for one in self.names if not one.startswith("_xlnm")), "name_", ledger)
        )

    def text(self, cell: Any) -> str:
        """What a cell shows, as it is stored."""
        inline = cell.find("{*}is")
        if inline is not None:
            return "".join(text_of(leaves(inline, GROUPS, TEXT)))
        value = cell.findtext("{*}v") or ""
        if cell.get("t") == "s":
            index = int(value) if value.isdigit() else -1
            return self.texts[index] if 0 <= index < len(self.texts) else ""
        return value


def walk(tree: Any, book: Workbook, sheet: str) -> Iterator[tuple[Any, str, str]]:
    """The cells of a sheet, each with its place and the text of the first row in its column."""
    headings: dict[str, str] = {}
    first = ""
    for cell in tree.iter("{*}c"):
        where = cell.get("r", "")
        column = where.rstrip("0123456789")
        row = where[len(column) :]
        first = first or row
        if row == first and cell.get("t") in {"s", "inlineStr", "str"}:
            headings[column] = book.text(cell)
        yield cell, f"{sheet}!{where}", "" if row == first else headings.get(column, "")


def cells_of(tree: Any, book: Workbook, sheet: str) -> Iterator[DocumentText]:
    yield DocumentText("name of a sheet", sheet)
    inside = set()
    for cell, place, label in walk(tree, book, sheet):
        inside.update(cell.iter("*"))
        formula = cell.findtext("{*}f")
        if formula:
            yield DocumentText(place, formula)
        text = book.text(cell)
        if text.strip() and cell.get("t", "n") not in {"b", "e"}:
            yield DocumentText(place, written_out(text) if cell.get("t", "n") == "n" else text, label)
    yield from loose_texts(tree, sheet, inside)


def loose_texts(tree: Any, place: str, inside: set[Any] | None = None) -> Iterator[DocumentText]:
    """Texts and telling attributes beside the cells."""
    done = set(inside or ())
    for element in tree.iter("*"):
        if element in done:
            continue
        if local(element) in GROUPS:
            inner = leaves(element, GROUPS, TEXT)
            done.update(inner)
            if inner:
                yield DocumentText(place, "".join(text_of(inner)))
        elif element.text and element.text.strip():
            yield DocumentText(
                place, element.text, "author" if local(element) in {"author", "creator", "lastModifiedBy"} else ""
            )
        for full, value in element.attrib.items():
            if attribute(full) in FREE | {"name", "displayName", "val", "location"} and not value.isdigit():
                yield DocumentText(place, value)


def _fresh(names: Iterable[str], beginning: str, ledger: EditRecorder) -> dict[str, str]:
    """A new name for each that the scrubber would touch, unlike all others."""
    all_names = list(dict.fromkeys(names))
    taken = {name.casefold() for name in all_names}
    new: dict[str, str] = {}
    for name in all_names:
        if ledger.changes(name) or ledger.changes(name.replace("_", " ")):
            number = len(new) + 1
            while f"{beginning}{number}".casefold() in taken:
                number += 1
            new[name] = f"{beginning}{number}"
            taken.add(new[name].casefold())
    return new


def written_out(value: str) -> str:
    """A whole number written out: 9.1234567E7 is 91234567."""
    if not _WHOLE.fullmatch(value):
        return value
    number = float(value)
    return str(int(number)) if "E" in value.upper() or "." in value else value
