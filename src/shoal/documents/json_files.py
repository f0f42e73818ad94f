"""JSON and JSON lines: every string and number is scrubbed where it stands; all else stays as it was written.

The file is read token by token, so spaces, the order of keys, keys that come twice and long numbers are kept to the
character. Keys are kept: programs find their data by them. One that looks personal is named in the account.
A number that is an identifier becomes a string, unless what replaces it is a number too.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, ClassVar, Final

from shoal.documents.base import DocumentFormat, DocumentText
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.plain_text import LONGEST_LINE, decoded, encoding
from shoal.errors import SourceError

_TOKEN: Final = re.compile(
    r'(?P<space>[ \t\r\n]+)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)'
    r"|(?P<word>true|false|null)|(?P<mark>[{}\[\],:])",
    re.DOTALL,
)
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_HALVES: Final = re.compile(r"[\ud800-\udfff]")
"""Halves of a character, which JSON can escape and UTF-8 can't write."""
_PLAIN_KEY: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class JsonToken:
    kind: str
    """``text``, ``number``, ``key``, or ``other`` for what is never touched."""
    raw: str
    path: str = ""
    key: str = ""
    """The nearest key above the value."""

    @property
    def value(self) -> str:
        return str(json.loads(self.raw, strict=False)) if self.raw.startswith('"') else self.raw


@dataclass(slots=True)
class _Level:
    array: bool
    path: str
    key: str
    index: int = 0
    named: str = ""
    awaits_key: bool = field(default=False)

    def child(self) -> tuple[str, str]:
        return (f"{self.path}[{self.index}]", self.key) if self.array else (self.path + _step(self.named), self.named)


@dataclass(frozen=True)
class JsonFormat(DocumentFormat):
    key: ClassVar[str] = "json"
    order: ClassVar[int] = 40
    endings: ClassVar[tuple[str, ...]] = (".json", ".geojson", ".ipynb")
    media: ClassVar[tuple[str, ...]] = ("application/json", "application/geo+json")

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        with decoded(source, label) as text:
            yield from _pieces(_read(text, label), "$", label)

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        with decoded(source, label) as text, encoding(target, text.encoding) as out:
            out.write(cleaned(_read(text, label), ledger, label))


@dataclass(frozen=True)
class JsonLinesFormat(DocumentFormat):
    key: ClassVar[str] = "jsonl"
    order: ClassVar[int] = 50
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")
    media: ClassVar[tuple[str, ...]] = ("application/x-ndjson", "application/jsonl")

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        for number, line in enumerate(_lines(source, label), 1):
            yield from _pieces(line, f"line {number} $", f"{label}, line {number}")

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        for number, line in enumerate(_lines(source, label), 1):
            target.write(cleaned(line, ledger, f"{label}, line {number}", indexes=False).encode())


def cleaned(text: str, ledger: EditRecorder, label: str, *, indexes: bool = True) -> str:
    """The document with its values scrubbed. Without indexes, places of all elements of an array count together."""
    if not text.strip():
        return text
    ascii_only = text.isascii()
    telling = False
    out = []
    for token in tokens(text, label):
        place = token.path if indexes else re.sub(r"\[\d+\]", "[]", token.path)
        if token.kind == "key" and ledger.changes(token.value):
            telling = True
            ledger.kept("key", "key that looks personal")
        if token.kind not in {"text", "number"}:
            out.append(token.raw)
            continue
        old = token.value
        new = ledger.clean(ledger.without_values(place) if telling else place, old, token.key)
        out.append(token.raw if new == old else _written(new, token.kind, ascii_only=ascii_only))
    return "".join(out)


def tokens(text: str, label: str) -> Iterator[JsonToken]:
    """The tokens of a valid document, each value with its path."""
    _check(text, label)
    levels: list[_Level] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise _not_json(label)
        at = found.end()
        kind, raw = str(found.lastgroup), found.group()
        if kind == "mark":
            _move(levels, raw)
            yield JsonToken("other", raw)
        elif kind in {"space", "word"}:
            yield JsonToken("other", raw)
        elif levels and levels[-1].awaits_key:
            levels[-1].named = str(json.loads(raw, strict=False))
            yield JsonToken("key", raw, levels[-1].child()[0])
        else:
            path, key = levels[-1].child() if levels else ("$", "")
            yield JsonToken(kind, raw, path, key)


def _move(levels: list[_Level], mark: str) -> None:
    if mark in "{[":
        path, key = levels[-1].child() if levels else ("$", "")
        levels.append(_Level(mark == "[", path, key, awaits_key=mark == "{"))
    elif mark in "}]":
        levels.pop()
    elif mark == ":":
        levels[-1].awaits_key = False
    else:
        levels[-1].index += 1
        levels[-1].awaits_key = not levels[-1].array


def _check(text: str, label: str) -> None:
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse, strict=False)
    except RecursionError:
        raise SourceError(f"{label}: is nested too deeply") from None
    except ValueError:
        raise _not_json(label) from None


def _refuse(_: str) -> None:
    raise ValueError


def _not_json(label: str) -> SourceError:
    return SourceError(f"{label}: is not JSON")


def _step(key: str) -> str:
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f".{json.dumps(key)}"


def _written(new: str, kind: str, *, ascii_only: bool) -> str:
    if kind == "number" and _NUMBER.fullmatch(new):
        return new
    return json.dumps(new, ensure_ascii=ascii_only or _HALVES.search(new) is not None)


def _pieces(text: str, root: str, label: str) -> Iterator[DocumentText]:
    for token in tokens(text, label) if text.strip() else ():
        if token.kind == "key":
            yield DocumentText(f"key below {root}", token.value)
        elif token.kind != "other":
            yield DocumentText(root + token.path[1:], token.value, token.key)


def _read(text: io.TextIOWrapper, label: str) -> str:
    try:
        return text.read()
    except UnicodeError:
        raise SourceError(f"{label}: holds bytes that are no {text.encoding} text") from None


def _lines(source: BinaryIO, label: str) -> Iterator[str]:
    number = 0
    while line := source.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise SourceError(f"{label}: line {number} is longer than {LONGEST_LINE >> 20} MB")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError:
            raise SourceError(f"{label}: line {number} is not UTF-8") from None
