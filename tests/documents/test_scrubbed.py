"""Carriers together with the scrubber: what is recognised in a document is gone from it, by every way of replacing."""

from __future__ import annotations

import re
import sys
import zipfile
from email import message_from_bytes, policy
from pathlib import Path

import docx
import openpyxl
import pytest
from tests.documents.made import ADDRESS, MADE, SECRETS, WORDS, need_reader, shown

from shoal import documents
from shoal.documents import document_formats, endings
from shoal.errors import InputError, SourceError
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.sandbox import parent_process
from shoal.scrub.files import rewrite_document
from shoal.scrub.scrubber import Scrubber
from shoal.text import Annotator
from shoal.text.matching.patterns import PatternFinder

pytestmark = pytest.mark.requirement("X-02", "X-05")

UNUSED = {"word/media/no-picture.png", "[Content_Types].xml"}
"""The grey dot that stands for pictures is put in where only a thumbnail was taken out, and goes the next time."""
MODES = ["label", "mask", "pseudonym"]
EVERYTHING = Annotator((PatternFinder(),))
"""What is known by its form; names and places have their own tests."""


def scrubber(replace: str) -> Scrubber:
    return Scrubber(EVERYTHING, replace, RunSecrets(Randomness(1)))  # type: ignore[arg-type]


def cleaned(folder: Path, name: str, replace: str) -> Path:
    path = folder / name
    path.write_bytes(MADE[name]())
    account = rewrite_document(documents.open(path), path, path, scrubber(replace))
    assert account.by_type()["email"] >= 1
    return path


def test_every_carrier_has_its_file() -> None:
    assert {endings()[Path(name).suffix] for name in MADE} == set(document_formats())


@pytest.mark.parametrize("replace", MODES)
@pytest.mark.parametrize("name", MADE)
def test_what_is_recognised_is_gone(tmp_path: Path, name: str, replace: str) -> None:
    need_reader(name)
    original = tmp_path / f"original{Path(name).suffix}"
    original.write_bytes(MADE[name]())
    before = shown(original)
    after = shown(cleaned(tmp_path, name, replace))
    assert ADDRESS in before.replace("<b>", "").replace("\n", "")
    assert [secret for secret in SECRETS if secret in after] == []
    assert name.endswith("pdf") or "Please write to" in after


@pytest.mark.parametrize("replace", MODES)
@pytest.mark.parametrize("name", ["a.docx", "a.xlsx"])
def test_no_part_of_a_package_holds_it(tmp_path: Path, name: str, replace: str) -> None:
    """Every part, unpacked, without its tags: what is split over runs is put together."""
    with zipfile.ZipFile(cleaned(tmp_path, name, replace)) as package:
        for part in package.namelist():
            content = package.read(part).decode("utf-8", "replace")
            for text in (content, re.sub(r"<[^>]*>", "", content)):
                assert [secret for secret in SECRETS if secret in text] == [], part


@pytest.mark.parametrize("replace", MODES)
@pytest.mark.parametrize("name", [name for name in MADE if name != "a.pdf"])
def test_a_second_time_changes_nothing(tmp_path: Path, name: str, replace: str) -> None:
    path = cleaned(tmp_path, name, replace)
    once = contents(path)
    rewrite_document(documents.open(path), path, path, scrubber(replace))
    assert contents(path) == once


def contents(path: Path) -> object:
    if path.suffix in {".docx", ".xlsx"}:
        with zipfile.ZipFile(path) as package:
            return {part: package.read(part) for part in package.namelist() if part not in UNUSED}
    return path.read_bytes()


@pytest.mark.parametrize("replace", MODES)
def test_a_redacted_pdf_has_nothing_to_scrub_and_stays(tmp_path: Path, replace: str) -> None:
    path = cleaned(tmp_path, "a.pdf", replace)
    once = path.read_bytes()
    with pytest.raises(SourceError, match="page 1 has no text"):
        rewrite_document(documents.open(path), path, path, scrubber(replace))
    assert path.read_bytes() == once


@pytest.mark.parametrize("replace", ["label", "mask"])
@pytest.mark.parametrize("name", MADE)
def test_nothing_is_recognised_in_the_cleaned_file(tmp_path: Path, name: str, replace: str) -> None:
    """Read again as a scan reads it, hidden places included."""
    path = tmp_path / name
    path.write_bytes(MADE[name]())
    assert found_in(path) >= {"email", "card"}
    assert found_in(cleaned(tmp_path, name, replace)) == set()


def found_in(path: Path) -> set[str]:
    pieces = list(documents.open(path).texts(path))
    return {span.type for piece in pieces for span in EVERYTHING.annotate(piece.in_context)} - {"date", "year", "time"}


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.html"])
def test_masks_keep_every_character_of_a_text_in_its_place(tmp_path: Path, name: str) -> None:
    before, after = (
        re.sub(r"<[^>]*>", "", text) for text in (MADE[name]().decode(), cleaned(tmp_path, name, "mask").read_text())
    )
    assert len(after) == len(before)
    assert all(new in (old, "*") for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.eml", "a.json"])
def test_masks_keep_the_length_of_a_text_inside_a_document(tmp_path: Path, name: str) -> None:
    path = cleaned(tmp_path, name, "mask")
    inside = {
        ".docx": lambda: docx.Document(str(path)).paragraphs[0].text,
        ".xlsx": lambda: openpyxl.load_workbook(path).active["A2"].value,
        ".eml": lambda: message_from_bytes(path.read_bytes(), policy=policy.default).get_content().rstrip("\n"),
        ".json": lambda: re.findall('"remark": "([^"]*)"', path.read_text())[0],
    }[path.suffix]()
    assert len(inside) == len(WORDS)
    assert all(new in (old, "*") for old, new in zip(WORDS, inside, strict=True))


@pytest.mark.parametrize(("name", "library"), [("a.docx", "lxml"), ("a.xlsx", "lxml"), ("a.pdf", "pikepdf")])
def test_a_missing_library_is_named_with_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, library: str
) -> None:
    path = tmp_path / name
    path.write_bytes(MADE[name]())
    lacking = tmp_path / "lacking" / library
    lacking.mkdir(parents=True)
    (lacking / "__init__.py").write_text("raise ImportError")
    monkeypatch.setattr(sys, "path", [str(lacking.parent), *sys.path])
    monkeypatch.setattr(parent_process, "_idle", parent_process._Idle())
    with pytest.raises(InputError, match=r'pip install "shoal\[documents\]"'):
        documents.open(path).rewrite(path, path, str)
