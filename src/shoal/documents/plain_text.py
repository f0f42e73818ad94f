"""Plain text and Markdown, block by block, so that a file of any length needs little memory.

A block ends at an empty line, or at the end of a line once it is long: what is recognised may go over lines, not over
paragraphs.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, ClassVar, Final

from shoal.documents.base import DocumentFormat, DocumentText
from shoal.documents.cleaning_account import EditRecorder
from shoal.errors import SourceError

TEXTS: Final = frozenset({".txt", ".text", ".md", ".rst", ""})
"""Endings of texts that are read as a whole, so that who is who is seen over all their lines."""
LOGS: Final = frozenset({".log", ".out", ".err"})
"""Endings of texts that are read line by line."""
BLOCK: Final = 1 << 16
LONGEST_LINE: Final = 1 << 26
_HEAD: Final = 1 << 16
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TRIED: Final = ("utf-8", "cp1252", "latin-1")


@dataclass(frozen=True)
class PlainTextFormat(DocumentFormat):
    key: ClassVar[str] = "text"
    order: ClassVar[int] = 10
    endings: ClassVar[tuple[str, ...]] = (".txt", ".text", ".md", ".markdown", ".rst", ".log")
    media: ClassVar[tuple[str, ...]] = ("text/plain", "text/markdown")
    is_plain: ClassVar[bool] = True

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        number = 1
        with decoded(source, label) as text:
            for block in blocks(text, label):
                yield DocumentText(f"line {number}", block)
                number += block.count("\n")

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        number = 1
        with decoded(source, label) as text, encoding(target, text.encoding) as out:
            for block in blocks(text, label):
                out.write(ledger.clean(f"line {number}", block))
                number += block.count("\n")


@contextmanager
def decoded(source: BinaryIO, label: str) -> Iterator[io.TextIOWrapper]:
    """The file as text: by its mark, as UTF-8, or else as Western European. It stays open after."""
    text = io.TextIOWrapper(source, encoding_of(source, label), newline="")
    try:
        yield text
    finally:
        text.detach()


@contextmanager
def encoding(target: BinaryIO, name: str) -> Iterator[io.TextIOWrapper]:
    """A file to write text to. It stays open after."""
    text = io.TextIOWrapper(target, name, newline="", errors="replace")
    try:
        yield text
    finally:
        text.detach()


def encoding_of(source: BinaryIO, label: str) -> str:
    head = source.read(_HEAD)
    source.seek(0)
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if b"\0" in head:
        raise SourceError(f"{label}: is not a text file")
    return next(name for name in _TRIED if _decodes(source, name))


def _decodes(source: BinaryIO, name: str) -> bool:
    checked = codecs.getincrementaldecoder(name)()
    try:
        while part := source.read(1 << 20):
            checked.decode(part)
        checked.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    finally:
        source.seek(0)
    return True


def blocks(text: io.TextIOWrapper, label: str) -> Iterator[str]:
    held: list[str] = []
    size = 0
    while line := _line(text, label):
        held.append(line)
        size += len(line)
        if not line.strip() or size >= BLOCK:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)


def _line(text: io.TextIOWrapper, label: str) -> str:
    try:
        line = text.readline(LONGEST_LINE)
    except UnicodeError:
        raise SourceError(f"{label}: holds bytes that are no {text.encoding} text") from None
    if len(line) == LONGEST_LINE:
        raise SourceError(f"{label}: has a line of more than {LONGEST_LINE >> 20} million characters")
    return line
