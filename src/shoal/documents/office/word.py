"""Word (.docx, ISO/IEC 29500-1, WordprocessingML): texts in place, formatting kept.

Joined over runs: paragraphs of the body, tables, headers, footers, notes, comments, text boxes, charts, diagrams and
equations. What tracking kept of deleted text goes, insertions stay without author and date. Properties, embedded
objects and fonts, macros, custom XML, thumbnails, the list of people, marks of editing sessions go. Pictures become
blank unless they are to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Final

from shoal.documents.base import DocumentText, damaged
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.office.ooxml import OfficeFormat, attribute, clean_run, leaves, local, remove, text_of
from shoal.documents.office.package import OfficePackage, PartFate

_PARAGRAPH: Final = frozenset({"p"})
_TEXT: Final = frozenset({"t"})
_FIELD: Final = frozenset({"instrText", "delInstrText"})
_DELETED: Final = frozenset({"delText"})
_IN_PARAGRAPH: Final = _TEXT | _FIELD | _DELETED
_HISTORY: Final = re.compile(
    r"del|moveFrom|cellDel|\w+Change|delInstrText|moveFromRange\w+|customXml(Del|MoveFrom)Range\w+"
)
_PRIVATE: Final = frozenset({"rsids", "docVars", "mailMerge", "docId", "dataBinding", "attachedSchema", "smartTagType"})
_WRITERS: Final = {"author": "Author", "initials": "A", "userId": "", "providerId": "None"}
_UNDATED: Final = re.compile(r"date|dateUtc|rsid\w*")
_FREE: Final = frozenset({"descr", "title", "alt", "string", "instr", "tooltip", "displayText", "href", "lastValue"})
"""Attributes that hold words of the author's, wherever they stand."""
_VALUED: Final = re.compile(
    r"alias|tag|default|helpText|statusText|listEntry|tblCaption|tblDescription|lvlText|name|entryMacro|exitMacro|docPart"
    r"|attr|category|description|placeholder|dropDownList|date|caption|aliases"
)
"""Elements whose ``val`` holds such words."""
_PLACES: Final = {"document": "body", "main": "body", "glossary": "building blocks"}


@dataclass(frozen=True)
class WordFormat(OfficeFormat):
    key: ClassVar[str] = "docx"
    order: ClassVar[int] = 80
    endings: ClassVar[tuple[str, ...]] = (".docx", ".docm", ".dotx")
    media: ClassVar[tuple[str, ...]] = (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        "application/vnd.ms-word.document.macroenabled.12",
    )
    folder: ClassVar[str] = "word"
    kept: ClassVar[re.Pattern[str]] = re.compile(
        r"wordprocessingml\.(document|template|header|footer|footnotes|endnotes|comments|commentsExtended|commentsIds"
        r"|styles|stylesWithEffects|numbering|settings|webSettings|fontTable|document\.glossary)(\.main)?\+xml$"
        r"|ms-word\.(document|template)\.macroEnabled\w*\.main\+xml$|ms-word\.stylesWithEffects\+xml$"
        r"|officedocument\.theme\+xml$|drawingml\.(chart|chartshapes|diagram\w+)\+xml$"
        r"|ms-office\.(drawingml\.diagramDrawing|chartstyle|chartcolorstyle|chartex)\+xml$"
    )

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        package = self.opened(source, label)
        main = self._main(package)
        for name in package.reachable(lambda one: self.fate(package, one)):
            if self.fate(package, name) is PartFate.CLEAN or package.type_of(name).endswith("xml"):
                place = self._place(package, name, main)
                yield from _pieces(package.tree(name), place)

    def clean_parts(self, package: OfficePackage, parts: list[str], ledger: EditRecorder) -> Iterator[tuple[str, Any]]:
        main = self._main(package)
        names = _BookmarkNames(ledger)
        for name in parts:
            tree = package.tree(name)
            _clean(tree, self._place(package, name, main), ledger, names)
            yield name, tree

    def _main(self, package: OfficePackage) -> str:
        main = package.main()
        if "word" not in package.type_of(main):
            raise damaged(package.label, "Word")
        return main

    def _place(self, package: OfficePackage, name: str, main: str) -> str:
        if name == main:
            return "body"
        return name.rpartition("/")[2].removesuffix(".xml") if re.fullmatch(r"\w+/[\w/]+\.xml", name) else "part"


class _BookmarkNames:
    """Bookmarks that need another name, the same for all that points to them."""

    def __init__(self, ledger: EditRecorder) -> None:
        self._ledger = ledger
        self._new: dict[str, str] = {}

    def of(self, place: str, name: str) -> str:
        if name not in self._new:
            changes = self._ledger.changes(name) or self._ledger.changes(name.replace("_", " "))
            self._new[name] = f"place{len(self._new) + 1}" if changes else name
        if self._new[name] != name:
            self._ledger.replaced(place, "bookmark")
        return self._new[name]


def _clean(tree: Any, place: str, ledger: EditRecorder, names: _BookmarkNames) -> None:
    _forget(tree, place, ledger)
    joined = set()
    for number, paragraph in enumerate(tree.iter("{*}p"), 1):
        here = f"{place}, paragraph {number}"
        for kind in (_TEXT, _FIELD):
            elements = leaves(paragraph, _PARAGRAPH, kind)
            joined.update(elements)
            clean_run(elements, here, ledger)
    for element in tree.iter("*"):
        if element not in joined and element.text and element.text.strip():
            element.text = ledger.clean(place, element.text)
        if element.tail and element.tail.strip():
            element.tail = ledger.clean(place, element.tail)
        _clean_attributes(element, place, ledger, names)


def _forget(tree: Any, place: str, ledger: EditRecorder) -> None:
    """Take out deleted text, earlier formatting, and what ties a document to its makers."""
    for element in list(tree.iter("*")):
        name = local(element)
        if _HISTORY.fullmatch(name) and "wordprocessingml" in element.tag:
            above = element.getparent()
            is_row = name == "del" and above is not None and local(above) == "trPr"
            ledger.removed(place, "tracked change")
            remove(above.getparent() if is_row else element)
        elif name in _PRIVATE:
            remove(element)


def _clean_attributes(element: Any, place: str, ledger: EditRecorder, names: _BookmarkNames) -> None:
    for full, value in list(element.attrib.items()):
        name, on = attribute(full), local(element)
        if name in _WRITERS and value not in {"", _WRITERS[name]}:
            element.set(full, _WRITERS[name])
            ledger.replaced(place, "author")
        elif _UNDATED.fullmatch(name) and "/word" in full:
            del element.attrib[full]
        elif (name == "name" and on in {"bookmarkStart", "docPr", "cNvPr"}) or name in {"anchor", "bookmark"}:
            element.set(full, names.of(place, value))
        elif name in _FREE or (name == "val" and _VALUED.fullmatch(on)) or (name == "value" and on == "listItem"):
            element.set(full, ledger.clean(place, value))


def _pieces(tree: Any, place: str) -> Iterator[DocumentText]:
    joined = set()
    for number, paragraph in enumerate(tree.iter("{*}p"), 1):
        for kind in (_TEXT, _FIELD, _DELETED):
            elements = leaves(paragraph, _PARAGRAPH, kind)
            joined.update(elements)
            text = "".join(text_of(elements))
            if text.strip():
                yield DocumentText(f"{place}, paragraph {number}", text)
    for element in tree.iter("*"):
        if element not in joined and element.text and element.text.strip():
            yield DocumentText(place, element.text, "author" if local(element) in {"creator", "lastModifiedBy"} else "")
        for full, value in element.attrib.items():
            name = attribute(full)
            if name in _FREE or name == "author" or (name == "val" and _VALUED.fullmatch(local(element))):
                yield DocumentText(place, value, "author" if name == "author" else "")
