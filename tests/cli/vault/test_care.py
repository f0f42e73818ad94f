"""What keeps a vault healthy, from the command line: nothing half done, nothing lost without a word."""

from __future__ import annotations

import datetime
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from shoal.randomness import now

from ..conftest import Call
from .conftest import NAMES, REASON, Issue, at_terminal, refused


@pytest.mark.requirement("V-01")
def test_rotation_leaves_pseudonyms_as_they_are(made: Call, issue: Issue) -> None:
    before = issue()
    assert made("vault", "rotate", "patients", "--json").found == {"domain": "patients", "master": False}
    assert "master key" in made("vault", "rotate", "patients", "--master").stdout
    assert issue() == before
    assert made("vault", "verify", "--json").found["entries"] == 3
    assert refused(made("vault", "rotate"), "--master")


def test_interrupted_rotation_says_so_and_goes_on_later(
    made: Call, issue: Issue, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = issue()
    with monkeypatch.context() as patch:
        patch.setattr("shoal.vault.key_lifecycle.rotate_some", interrupt)
        ended = made("vault", "rotate", "patients")
    assert (ended.code, ended.stdout) == (130, "")
    assert ended.stderr.splitlines() == [
        "interrupted: the domain works on with both keys; the same command goes on where this one ended"
    ]
    assert made("vault", "verify").code == 0
    assert made("vault", "rotate", "patients").code == 0
    assert issue() == before


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("within", ["shoal.vault.key_lifecycle.audit.record", "shoal.vault.vault.seal_head"])
def test_ctrl_c_leaves_nothing_half_done(
    made: Call, issue: Issue, monkeypatch: pytest.MonkeyPatch, within: str
) -> None:
    code = issue()[0]
    with monkeypatch.context() as patch:
        patch.setattr(within, interrupt)
        ended = made("vault", "revoke", "patients", code, "--reason", REASON)
    assert (ended.code, ended.stdout) == (130, "")
    assert ended.stderr.splitlines() == ["interrupted: what was under way is undone"]
    assert made("vault", "lookup", "patients", NAMES[0]).stdout == f"{code}\n"
    assert made("vault", "verify").code == 0


@pytest.mark.requirement("V-01")
def test_shred_gives_its_proof(made: Call, issue: Issue) -> None:
    issue()
    ended = made("vault", "shred", "patients", "--reason", REASON, "--yes", "--certificate", "proof.json", "--json")
    assert ended.code == 0
    assert ended.found == json.loads(Path("proof.json").read_text(encoding="utf-8"))
    assert {key: ended.found[key] for key in ("domain", "entries", "by", "reason")} == {
        "domain": "patients",
        "entries": 3,
        "by": "anita",
        "reason": REASON,
    }
    assert refused(made("vault", "lookup", "patients", NAMES[0]), "shredded")
    assert refused(made("vault", "add", "patients"), "already")


def test_shred_is_asked_back(made: Call, issue: Issue, monkeypatch: pytest.MonkeyPatch) -> None:
    issue()
    shred = ("vault", "shred", "patients", "--reason", REASON)
    assert refused(made(*shred), "--yes")
    at_terminal(monkeypatch, "patient")
    ended = made(*shred)
    assert ended.code == 2
    assert "nothing was shredded" in ended.stderr
    assert made("vault", "verify", "--json").found["entries"] == 3
    at_terminal(monkeypatch, "patients")
    assert "shredded for good" in made(*shred).stdout


def test_certificate_that_cannot_be_written_stops_the_shredding(made: Call, issue: Issue) -> None:
    issue()
    Path("proof.json").write_text("mine", encoding="utf-8")
    shred = ("vault", "shred", "patients", "--reason", REASON, "--yes", "--certificate")
    assert refused(made(*shred, "proof.json"), "proof.json")
    assert refused(made(*shred, "nowhere/proof.json"), "nowhere")
    assert Path("proof.json").read_text(encoding="utf-8") == "mine"
    assert made("vault", "verify", "--json").found["entries"] == 3
    assert refused(made("vault", "shred", "nobody", "--reason", REASON, "--yes", "--certificate", "new.json"), "nobody")
    assert not Path("new.json").exists()


def test_verify_counts_and_finds_what_was_altered(made: Call, issue: Issue) -> None:
    issue()
    found = made("vault", "verify", "--json").found
    assert {"domains": 1, "entries": 3}.items() <= found.items()
    assert "nothing wrong" in made("vault", "verify").stdout
    with sqlite3.connect("shoal.vault") as database:
        table = next(name for (name,) in database.execute("SELECT name FROM sqlite_master") if name.endswith("person"))
        database.execute(f"UPDATE {table} SET rights = 'use'")  # noqa: S608
    database.close()
    assert refused(made("vault", "verify"), "SHOAL-170")


def test_audit_is_cut_by_day_and_domain(guarded: Call, issue: Issue) -> None:
    issue()
    everything = guarded("vault", "audit", "--json").found["entries"]
    assert [one["number"] for one in everything] == list(range(1, len(everything) + 1))
    assert everything[0].keys() == {"number", "at", "person", "action", "domain", "details"}
    today, tomorrow = now().date(), (now() + datetime.timedelta(days=1)).date()
    assert guarded("vault", "audit", "--since", str(today), "--json").found["entries"] == everything
    assert guarded("vault", "audit", "--since", str(tomorrow), "--json").found["entries"] == []
    of_domain = guarded("vault", "audit", "--domain", "patients", "--json").found["entries"]
    assert [one["action"] for one in of_domain] == ["add domain", "issue"]
    assert "rights: approve" in guarded("vault", "audit").stdout
    assert refused(guarded("vault", "audit", "--since", "yesterday"), "--since")


def test_backup_and_restore(made: Call, issue: Issue) -> None:
    before = issue()
    assert made("vault", "backup", "copy.backup", "--json").found["backup"] == "copy.backup"
    assert refused(made("vault", "backup", "copy.backup"), "exists already")
    issue(names=("somebody since",))
    assert refused(made("vault", "restore", "none.backup", "--vault", "r.vault"), "no such backup")
    assert refused(made("vault", "restore", "copy.backup"), "exists already")
    restored = made("vault", "restore", "copy.backup", "--vault", "r.vault", "--json")
    assert (restored.code, restored.found["entries"]) == (0, 3)
    assert made("vault", "lookup", "patients", NAMES[0], "--vault", "r.vault").stdout == f"{before[0]}\n"


def test_restore_on_another_machine_needs_to_know_how_many_to_skip(
    made: Call, issue: Issue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issue()
    made("vault", "backup", "copy.backup")
    monkeypatch.setenv("SHOAL_STATE", str(tmp_path / "elsewhere"))
    restore = ("vault", "restore", "copy.backup", "--vault", "r.vault")
    assert refused(made(*restore), "--skip")
    assert refused(made(*restore, "--skip", "-1"), "--skip")
    assert not Path("r.vault").exists()
    assert made(*restore, "--skip", "1000").code == 0


def test_older_copy_in_the_place_of_the_vault_is_refused(made: Call, issue: Issue) -> None:
    shutil.copy("shoal.vault", "older.vault")
    issue()
    assert refused(made("vault", "domains", "--vault", "older.vault"), "older copy", "restore")
