"""The tutorial on finding and cleaning can be followed from top to bottom, as it is written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from email import message_from_bytes, policy
from pathlib import Path

import polars as pl
import pytest

import newcomer
from shoal.examples import documents, hospital

pytest.importorskip("pikepdf", reason="the extra 'documents' is not installed: pip install 'shoal[documents]'")
pytestmark = pytest.mark.requirement("D-02", "D-04", "D-07", "X-02", "X-05")

PAGE = "docs/tutorial/find-and-clean.md"
ENDED = "-- exit "
SECRETS = ("4111 1111", "9426 0532", "1678 0693", "71149", "35654", "17913", "@example.org", "devarapalli", "pawar")
"""Parts of what stands in the papers, in small letters."""


def commands(root: Path) -> list[str]:
    steps = newcomer.steps((root / PAGE).read_text(encoding="utf-8"))
    return [step.command for step in steps if isinstance(step, newcomer.Typed)]


def follow(lines: list[str], folder: Path) -> dict[str, tuple[int, str]]:
    """All of them in one shell; of each the exit code and what it said."""
    script = "".join(f"{line}\necho '{ENDED}'$?\n" for line in lines)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SHOAL_")}
    path = f"{Path(sys.executable).parent}:{kept['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={**kept, "PATH": path, "SHOAL_STATE": str(folder / "state")},
        capture_output=True,
        text=True,
        check=True,
    )
    parts = re.split(rf"^{ENDED}(\d+)\n", done.stdout, flags=re.MULTILINE)
    codes = [int(code) for code in parts[1::2]]
    assert len(codes) == len(lines), done.stderr
    return {line: (code, text) for line, code, text in zip(lines, codes, parts[0::2], strict=False)}


@pytest.fixture(scope="module")
def said(root: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, tuple[int, str]], Path]:
    folder = tmp_path_factory.mktemp("tutorial")
    for step in newcomer.steps((root / PAGE).read_text(encoding="utf-8")):
        if isinstance(step, newcomer.Fence):
            (folder / str(step.title)).write_text(step.text, encoding="utf-8")
    lines = [line for line in commands(root) if not line.startswith("pdftotext") or shutil.which("pdftotext")]
    return follow(lines, folder), folder


def told(said: tuple[dict[str, tuple[int, str]], Path], beginning: str) -> str:
    return next(text for line, (_, text) in said[0].items() if line.startswith(beginning))


def test_every_command_works(said: tuple[dict[str, tuple[int, str]], Path]) -> None:
    assert {line: code for line, (code, _) in said[0].items() if code} == {}
    assert len(said[0]) >= 10


def test_the_scan_names_kinds_and_shows_no_value(said: tuple[dict[str, tuple[int, str]], Path]) -> None:
    scan = told(said, "shoal scan hospital.csv")
    assert all(kind in scan for kind in ("aadhaar", "phone", "email", "card", "header", "page 1", "column 'name'"))
    page = (said[1] / "findings.html").read_text(encoding="utf-8")
    names = hospital.table(people=50)["name"].to_list()
    for text in (scan, page, told(said, "shoal profile")):
        assert not [value for value in (*SECRETS[:6], *names) if value in text]


def test_the_policy_runs_and_keeps_its_promise(said: tuple[dict[str, tuple[int, str]], Path]) -> None:
    assert "k: 1 before, 5 after" in told(said, "shoal run")
    columns = pl.read_csv(said[1] / "release" / "data.csv", infer_schema=False).columns
    assert not {"name", "aadhaar", "phone", "remarks", "patient_id"} & set(columns)


def test_what_is_recognised_is_gone_from_log_mail_and_pdf(said: tuple[dict[str, tuple[int, str]], Path]) -> None:
    original = "\n".join(content.decode("latin-1") for content in documents.papers().values()).lower()
    assert [secret for secret in SECRETS if secret not in original] == []
    mail = (said[1] / "clean" / "question.eml").read_bytes()
    body = message_from_bytes(mail, policy=policy.default).get_content()
    for text in (told(said, "shoal scrub papers/frontdesk.log"), mail.decode(), body):
        assert [secret for secret in SECRETS if secret in text.lower()] == []
    pdf = (said[1] / "clean" / "discharge.pdf").read_bytes()
    assert b"Font" not in pdf
    if shutil.which("pdftotext"):
        assert told(said, "pdftotext").strip() == "0"


def test_masks_keep_every_character_in_its_place(said: tuple[dict[str, tuple[int, str]], Path]) -> None:
    before = documents.papers()["frontdesk.log"].decode().splitlines()
    after = told(said, "shoal scrub papers/frontdesk.log --replace mask").splitlines()
    assert [len(line) for line in after] == [len(line) for line in before]
    assert after[-1].endswith("INFO  queue empty, 0 jobs waiting")


def test_what_the_page_says_of_the_log_is_so(root: Path, said: tuple[dict[str, tuple[int, str]], Path]) -> None:
    """The page says what stays; should a recogniser learn it, the page has to be put right."""
    assert "P0855805" in told(said, "shoal scrub papers/frontdesk.log")
    assert "P0855805" in (root / PAGE).read_text(encoding="utf-8")


def test_pictures_are_there_and_small(root: Path) -> None:
    named = re.findall(r"\]\(\.\./images/([\w-]+\.png)\)", (root / PAGE).read_text(encoding="utf-8"))
    assert len(named) >= 8
    assert [name for name in named if (root / "docs" / "images" / name).stat().st_size >= 150_000] == []
