"""``shoal register``, ``shoal due``, ``shoal verify`` as somebody types them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from tests.support.commands import Call

pytestmark = pytest.mark.requirement("G-01", "G-09")


@pytest.fixture
def begun(call: Call) -> Call:
    assert call("register", "init", "--administrator", "devi").code == 0
    assert call("register", "person", "admit", "asha", "--roles", "chief-investigator", "--by", "devi").code == 0
    return call


def test_acts_are_commands(begun: Call) -> None:
    opened = begun("register", "project", "open", "hospital", "--use-case", "retention", "--by", "asha", "--json")
    assert opened.found == {
        "kind": "project",
        "id": "hospital",
        "status": "open",
        "project": "hospital",
        "use_case": "retention",
        "owner": "asha",
        "k": 3,
    }
    assert begun("register", "list", "project", "--json").found["hospital"]["status"] == "open"
    shown = begun("register", "show", "project", "hospital", "--json").found
    assert [one["act"] for one in shown["history"]] == ["open"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["project", "open", "hospital", "--by", "asha"], "--use-case: is missing"),
        (["project", "open", "hospital", "--use-case", "retention"], "--by: who acts?"),
        (["project", "open", "hospital", "--use-case", "retention", "--by", "eve"], "'eve' is nobody who may act"),
        (["project", "open", "a b", "--use-case", "retention", "--by", "asha"], "an identifier has"),
        (["person", "admit", "chan", "--roles", "testr", "--by", "devi"], "did you mean 'tester'?"),
        (
            ["person", "train", "asha", "--topic", "x", "--marks", "101", "--by", "devi"],
            "--marks: has to be at most 100",
        ),
        (["request", "approve", "R-9", "--by", "asha"], "there is no request 'R-9'"),
        (["show", "projct", "x"], "did you mean 'project'?"),
        (["certify", "nowhere", "--key", "none.pem"], "none.pem: can't be read"),
    ],
)
def test_one_clear_line(begun: Call, arguments: list[str], said: str) -> None:
    ended = begun("register", *arguments)
    assert ended.code == 2
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_without_a_registry(call: Call) -> None:
    for arguments in (["register", "list", "project"], ["due"], ["verify", "none.db"]):
        ended = call(*arguments)
        assert (ended.code, "no such registry" in ended.stderr) == (2, True)


@pytest.mark.requirement("G-11")
def test_due(begun: Call, tmp_path: Path) -> None:
    begun("register", "project", "open", "hospital", "--use-case", "retention", "--by", "asha")
    assert begun("due").code == 0
    assign = ["register", "project", "assign", "hospital", "--owner", "asha", "--by", "asha"]
    begun(*assign, "--step", "3", "--due", "2020-01-31")
    ended = begun("due", "--json", "--calendar", "due.ics")
    assert ended.code == 1
    assert ended.found["overdue"] == 1
    assert ended.found["due"][0]["what"] == "step 3: Assign roles and responsibilities"
    calendar = (tmp_path / "due.ics").read_bytes()
    assert b"DTSTART;VALUE=DATE:20200131\r\n" in calendar and calendar.endswith(b"END:VCALENDAR\r\n")
    for days in ("-1", "99999999999"):
        assert begun("due", "--within", days).code == 2


@pytest.mark.requirement("G-09")
def test_signed_and_verified(begun: Call, tmp_path: Path) -> None:
    assert begun("register", "keys", "-o", "devi.pem").code == 0
    assert (tmp_path / "devi.pem").stat().st_mode & 0o077 == 0
    assert begun("register", "keys", "-o", "devi.pem").code == 2
    assert begun("register", "checkpoint", "--key", "devi.pem", "-o", "c.json").code == 0
    intact = begun("verify", "registry.db", "--key", "devi.pem.pub", "--anchor", "c.json", "--json")
    assert intact.code == 0 and intact.found["intact"] and intact.found["signed_through"] == 2
    with sqlite3.connect(tmp_path / "registry.db") as connection:
        connection.execute("UPDATE shoal_registry_record SET status = 'dismissed' WHERE id = 'asha'")
    connection.close()
    changed = begun("verify", "registry.db", "--json")
    assert changed.code == 1 and not changed.found["intact"] and "asha" in changed.found["because"]
