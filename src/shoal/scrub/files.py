"""Scrubbing a file or a stream: a log line by line, a letter as a whole, other documents by their carrier."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from shoal.documents.base import DocumentFormat, reading
from shoal.documents.cleaning_account import AccountEntry, DocumentAccount
from shoal.documents.plain_text import LOGS, TEXTS
from shoal.errors import FieldName, FieldText, InputError, SourceError
from shoal.io import atomic_binary
from shoal.kernels.pass_listener import told
from shoal.scrub.account import ScrubAccount
from shoal.scrub.outcome import ScrubOutcome
from shoal.scrub.own_replacements import is_own_replacement
from shoal.scrub.scrubber import Scrubber
from shoal.scrub.streams import read_together, scrub_together
from shoal.text.logs.log_lines import TextKind

HEAD = 65_536
"""Bytes of a file that tell what its lines are."""
OBJECT_LINES = frozenset({".jsonl", ".ndjson"})
MOST_OF_A_LETTER = 4_000_000
"""Bytes; a longer text is scrubbed line by line."""


@dataclass(frozen=True)
class FileScrubber:
    scrubber: Scrubber
    account: ScrubAccount
    encoding: str = "utf-8"
    follows: re.Pattern[str] | None = None
    """Which lines of a log go on with the one before."""
    carrier: Callable[[Path], DocumentFormat] | None = None
    """Finds who can read a document that is no plain text."""

    def __post_init__(self) -> None:
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise InputError(f"encoding: there is none called '{self.encoding}'") from None

    def clean(self, path: Path, target: Path, name: str | None = None) -> None:
        """Write the scrubbed file, whole or not at all; the target may be the file itself.

        ``name`` is what the account calls it, if it is not the file's own.
        """
        _refuse(path)
        with self.account.document(name or path.name):
            if is_plain(path):
                with reading(path) as source, atomic_binary(target) as out:
                    self._plain(path, source, out)
            else:
                self._carried(path, target)

    def show(self, path: Path, out: BinaryIO) -> None:
        """Write a scrubbed plain text to a stream."""
        _refuse(path)
        if not is_plain(path):
            raise InputError(
                f"{path.name}: goes to a file, not to the screen",
                advice=FieldText("say where with ", FieldName("output")),
            )
        with self.account.document(path.name), reading(path) as source:
            self._plain(path, source, out)

    def stream(self, source: BinaryIO, out: BinaryIO, name: str = "-") -> None:
        """Line by line, as they come; each is passed on at once."""
        with self.account.document(name):
            self._lines(source, out, name)

    def _plain(self, path: Path, source: BinaryIO, out: BinaryIO) -> None:
        if self._is_letter(path):
            text = source.read().decode(self.encoding, errors="replace")
            _refuse_binary(path, text)
            scrubbed = self.scrubber.scrub(text, path.name)
            self._tell(scrubbed, text)
            out.write(scrubbed.text.encode(self.encoding, errors="replace"))
        else:
            self._lines(source, out, path.name)

    def _is_letter(self, path: Path) -> bool:
        """Read as a whole. A pipe or a device has no size: it is a stream of lines."""
        return path.suffix.lower() in TEXTS and path.is_file() and path.stat().st_size <= MOST_OF_A_LETTER

    def _lines(self, source: BinaryIO, out: BinaryIO, person: str) -> None:
        lines = told(read_together(source, self.encoding), lambda batch: sum(len(line.encode()) for line in batch))
        for text in scrub_together(lines, self.scrubber, follows=self.follows, person=person, tell=self.account.tell):
            out.write(text.encode(self.encoding, errors="replace"))
            out.flush()

    def _carried(self, path: Path, target: Path) -> None:
        if self.carrier is None:
            raise InputError(f"{path.name}: only plain text can be scrubbed here")
        carrier = self.carrier(path)
        kind = self._kind_of_lines(path)
        if self.account.wants_rows:
            for piece in carrier.texts(path):
                scrubbed = self.scrubber.scrub(piece.text, path.name, kind)
                place = self.scrubber.scrub(piece.place).text if scrubbed.actions else ""
                for action in scrubbed.actions:
                    now = scrubbed.text[action.new_start : action.new_end]
                    self.account.row(action, now, piece.text[action.start : action.end], place)
        done = rewrite_document(carrier, path, target, self.scrubber, kind)
        self.account.count(done.by_type(), self._told(done))
        for said, entries in (("left as they are", done.kept), ("taken out unread", done.removed)):
            for what, times in sorted(_by_kind(entries).items()):
                self.account.warnings.append(f"{path.name}: {said}: {times:,} × {what}")

    def _kind_of_lines(self, path: Path) -> TextKind | None:
        """What the objects of a file are that holds one in each line; None where each text tells it for itself."""
        if self.scrubber.kind != "auto" or path.suffix.lower() not in OBJECT_LINES:
            return None
        with reading(path) as source:
            head = source.read(HEAD).decode(errors="replace")
        return self.scrubber.kind_of(head)

    def _told(self, done: DocumentAccount) -> dict[str, object]:
        """What the carrier tells, with places scrubbed too: the key of a JSON value may be somebody's address."""
        return {
            kind: [{**entry, "place": self.scrubber.scrub(str(entry["place"])).text} for entry in entries]
            for kind, entries in done.to_dict().items()
        }

    def _tell(self, scrubbed: ScrubOutcome, text: str) -> None:
        for action in scrubbed.actions:
            now = scrubbed.text[action.new_start : action.new_end]
            self.account.tell(action, now, text[action.start : action.end])


def rewrite_document(
    document_format: DocumentFormat, path: Path, target: Path, scrubber: Scrubber, kind: TextKind | None = None
) -> DocumentAccount:
    """Write a document anew with its texts scrubbed; what an earlier scrubbing wrote stays as it is."""
    return document_format.rewrite(
        path, target, lambda text: scrubber.scrub(text, path.name, kind), is_own=is_own_replacement
    )


def _by_kind(entries: Iterable[AccountEntry]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for entry in entries:
        counts[entry.what] += entry.count
    return counts


def is_plain(path: Path) -> bool:
    return path.suffix.lower() in TEXTS | LOGS


def _refuse(path: Path) -> None:
    if path.is_dir():
        raise SourceError(f"{path}: is a folder", advice="name the files in it")
    if not path.exists():
        raise SourceError(f"{path}: there is no such file")


def _refuse_binary(path: Path, text: str) -> None:
    if "\0" in text:
        raise SourceError(
            f"{path}: is no plain text",
            advice=FieldText("name its encoding with ", FieldName("encoding"), ", as utf-16"),
        )
