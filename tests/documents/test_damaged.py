"""Damaged and hostile files: whatever the bytes, a carrier reads a file or refuses it in one line, and never breaks."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.documents import test_excel, test_mail, test_pdf, test_word
from tests.documents.made import MADE
from tests.documents.marked import MARK, scrub
from tests.text.hostile import hostile

from shoal.documents import DocumentFormat, DocumentOptions, document_formats, endings
from shoal.documents.cleaning_account import EditRecorder
from shoal.errors import ShoalError

pytestmark = [
    pytest.mark.requirement("X-05"),
    pytest.mark.filterwarnings("ignore::UserWarning"),  # pikepdf's, of forms that hang together badly
]

RICH = {"b.docx": test_word.document, "b.xlsx": test_excel.book, "b.eml": test_mail.mail, "b.pdf": test_pdf.document}
FILES = {**MADE, **RICH}
SPLINTERS = (
    b"\0", b"<", b'"', b"&#0;", b"&#x110000;", b"\xff\xfe", b"\xed\xa0\x80", b"]]>", b"<!--", b"=?utf-8?b?//8=?=",
    b"\\ud800", b"9" * 400, b"\r", b"Content-Type: message/rfc822\n\n", b"\x1b$B", b"\nFrom ", b"/Length -1", b"[" * 50,
)  # fmt: skip


@cache
def original(name: str) -> bytes:
    return FILES[name]()


def damaged(name: str, seed: int) -> bytes:
    """The file with some bytes altered, cut out, doubled or put in; of a package, within one of its parts."""
    chance, content = random.Random(seed), original(name)
    if not name.endswith(("docx", "xlsx")) or chance.random() < 0.2:
        return _damaged(content, chance)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as package, zipfile.ZipFile(out, "w") as new:
        hit = chance.choice(package.namelist())
        for part in package.namelist():
            read = package.read(part)
            new.writestr(part, _damaged(read, chance) if part == hit else read)
    return out.getvalue()


def _damaged(content: bytes, chance: random.Random) -> bytes:
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(content) + 1)
        upto = min(len(content), at + chance.randint(1, 40))
        middle = chance.choice((b"", content[at:upto] * 2, bytes([chance.randrange(256)]), chance.choice(SPLINTERS)))
        content = content[:at] + middle + content[upto:]
    return content[: chance.randrange(len(content) + 1)] if chance.random() < 0.05 else content


def carrier(name: str) -> DocumentFormat:
    return endings()[f".{name.rpartition('.')[2]}"](DocumentOptions(dots=20))


def survives(reader: DocumentFormat, content: bytes) -> None:
    try:
        for _ in reader.pieces(io.BytesIO(content), "x"):
            pass
    except ShoalError as error:
        assert MARK.search(str(error)) is None
    out = io.BytesIO()
    try:
        reader.clean(io.BytesIO(content), out, EditRecorder(scrub), "x")
    except ShoalError as error:
        assert MARK.search(str(error)) is None
        return
    if reader.key in {"text", "csv", "html"}:
        assert MARK.search(out.getvalue().decode("utf-8", "replace")) is None


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=40)
@given(seed=st.integers(0, 1 << 32))
def test_damage_is_survived(name: str, seed: int) -> None:
    survives(carrier(name), damaged(name, seed))


@pytest.mark.parametrize("kind", document_formats(), ids=lambda kind: kind.key)
@settings(max_examples=60)
@given(content=st.one_of(st.binary(max_size=300), hostile.map(lambda text: text.encode("utf-8", "surrogatepass"))))
def test_any_bytes_are_survived(kind: type[DocumentFormat], content: bytes) -> None:
    survives(kind(DocumentOptions(dots=20)), content)


def test_the_limit_of_cells_is_left_as_it_was() -> None:
    before = csv.field_size_limit()
    wide = f"name,remark\nAsha,{'x' * (before + 1)}\n".encode()
    assert sum(len(piece.text) for piece in carrier("a.csv").pieces(io.BytesIO(wide), "x")) > before
    assert csv.field_size_limit() == before
