"""Mails (.eml, RFC 5322 and MIME) and mailboxes (.mbox)."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from email.policy import compat32
from typing import BinaryIO, ClassVar, Final

from shoal.documents import attachments
from shoal.documents.base import DocumentFormat, DocumentOptions, DocumentText
from shoal.documents.cleaning_account import EditRecorder
from shoal.documents.html_pages import pieces_of
from shoal.documents.mail.message import (
    SHAPE,
    TEXTS,
    MailCleaner,
    MessageNumbers,
    content_of,
    decoded,
    header_name,
    header_text,
    is_attachment,
)
from shoal.errors import InputError, SourceError

_LARGEST: Final = 1 << 28
"""Bytes of one mail."""


@dataclass(frozen=True)
class MailFormat(DocumentFormat):
    key: ClassVar[str] = "eml"
    order: ClassVar[int] = 60
    endings: ClassVar[tuple[str, ...]] = (".eml",)
    media: ClassVar[tuple[str, ...]] = ("message/rfc822",)

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        yield from _pieces(_message(source.read(_LARGEST + 1), label), self.options, "")

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        message = _message(source.read(_LARGEST + 1), label)
        target.write(MailCleaner(ledger, self.options).message(message).as_bytes(policy=compat32))


@dataclass(frozen=True)
class MailboxFormat(DocumentFormat):
    key: ClassVar[str] = "mbox"
    order: ClassVar[int] = 70
    endings: ClassVar[tuple[str, ...]] = (".mbox", ".mbx")
    media: ClassVar[tuple[str, ...]] = ("application/mbox",)

    @classmethod
    def begins(cls, head: bytes) -> bool:
        return head.startswith(b"From ")

    def pieces(self, source: BinaryIO, label: str) -> Iterator[DocumentText]:
        for number, content in enumerate(_split(source, label), 1):
            yield from _pieces(_message(content, label), self.options, f"message {number}, ")

    def clean(self, source: BinaryIO, target: BinaryIO, ledger: EditRecorder, label: str) -> None:
        numbers = MessageNumbers()
        for number, content in enumerate(_split(source, label), 1):
            cleaner = MailCleaner(ledger.inside(f"message {number}"), self.options, numbers)
            cleaned = cleaner.message(_message(content, label))
            target.write(b"From - Thu Jan  1 00:00:00 1970\n")
            target.write(re.sub(rb"(?m)^(>*From )", rb">\1", cleaned.as_bytes(policy=compat32)).rstrip(b"\n") + b"\n\n")


def _message(content: bytes, label: str) -> Message:
    if len(content) > _LARGEST:
        raise SourceError(f"{label}: holds a mail of more than {_LARGEST >> 20} MB")
    try:
        message = message_from_bytes(content, policy=compat32)
    except (ValueError, LookupError, RecursionError, TypeError):
        raise SourceError(f"{label}: is not a mail") from None
    if not message.keys():
        raise SourceError(f"{label}: is not a mail: it has no headers")
    return message


def _split(source: BinaryIO, label: str) -> Iterator[bytes]:
    """The messages of a mailbox: each begins with a line ``From `` after an empty one."""
    held: list[bytes] = []
    size, blank, begun = 0, True, False
    for line in source:
        if blank and line.startswith(b"From "):
            if begun:
                yield b"".join(held)
            held, size, begun = [], 0, True
        elif begun:
            held.append(re.sub(rb"^>(>*From )", rb"\1", line))
            size += len(line)
        elif line.strip():
            raise SourceError(f"{label}: is not a mailbox")
        if size > _LARGEST:
            raise SourceError(f"{label}: holds a mail of more than {_LARGEST >> 20} MB")
        blank = not line.strip()
    if begun:
        yield b"".join(held)


def _pieces(message: Message, options: DocumentOptions, before: str) -> Iterator[DocumentText]:
    for name, value in message.items():
        if name.lower() not in SHAPE:
            yield DocumentText(f"{before}header {header_name(name)}", header_text(value), name)
    yield from _bodies(message, options, before, iter(range(1, 1 << 30)))


def _bodies(part: Message, options: DocumentOptions, before: str, numbers: Iterator[int]) -> Iterator[DocumentText]:
    payload, is_mail = part.get_payload(), part.get_content_type() == "message/rfc822"
    if not isinstance(payload, list):
        yield from _body(part, options, before, next(numbers))
        return
    for child in payload:
        if isinstance(child, Message) and not is_mail:
            yield from _bodies(child, options, before, numbers)
        elif isinstance(child, Message) and options.depth > 0:
            yield from _pieces(child, options.deeper(), f"{before}part {next(numbers)}, ")


def _body(part: Message, options: DocumentOptions, before: str, number: int) -> Iterator[DocumentText]:
    kind, content = part.get_content_type(), content_of(part)
    if content is None:
        return
    if kind in TEXTS and not is_attachment(part):
        text = decoded(content, part.get_content_charset())
        found = pieces_of(text) if kind == "text/html" else iter([DocumentText("text", text)])
        yield from (DocumentText(f"{before}body, {piece.place}", piece.text) for piece in found)
        return
    name = header_text(part.get_filename() or "")
    if name:
        yield DocumentText(f"{before}name of attachment {number}", name)
    carrier = attachments.format_of_attachment(name, kind, options) if options.depth > 0 else None
    if carrier is not None:
        with suppress(InputError):
            for piece in carrier.pieces(io.BytesIO(content), "attachment"):
                yield DocumentText(f"{before}attachment {number}, {piece.place}", piece.text, piece.label, piece.unread)
