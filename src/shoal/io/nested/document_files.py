"""Files of documents, one document after the other: an array, one per line, or a single one. Never whole in memory."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, Final

from shoal.errors import SourceError
from shoal.io.formats.detection import Fingerprint, resolve
from shoal.io.options import FileOptions

_CHUNK: Final = 1 << 20
LARGEST: Final = 64 << 20
"""Characters of one document; an array of many is none."""
_SPACE: Final = " \t\r\n"


class DocumentShape(StrEnum):
    """How documents lie in a file."""

    ARRAY = "array"
    LINES = "lines"
    SINGLE = "single"


@dataclass(frozen=True)
class DocumentFile:
    label: str
    path: Path
    shape: DocumentShape
    fingerprint: Fingerprint

    @classmethod
    def at(cls, path: str, base: Path | None = None) -> DocumentFile:
        options = FileOptions(path=path)
        found = resolve(options, base)
        fingerprint = Fingerprint.of(found)
        with found.open("rb") as file:
            opening = file.read(_CHUNK).removeprefix(codecs.BOM_UTF8).lstrip()
        if not opening.startswith((b"[", b"{")):
            raise SourceError(f"{path}: is not made of JSON documents")
        shape = DocumentShape.ARRAY if opening.startswith(b"[") else DocumentShape.LINES
        whole = cls(path, found, shape, fingerprint)
        if shape is DocumentShape.LINES:
            documents = whole.documents()
            next(documents, None)
            shape = DocumentShape.SINGLE if next(documents, None) is None else shape
        return cls(path, found, shape, fingerprint)

    def documents(self) -> Iterator[dict[str, Any]]:
        """In their order. What is wrong is told by the number of the document, without any value."""
        self.fingerprint.check(self.path, self.label)
        with self.path.open("rb") as file:
            for number, found in enumerate(_Parser(file, self.label).values(self.shape), start=1):
                if not isinstance(found, dict):
                    raise SourceError(f"{self.label}: document {number:,} is no object")
                yield found


class _Parser:
    def __init__(self, file: BinaryIO, label: str) -> None:
        self._file = file
        self._label = label
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder(parse_constant=_refuse)
        self._text = ""
        self._at = 0
        self._ended = False
        self._number = 0

    def values(self, shape: DocumentShape) -> Iterator[object]:
        in_array = shape is DocumentShape.ARRAY
        if in_array:
            self._mark("[")
        while (mark := self._next()) and not (in_array and mark == "]"):
            if in_array and self._number:
                self._mark(",")
                self._next()
            self._number += 1
            yield self._value()
        if in_array:
            self._mark("]")
            if self._next():
                raise self._broken()

    def _next(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if self._ended:
                return ""
            self._read(_CHUNK)

    def _mark(self, mark: str) -> None:
        if self._next() != mark:
            raise self._broken()
        self._at += 1

    def _value(self) -> object:
        more = _CHUNK
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except RecursionError:
                raise SourceError(f"{self._label}: document {self._number:,} is nested too deeply") from None
            except ValueError:
                if self._ended or len(self._text) - self._at > LARGEST:
                    raise self._broken() from None
                self._read(more)
                more *= 2
                continue
            self._at = end
            return value

    def _read(self, length: int) -> None:
        data = self._file.read(length)
        self._ended = not data
        try:
            read = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError:
            raise SourceError(f"{self._label}: is not UTF-8") from None
        self._text, self._at = self._text[self._at :] + read, 0

    def _broken(self) -> SourceError:
        return SourceError(f"{self._label}: is not JSON from document {max(self._number, 1):,} on")


def _refuse(_: str) -> None:
    raise ValueError
