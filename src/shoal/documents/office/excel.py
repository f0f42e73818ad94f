"""Excel (.xlsx, ISO/IEC 29500-1, SpreadsheetML) in place: texts of cells, and wherever else a workbook keeps them.

Shared and inline strings, results of formulas, texts within formulas, notes and comments, names of sheets and ranges,
headers, footers, validations, filters, tables, drawings, charts; hidden sheets and rows like others. Pivot tables with
their caches, slicers, links to other files, connections, properties, macros, embedded objects, printer settings go.
Numbers are looked at where they are whole and long enough to be identifiers; dates and amounts stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar, Final

from shoal.documents.base import DocumentText
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.office.formulas import RenamedReferences, cleaned
from shoal.documents.office.ooxml import OfficeFormat, attribute, clean_run, leaves, local, remove
from shoal.documents.office.package import OfficePackage, PartFate
from shoal.documents.office.workbook import FREE, GROUPS, TEXT, Workbook, cells_of, loose_texts, walk, written_out

_GONE: Final = frozenset(
    "rPh phoneticPr scenarios customSheetViews customWorkbookViews fileSharing webPublishItems absPath docId".split()  # noqa: SIM905
)
_FORMULAS: Final = re.compile(r"f|formula\d?|definedName|calculatedColumnFormula|totalsRowFormula")
_HEADER: Final = re.compile(r"(odd|even|first)(Header|Footer)")
_CODE: Final = re.compile(r'(&(?:"[^"]*"|K[0-9A-F]{6}|\d+|[A-Z]))')
_IDENTIFIER: Final = re.compile(r"\d{6,}")


@dataclass(frozen=True)
class ExcelFormat(OfficeFormat):
    key: ClassVar[str] = "xlsx"
    order: ClassVar[int] = 90
    endings: ClassVar[tuple[str, ...]] = (".xlsx", ".xlsm", ".xltx")
    media: ClassVar[tuple[str, ...]] = (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        "application/vnd.ms-excel.sheet.macroenabled.12",
    )
    folder: ClassVar[str] = "xl"
    kept: ClassVar[re.Pattern[str]] = re.compile(
        r"spreadsheetml\.(sheet\.main|template\.main|worksheet|chartsheet|sharedStrings|styles|comments|table)\+xml$"
        r"|ms-excel\.(sheet|template)\.macroEnabled\.main\+xml$|ms-excel\.(threadedcomments|person)\+xml$"
        r"|officedocument\.(theme|drawing|themeOverride)\+xml$|drawingml\.(chart|chartshapes|diagram\w+)\+xml$"
        r"|officedocument\.vmlDrawing$|ms-office\.(drawingml\.diagramDrawing|chartstyle|chartcolorstyle|chartex)\+xml$"
    )

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        package = self.opened(source, label)
        book = Workbook.of(package)
        for name in package.reachable(lambda one: self.fate(package, one)):
            if name == book.strings:
                continue
            if name in book.sheets:
                yield from cells_of(package.tree(name), book, book.sheets[name])
            elif self.fate(package, name) is PartFate.CLEAN or package.type_of(name).endswith("xml"):
                yield from loose_texts(package.tree(name), _place(name))

    def clean_parts(self, package: OfficePackage, parts: list[str], ledger: EditRecorder) -> Iterator[tuple[str, Any]]:
        book = Workbook.of(package)
        job = _WorkbookCleaner(book, ledger, book.renamed(ledger))
        last = sorted(parts, key=lambda name: name == book.strings)
        for name in last:
            tree = package.tree(name)
            if name == book.strings:
                job.shared(tree)
            else:
                job.part(tree, name)
            yield name, tree


@dataclass
class _WorkbookCleaner:
    book: Workbook
    ledger: EditRecorder
    renamed: RenamedReferences
    used: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Where each shared string is first used: place and column heading."""

    def part(self, tree: Any, name: str) -> None:
        for element in list(tree.iter("*")):
            if local(element) in _GONE:
                remove(element)
        old = self.book.sheets.get(name)
        place = self.renamed.sheets.get(old, old) if old is not None else _place(name)
        done = set()
        if old is not None:
            done.update(self._cells(tree, place))
        for element in tree.iter("*"):
            if element not in done:
                done.update(self._element(element, place))

    def shared(self, tree: Any) -> None:
        for element in [*tree.iter("{*}rPh"), *tree.iter("{*}phoneticPr")]:
            remove(element)
        for number, element in enumerate(tree.iter("{*}si")):
            place, label = self.used.get(number, ("shared string without a cell", ""))
            _clean_group(element, place, self.ledger, label)

    def _cells(self, tree: Any, sheet: str) -> set[Any]:
        frozen: set[str] = set()
        for cell, place, label in walk(tree, self.book, sheet):
            for name in [one for one in cell.attrib if attribute(one) in {"vm", "cm"}]:
                del cell.attrib[name]
            formula = cell.find("{*}f")
            if formula is not None:
                self._formula(cell, formula, place, frozen)
            self._cell(cell, place, label)
        return {one for cell in tree.iter("{*}c") for one in cell.iter("*")}

    def _formula(self, cell: Any, formula: Any, place: str, frozen: set[str]) -> None:
        new = cleaned(formula.text, place, self.ledger, self.renamed) if formula.text else ""
        group = formula.get("si", "")
        if new is None or (group in frozen and not formula.text):
            frozen.add(group)
            cell.remove(formula)
            self.ledger.removed(place, "formula")
        elif formula.text:
            formula.text = new

    def _cell(self, cell: Any, place: str, label: str) -> None:
        kind, value = cell.get("t", "n"), cell.find("{*}v")
        inline = cell.find("{*}is")
        if inline is not None:
            _clean_group(inline, place, self.ledger, label)
        elif value is None or not value.text:
            return
        elif kind == "s":
            if value.text.isdigit():
                self.used.setdefault(int(value.text), (place, label))
        elif kind in {"str", "d"} or (kind == "n" and _IDENTIFIER.fullmatch(written_out(value.text))):
            old = written_out(value.text) if kind == "n" else value.text
            new = self.ledger.clean(place, old, label)
            if new != old:
                value.text = new
                cell.set("t", "str")

    def _element(self, element: Any, place: str) -> list[Any]:
        name, ledger = local(element), self.ledger
        self._attributes(element, place)
        if name in GROUPS:
            inner = leaves(element, GROUPS, TEXT)
            if inner:
                clean_run(inner, place, ledger)
                return [element, *inner]
        text = element.text
        if not text or not text.strip():
            return []
        if name == "author":
            element.text = "Author"
            ledger.replaced(place, "author")
        elif _HEADER.fullmatch(name):
            element.text = "".join(
                one if _CODE.fullmatch(one) else ledger.clean(place, one) for one in _CODE.split(text)
            )
        elif _FORMULAS.fullmatch(name):
            new = cleaned(text, place, ledger, self.renamed)
            element.text = "#REF!" if new is None else new
        else:
            element.text = ledger.clean(place, text)
        return []

    def _attributes(self, element: Any, place: str) -> None:
        on = local(element)
        for full, value in list(element.attrib.items()):
            new = self._attribute(on, attribute(full), value, place)
            if new != value:
                element.set(full, new)

    def _attribute(self, on: str, name: str, value: str, place: str) -> str:
        if on == "sheet" and name == "name":
            return self._named(self.renamed.sheets, value, place)
        if on == "definedName" and name == "name":
            return self._named(self.renamed.names, value, place)
        if on == "person":
            return {"displayName": "Person", "userId": "", "providerId": "None"}.get(name, value)
        if on == "hyperlink" and name == "location":
            return self.ledger.clean(place, self.renamed.in_formula(value))
        worded = (on in {"filter", "customFilter", "x14:filter"} and name in {"val"}) or (
            name == "name" and on in {"cNvPr", "cellStyle", "protectedRange", "tableColumn", "table"}
        )
        if worded or name in FREE or (on == "table" and name == "displayName") or name == "formatCode":
            return self.ledger.clean(place, value)
        return "" if name == "dT" else value

    def _named(self, names: Any, value: str, place: str) -> str:
        if value in names:
            self.ledger.replaced("workbook", "name")
        return str(names.get(value, value))


def _clean_group(element: Any, place: str, ledger: EditRecorder, label: str) -> None:
    inner = leaves(element, GROUPS, TEXT)
    if len(inner) == 1:
        new = ledger.clean(place, inner[0].text or "", label)
        if new != (inner[0].text or ""):
            inner[0].text = new
    else:
        clean_run(inner, place, ledger)


def _place(name: str) -> str:
    short = name.rpartition("/")[2].rpartition(".")[0]
    return short if re.fullmatch(r"[A-Za-z]+\d*", short) else "part"
