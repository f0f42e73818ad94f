"""Carriers together with the scrubber: what is recognised in a document is gone from it, by every way of replacing."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from email import message_from_bytes, policy
from pathlib import Path

import docx
import openpyxl
import pikepdf
import pytest
from tests.text.carriers.test_pdf import add_page, bytes_of, text

from shoal.errors import InputError
from shoal.text import Annotator, carriers
from shoal.text.scrubbing import Scrubber

ADDRESS = "asha.rao@example-hospital.org"
CARD = "4111 1111 1111 1111"
WORDS = f"Please write to {ADDRESS} about the card {CARD} today."


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


MADE = {
    "a.docx": word,
    "a.xlsx": excel,
    "a.pdf": pdf,
    "a.html": f"<p>{WORDS[:22]}<b>{WORDS[22:]}</b></p>".encode,
    "a.json": json.dumps({"remark": WORDS, "card": int(CARD.replace(" ", ""))}).encode,
    "a.eml": f"From: Asha Rao <{ADDRESS}>\nSubject: {CARD}\n\n{WORDS}\n".encode,
    "a.csv": f'remark\n"{WORDS}"\n'.encode,
}


def shown(path: Path) -> str:
    """What another reader makes of a file."""
    if path.suffix == ".docx":
        return "\n".join(one.text for one in docx.Document(str(path)).paragraphs)
    if path.suffix == ".xlsx":
        return "\n".join(str(cell) for row in openpyxl.load_workbook(path).active.values for cell in row)
    if path.suffix == ".pdf":
        return subprocess.run(["pdftotext", str(path), "-"], capture_output=True, check=True, text=True).stdout
    if path.suffix == ".eml":
        read = message_from_bytes(path.read_bytes(), policy=policy.default)
        return "\n".join([*map(str, read.values()), str(read.get_content())])
    return path.read_text()


@pytest.mark.requirement("X-05")
@pytest.mark.parametrize("replace", ["label", "mask", "pseudonym"])
@pytest.mark.parametrize("name", MADE)
def test_what_is_recognised_is_gone(tmp_path: Path, name: str, replace: str) -> None:
    if name.endswith("pdf") and shutil.which("pdftotext") is None:
        pytest.skip("poppler-utils absent: apt-get install poppler-utils")
    path = tmp_path / name
    path.write_bytes(MADE[name]())
    before = shown(path)
    scrubber = Scrubber(Annotator(), replace=replace)  # type: ignore[arg-type]
    account = carriers.open(path).rewrite(path, path, scrubber.scrub)
    after = shown(path)
    assert ADDRESS in before.replace("<b>", "").replace("\n", "")
    for secret in (ADDRESS, "asha.rao", CARD, CARD.replace(" ", ""), "1111 1111"):
        assert secret not in after
    assert account.by_type()["email"] >= 1
    assert name.endswith("pdf") or "Please write to" in after


@pytest.mark.parametrize(("name", "library"), [("a.docx", "lxml"), ("a.xlsx", "lxml"), ("a.pdf", "pikepdf")])
def test_a_missing_library_is_named_with_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    path = tmp_path / name
    path.write_bytes(MADE[name]())
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(InputError, match=r"pip install shoal\[documents\]"):
        carriers.open(path).rewrite(path, path, str)
