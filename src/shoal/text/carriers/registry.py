"""Which carrier reads a file: by its ending, or by how it begins where the ending tells nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from shoal.errors import InputError
from shoal.text.carriers.base import Carrier, Options, reading
from shoal.text.carriers.cells import Cells
from shoal.text.carriers.excel import Excel
from shoal.text.carriers.jsons import Json, JsonLines
from shoal.text.carriers.mail import Mail, Mailbox
from shoal.text.carriers.markup import Html
from shoal.text.carriers.pdf import Pdf
from shoal.text.carriers.plain import Plain
from shoal.text.carriers.word import Word

CARRIERS: Final[tuple[type[Carrier], ...]] = (Plain, Html, Cells, Json, JsonLines, Mail, Mailbox, Word, Excel, Pdf)
ENDINGS: Final[dict[str, type[Carrier]]] = {ending: one for one in CARRIERS for ending in one.endings}


def carrier_for(path: Path, options: Options | None = None) -> Carrier:
    """The carrier for a file. InputError if none reads it."""
    kind = ENDINGS.get(path.suffix.lower()) or _by_content(path)
    if kind is None:
        raise InputError(
            f"{path}: no carrier reads this kind of file", advice=f"known endings: {' '.join(sorted(ENDINGS))}"
        )
    return kind(options or Options())


def _by_content(path: Path) -> type[Carrier] | None:
    if path.suffix:
        return None
    with reading(path) as source:
        head = source.read(1024)
    if head.startswith(b"%PDF-"):
        return Pdf
    if head.startswith(b"From "):
        return Mailbox
    if head.lstrip()[:15].lower().startswith((b"<!doctype html", b"<html")):
        return Html
    return None if b"\0" in head else Plain
