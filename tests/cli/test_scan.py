"""``shoal scan`` and ``shoal normalise`` as users call them."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path

import polars as pl
import pytest
import yaml
from tests.cli.conftest import Call, Ended

from shoal.discover.recognisers import default_recognisers
from shoal.scan import source_walk
from shoal.scan.text_findings import BLOCK, MOST, scan_text
from shoal.text import Annotator, Span
from shoal.text.matching.patterns import PatternFinder

pytestmark = pytest.mark.requirement("D-02")

SECRETS = ("asha.rao@example.org", "4111 1111 1111 1111", "203.0.113.9", "S1234567D", "Asha", "98200 12345")
FEW = tuple(each for each in default_recognisers() if each.type in {"email", "card", "ipv4", "nric", "phone"})


@pytest.fixture(autouse=True)
def few_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """An annotator of five kinds: all of them take seconds to make ready."""
    annotator = Annotator((PatternFinder(FEW),))
    monkeypatch.setattr("shoal.scan.annotators.Annotator", lambda *_, **__: annotator)


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    folder = tmp_path / "drive"
    (folder / "sub" / ".git").mkdir(parents=True)
    (folder / "sub" / ".git" / "config").write_text("asha.rao@example.org")
    log = ["INFO start", "INFO login asha.rao@example.org from 203.0.113.9", "WARN card 4111 1111 1111 1111"]
    (folder / "app.log").write_text("\n".join(log) + "\n")
    people = pl.DataFrame({"name": ["Asha Rao", "Ravi Nair"], "email": ["asha.rao@example.org", "ravi@example.org"]})
    people.write_csv(folder / "people.csv")
    people.write_excel(folder / "sub" / "people.xlsx")
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "asha.rao@example.org", "b@example.org", "Appointment"
    mail.set_content("My number is +91 98200 12345.")
    (folder / "mail.eml").write_bytes(bytes(mail))
    (folder / "people.json").write_text(json.dumps({"people": [{"mail": "asha.rao@example.org"}, {"mail": "none"}]}))
    (folder / "empty.txt").touch()
    (folder / "header.csv").write_text("a,b\n")
    (folder / "clean.csv").write_text("grade,score\n1,2\n2,3\n")
    with sqlite3.connect(folder / "clinic.db") as database:
        database.execute("CREATE TABLE patients (email TEXT, age INTEGER)")
        database.execute("INSERT INTO patients VALUES ('asha.rao@example.org', 34), ('b@example.org', 50)")
        database.execute("CREATE TABLE nobody (a TEXT)")
    database.close()
    return folder


def places(ended: Ended, kind: str) -> set[tuple[str, str]]:
    return {(Path(one["source"]).name, one["place"]) for one in ended.found["findings"] if one["type"] == kind}


def test_a_folder_by_kind_and_place(call: Call, drive: Path) -> None:
    ended = call("scan", "drive", "--json")
    assert ended.code == 0
    assert places(ended, "email") == {
        ("app.log", "text"),
        ("people.csv", "column 'email'"),
        ("people.xlsx#Sheet1", "column 'email'"),
        ("mail.eml", "header From"),
        ("mail.eml", "header To"),
        ("people.json", "$.people[].mail"),
        ("clinic.db#patients", "column 'email'"),
    }
    by_type = {one["type"]: one for one in ended.found["types"]}
    assert (by_type["card"]["count"], by_type["card"]["weight"]) == (1, "identifying")
    assert by_type["email"]["count"] == 10
    assert by_type["email"]["sources"] == 6
    assert ended.found["unread"] == []
    assert [Path(one).name for one in ended.found["skipped"]] == [".git"]


def test_lines_and_forms_instead_of_values(call: Call, drive: Path) -> None:
    found = call("scan", "drive/app.log", "--json").found["findings"]
    (card,) = [one for one in found if one["type"] == "card"]
    assert (card["lines"], card["forms"]) == ([3], ["9999 9999 9999 9999"])


@pytest.mark.requirement("V-05")
def test_no_value_is_shown_anywhere(call: Call, drive: Path, tmp_path: Path) -> None:
    for arguments in (("--json",), ("--html", "findings.html")):
        ended = call("scan", "drive", *arguments)
        shown = ended.stdout + ended.stderr
        assert not [secret for secret in SECRETS if secret in shown]
    page = (tmp_path / "findings.html").read_text()
    assert not [secret for secret in SECRETS if secret in page]
    assert "clinic.db#patients" in page
    assert "http" not in page.replace("http-equiv", ""), "the page asks the network for nothing"


@pytest.mark.parametrize(
    ("place", "required", "code"),
    [
        ("drive/clean.csv", "none", 0),
        ("drive/app.log", "none", 1),
        ("drive/app.log", "nric=0", 0),
        ("drive/app.log", "email=0", 1),
        ("drive/app.log", "email=1", 0),
        ("drive/people.csv", "none", 1),
        ("drive", "none", 1),
    ],
)
def test_gates(call: Call, drive: Path, place: str, required: str, code: int) -> None:
    assert call("scan", place, "--require", required).code == code


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("drive", "--require", "emial=0"), "did you mean 'email'"),
        (("drive", "--require", "email"), "TYPE=NUMBER"),
        (("nowhere",), "no such file or folder"),
        (("drive", "--threshold", "7"), "between 0 and 1"),
        (("drive", "--html", "findings.txt"), ".html"),
        (("drive", "--html", "no/findings.html"), "folder does not exist"),
        (("oracle://db",), "unknown kind of database"),
    ],
)
def test_wrong_input(call: Call, drive: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = call("scan", *arguments)
    assert ended.code == 2
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_what_can_not_be_read_is_listed_and_shuts_the_gate(call: Call, drive: Path) -> None:
    (drive / "blob.bin").write_bytes(b"\0\1\2")
    (drive / "broken.xlsx").write_bytes(b"PK\3\4 not a workbook")
    (drive / "broken.pdf").write_bytes(b"%PDF-1.4 not a document")
    ended = call("scan", "drive", "--require", "nric=0", "--json")
    assert {Path(one["source"]).name for one in ended.found["unread"]} == {"blob.bin", "broken.xlsx", "broken.pdf"}
    assert ended.code == 1
    assert call("scan", "drive", "--json").code == 0, "without a gate it is only listed"


def test_a_table_that_is_none_is_read_as_text(call: Call, tmp_path: Path) -> None:
    (tmp_path / "ragged.csv").write_text('a,b\n1,2,3\n"x\nasha.rao@example.org\n')
    assert places(call("scan", "ragged.csv", "--json"), "email") == {("ragged.csv", "text")}


def test_links_are_passed_by(call: Call, drive: Path) -> None:
    (drive / "loop").symlink_to(drive)
    (drive / "again.log").symlink_to(drive / "app.log")
    skipped = {Path(one).name for one in call("scan", "drive", "--json").found["skipped"]}
    assert skipped == {"loop", "again.log", ".git"}


def test_a_password_is_nowhere(call: Call, tmp_path: Path) -> None:
    ended = call("scan", "postgresql://me:geheim@localhost:1/db", "--json")
    assert ended.code == 2
    assert "geheim" not in ended.stdout + ended.stderr
    assert source_walk.title_of(["postgresql://me:geheim@db/x"]) == "postgresql://me@db/x"


def by_letter(text: str) -> list[Span]:
    return [Span(at, at + 1, "email", 0.9, "test") for at, letter in enumerate(text) if letter == "@"]


def test_a_large_text_is_looked_at_in_pieces_and_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    line = "x" * 98 + "@\n"
    lines = 3 * MOST // len(line)
    path.write_text(line * lines)
    (found,), looked = scan_text(path, by_letter, everything=False)
    assert "spread over the file" in looked.sampled
    assert found.estimated
    assert found.count == pytest.approx(lines, rel=0.02)
    (found,), looked = scan_text(path, by_letter, everything=True)
    assert (found.count, looked.sampled, found.estimated) == (lines, "", False)


@pytest.mark.parametrize("longest", [10, BLOCK - 1, BLOCK, 3 * BLOCK])
def test_lines_are_counted_over_blocks(tmp_path: Path, longest: int) -> None:
    path = tmp_path / "some.log"
    path.write_text(("y" * longest + "\n") * 4 + "here @\n")
    (found,), _ = scan_text(path, by_letter, everything=False)
    assert found.lines == (5,)


def test_ctrl_c_leaves_no_page(tmp_path: Path, drive: Path) -> None:
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # the tests may be run where it is ignored
        "from shoal.scan import source_walk\n"
        "source_walk.scan_text = lambda *a, **k: (print('begun', flush=True), time.sleep(60))\n"
        "from shoal.cli import main\n"
        "sys.argv = ['shoal', 'scan', 'drive/app.log', '--html', 'findings.html']\n"
        "main()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    assert not list(tmp_path.glob("*findings*"))


def test_the_hook_scans_given_files_only(root: Path, call: Call, drive: Path) -> None:
    (hook,) = yaml.safe_load((root / ".pre-commit-hooks.yaml").read_text())
    command = hook["entry"].split()
    assert command[:2] == ["shoal", "scan"]
    assert call(*command[1:], "drive/clean.csv").code == 0
    assert call(*command[1:], "drive/clean.csv", "drive/app.log").code == 1


def test_profile_of_a_folder_and_of_a_database(call: Call, drive: Path) -> None:
    (drive / "header.csv").unlink()
    found = call("profile", "drive", "--json").found["tables"]
    assert set(found) == {"people", "clean"}
    found = call("profile", "sqlite:///drive/clinic.db", "--json").found["tables"]
    assert [one["recognised"] for one in found["patients"]["columns"]] == ["email", "age"]
    assert call("profile", "drive", "--sets").code == 2


@pytest.fixture
def visits(tmp_path: Path) -> Sequence[str]:
    (tmp_path / "visits.csv").write_text("id;month\n1;May\n1;June\n2;May\n")
    return ("normalise", "visits.csv", "--person", "id")


@pytest.mark.requirement("D-08")
def test_normalise_writes_the_view(call: Call, visits: Sequence[str], tmp_path: Path) -> None:
    ended = call(*visits, "--view", "transposed", "-o", "people.csv", "--json")
    assert ended.code == 0
    assert ended.found["people"] == 2
    assert (tmp_path / "people.csv").read_text() == "id;month 1;month 2\n1;May;June\n2;May;\n"


@pytest.mark.requirement("D-08")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--view", "binry", "-o", "x.csv"), "did you mean 'binary'"),
        (("--view", "binary", "-o", "visits.csv"), "exists already"),
        (("--view", "binary", "-o", "x.csv", "--most", "1"), "more than 1 columns"),
        (("--view", "binary", "-o", "x.csv", "--columns", "monht"), "did you mean 'month'"),
    ],
)
def test_normalise_refuses(
    call: Call, visits: Sequence[str], tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ended = call(*visits, *arguments)
    assert ended.code == 2
    assert said in ended.stderr
    assert not (tmp_path / "x.csv").exists()
