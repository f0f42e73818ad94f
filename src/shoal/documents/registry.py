"""Which document format reads a file: by its ending, or by how it begins where the ending tells nothing.

A new format is one new file of this room, or one in another distribution under the entry point ``shoal.documents``.
"""

from __future__ import annotations

from pathlib import Path

from shoal.documents.base import DocumentFormat, DocumentOptions, document_formats, reading
from shoal.documents.plain_text import PlainTextFormat
from shoal.errors import InputError


def endings() -> dict[str, type[DocumentFormat]]:
    return {ending: one for one in document_formats() for ending in one.endings}


def format_for(path: Path, options: DocumentOptions | None = None) -> DocumentFormat:
    """The format of a file. InputError if none reads it."""
    known = endings()
    kind = known.get(path.suffix.lower()) or _by_content(path)
    if kind is None:
        raise InputError(
            f"{path}: nothing here reads this kind of file", advice=f"known endings: {' '.join(sorted(known))}"
        )
    return kind(options or DocumentOptions())


def _by_content(path: Path) -> type[DocumentFormat] | None:
    if path.suffix:
        return None
    with reading(path) as source:
        head = source.read(1024)
    found = next((one for one in document_formats() if one.begins(head)), None)
    if found is None and b"\0" not in head:
        return PlainTextFormat
    return found
