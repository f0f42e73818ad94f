"""What Word and Excel files share: parts are cleaned by rules, relationships follow, texts are joined over runs."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, ClassVar, Final

from shoal.documents.base import DocumentFormat
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.office.package import (
    ROOT,
    OfficePackage,
    PackageWriter,
    PartFate,
    PartRelationship,
    full_types,
    written,
)
from shoal.documents.office.pictures import blank, stripped

RELATED: Final = re.compile(
    r"\{http://(?:schemas\.openxmlformats\.org|purl\.oclc\.org)/.*[rR]elationships\}\w+|.*\}?relId"
)
_PACKAGE_ONLY: Final = frozenset({"thumbnail", "core-properties", "extended-properties", "custom-properties", "origin"})
_PRUNED: Final = frozenset({"Choice", "Fallback", "AlternateContent", "ext", "extLst"})
_BREAKS: Final = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"


def local(element: Any) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def attribute(name: str) -> str:
    return name.rpartition("}")[2]


@dataclass(frozen=True)
class OfficeFormat(DocumentFormat):
    kept: ClassVar[re.Pattern[str]]
    """Content types that the carrier knows how to clean; all others go."""
    folder: ClassVar[str]

    def opened(self, source: BinaryIO, label: str) -> OfficePackage:
        return OfficePackage(source, label, self.options.most_bytes)

    @abstractmethod
    def clean_parts(self, package: OfficePackage, parts: list[str], ledger: EditRecorder) -> Iterator[tuple[str, Any]]:
        """Each part with its cleaned tree."""

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        package = self.opened(source, label)
        parts = package.reachable(lambda name: self.fate(package, name))
        with PackageWriter(target) as writer:
            self._relate(package, ROOT, writer, ledger)
            cleaned = [name for name in parts if self.fate(package, name) is PartFate.CLEAN]
            for name, tree in self.clean_parts(package, cleaned, ledger):
                unhook(tree, self._relate(package, name, writer, ledger))
                writer.put(name, written(tree), package.type_of(name))
            for name in parts:
                self._other_part(package, name, writer, ledger)
            if any(self.fate(package, name) is PartFate.PICTURE for name in parts):
                writer.put(self._blank, blank(), "image/png")
        orphans = sum(1 for name in package if name not in parts and not _is_scaffold(name))
        if orphans:
            ledger.removed("package", "part that nothing leads to", orphans)

    def _other_part(self, package: OfficePackage, name: str, writer: PackageWriter, ledger: EditRecorder) -> None:
        fate = self.fate(package, name)
        if fate is PartFate.DROP:
            ledger.removed("package", _plain_kind(package.type_of(name)))
        elif fate is PartFate.PICTURE:
            content = stripped(package.read(name)) if self.options.pictures == "keep" else None
            if content is None:
                ledger.removed("package", "picture")
            if self.options.pictures == "keep":
                writer.put(name, content or blank(), package.type_of(name) if content else "image/png")

    def fate(self, package: OfficePackage, name: str) -> PartFate:
        kind = package.type_of(name)
        if self.kept.search(kind):
            return PartFate.CLEAN
        return PartFate.PICTURE if kind.startswith("image/") and "svg" not in kind else PartFate.DROP

    @property
    def _blank(self) -> str:
        return f"{self.folder}/media/no-picture.png"

    def _relate(self, package: OfficePackage, name: str, writer: PackageWriter, ledger: EditRecorder) -> frozenset[str]:
        """Write the relationships of a part that stay; the ids of those that don't."""
        types = full_types(package, name)
        stays: list[tuple[PartRelationship, str]] = []
        gone = set()
        for one in package.relationships(name):
            new = self._related(package, one, ledger)
            if new is None:
                gone.add(one.id)
            else:
                stays.append((new, types[one.id]))
        writer.relate(name, stays)
        return frozenset(gone)

    def _related(self, package: OfficePackage, one: PartRelationship, ledger: EditRecorder) -> PartRelationship | None:
        if one.external:
            if one.kind == "hyperlink":
                return replace(one, target=ledger.clean("hyperlink", one.target))
            ledger.removed("package", f"link to an outside {one.kind}")
            return None
        if one.kind in _PACKAGE_ONLY or one.target not in package:
            return None
        fate = self.fate(package, one.target)
        if fate is PartFate.DROP:
            return None
        if fate is PartFate.PICTURE and self.options.pictures == "remove":
            return replace(one, target=self._blank)
        return one


def unhook(tree: Any, gone: Iterable[str]) -> None:
    """Take out the elements that point to what is no longer there."""
    ids = frozenset(gone)
    for element in list(tree.iter("*")) if ids else ():
        held = [name for name, value in element.attrib.items() if value in ids and RELATED.fullmatch(name)]
        if held and local(element) == "pageSetup":
            for name in held:
                del element.attrib[name]
        elif held:
            remove(element)


def remove(element: Any) -> None:
    """Take out an element, and what around it makes no sense without it; text that follows it stays."""
    extension = next((one for one in element.iterancestors("{*}ext")), None)
    element = element if extension is None else extension
    parent = element.getparent()
    if parent is None:
        return
    if element.tail and element.tail.strip():
        before = element.getprevious()
        if before is None:
            parent.text = (parent.text or "") + element.tail
        else:
            before.tail = (before.tail or "") + element.tail
    parent.remove(element)
    if not len(parent) and (local(parent) in _PRUNED or ("spreadsheetml" in str(parent.tag) and not parent.text)):
        remove(parent)


def leaves(paragraph: Any, paragraphs: frozenset[str], names: frozenset[str]) -> list[Any]:
    """The text elements and breaks of a paragraph, without those of paragraphs within it (text boxes)."""
    found = []
    for element in paragraph.iter("*"):
        if local(element) in names or (local(element) in _BREAKS and local(element.getparent()) != "tabs"):
            above = next((one for one in element.iterancestors() if local(one) in paragraphs), None)
            if above is paragraph:
                found.append(element)
    return found


def text_of(elements: Iterable[Any]) -> list[str]:
    return [_BREAKS.get(local(one), one.text or "") for one in elements]


def clean_run(elements: list[Any], place: str, ledger: EditRecorder) -> None:
    """Scrub the texts of elements as one text. What should stand where a break was moves to the text beside it."""
    old = text_of(elements)
    new = ledger.spread(place, old)
    carried = ""
    for element, before, after in zip(elements, old, new, strict=True):
        if local(element) in _BREAKS:
            if after != before:
                carried += after
                remove(element)
        elif carried or after != before:
            element.text = carried + after or None
            element.set(_SPACE, "preserve")
            carried = ""


def _is_scaffold(name: str) -> bool:
    return name.endswith(".rels") or name == "[Content_Types].xml"


def _plain_kind(content_type: str) -> str:
    """A content type in short: it is a name of a format, never of a person."""
    short = content_type.removesuffix("+xml").rpartition(".")[2].rpartition("/")[2]
    return short if re.fullmatch(r"[\w-]{1,40}", short) else "part of unknown kind"
