"""Mails (.eml, RFC 5322 and MIME) and mailboxes (.mbox).

A clean mail is put together anew from what could be read and cleaned. Of the headers those stay that a reader needs;
names and addresses in them always go, the trace, signatures and unknown headers are removed. Identifiers of messages
get numbers, so that threads hold together. Bodies are decoded, scrubbed and written as UTF-8; attachments go through
their own format, or go.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from email.charset import QP, Charset
from email.encoders import encode_base64
from email.errors import InvalidBase64CharactersDefect, InvalidBase64LengthDefect, InvalidBase64PaddingDefect
from email.header import Header, decode_header, make_header
from email.message import Message
from email.policy import compat32
from typing import BinaryIO, ClassVar, Final

from shoal.documents import attachments
from shoal.documents.base import DocumentFormat, DocumentOptions, DocumentText
from shoal.documents.cleaning_account import ADDRESS, PERSON, EditRecorder
from shoal.documents.html_pages import cleaned as cleaned_page
from shoal.documents.html_pages import pieces_of
from shoal.documents.mail.address_list import address_list
from shoal.documents.mail.date_header import date_header
from shoal.errors import InputError, SourceError

_PEOPLE: Final = frozenset({"from", "to", "cc", "bcc", "reply-to", "sender"})
_WORDS: Final = frozenset({"subject", "date", "comments", "keywords", "importance", "priority"})
_IDS: Final = frozenset({"message-id", "in-reply-to", "references"})
SHAPE: Final = frozenset({"mime-version", "content-type", "content-transfer-encoding", "content-disposition"})
_ID: Final = re.compile(r"<[^<>]*>")
_CLEANED: Final = re.compile(r'(?:"([^"<>]*)")? ?(?:<([^<>]*)>)?')
_MASK: Final = re.compile(r"([^\w\s])\1*")
_NO_REPLACEMENT: Final = re.compile(r"(?!.*@example\.org)[A-Za-z0-9 .,@+_'-]*")
"""No label, mask or surrogate is made of these alone; so most texts are told apart without asking."""
_ENCODINGS: Final = frozenset(
    {"", "7bit", "8bit", "binary", "base64", "quoted-printable", "x-uuencode", "uuencode", "uue"}
)
_BROKEN: Final = (InvalidBase64CharactersDefect, InvalidBase64LengthDefect, InvalidBase64PaddingDefect)
_UUENCODED: Final = re.compile(r"^begin [0-7]{3,4} .*?^end\s*$", re.MULTILINE | re.DOTALL)
TEXTS: Final = frozenset({"text/plain", "text/html", "text/enriched", "text/markdown"})
_CHARSET: Final = Charset("utf-8")
_CHARSET.body_encoding = QP


class MessageNumbers:
    """Numbers in place of the identifiers of messages: the same for the same."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, identifiers: str) -> str:
        return " ".join(
            f"<{self._known.setdefault(one, len(self._known) + 1)}@mail.invalid>" for one in _ID.findall(identifiers)
        )


@dataclass
class MailCleaner:
    """Builds the clean twin of a mail."""

    ledger: EditRecorder
    options: DocumentOptions
    numbers: MessageNumbers = field(default_factory=MessageNumbers)
    boundaries: Iterator[int] = field(default_factory=lambda: iter(range(1, 1 << 30)))
    attached: Iterator[int] = field(default_factory=lambda: iter(range(1, 1 << 30)))

    def message(self, old: Message) -> Message:
        new = self.part(old)
        if new is None:
            new = self._text("", "text/plain")
        for name, value in old.items():
            kept = self.header(name, header_text(value))
            if kept:
                new[name] = _header(kept)
        if "MIME-Version" not in new:
            new["MIME-Version"] = "1.0"
        return new

    def header(self, name: str, value: str) -> str:
        """What stays of a header; empty if it goes."""
        place, kind = f"header {header_name(name)}", name.lower()
        if kind in SHAPE:
            return ""
        if kind in _PEOPLE and self._is_clean(value):
            return value
        if kind in _PEOPLE:
            return ", ".join(self._person(place, *one) for one in address_list(value))
        if kind in _IDS:
            self.ledger.replaced(place, "message identifier")
            return self.numbers.of(value)
        if kind in _WORDS:
            cleaned = self.ledger.clean(place, value, "" if kind == "date" else name)
            return " ".join((date_header(value, cleaned) if kind == "date" else cleaned).split())
        self.ledger.removed(place, "header")
        return ""

    def part(self, old: Message) -> Message | None:
        """The clean twin of a part; None if it goes."""
        kind = old.get_content_type()
        if old.is_multipart() and kind != "message/rfc822":
            return self._multipart(old, kind)
        number = next(self.attached)
        if kind == "message/rfc822" and old.is_multipart():
            return self._message_within(old, number)
        content = content_of(old)
        if content is None:
            self.ledger.removed(f"part {number}", "damaged part")
            return None
        if kind in TEXTS and not is_attachment(old):
            return self._body(decoded(content, old.get_content_charset()), kind)
        return self._attachment(content, old, kind, number)

    def _person(self, place: str, name: str, address: str) -> str:
        """A name and an address: what the scrubber doesn't know of them goes all the same."""
        shown = self._gone(place, name, PERSON) if name else ""
        at = self._gone(place, address, ADDRESS) if address else ""
        quoted = '"' + shown.replace("\\", "").replace('"', "") + '" ' if shown else ""
        return f"{quoted}<{at}>" if at else quoted.strip()

    def _gone(self, place: str, text: str, instead: str) -> str:
        new = self.ledger.clean(place, text)
        if new == text and not self._is_own_replacement(text):
            self.ledger.replaced(place, instead.strip("[]").lower())
            return instead
        return new

    def _is_clean(self, people: str) -> bool:
        """Whether nothing but what we write stands there: such a header is left, or it would never come to rest."""
        found = [_CLEANED.fullmatch(one) for one in people.split(", ")]
        parts = [part or "" for one in found if one is not None for part in one.groups()]
        return None not in found and all(map(self._is_own_replacement, parts))

    def _is_own_replacement(self, text: str) -> bool:
        """Whether it is a label, a mask or a surrogate, from end to end."""
        if not text or _MASK.fullmatch(text) is not None:
            return True
        return _NO_REPLACEMENT.fullmatch(text) is None and self.ledger.is_own(text)

    def _multipart(self, old: Message, kind: str) -> Message | None:
        if kind == "multipart/encrypted":
            self.ledger.removed("part", "encrypted part")
            return None
        children = old.get_payload()
        inner = (
            [self.part(child) for child in children if isinstance(child, Message)] if isinstance(children, list) else []
        )
        new = Message(compat32)
        subtype = kind.partition("/")[2]
        shown = subtype if subtype in {"mixed", "alternative", "related", "digest"} else "mixed"
        new.add_header("Content-Type", f"multipart/{shown}", boundary=f"=_shoal_{next(self.boundaries)}")
        new.set_payload([child for child in inner if child is not None])
        return new

    def _message_within(self, old: Message, number: int) -> Message | None:
        payload = old.get_payload()
        if self.options.depth < 1 or not isinstance(payload, list) or not isinstance(payload[0], Message):
            self.ledger.removed(f"part {number}", "message too deep within others")
            return None
        within = MailCleaner(
            self.ledger.inside(f"part {number}"), self.options.deeper(), self.numbers, self.boundaries, self.attached
        )
        new = Message(compat32)
        new["Content-Type"] = "message/rfc822"
        new.set_payload([within.message(payload[0])])
        return new

    def _body(self, text: str, kind: str) -> Message:
        if kind == "text/html":
            return self._text(cleaned_page(text, self.ledger.inside("body")), kind)
        bare, count = _UUENCODED.subn("", text)
        if count:
            self.ledger.removed("body", "uuencoded attachment", count)
        return self._text(self.ledger.clean("body", bare), "text/plain")

    def _text(self, text: str, kind: str) -> Message:
        new = Message(compat32)
        new["Content-Type"] = kind
        new.set_payload("\n".join(text.splitlines()) + "\n" if text else "", _CHARSET)
        return new

    def _attachment(self, content: bytes, old: Message, kind: str, number: int) -> Message | None:
        name = str(old.get_filename() or "")
        place = f"attachment {number}"
        carrier = attachments.format_of_attachment(name, kind, self.options) if self.options.depth > 0 else None
        if carrier is None:
            self.ledger.removed(place, _known_kind(kind))
            return None
        out = io.BytesIO()
        try:
            carrier.clean(io.BytesIO(content), out, self.ledger.inside(place), place)
        except InputError:
            self.ledger.removed(place, f"{carrier.key} that can't be cleaned")
            return None
        new = Message(compat32)
        new["Content-Type"] = carrier.media[0]
        new.add_header("Content-Disposition", "attachment", filename=f"attachment-{number}{carrier.ending_of(name)}")
        new.set_payload(out.getvalue())
        encode_base64(new)
        return new


def decoded(content: bytes, charset: str | None) -> str:
    """Text by the charset that the part names; where that is wrong, as UTF-8, and else as Western European."""
    for name in (charset, "utf-8", "cp1252"):
        with suppress(LookupError, UnicodeError, ValueError):
            if name:
                return content.decode(name)
    return content.decode("latin-1")


def header_text(value: object) -> str:
    """A header in plain words: encoded words (RFC 2047) decoded, lines unfolded."""
    raw = " ".join(str(value).split())
    try:
        return str(make_header(decode_header(raw)))
    except (LookupError, UnicodeError, ValueError):
        return raw.encode("ascii", "replace").decode()


def _header(text: str) -> str:
    return text if text.isascii() else Header(text, "utf-8").encode()


def content_of(part: Message) -> bytes | None:
    """The decoded bytes of a part; None if they can't be decoded and might hide anything."""
    if str(part.get("Content-Transfer-Encoding", "")).strip().lower() not in _ENCODINGS:
        return None
    content = part.get_payload(decode=True)
    if not isinstance(content, bytes) or any(isinstance(one, _BROKEN) for one in part.defects):
        return None
    return content


def is_attachment(part: Message) -> bool:
    return part.get_content_disposition() == "attachment"


def header_name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z][A-Za-z-]{0,40}", name) else "of another name"


def _known_kind(kind: str) -> str:
    return kind if re.fullmatch(r"[a-z]+/[a-z0-9.+-]{1,80}", kind) else "attachment of unknown kind"


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
