"""``shoal scrub``: files, folders, pipes."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.text.known_forms import annotator

pytestmark = pytest.mark.requirement("X-02", "X-05")

LETTER = "Dear Asha Rao,\nDr. Lim wrote to a@b.in on 2024-03-05.\n"
CLEAN = "Dear [PERSON],\n[PERSON] wrote to [EMAIL] on [DATE].\n"


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.scrub.scrubber.standard_annotator", lambda *_, **__: annotator())
    monkeypatch.delenv("SHOAL_VAULT", raising=False)


@pytest.fixture
def letter(tmp_path: Path) -> Path:
    path = tmp_path / "letter.txt"
    path.write_text(LETTER, encoding="utf-8")
    return path


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch):
    def give(text: str | bytes) -> None:
        data = text.encode() if isinstance(text, str) else text
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


def test_a_file_to_stdout(call, letter):
    done = call("scrub", str(letter))
    assert (done.code, done.stdout, done.stderr) == (0, CLEAN, "")


def test_stdin_to_stdout(call, typed):
    typed(LETTER)
    assert call("scrub").stdout == CLEAN
    typed(LETTER.replace("\n", "\r\n"))
    assert call("scrub", "-", "-o", "out.txt").code == 0
    assert Path("out.txt").read_bytes() == CLEAN.replace("\n", "\r\n").encode()


def test_masks_keep_the_layout(call, letter):
    out = call("scrub", str(letter), "--replace", "mask", "--char", "#").stdout
    assert out == "Dear ########,\n####### wrote to ###### on ##########.\n"


def test_types_dates_and_ages(call, letter):
    assert call("scrub", str(letter), "--types", "email").stdout == LETTER.replace("a@b.in", "[EMAIL]")
    assert "2024-03-05" in call("scrub", str(letter), "--dates", "keep").stdout


def test_several_files_with_side_file_and_table(call, letter, tmp_path):
    (tmp_path / "app.log").write_text("login Ravi Lim\n\nlogout Ravi Lim\n", encoding="utf-8")
    done = call(
        "scrub", "letter.txt", "app.log", "-o", "clean/", "--replace", "pseudonym",
        "--table", "segments.csv", "--report", "side.json", "--json",
    )  # fmt: skip
    assert done.code == 0, done.stderr
    assert done.found["types"] == {"date": 1, "email": 1, "person": 4}
    assert done.found["documents"]["app.log"] == {"person": 2}
    side = json.loads(Path("side.json").read_text(encoding="utf-8"))
    log_done = side["documents"][1]
    assert log_done["types"] == {"person": 2}
    lines = Path("clean/app.log").read_text(encoding="utf-8")
    for action in log_done["actions"]:
        assert lines[action["new_start"] : action["new_end"]].endswith("°")
    with Path("segments.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["type"] for row in rows] == ["person", "person", "email", "date", "person", "person"]
    assert rows[4]["value"] == rows[5]["value"]
    for path in ("side.json", "segments.csv", "clean/letter.txt", "clean/app.log"):
        told = Path(path).read_text(encoding="utf-8")
        assert all(value not in told for value in ("Asha Rao", "Lim", "a@b.in", "2024-03-05"))
    assert letter.read_text(encoding="utf-8") == LETTER


def test_values_only_for_the_owner(call, letter):
    assert call("scrub", "letter.txt", "--table", "t.csv", "--keep-values").code == 0
    assert "Asha Rao" in Path("t.csv").read_text(encoding="utf-8")
    assert call("scrub", "letter.txt", "--keep-values").code == 2


def test_in_place_and_twice(call, letter):
    assert call("scrub", "letter.txt", "--in-place").code == 0
    assert letter.read_text(encoding="utf-8") == CLEAN
    assert call("scrub", "letter.txt", "--in-place", "--json").found["types"] == {}
    assert letter.read_text(encoding="utf-8") == CLEAN
    assert [path.name for path in letter.parent.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nobody.txt"], "there is no such file"),
        (["."], "goes to another folder"),
        (["letter.txt", "letter.txt", "-o", "x/"], "the same name"),
        (["letter.txt", "b.txt"], "need a folder"),
        (["letter.txt", "-o", "letter.txt"], "--in-place"),
        (["letter.txt", "-o", "."], "--in-place"),
        (["letter.txt", "--in-place", "-o", "x"], "--in-place"),
        (["-", "--in-place"], "--in-place"),
        (["letter.txt", "--json"], "stdout is taken"),
        (["letter.txt", "--types", "persons"], "did you mean 'person'"),
        (["letter.txt", "--encoding", "utf-99"], "encoding"),
        (["letter.txt", "--char", "##"], "char"),
        (["letter.txt", "--replace", "hide"], "label"),
        (["letter.txt", "-o", "no/such/folder/x.txt"], "no/such/folder/x.txt"),
        (["letter.txt", "--report", "no/such/folder/x.json"], "x.json"),
        (["letter.txt", "--replace", "pseudonym", "--vault", "no.vault"], "no such vault"),
        (["binary.txt"], "is no plain text"),
    ],
)
def test_wrong_use_is_one_clear_line(call, letter, arguments, said):
    (letter.parent / "binary.txt").write_bytes(b"PK\x03\x04\0\0Rao")
    done = call("scrub", *arguments)
    assert done.code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "Rao" not in done.stderr + done.stdout


def test_another_encoding(call, tmp_path):
    (tmp_path / "old.txt").write_bytes("café Asha Rao".encode("latin-1"))
    assert call("scrub", "old.txt", "-o", "new.txt", "--encoding", "latin-1").code == 0
    assert (tmp_path / "new.txt").read_bytes() == "café [PERSON]".encode("latin-1")


def test_an_empty_file(call, tmp_path):
    (tmp_path / "empty.txt").touch()
    assert call("scrub", "empty.txt").stdout == ""


def test_stack_traces_as_records(call, typed):
    typed("failed\n  for Asha Rao\nnext\n")
    assert call("scrub", "--records").stdout == "failed\n  for [PERSON]\nnext\n"


@pytest.mark.requirement("V-04")
def test_with_a_vault_stand_ins_last(call, letter, tmp_path, monkeypatch):
    monkeypatch.setenv("SHOAL_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("SHOAL_VAULT_PERSON", "anita")
    monkeypatch.setenv("SHOAL_VAULT_KEY_FILE", "anita.key")
    assert call("vault", "init").code == 0
    assert call("vault", "add", "letters").code == 0
    words = ("scrub", "letter.txt", "--replace", "pseudonym", "--domain", "letters")
    one, other = (call(*words, "--vault", "shoal.vault") for _ in range(2))
    assert one.code == 0, one.stderr
    assert one.stdout == other.stdout
    assert call(*words).stdout != one.stdout
    strange = call(*words[:-1], "others", "--vault", "shoal.vault")
    assert strange.code == 2
    assert "others" in strange.stderr


MAIL = """From: Asha Rao <a@b.in>
To: clinic@example.net
Subject: Ravi Lim
Content-Type: text/plain; charset=utf-8

Ravi Lim came.
"""


def test_other_documents_go_by_their_carrier(call, tmp_path):
    (tmp_path / "note.eml").write_text(MAIL, encoding="utf-8")
    (tmp_path / "data.json").write_text('{"who": "Asha Rao", "n": [1, "a@b.in"]}', encoding="utf-8")
    done = call("scrub", "note.eml", "data.json", "-o", "clean", "--table", "t.csv", "--report", "side.json", "--json")
    assert done.code == 0, done.stderr
    assert done.found["documents"]["data.json"] == {"email": 1, "person": 1}
    assert json.loads(Path("clean/data.json").read_text(encoding="utf-8")) == {"who": "[PERSON]", "n": [1, "[EMAIL]"]}
    for path in ("clean/note.eml", "clean/data.json", "t.csv", "side.json"):
        told = Path(path).read_text(encoding="utf-8")
        assert all(value not in told for value in ("Asha", "Ravi", "a@b.in"))
    side = json.loads(Path("side.json").read_text(encoding="utf-8"))
    assert {entry["place"] for entry in side["documents"][1]["actions"][0]["cleaned"]} == {"$.who", "$.n[1]"}
    with Path("t.csv").open(encoding="utf-8") as file:
        assert {row["document"] for row in csv.DictReader(file)} >= {"data.json: $.who", "data.json: $.n[1]"}


def test_what_could_not_be_replaced_is_said(call, tmp_path):
    (tmp_path / "keys.json").write_text('{"asha@clinic.in": 1}', encoding="utf-8")
    done = call("scrub", "keys.json", "-o", "out.json", "--report", "side.json")
    assert done.code == 0
    assert "warning: keys.json: left as they are: 1 × " in done.stderr
    assert "asha" not in done.stderr + Path("side.json").read_text(encoding="utf-8")


def test_a_document_does_not_go_to_the_screen(call, tmp_path):
    (tmp_path / "data.json").write_text("{}", encoding="utf-8")
    assert "--output" in call("scrub", "data.json").stderr
    (tmp_path / "data.xyz").write_text("Asha Rao", encoding="utf-8")
    done = call("scrub", "data.xyz", "-o", "out.xyz")
    assert done.code == 2
    assert not (tmp_path / "out.xyz").exists()


PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may be run where it is ignored
import sys
import shoal.scrub.scrubber
from tests.text.known_forms import annotator
shoal.scrub.scrubber.standard_annotator = lambda *_, **__: annotator()
sys.argv = ["shoal", "scrub", "--report", "side.json"]
from shoal.cli import main
main()
"""


def test_a_pipe_is_passed_on_line_by_line_and_ctrl_c_ends_it(tmp_path, root):
    """As in ``tail -f app.log | shoal scrub``: the answer to a line comes before the next line is sent."""
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert running.stdin is not None
    assert running.stdout is not None
    for place in range(3):
        running.stdin.write(f"{place} Asha Rao\n".encode())
        running.stdin.flush()
        assert running.stdout.readline() == f"{place} [PERSON]\n".encode()
    time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    out, said = running.communicate(timeout=20)
    assert running.returncode == 130
    assert out == b""
    assert b"Traceback" not in said
    side = json.loads((tmp_path / "side.json").read_text(encoding="utf-8"))
    assert side["types"] == {"person": 3}


@pytest.mark.requirement("T-02")
def test_original_values_are_for_their_owner_alone(call, letter):
    """Even where the table was there before and others could read it."""
    for name in ("table.csv", "side.json"):
        Path(name).write_text("old")
        Path(name).chmod(0o644)
    call("scrub", str(letter), "-o", "out.txt", "--table", "table.csv", "--report", "side.json", "--keep-values")
    assert stat.S_IMODE(Path("table.csv").stat().st_mode) == 0o600
    assert stat.S_IMODE(Path("side.json").stat().st_mode) == 0o644
    assert "Asha Rao" in Path("table.csv").read_text()


@pytest.mark.requirement("T-02")
def test_side_files_tell_of_what_was_done_and_stay_as_they_were_where_nothing_was(call, letter):
    for name in ("table.csv", "side.json", "out.txt"):
        Path(name).write_text("old")
    sides = ("--table", "table.csv", "--report", "side.json")
    assert call("scrub", "nowhere.txt", "-o", "out.txt", *sides).code == 2
    assert {Path(name).read_text() for name in ("table.csv", "side.json", "out.txt")} == {"old"}
    assert call("scrub", str(letter), "nowhere.txt", "-o", "clean", *sides).code == 2
    assert Path("clean/letter.txt").read_text() == CLEAN
    assert json.loads(Path("side.json").read_text())["documents"][0]["document"] == "letter.txt"
    assert len(Path("table.csv").read_text().splitlines()) == 5
    assert not [path for path in Path().rglob(".*") if "partial" in path.name]


def test_cells_that_a_spreadsheet_would_run_are_told(call):
    Path("notes.csv").write_text("who,note\nAsha Rao,=cmd|x\nDr. Lim,-5\n")
    done = call("scrub", "notes.csv", "-o", "clean.csv")
    assert Path("clean.csv").read_text() == "who,note\n[PERSON],=cmd|x\n[PERSON],-5\n"
    assert "warning: notes.csv: left as they are: 1 × formula that a spreadsheet would run" in done.stderr
    Path("letter.txt").write_text("Dear +Asha Rao")
    done = call("scrub", "letter.txt", "-o", "out.txt", "--table", "table.csv", "--replace", "mask", "--char", "=")
    assert "warning: the table: 1 × formula that a spreadsheet would run" in done.stderr
