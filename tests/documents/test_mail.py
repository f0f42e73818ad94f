"""Mails: headers, bodies in all encodings, messages within messages, attachments; what can't be read goes."""

from __future__ import annotations

import base64
import io
import json
import mailbox
import quopri
from contextlib import suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import docx
import pytest
from tests.documents.marked import MARK, mark, scrub

from shoal import documents
from shoal.documents import DocumentAccount, DocumentOptions
from shoal.errors import SourceError

HEADERS = (
    "From", "To", "Cc", "Bcc", "Reply-To", "Sender", "Subject", "Received", "Return-Path", "Delivered-To", "X-Mailer",
    "X-Originating-IP", "DKIM-Signature", "Authentication-Results", "List-Unsubscribe", "Organization", "Comments",
    "Thread-Topic", "Message-ID", "In-Reply-To", "References", "Resent-From", "User-Agent", "Received-SPF", "Autocrypt",
)  # fmt: skip
BODIES = (
    "plain", "utf8qp", "base64", "utf16", "utf7", "wrongcharset", "html", "htmlattr", "uuencoded", "nestedsubject",
    "nestedbody", "nestedfrom", "json", "docx", "text", "filename", "unknown", "brokenbase64", "strangeencoding",
    "signature", "preamble", "epilogue", "contentid", "description", "deepest", "calendar", "picture", "twofold",
)  # fmt: skip


def encoded(kind: str, encoding: str, content: bytes, *more: str) -> bytes:
    head = "\r\n".join((f"Content-Type: {kind}", f"Content-Transfer-Encoding: {encoding}", *more))
    return head.encode() + b"\r\n\r\n" + content + b"\r\n"


def b64(text: str | bytes) -> bytes:
    return base64.encodebytes(text.encode() if isinstance(text, str) else text)


def multipart(kind: str, boundary: str, *parts: bytes) -> bytes:
    line = f"--{boundary}".encode()
    inner = b"".join(line + b"\r\n" + part for part in parts)
    around = f"Content-Type: multipart/{kind}; boundary={boundary}\r\n\r\n".encode()
    return around + mark("preamble").encode() + b"\r\n" + inner + line + b"--\r\n" + mark("epilogue").encode() + b"\r\n"


def header(name: str) -> str:
    inside = mark(name.replace("-", ""))
    if name in {"Message-ID", "In-Reply-To", "References"}:
        return f"{name}: <{inside}@host.example>"
    if name in {"From", "To", "Cc", "Bcc", "Reply-To", "Sender"}:
        return f'{name}: "{inside}" <{inside.lower()}@example.org>'
    return f"{name}: {inside} trailing words"


def word_file() -> bytes:
    out = io.BytesIO()
    made = docx.Document()
    made.add_paragraph(f"In Word: {mark('docx')}.")
    made.save(out)
    return out.getvalue()


def attachment(kind: str, name: str, content: bytes, *more: str) -> bytes:
    return encoded(kind, "base64", b64(content), f'Content-Disposition: attachment; filename="{name}"', *more)


def mail() -> bytes:
    headers = "\r\n".join((*map(header, HEADERS), "Date: Mon, 1 Jan 2024 10:00:00 +0000", "MIME-Version: 1.0"))
    uu = f"see\nbegin 644 a.txt\n#{mark('uuencoded')}\n`\nend\nbye {mark('plain')}"
    deepest = b"Subject: deep\r\n\r\n" + mark("deepest").encode()
    nested = (
        f'From: "{mark("nestedfrom")}" <a@example.org>\r\nSubject: {mark("nestedsubject")}\r\n'.encode()
        + multipart("mixed", "in", encoded("text/plain", "7bit", mark("nestedbody").encode() + b" stays around"),
                    encoded("message/rfc822", "7bit", deepest))
    )  # fmt: skip
    alternative = multipart(
        "alternative", "alt",
        encoded("text/plain; charset=utf-8", "quoted-printable",
                quopri.encodestring(f"é {mark('utf8qp')} ok".encode())),
        encoded("text/html; charset=utf-8", "base64",
                b64(f'<p title="{mark("htmlattr")}">Hi <b>Quill</b>htmlfeather <!-- {mark("html")} --> ok</p>')),
    )  # fmt: skip
    parts = (
        encoded("text/plain", "8bit", uu.encode()),
        alternative,
        encoded("text/plain; charset=utf-8", "base64", b64(f"base64 {mark('base64')}")),
        encoded("text/plain; charset=utf-16", "base64", b64(f"wide {mark('utf16')}".encode("utf-16"))),
        encoded("text/plain; charset=utf-7", "7bit", b"+AFEAdQBpAGwAbA-utf7feather seven"),
        encoded("text/plain; charset=no-such", "8bit", f"é {mark('wrongcharset')} odd".encode()),
        encoded("text/plain; charset=iso-2022-jp", "7bit", f"東京 {mark('twofold')}".encode("iso-2022-jp")),
        encoded("message/rfc822", "7bit", nested),
        attachment("application/json", f"{mark('filename')}.json", json.dumps({"who": mark("json")}).encode(),
                   f"Content-ID: <{mark('contentid')}>", f"Content-Description: {mark('description')}"),
        attachment("application/octet-stream", "letter.docx", word_file()),
        attachment("text/plain", "note.txt", f"note {mark('text')}".encode()),
        attachment("application/x-thing", "thing.bin", mark("unknown").encode()),
        attachment("image/png", "face.png", mark("picture").encode()),
        encoded("text/calendar", "7bit", f"ATTENDEE:{mark('calendar')}".encode()),
        encoded("text/plain", "base64", b64(f"x {mark('brokenbase64')}")[:-3]),
        encoded("text/plain", "x-strange", mark("strangeencoding").encode()),
        encoded("application/pkcs7-signature", "base64", b64(mark("signature"))),
    )  # fmt: skip
    return headers.encode() + b"\r\n" + multipart("signed", "out", *parts)


def all_texts(content: bytes) -> str:
    """Everything that can be decoded out of a mail, by the standard library's other reader."""
    found = [content.decode("latin-1")]
    for part in message_from_bytes(content, policy=policy.default).walk():
        found += [f"{name}: {value}" for name, value in part.items()]
        payload: Any = part.get_payload(decode=True)
        if payload:
            with suppress(LookupError):
                found.append(payload.decode(part.get_content_charset() or "latin-1", "replace"))
            found.append(payload.decode("latin-1"))
            if payload.startswith(b"PK"):
                found.append("\n".join(one.text for one in docx.Document(io.BytesIO(payload)).paragraphs))
    return "\n".join(found)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes, DocumentAccount]:
    path = tmp_path_factory.mktemp("mail") / "a.eml"
    path.write_bytes(mail())
    account = documents.open(path).rewrite(path, path, scrub)
    return mail(), path.read_bytes(), account


@pytest.mark.requirement("X-05")
@pytest.mark.parametrize("place", [*(name.replace("-", "") for name in HEADERS), *BODIES])
def test_every_hiding_place(place: str, files: tuple[bytes, bytes, DocumentAccount]) -> None:
    looked_for = {"brokenbase64": "UXVpbGxicm9rZW5i", "utf7": "utf7feather"}.get(place, mark(place))
    if place != "brokenbase64":
        assert looked_for.lower() in all_texts(files[0]).lower()
    assert looked_for.lower() not in all_texts(files[1]).lower()


def test_what_a_reader_needs_stays(files: tuple[bytes, bytes, DocumentAccount]) -> None:
    new = message_from_bytes(files[1], policy=policy.default)
    assert new["Subject"] == "[PERSON] trailing words"
    assert new["Date"] == "Mon, 01 Jan 2024 10:00:00 +0000"
    assert (new["Message-ID"], new["In-Reply-To"]) == ("<1@mail.invalid>", "<2@mail.invalid>")
    assert new.get_content_type() == "multipart/mixed"
    assert sorted({name.lower() for name in new.keys()} & {"received", "dkim-signature", "x-mailer"}) == []  # noqa: SIM118
    texts = all_texts(files[1])
    for kept in ("é [PERSON] ok", "base64 [PERSON]", "wide [PERSON]", "[PERSON] seven", "é [PERSON] odd",
                 "stays around",
                 '{"who": "[PERSON]"}', "In Word: [PERSON].", "note [PERSON]", "東京 [PERSON]",
                 '<p title="[PERSON]">Hi <b>[PERSON]</b>  ok</p>'):  # fmt: skip
        assert kept in texts, kept
    names = [str(part.get_filename()) for part in new.walk() if part.get_filename()]
    assert [Path(name).suffix for name in names] == [".json", ".docx", ".txt"]
    assert all(name.startswith("attachment-") for name in names)


def test_the_account_names_what_went(files: tuple[bytes, bytes, DocumentAccount]) -> None:
    removed = {entry.what for entry in files[2].removed}
    assert {"application/x-thing", "image/png", "damaged part", "text/calendar", "uuencoded attachment"} <= removed
    assert {"header DKIM-Signature", "header Received"} <= {entry.place for entry in files[2].removed}
    assert any(entry.place.startswith("part ") and "body" in entry.place for entry in files[2].cleaned)
    assert "feather" not in str(files[2].to_dict()).lower()


def test_names_and_addresses_go_though_nobody_knows_them(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(
        b"From: =?utf-8?b?SsO8cmdlbg==?= <j@localhost>\nTo: undisclosed:;\nSubject: =?utf-8?q?caf=C3=A9?=\n\nhi\n"
    )
    account = documents.open(path).rewrite(path, path, str)
    new = message_from_bytes(path.read_bytes(), policy=policy.default)
    assert "[PERSON]" in path.read_text()
    assert "localhost" not in path.read_text()
    assert new["Subject"] == "café"
    assert new.get_content() == "hi\n"
    assert account.by_type() == {"email": 1, "person": 1}


@pytest.mark.parametrize("known", [False, True])
def test_what_an_earlier_scrubbing_wrote_is_for_the_caller_to_know(tmp_path: Path, known: bool) -> None:
    """A word in brackets may be somebody's name: without somebody who knows it, it goes."""
    path = tmp_path / "a.eml"
    path.write_bytes(b'From: "[ASHA]" <[EMAIL]>\nSubject: x\n\nhi\n')
    asked = list[str]()

    def is_own(text: str) -> bool:
        asked.append(text)
        return known

    documents.open(path).rewrite(path, path, str, is_own=is_own)
    assert set(asked) <= {"[ASHA]", "[EMAIL]"}
    assert ("[ASHA]" in path.read_text()) is known
    documents.open(path).rewrite(path, path, str)
    assert "[ASHA]" not in path.read_text()
    assert "[PERSON]" in path.read_text()


def test_mailboxes_keep_their_messages_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    box = mailbox.mbox(path)
    for number in range(3):
        message = EmailMessage()
        message["From"] = f"{mark('x')}@example.org"
        message["Subject"] = f"Number {number}"
        message["Message-ID"] = f"<{mark('id')}{number}@x>"
        message["In-Reply-To"] = f"<{mark('id')}{max(0, number - 1)}@x>"
        message.set_content(f"One\n\nFrom {mark('y')} with love\n")
        box.add(message)
    box.close()
    before = path.read_bytes()
    assert before.count(b"\nFrom ") + before.startswith(b"From ") == 3
    account = documents.open(path).rewrite(path, path, scrub)
    read = mailbox.mbox(path)
    assert [message["Subject"] for message in read] == ["Number 0", "Number 1", "Number 2"]
    assert [message["In-Reply-To"] for message in read] == ["<1@mail.invalid>", "<1@mail.invalid>", "<2@mail.invalid>"]
    read.close()
    assert MARK.search(path.read_text()) is None
    assert {entry.place.split(",")[0] for entry in account.cleaned} == {"message 1", "message 2", "message 3"}
    assert [piece.text for piece in documents.open(path).texts(path) if piece.place == "message 2, header Subject"] == [
        "Number 1"
    ]


def test_messages_too_deep_within_others_go(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    content = mark("bottom").encode()
    for _ in range(12):
        content = b"Subject: x\nContent-Type: message/rfc822\n\n" + content
    path.write_bytes(content)
    account = documents.format_for(path, DocumentOptions(depth=3)).rewrite(path, path, str)
    assert mark("bottom") not in path.read_text()
    assert "message too deep within others" in {entry.what for entry in account.removed}


def test_scanning_sees_all_places(tmp_path: Path) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(mail())
    pieces = list(documents.open(path).texts(path))
    seen = {found.lower() for found in MARK.findall("\n".join(piece.text for piece in pieces))}
    for place in ("plain", "utf16", "htmlattr", "nestedsubject", "deepest", "json", "docx", "filename", "Received"):
        assert mark(place).lower() in seen, place
    assert any(piece.place == "header Subject" for piece in pieces)


@pytest.mark.parametrize("content", [b"", b"\n\nhello"])
def test_what_is_no_mail_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.eml"
    path.write_bytes(content)
    with pytest.raises(SourceError, match="not a mail"):
        documents.open(path).rewrite(path, path, scrub)


def test_what_is_no_mailbox_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    path.write_bytes(b"Subject: x\n\nhello")
    with pytest.raises(SourceError, match="not a mailbox"):
        documents.open(path).rewrite(path, path, scrub)
