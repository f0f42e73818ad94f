"""Marked secrets for every hiding place, and a scrubber that knows just these.

A mark is ``Quill…feather`` with the name of the place inside, so that a test can say which place kept it.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.documents.packed import parts_of

from shoal import documents
from shoal.documents import DocumentAccount

MARK = re.compile(r"Quill\w*feather|\b7123456\d\d\b", re.IGNORECASE)
NUMBER = "712345678"
"""A number that is an identifier."""


def mark(place: str) -> str:
    return f"Quill{place}feather"


@dataclass(frozen=True)
class Done:
    start: int
    end: int
    new_start: int
    new_end: int
    type: str = "person"


@dataclass(frozen=True)
class Result:
    text: str
    actions: tuple[Done, ...]


def scrub(text: str) -> Result:
    done, out, at = [], "", 0
    for found in MARK.finditer(text):
        out += text[at : found.start()]
        done.append(Done(found.start(), found.end(), len(out), len(out) + len("[PERSON]")))
        out += "[PERSON]"
        at = found.end()
    return Result(out + text[at:], tuple(done))


def scrub_to_text(text: str) -> str:
    return scrub(text).text


def found_in(content: bytes) -> set[str]:
    """The marks in bytes, in any of the encodings that hide text."""
    texts = (content.decode("latin-1"), content.decode("utf-16-le", "ignore"), content.decode("utf-16-be", "ignore"))
    shifted = (content[1:].decode("utf-16-le", "ignore"), content[1:].decode("utf-16-be", "ignore"))
    return {found for text in (*texts, *shifted) for found in MARK.findall(text)}


def found_in_zip(content: bytes) -> set[str]:
    """The marks in the parts of a package, their names, and the bytes of the package itself."""
    marks = found_in(content)
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        for name in package.namelist():
            marks |= found_in(package.read(name)) | found_in(name.encode())
    return marks


Rewritten = tuple[bytes, bytes, DocumentAccount]
"""A document as it was, as it is, and what was done to it."""


def rewritten(folder: Path, ending: str, content: bytes) -> Rewritten:
    """A document without its marks."""
    old, new = folder / f"old.{ending}", folder / f"new.{ending}"
    old.write_bytes(content)
    account = documents.open(old).rewrite(old, new, scrub)
    return old.read_bytes(), new.read_bytes(), account


def assert_gone(place: str, files: Rewritten, torn: Mapping[str, str]) -> None:
    """A mark stood in a package and doesn't any more; of one that is torn apart, the piece that stands together."""
    old, new, _ = files
    before = b"".join(parts_of(old).values())
    looked_for = torn.get(place, mark(place))
    assert looked_for.encode() in before or looked_for.encode("utf-16-le") in before
    assert looked_for.encode() not in b"".join(parts_of(new).values())
    assert mark(place) not in found_in_zip(new)
