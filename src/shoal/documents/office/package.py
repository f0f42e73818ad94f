"""Office files as packages (ISO/IEC 29500-2): parts in a ZIP, each with a content type, tied together by relationships.

Opening checks what a hostile file might do: unpack to more than is wanted, name a part twice, bring a document type
with entities. Writing takes along only parts that a rule knows and that a relationship leads to.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, BinaryIO, Final
from zlib import error as ZlibError  # noqa: N812 - an exception, named as one

from shoal.documents.base import damaged, encrypted, missing_extra
from shoal.errors import SourceError
from shoal.sandbox.archive_limits import refuse_archive_bomb

TYPES: Final = "[Content_Types].xml"
ROOT: Final = ""
"""The package itself, as the origin of relationships."""
_OLD: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_RELATIONSHIP: Final = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_SAME_TIME: Final = (1980, 1, 1, 0, 0, 0)


class PartFate(Enum):
    """What becomes of a part."""

    CLEAN = "clean"
    PICTURE = "picture"
    DROP = "drop"


@dataclass(frozen=True)
class PartRelationship:
    id: str
    kind: str
    """The last word of its type: ``hyperlink``, ``image``, ``oleObject``."""
    target: str
    external: bool


def parsed(content: bytes, label: str) -> Any:
    """The root of an XML part. Comments and processing instructions are left out, a document type is refused."""
    try:
        from lxml import etree  # type: ignore[import-untyped]
    except ImportError:
        raise missing_extra("an office file") from None
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError:
        raise SourceError(f"{label}: holds a part that is not XML") from None
    if root.getroottree().docinfo.doctype:
        raise SourceError(f"{label}: holds a document type, which office files don't have")
    return root


def written(root: Any) -> bytes:
    from lxml import etree

    return bytes(etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True))


class OfficePackage:
    def __init__(self, source: BinaryIO, label: str, most_bytes: int) -> None:
        self.label = label
        self._zip = _opened(source, label)
        infos = [info for info in self._zip.infolist() if not info.is_dir()]
        _check(infos, label, most_bytes)
        self._infos = {info.filename: info for info in infos}
        self._types, self._endings = self._content_types()

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __contains__(self, name: str) -> bool:
        return name in self._infos

    def read(self, name: str) -> bytes:
        try:
            return self._zip.read(self._infos[name])
        except (zipfile.BadZipFile, EOFError, RuntimeError, ZlibError, KeyError, OSError, ValueError):
            raise damaged(self.label, "office") from None

    def tree(self, name: str) -> Any:
        return parsed(self.read(name), self.label)

    def type_of(self, name: str) -> str:
        ending = posixpath.splitext(name)[1].lstrip(".").lower()
        return self._types.get(name.lower()) or self._endings.get(ending, "")

    def main(self) -> str:
        """The part that the document begins with."""
        for one in self.relationships(ROOT):
            if one.kind == "officeDocument" and not one.external and one.target in self:
                return one.target
        raise damaged(self.label, "office")

    def relationships(self, name: str) -> list[PartRelationship]:
        place = rels_of(name)
        if place not in self:
            return []
        return [_relationship(element, name) for element in self.tree(place).iter(_RELATIONSHIP)]

    def reachable(self, fate: Callable[[str], PartFate]) -> list[str]:
        """Parts to which relationships lead from the beginning by parts that stay, in order."""
        found: dict[str, None] = {}
        waiting = [ROOT]
        while waiting:
            for one in self.relationships(waiting.pop()):
                if not one.external and one.target in self and one.target not in found:
                    found[one.target] = None
                    if fate(one.target) is PartFate.CLEAN:
                        waiting.append(one.target)
        return list(found)

    def _content_types(self) -> tuple[dict[str, str], dict[str, str]]:
        if TYPES not in self:
            raise damaged(self.label, "office")
        root = self.tree(TYPES)
        return (
            {
                one.get("PartName", "").lstrip("/").lower(): one.get("ContentType", "")
                for one in root.iter("{*}Override")
            },
            {one.get("Extension", "").lower(): one.get("ContentType", "") for one in root.iter("{*}Default")},
        )


class PackageWriter:
    """A new package; types and relationships are written from what was put in."""

    def __init__(self, target: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED)
        self._types: dict[str, str] = {}

    def put(self, name: str, content: bytes, content_type: str = "") -> None:
        info = zipfile.ZipInfo(name, _SAME_TIME)
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, content)
        if content_type:
            self._types[name] = content_type

    def relate(self, name: str, relationships: list[tuple[PartRelationship, str]]) -> None:
        """The relationships of a part, each with its full type."""
        if relationships:
            lines = "".join(_line(one, kind) for one, kind in relationships)
            space = "http://schemas.openxmlformats.org/package/2006/relationships"
            self.put(rels_of(name), _xml(f'<Relationships xmlns="{space}">{lines}</Relationships>'))

    def __enter__(self) -> PackageWriter:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None:
            self._put_types()
        self._zip.close()

    def _put_types(self) -> None:
        space = "http://schemas.openxmlformats.org/package/2006/content-types"
        rels = "application/vnd.openxmlformats-package.relationships+xml"
        lines = "".join(
            f'<Override PartName="/{_escaped(name)}" ContentType="{_escaped(kind)}"/>'
            for name, kind in self._types.items()
        )
        defaults = (
            f'<Default Extension="rels" ContentType="{rels}"/><Default Extension="xml" ContentType="application/xml"/>'
        )
        self.put(TYPES, _xml(f'<Types xmlns="{space}">{defaults}{lines}</Types>'))


def rels_of(name: str) -> str:
    folder, file = posixpath.split(name)
    return posixpath.join(folder, "_rels", f"{file}.rels")


def full_types(package: OfficePackage, name: str) -> dict[str, str]:
    """The full type of each relationship of a part, by id."""
    place = rels_of(name)
    if place not in package:
        return {}
    return {one.get("Id", ""): one.get("Type", "") for one in package.tree(place).iter(_RELATIONSHIP)}


def _relationship(element: Any, name: str) -> PartRelationship:
    target, external = element.get("Target", ""), element.get("TargetMode") == "External"
    if not external:
        target = posixpath.normpath(posixpath.join("/", posixpath.dirname(name), target)).lstrip("/")
    return PartRelationship(element.get("Id", ""), element.get("Type", "").rpartition("/")[2], target, external)


def _line(one: PartRelationship, kind: str) -> str:
    target = one.target if one.external else f"/{one.target}"
    mode = ' TargetMode="External"' if one.external else ""
    return f'<Relationship Id="{_escaped(one.id)}" Type="{_escaped(kind)}" Target="{_escaped(target)}"{mode}/>'


def _xml(body: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{body}'.encode()


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _opened(source: BinaryIO, label: str) -> zipfile.ZipFile:
    head = source.read(len(_OLD))
    source.seek(0)
    if head == _OLD:
        raise SourceError(
            f"{label}: is encrypted, or of the binary format before 2007",
            advice="take the password off, or save it as .docx or .xlsx",
        )
    try:
        return zipfile.ZipFile(source)
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, NotImplementedError):
        raise damaged(label, "office") from None


def _check(infos: list[zipfile.ZipInfo], label: str, most_bytes: int) -> None:
    if any(info.flag_bits & 1 for info in infos):
        raise encrypted(label)
    if len({info.filename.lower() for info in infos}) < len(infos):
        raise SourceError(f"{label}: holds two parts of one name")
    refuse_archive_bomb(infos, label, most_bytes)
