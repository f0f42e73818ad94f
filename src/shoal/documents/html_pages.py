"""HTML: tags stay, text is scrubbed across inline tags, attributes one by one.

The page is put together anew from what the parser tells, so what it doesn't tell is not in the result. Scripts,
comments, event handlers and data carried in addresses (``data:``) go: nobody can say what is in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from html.parser import HTMLParser
from typing import BinaryIO, ClassVar, Final
from urllib.parse import quote, unquote

from shoal.documents.base import DocumentFormat, DocumentText
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.plain_text import encoding_of

_INLINE: Final = re.compile(
    "a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|s|samp|small|span|strike|strong"
    "|sub|sup|time|tspan|tt|u|var|wbr"
)
_ADDRESSES: Final = re.compile(
    "href|src|action|formaction|cite|background|longdesc|poster|srcset|data|ping|manifest|usemap|xlink:href"
)
_HEAD: Final = 2048
_RAW: Final = frozenset({"script", "style"})
_CHARSET: Final = re.compile(rb"""charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)


@dataclass(slots=True)
class _PagePart:
    """A tag or a text, in the order of the page."""

    text: str
    is_text: bool
    breaks: bool = False
    """Text before and after belongs to different paragraphs."""


@dataclass(frozen=True)
class HtmlFormat(DocumentFormat):
    key: ClassVar[str] = "html"
    order: ClassVar[int] = 20
    endings: ClassVar[tuple[str, ...]] = (".html", ".htm", ".xhtml")
    media: ClassVar[tuple[str, ...]] = ("text/html", "application/xhtml+xml")

    @classmethod
    def begins(cls, head: bytes) -> bool:
        return head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html"))

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        page, _ = _read(source, label)
        yield from pieces_of(page)

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        page, charset = _read(source, label)
        target.write(cleaned(page, ledger).encode(charset, errors="xmlcharrefreplace"))


def _read(source: BinaryIO, label: str) -> tuple[str, str]:
    """The page and its charset: by its mark, as UTF-8, or as it says itself."""
    charset = encoding_of(source, label)
    content = source.read()
    told = _CHARSET.search(content[:_HEAD])
    if told and not charset.startswith("utf-"):
        with suppress(LookupError, UnicodeDecodeError):
            return content.decode(told[1].decode()), told[1].decode()
    return content.decode(charset), charset


def cleaned(page: str, ledger: EditRecorder) -> str:
    reader = _PageReader(ledger)
    reader.feed(page)
    reader.close()
    for group in _paragraphs(reader.parts):
        for part, new in zip(group, ledger.spread("text", [part.text for part in group]), strict=True):
            part.text = new
    return "".join(escape(part.text, quote=False) if part.is_text else part.text for part in reader.parts)


def pieces_of(page: str) -> Iterator[DocumentText]:
    """Texts of a page: paragraphs, attributes, comments and scripts."""
    found: list[DocumentText] = []
    reader = _PageReader(_DryRunRecorder(found))
    reader.feed(page)
    reader.close()
    yield from found
    for group in _paragraphs(reader.parts):
        yield DocumentText("text", "".join(part.text for part in group))


class _DryRunRecorder(EditRecorder):
    """Notes what would be scrubbed or removed, and changes nothing."""

    def __init__(self, found: list[DocumentText]) -> None:
        super().__init__(str)
        self._found = found

    def clean(self, place: str, text: str, label: str = "") -> str:
        self._found.append(DocumentText(place, text))
        return text


class _PageReader(HTMLParser):
    def __init__(self, ledger: EditRecorder) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[_PagePart] = []
        self._ledger = ledger
        self._raw = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag(tag, attrs, ">")
        self._raw = tag if tag in _RAW else ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag(tag, attrs, "/>")

    def handle_endtag(self, tag: str) -> None:
        self._raw = ""
        if tag != "script":
            self.parts.append(_PagePart(f"</{tag}>", is_text=False, breaks=not _INLINE.fullmatch(tag)))

    def handle_data(self, data: str) -> None:
        if self._raw == "script":
            self._drop("script", data)
        elif self._raw:
            style = self._ledger.clean("style", data).replace("</", "<\\/")
            self.parts.append(_PagePart(style, is_text=False, breaks=True))
        else:
            self.parts.append(_PagePart(data, is_text=True))

    def handle_comment(self, data: str) -> None:
        self._drop("comment", data)

    def handle_decl(self, decl: str) -> None:
        if decl.lower().startswith("doctype"):
            self.parts.append(_PagePart("<!DOCTYPE html>", is_text=False, breaks=True))

    def handle_pi(self, data: str) -> None:
        self._drop("instruction", data)

    def unknown_decl(self, data: str) -> None:
        self._drop("declaration", data)

    def _tag(self, tag: str, attrs: list[tuple[str, str | None]], end: str) -> None:
        if tag == "script":
            self._drop("script", " ".join(value or "" for _, value in attrs))
            return
        shown = "".join(self._attribute(name, value) for name, value in attrs)
        self.parts.append(_PagePart(f"<{tag}{shown}{end}", is_text=False, breaks=not _INLINE.fullmatch(tag)))

    def _attribute(self, name: str, value: str | None) -> str:
        place = f"attribute {name}"
        if value is None:
            return f" {name}"
        carries = value.strip().lower().startswith(("data:", "javascript:"))
        if carries or name.startswith("on") or name == "srcdoc":
            self._drop(place, value)
            return ""
        new = self._address(place, value) if _ADDRESSES.fullmatch(name) else self._ledger.clean(place, value)
        return f' {name}="{escape(new)}"'

    def _address(self, place: str, value: str) -> str:
        plain = unquote(value)
        new = self._ledger.clean(place, plain)
        return value if new == plain else quote(new, safe=":/?#[]@!$&'()*+,;=~%")

    def _drop(self, what: str, text: str) -> None:
        if isinstance(self._ledger, _DryRunRecorder):
            self._ledger.clean(what, text)
        elif text.strip():
            self._ledger.removed("page", what)


def _paragraphs(parts: list[_PagePart]) -> Iterator[list[_PagePart]]:
    group: list[_PagePart] = []
    for part in parts:
        if part.is_text:
            group.append(part)
        elif part.breaks and group:
            yield group
            group = []
    if group:
        yield group
