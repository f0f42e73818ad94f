"""One small file for every carrier, each with the same two secrets, and how another reader sees it."""

from __future__ import annotations

import io
import json
import mailbox
import shutil
import subprocess
from collections.abc import Callable
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory

import docx
import openpyxl
import pikepdf
import pytest
from tests.documents.test_pdf import add_page, bytes_of, text

ADDRESS = "asha.rao@example-hospital.org"
CARD = "4111 1111 1111 1111"
WORDS = f"Please write to {ADDRESS} about the card {CARD} today."
SECRETS = (ADDRESS, "asha.rao", CARD, CARD.replace(" ", ""), "1111 1111")


def word() -> bytes:
    made, out = docx.Document(), io.BytesIO()
    paragraph = made.add_paragraph(WORDS[:20])
    paragraph.add_run(WORDS[20:30]).bold = True
    paragraph.add_run(WORDS[30:])
    made.save(out)
    return out.getvalue()


def excel() -> bytes:
    made, out = openpyxl.Workbook(), io.BytesIO()
    made.active.append(["remark", "card"])
    made.active.append([WORDS, int(CARD.replace(" ", ""))])
    made.save(out)
    return out.getvalue()


def pdf() -> bytes:
    made = pikepdf.new()
    add_page(made, text(WORDS[:44], 10, 150) + text(WORDS[44:], 10, 130))
    return bytes_of(made)


def mail() -> bytes:
    return f"From: Asha Rao <{ADDRESS}>\nSubject: {CARD}\nMessage-ID: <1@example.org>\n\n{WORDS}\n".encode()


def mails() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.mbox")
        box = mailbox.mbox(path)
        for _ in range(2):
            message = EmailMessage()
            message["From"], message["Subject"] = f"Asha Rao <{ADDRESS}>", CARD
            message.set_content(f"{WORDS}\n")
            box.add(message)
        box.close()
        return path.read_bytes()


RECORD = json.dumps({"remark": WORDS, "card": int(CARD.replace(" ", ""))})
MADE: dict[str, Callable[[], bytes]] = {
    "a.docx": word,
    "a.xlsx": excel,
    "a.pdf": pdf,
    "a.html": f"<p>{WORDS[:22]}<b>{WORDS[22:]}</b></p>".encode,
    "a.json": RECORD.encode,
    "a.jsonl": f"{RECORD}\n{RECORD}\n".encode,
    "a.eml": mail,
    "a.mbox": mails,
    "a.csv": f"remark\n{WORDS}\n".encode,
    "a.txt": f"{WORDS}\n\n{WORDS}\n".encode,
}
READERS = {"a.pdf": "pdftotext", "a.docx": "docx2txt", "a.xlsx": "xlsx2csv"}
"""Programs of others."""


def need_reader(name: str) -> None:
    program = READERS.get(name)
    if program and shutil.which(program) is None:
        pytest.skip(f"{program} absent: scripts/test-machine installs it")


def shown(path: Path) -> str:
    """What another reader makes of a file."""
    if path.suffix == ".pdf":
        return said("pdftotext", str(path), "-")
    if path.suffix == ".docx":
        return said("docx2txt", str(path), "-")
    if path.suffix == ".xlsx":
        return said("xlsx2csv", "--all", str(path))
    if path.suffix == ".eml":
        return _mail_text(path.read_bytes())
    if path.suffix == ".mbox":
        box = mailbox.mbox(path)
        texts = [_mail_text(message.as_bytes()) for message in box]
        box.close()
        return "\n".join(texts)
    return path.read_text()


def said(*words: str) -> str:
    return subprocess.run(words, capture_output=True, check=True, text=True).stdout


def _mail_text(content: bytes) -> str:
    read = message_from_bytes(content, policy=policy.default)
    return "\n".join([*map(str, read.values()), str(read.get_content())])
