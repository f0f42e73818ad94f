"""The report as a PDF: printed by a real browser, whole or not at all, and clear words where it can't be."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from shoal.errors import InputError, SourceError, TargetError
from shoal.report import ReportFacts, render, write_pdf
from shoal.report.pdf import BROWSERS, VARIABLE


@pytest.fixture
def html(full: ReportFacts, tmp_path: Path) -> Path:
    page = tmp_path / "report.html"
    page.write_text(render(full), encoding="utf-8")
    return page


@pytest.fixture
def browser() -> None:
    named = os.environ.get(VARIABLE)
    if not (shutil.which(named) if named else any(map(shutil.which, BROWSERS))):
        pytest.skip("CHROMIUM ABSENT: no PDF is printed (apt-get install chromium)")


def _program(folder: Path, script: str) -> str:
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.requirement("R-10")
@pytest.mark.usefixtures("browser")
def test_the_pdf_has_pages_and_text_and_nothing_is_left_behind(html: Path, tmp_path: Path) -> None:
    pdf = tmp_path / "out" / "report.pdf"
    pdf.parent.mkdir()
    pdf.write_bytes(b"an older one")
    write_pdf(html, pdf)
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert pdf.read_bytes().count(b"/Type /Page\n") >= 4
    assert [path.name for path in pdf.parent.iterdir()] == ["report.pdf"]
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=True).stdout
        assert "All 3 privacy models are met" in text
        assert "Limits of the evidence" in text
        assert "file://" not in text


@pytest.mark.usefixtures("browser")
def test_a_path_with_spaces_and_signs_is_printed_too(html: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a report #1 – 100%.html"
    html.rename(odd)
    write_pdf(odd, tmp_path / "a report #1 – 100%.pdf")
    assert (tmp_path / "a report #1 – 100%.pdf").stat().st_size > 10_000


def test_without_a_browser_the_advice_is_clear(html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"no browser was found.*install Chromium, Chrome or Edge"):
        write_pdf(html, tmp_path / "report.pdf")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_wrong_name_in_the_environment_is_not_passed_over(
    html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(InputError, match="SHOAL_CHROMIUM names no program"):
        write_pdf(html, tmp_path / "report.pdf")


def test_a_page_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no page to print at .*missing\.html"):
        write_pdf(tmp_path / "missing.html", tmp_path / "report.pdf")


def test_a_folder_that_is_not_there_is_named(html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, _program(tmp_path, "exit 0"))
    with pytest.raises(TargetError, match=r"report\.pdf can't be written: No such file"):
        write_pdf(html, tmp_path / "missing" / "report.pdf")


@pytest.mark.parametrize(
    "script", ["exit 21", 'for a; do case $a in --print-to-pdf=*) echo junk > "${a#*=}";; esac; done']
)
def test_a_browser_that_prints_nothing_leaves_the_old_pdf(
    html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setenv(VARIABLE, _program(tmp_path, script))
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(b"an older one")
    with pytest.raises(InputError, match="browser printed no PDF"):
        write_pdf(html, pdf)
    assert pdf.read_bytes() == b"an older one"
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "report.pdf", "browser"}


def test_a_browser_that_hangs_is_ended_with_all_it_started(
    html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child"
    monkeypatch.setenv(VARIABLE, _program(tmp_path, f"sleep 60 & echo $! > {child}; wait"))
    with pytest.raises(InputError, match=r"did not print the page within 1 seconds"):
        write_pdf(html, tmp_path / "report.pdf", timeout=1.0)
    stat = Path(f"/proc/{child.read_text(encoding='utf-8').strip()}/stat")
    deadline = time.monotonic() + 5
    while stat.exists() and stat.read_text(encoding="utf-8").split()[2] != "Z" and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not stat.exists() or stat.read_text(encoding="utf-8").split()[2] == "Z"


def test_the_browser_is_kept_from_the_network_and_from_the_users_profile(
    html: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    monkeypatch.setenv(VARIABLE, _program(tmp_path, f'{{ echo "HOME=$HOME"; printf "%s\\n" "$@"; }} > {told}; exit 1'))
    with pytest.raises(InputError, match="printed no PDF"):
        write_pdf(html, tmp_path / "report.pdf")
    lines = told.read_text(encoding="utf-8").splitlines()
    (profile,) = [line.partition("=")[2] for line in lines if line.startswith("--user-data-dir=")]
    assert lines[0] == f"HOME={profile}"
    assert Path(profile).parent.parent == tmp_path
    assert not Path(profile).exists()
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in lines
    assert lines[-1] == html.as_uri()
