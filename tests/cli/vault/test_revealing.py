"""Pseudonyms looked up and led back to people: for a reason, by those who may, with the approvals of others."""

from __future__ import annotations

import datetime
import io
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from shoal.randomness import now
from shoal.vault import KeyFile, Vault

from ..conftest import Call
from .conftest import NAMES, REASON, Issue, acting, later, refused


def test_domains(made: Call, issue: Issue) -> None:
    assert made("vault", "add", "short", "--validity-days", "30", "--json").found["validity_days"] == 30
    assert refused(made("vault", "add", "short"), "already")
    assert refused(made("vault", "add", "Not A Name"), "small letters")
    issue()
    found = {one["domain"]: one for one in made("vault", "domains", "--json").found["domains"]}
    assert list(found) == ["patients", "short"]
    assert (found["patients"]["entries"], found["patients"]["format"], found["patients"]["kind"]) == (
        3,
        "base32",
        "issued",
    )
    assert "patients" in made("vault", "domains").stdout


def test_lookup_in_order_and_nothing_is_made(made: Call, issue: Issue, monkeypatch: pytest.MonkeyPatch) -> None:
    codes = issue()
    assert made("vault", "lookup", "patients", NAMES[2], "Nobody", NAMES[0]).stdout == f"{codes[2]}\n\n{codes[0]}\n"
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{NAMES[1]}\r\nNobody\n"))
    assert made("vault", "lookup", "patients", "--json").found == {"domain": "patients", "pseudonyms": [codes[1], None]}
    assert refused(made("vault", "lookup", "patients"), "stdin")
    assert made("vault", "domains", "--json").found["domains"][0]["entries"] == 3


@pytest.mark.requirement("S-10")
def test_records_are_matched_by_quasi_identifiers(made: Call, tmp_path: Path) -> None:
    with Vault.open(tmp_path / "shoal.vault", KeyFile("anita", tmp_path / "anita.key")) as vault:
        codes, people = pl.Series(["C1", "C2", "C3"]), pl.Series(NAMES)
        vault.remember("patients", codes, people, [b"34 | f", b"34 | m", b"34 | f"])
    found = made("vault", "match", "patients", "34", "f", "--reason", REASON, "--json")
    assert found.found == {"domain": "patients", "pseudonyms": ["C1", "C3"]}
    assert made("vault", "match", "patients", "99", "f", "--reason", REASON).stdout == ""
    assert refused(made("vault", "match", "patients", "34", "f", "--reason", "why"), "reason in words")
    revealed = made("vault", "reveal", "patients", "C3", "--reason", REASON, "--json").found["revealed"]
    assert [one["value"] for one in revealed] == [NAMES[2]]


@pytest.mark.requirement("V-04")
def test_pseudonyms_end_with_their_validity(made: Call, issue: Issue, monkeypatch: pytest.MonkeyPatch) -> None:
    made("vault", "add", "short", "--validity-days", "30")
    code = issue("short")[0]
    later(monkeypatch, days=31)
    assert made("vault", "lookup", "short", NAMES[0]).stdout == "\n"
    revealed = made("vault", "reveal", "short", code, "--reason", REASON, "--json").found["revealed"]
    assert [(one["value"], one["state"]) for one in revealed] == [(NAMES[0], "expired")]
    assert issue("short")[0] != code


@pytest.mark.requirement("V-04")
def test_revoked_is_not_valid_and_the_next_is_another(made: Call, issue: Issue) -> None:
    code = issue()[0]
    assert made("vault", "revoke", "patients", code, "--reason", REASON, "--json").found["revoked"] == 1
    assert made("vault", "lookup", "patients", NAMES[0]).stdout == "\n"
    assert issue()[0] != code
    assert refused(made("vault", "revoke", "patients", "x" * 16, "--reason", REASON), "never issued")


@pytest.mark.requirement("V-03")
def test_reissue_gives_everybody_another(made: Call, issue: Issue) -> None:
    before = issue()
    assert made("vault", "reissue", "patients", "--reason", "a mapping table was lost", "--json").found["reissued"] == 3
    assert not set(before) & set(issue())
    found = made("vault", "reveal", "patients", before[1], "--reason", REASON, "--json").found["revealed"]
    assert [(one["value"], one["state"]) for one in found] == [(NAMES[1], "replaced")]


@pytest.mark.requirement("V-02")
def test_reveal_answers_at_once_where_no_approval_is_needed(made: Call, issue: Issue) -> None:
    codes = issue()
    ended = made("vault", "reveal", "patients", codes[1], codes[0], "--reason", REASON, "--json")
    assert (ended.code, ended.stderr) == (0, "")
    assert [(one["pseudonym"], one["value"], one["state"]) for one in ended.found["revealed"]] == [
        (codes[1], NAMES[1], "valid"),
        (codes[0], NAMES[0], "valid"),
    ]
    last = made("vault", "audit", "--json").found["entries"][-1]
    assert (last["action"], last["details"]["reason"]) == ("reveal", REASON)
    assert NAMES[1] in made("vault", "reveal", "patients", codes[1], "--reason", REASON).stdout


def test_reveal_needs_all_that_is_asked(made: Call, issue: Issue) -> None:
    code = issue()[0]
    assert refused(made("vault", "reveal", "patients", code), "--reason")
    assert refused(made("vault", "reveal", "patients", "--reason", REASON), "pseudonyms")
    assert refused(made("vault", "reveal", "patients", code, "--reason", "x"), "in words")
    assert refused(made("vault", "reveal", "patients", *(f"c{n}" for n in range(21)), "--reason", REASON), "20 at most")
    assert refused(made("vault", "reveal", "patients", "x" * 16, "--reason", REASON), "never issued")
    assert refused(made("vault", "reveal", "patients", code, "--request", "1"), "settled")
    assert refused(made("vault", "reveal", "--request", "99"), "no open request 99")


@pytest.mark.requirement("V-02")
def test_reveal_with_the_approvals_of_two_others(guarded: Call, issue: Issue) -> None:
    code = issue("guarded")[0]
    waits = guarded("vault", "reveal", "guarded", code, "--reason", REASON)
    assert (waits.code, waits.stderr) == (1, "")
    assert all(word in waits.stdout for word in ("request 1", "0 of 2", "meera, ravi", "reveal --request 1"))
    assert refused(guarded("vault", "approve", "1"), "nobody approves their own")
    assert refused(guarded("vault", "approve", "1", *acting("tara")), "right to approve")
    assert guarded("vault", "approve", "1", *acting("meera"), "--json").found["approved_by"] == ["meera"]
    assert refused(guarded("vault", "approve", "1", *acting("meera")), "already")
    still = guarded("vault", "reveal", "--request", "1", "--json")
    assert (still.code, still.found["may_approve"], still.found["revealed"]) == (1, ["ravi"], None)
    assert "2 of 2 (meera, ravi)" in guarded("vault", "approve", "1", *acting("ravi")).stdout
    assert refused(guarded("vault", "reveal", "--request", "1", *acting("meera")), "right to reveal")
    answer = guarded("vault", "reveal", "--request", "1", "--json")
    assert answer.code == 0
    assert [one["value"] for one in answer.found["revealed"]] == [NAMES[0]]
    trail = guarded("vault", "audit", "--domain", "guarded", "--json").found["entries"]
    assert [(one["action"], one["person"]) for one in trail[2:]] == [
        ("ask", "anita"),
        ("approve", "meera"),
        ("approve", "ravi"),
        ("reveal", "anita"),
    ]
    assert trail[-1]["details"]["approved_by"] == ["meera", "ravi"]


def test_requests_show_who_asks_what_and_why(guarded: Call, issue: Issue) -> None:
    code = issue("guarded")[0]
    guarded("vault", "reveal", "guarded", code, "--reason", REASON, "--hours", "2")
    (one,) = guarded("vault", "requests", *acting("meera"), "--json").found["requests"]
    told = {key: one[key] for key in ("request", "domain", "person", "reason", "pseudonyms", "needed", "granted")}
    assert told == {
        "request": 1,
        "domain": "guarded",
        "person": "anita",
        "reason": REASON,
        "pseudonyms": [code],
        "needed": 2,
        "granted": False,
    }
    left = datetime.datetime.fromisoformat(one["until"]) - now()
    assert datetime.timedelta(hours=1, minutes=58) < left <= datetime.timedelta(hours=2)
    assert code in guarded("vault", "requests").stdout


@pytest.mark.requirement("V-02")
def test_approvals_and_requests_expire(guarded: Call, issue: Issue, monkeypatch: pytest.MonkeyPatch) -> None:
    code = issue("guarded")[0]
    guarded("vault", "reveal", "guarded", code, "--reason", REASON)
    guarded("vault", "approve", "1", *acting("meera"), "--hours", "2")
    guarded("vault", "approve", "1", *acting("ravi"))
    later(monkeypatch, hours=3)
    waits = guarded("vault", "reveal", "--request", "1", "--json")
    assert (waits.code, waits.found["request"]["approved_by"]) == (1, ["ravi"])
    later(monkeypatch, hours=25)
    assert refused(guarded("vault", "reveal", "--request", "1"), "expired")
    assert refused(guarded("vault", "approve", "1", *acting("meera")), "expired")


def test_without_the_right_nothing_is_done(guarded: Call, issue: Issue) -> None:
    code = issue()[0]
    manage = (
        ("add", "more"),
        ("rotate", "patients"),
        ("rotate", "--master"),
        ("revoke", "patients", code, "--reason", REASON),
        ("reissue", "patients", "--reason", REASON),
        ("shred", "patients", "--reason", REASON, "--yes"),
        ("backup", "copy.backup"),
        ("admit", "b", "--right", "use", "--with-key-file", "b.key"),
        ("dismiss", "ravi"),
    )
    for words in manage:
        assert refused(guarded("vault", *words, *acting("tara")), "right to manage"), words
    assert refused(guarded("vault", "reveal", "patients", code, "--reason", REASON, *acting("tara")), "right to reveal")
    assert refused(guarded("vault", "lookup", "patients", NAMES[0], *acting("meera")), "right to use")
    assert guarded("vault", "lookup", "patients", NAMES[0], *acting("tara")).stdout == f"{code}\n"
    assert not Path("copy.backup").exists()
    assert [one["domain"] for one in guarded("vault", "domains", "--json").found["domains"]] == ["guarded", "patients"]


@pytest.mark.requirement("V-05")
def test_only_an_answer_shows_values(guarded: Call, issue: Issue) -> None:
    codes = issue("guarded")
    guarded("vault", "reveal", "guarded", codes[0], "--reason", REASON)
    for name in ("meera", "ravi"):
        guarded("vault", "approve", "1", *acting(name))
    answer = guarded("vault", "reveal", "--request", "1")
    assert NAMES[0] in answer.stdout
    assert answer.stderr == ""
    others = (("audit",), ("requests",), ("domains",), ("verify",), ("lookup", "guarded", NAMES[1]), ("people",))
    said = [guarded("vault", *words) for words in others]
    assert not [ended for ended in said if "Zyxwvut" in ended.stdout + ended.stderr]
    assert not list(leaking(Path(), b"Zyxwvut"))


def leaking(folder: Path, secret: bytes) -> Iterator[Path]:
    yield from (path for path in folder.rglob("*") if path.is_file() and secret in path.read_bytes())
