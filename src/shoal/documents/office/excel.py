"""Excel (.xlsx, ISO/IEC 29500-1, SpreadsheetML) in place: texts of cells, and wherever else a workbook keeps them.

Shared and inline strings, results of formulas, texts within formulas, notes and comments, names of sheets and ranges,
headers, footers, validations, filters, tables, drawings, charts; hidden sheets and rows like others. Pivot tables with
their caches, slicers, links to other files, connections, properties, macros, embedded objects, printer settings go.
Numbers are looked at where they are whole and long enough to be identifiers; dates and amounts stay. Of a formula it is
known what in it is text, and what points to sheets and names: what is renamed is renamed there too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar, Final

from shoal.documents.base import DocumentText, damaged
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.office.ooxml import OfficeFormat, attribute, clean_run, leaves, local, remove, text_of
from shoal.documents.office.package import OfficePackage, PartFate

_TEXT: Final = re.compile(r'"((?:[^"]|"")*)"')
_OUTSIDE: Final = re.compile(r"\[\d+\]|\.xl\w{1,3}\]")
_SHEET: Final = re.compile(r"'((?:[^']|'')+)'!|([^\W\d][\w.]*)!")
_NAME: Final = re.compile(r"(?<![\w.!'\"\[])([^\W\d][\w.]*)(?![\w.(!'\"\]])")


@dataclass(frozen=True)
class RenamedReferences:
    """Sheets and defined names that have another name now."""

    sheets: Mapping[str, str]
    names: Mapping[str, str]

    def in_formula(self, formula: str) -> str:
        pieces = _TEXT.split(formula)
        # split() puts what stands between quotes at odd places
        return "".join(f'"{piece}"' if odd % 2 else self._in_code(piece) for odd, piece in enumerate(pieces))

    def _in_code(self, code: str) -> str:
        if self.sheets:
            code = _SHEET.sub(self._sheet, code)
        return _NAME.sub(lambda found: self.names.get(found[1], found[1]), code) if self.names else code

    def _sheet(self, found: re.Match[str]) -> str:
        old = found[1].replace("''", "'") if found[1] else found[2]
        return f"'{self.sheets[old]}'!" if old in self.sheets else found[0]


def cleaned(formula: str, place: str, ledger: EditRecorder, renamed: RenamedReferences) -> str | None:
    """The formula with its texts scrubbed; None if it points to another file, or holds more that can't stay."""
    formula = renamed.in_formula(formula)
    code = _TEXT.sub('""', formula)
    if _OUTSIDE.search(code) or ledger.changes(code):
        return None
    return _TEXT.sub(lambda found: _quoted(ledger.clean(place, found[1].replace('""', '"'))), formula)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


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
