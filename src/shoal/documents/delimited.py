"""Delimited text (CSV) cell by cell, each with its column's name as context.

For remarks in a table of which nothing else is known. A table with a policy is anonymised as a table.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, ClassVar, Final

from shoal.documents.base import DocumentFormat, DocumentText
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.plain_text import LONGEST_LINE, decoded, encoding
from shoal.errors import SourceError
from shoal.io.formats.delimited.formula_escapes import is_formula

_HEAD: Final = 1 << 14


FORMULA: Final = "formula that a spreadsheet would run"


@dataclass(frozen=True)
class DelimitedFormat(DocumentFormat):
    key: ClassVar[str] = "csv"
    order: ClassVar[int] = 30
    endings: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    media: ClassVar[tuple[str, ...]] = ("text/csv", "text/tab-separated-values")

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        with decoded(source, label) as text:
            _, rows = _rows(text, label)
            names = next(rows, [])
            for number, name in enumerate(names, 1):
                yield DocumentText(f"row 1, column {number}", name)
            for line, row in enumerate(rows, 2):
                for number, cell in enumerate(row):
                    yield DocumentText(f"row {line}, column {number + 1}", cell, _name(names, number))

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        with decoded(source, label) as text, encoding(target, text.encoding) as out:
            separator, rows = _rows(text, label)
            ending = "\r\n" if text.newlines == "\r\n" else "\n"
            write = csv.writer(out, delimiter=separator, lineterminator=ending).writerow
            names: list[str] = []
            for line, row in enumerate(rows):
                cleaned = [ledger.clean(f"column {at + 1}", cell, _name(names, at)) for at, cell in enumerate(row)]
                for at, cell in enumerate(cleaned):
                    if is_formula(cell):
                        ledger.kept(f"column {at + 1}", FORMULA)
                write(cleaned)
                names = names if line else row


def _name(names: list[str], number: int) -> str:
    return names[number] if number < len(names) else ""


def _rows(text: io.TextIOWrapper, label: str) -> tuple[str, Iterator[list[str]]]:
    try:
        head = text.read(_HEAD)
    except UnicodeError:
        raise _unreadable(label) from None
    first = head.split("\n", 1)[0]
    separator = max(",;\t|", key=first.count) if first else ","
    text.seek(0)
    return separator, _checked(csv.reader(text, delimiter=separator), label)


def _checked(rows: Iterator[list[str]], label: str) -> Iterator[list[str]]:
    usual = csv.field_size_limit(LONGEST_LINE)  # It is one for the whole process.
    try:
        yield from rows
    except (csv.Error, UnicodeError):
        raise _unreadable(label) from None
    finally:
        csv.field_size_limit(usual)


def _unreadable(label: str) -> SourceError:
    return SourceError(f"{label}: is not a delimited text file that can be read")
