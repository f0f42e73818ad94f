"""The harbour's log book: one entry per line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, ClassVar

from shoal.documents.base import DocumentFormat, DocumentText
from shoal.documents.cleaning_account import EditRecorder


@dataclass(frozen=True)
class LogbookFormat(DocumentFormat):
    key: ClassVar[str] = "logbook"
    endings: ClassVar[tuple[str, ...]] = (".logbook",)

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        for number, line in enumerate(source.read().decode().splitlines(), 1):
            yield DocumentText(f"entry {number}", line)

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        for number, line in enumerate(source.read().decode().splitlines(), 1):
            target.write(f"{ledger.clean(f'entry {number}', line)}\n".encode())
