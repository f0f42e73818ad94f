"""Which carrier reads a file: by its ending, or by how it begins where the ending tells nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from shoal.documents.base import DocumentFormat, DocumentOptions, reading
from shoal.documents.delimited import DelimitedFormat
from shoal.documents.html_pages import HtmlFormat
from shoal.documents.json_files import JsonFormat, JsonLinesFormat
from shoal.documents.mail.mailbox import MailboxFormat, MailFormat
from shoal.documents.office.excel import ExcelFormat
from shoal.documents.office.word import WordFormat
from shoal.documents.pdf.redaction import PdfFormat
from shoal.documents.plain_text import PlainTextFormat
from shoal.errors import InputError

DOCUMENT_FORMATS: Final[tuple[type[DocumentFormat], ...]] = (
    PlainTextFormat,
    HtmlFormat,
    DelimitedFormat,
    JsonFormat,
    JsonLinesFormat,
    MailFormat,
    MailboxFormat,
    WordFormat,
    ExcelFormat,
    PdfFormat,
)
ENDINGS: Final[dict[str, type[DocumentFormat]]] = {ending: one for one in DOCUMENT_FORMATS for ending in one.endings}


def format_for(path: Path, options: DocumentOptions | None = None) -> DocumentFormat:
    """The carrier for a file. InputError if none reads it."""
    kind = ENDINGS.get(path.suffix.lower()) or _by_content(path)
    if kind is None:
        raise InputError(
            f"{path}: no carrier reads this kind of file", advice=f"known endings: {' '.join(sorted(ENDINGS))}"
        )
    return kind(options or DocumentOptions())


def _by_content(path: Path) -> type[DocumentFormat] | None:
    if path.suffix:
        return None
    with reading(path) as source:
        head = source.read(1024)
    if head.startswith(b"%PDF-"):
        return PdfFormat
    if head.startswith(b"From "):
        return MailboxFormat
    if head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        return HtmlFormat
    return None if b"\0" in head else PlainTextFormat
