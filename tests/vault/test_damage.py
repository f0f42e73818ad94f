"""A vault that was damaged, altered or replaced: the right answer still, or a clear error; never a wrong answer."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sqlalchemy import Connection
from tests.vault.conftest import ANITA, FORM, MEI, QUICK, RAVI, REASON, Room

from shoal.errors import IntegrityError, ShoalError, SourceError
from shoal.pseudonyms.issuance import serials_of
from shoal.vault import Passphrase, Right, Vault, domains
from shoal.vault.entries import chosen
from shoal.vault.entry_rows import EntryRows, fetch_places

pytestmark = pytest.mark.requirement("V-01", "V-02")

PEOPLE = pl.Series([f"person {number}" for number in range(120)])
FLIPS = 200
LOG_FLIPS = 60
LENGTHS = 60


@dataclass
class Known:
    """A vault that is closed, what it holds, and what it answers."""

    room: Room
    pseudonyms: list[str]
    revoked: str
    request: int
    files: dict[Path, bytes] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return Path(self.room.place)

    @property
    def log(self) -> Path:
        return Path(f"{self.path}-wal")

    def keep(self) -> None:
        """All as it is now, with what this machine remembers of it."""
        parts = [self.path, self.log, *self.room.state.iterdir()]
        self.files = {path: path.read_bytes() for path in parts if path.exists()}

    def put_back(self) -> None:
        for part in (self.path, self.log, Path(f"{self.path}-shm")):
            part.unlink(missing_ok=True)
        for path, content in self.files.items():
            path.write_bytes(content)

    def flip(self, path: Path, chance: random.Random) -> None:
        """Where something is written: most of a small file is empty pages."""
        self.put_back()
        damaged = bytearray(self.files[path])
        damaged[chance.choice([at for at, byte in enumerate(damaged) if byte])] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)

    def sql(self, *statements: str, **values: object) -> None:
        connection = sqlite3.connect(self.path)
        for statement in statements:
            connection.execute(statement, values if ":" in statement else {})
        connection.commit()
        connection.close()

    def rows(self, statement: str) -> list[Any]:
        connection = sqlite3.connect(self.path)
        found = connection.execute(statement).fetchall()
        connection.close()
        return found


@pytest.fixture
def known(file_room: Room) -> Known:
    """With people, a revoked pseudonym, a second domain with the same people, a granted request."""
    vault = file_room.create()
    vault.admit(RAVI, [Right.APPROVE])
    vault.admit(MEI, [Right.USE, Right.REVEAL])
    vault.add_domain("patients", approvals=1)
    vault.add_domain("staff")
    first = vault.issue("patients", PEOPLE, FORM)
    vault.issue("staff", PEOPLE, FORM)
    vault.revoke("patients", [first[0]], "the card was lost")
    pseudonyms = vault.issue("patients", PEOPLE, FORM).to_list()
    asked = vault.ask("patients", [pseudonyms[0], first[0], pseudonyms[7]], REASON)
    file_room.open(RAVI).approve(asked.id)
    known = Known(file_room, pseudonyms, first[0], asked.id)
    known.keep()
    return known


QUESTIONS: dict[str, Callable[[Vault, Known], object]] = {
    "known": lambda vault, known: vault.issue("patients", PEOPLE[:60], FORM).to_list() == known.pseudonyms[:60],
    "lookup": lambda vault, known: vault.lookup("patients", [PEOPLE[5], "nobody"]) == [known.pseudonyms[5], None],
    "reveal": lambda vault, known: (
        [(one.value, one.state) for one in vault.reveal(known.request)]
        == [(PEOPLE[0], "valid"), (PEOPLE[0], "revoked"), (PEOPLE[7], "valid")]
    ),
    "mixed": lambda vault, known: (
        vault.issue("patients", pl.Series(["new", *PEOPLE]), FORM)[1:].to_list() == known.pseudonyms
    ),
    "revoke": lambda vault, known: vault.revoke("patients", [known.pseudonyms[9]], REASON) == 1,
    "audit": lambda vault, _: vault.audit()[0].action == "init",
    "rotate": lambda vault, _: vault.rotate("staff") is None,
}


def answered(known: Known) -> tuple[int, int]:
    """How many questions were answered rightly and how many refused. A wrong answer, or any other error, fails."""
    right = refused = 0
    try:
        vault = known.room.open()
    except ShoalError:
        return 0, 1
    for name, question in QUESTIONS.items():
        try:
            answer = question(vault, known)
        except ShoalError as error:
            # That somebody has no pseudonym, or another, would be a wrong answer in the shape of an error.
            assert "never issued" not in str(error), name
            refused += 1
        else:
            assert answer is True, name
            right += 1
    return right, refused


def test_a_vault_that_is_whole_answers_every_question(known: Known) -> None:
    assert answered(known) == (len(QUESTIONS), 0)


def test_a_flipped_bit(known: Known) -> None:
    chance, outcomes = random.Random(20889), []
    for _ in range(FLIPS):
        known.flip(known.path, chance)
        outcomes.append(answered(known))
    assert sum(refused > 0 for _, refused in outcomes) > FLIPS / 4
    assert sum(refused == 0 for _, refused in outcomes) > 0


def test_a_flipped_bit_in_the_log(known: Known) -> None:
    """The log of a process that was killed: a transaction of it either counts or doesn't, and that is noticed."""
    keeper = sqlite3.connect(known.path)
    keeper.execute("BEGIN")
    keeper.execute("SELECT * FROM shoal_head").fetchone()
    later = known.room.open().issue("patients", pl.Series(["later"]), FORM).to_list()
    known.keep()
    keeper.close()
    known.put_back()
    assert known.room.open().lookup("patients", ["later"]) == later
    chance, outcomes = random.Random(1), []
    for _ in range(LOG_FLIPS):
        known.flip(known.log, chance)
        right, refused = answered(known)
        outcomes.append(refused > 0)
        if right and not refused:
            assert known.room.open().lookup("patients", ["later"]) == later
    assert any(outcomes)


def test_a_file_that_was_cut_short(known: Known) -> None:
    whole = known.files[known.path]
    chance, size = random.Random(3), len(whole)
    lengths = [0, 1, 15, 16, 99, 100, 4095, 4096, size - 1, size - 4096, *chance.choices(range(size), k=LENGTHS)]
    refused = 0
    for length in lengths:
        known.put_back()
        known.path.write_bytes(whole[:length])
        refused += answered(known)[1] > 0
    assert refused == len(lengths)


ALTERATIONS = {
    "a row is gone": ["DELETE FROM shoal_entry WHERE serial = 6 AND domain = 1"],
    "all rows are gone": ["DELETE FROM shoal_entry"],
    "all rows of a domain and its account of them": [
        "DELETE FROM shoal_entry WHERE domain = 1",
        "UPDATE shoal_domain SET entries = 0, fingerprint = zeroblob(16) WHERE id = 1",
    ],
    "two rows have changed their sealed values": [
        "UPDATE shoal_entry SET sealed = (SELECT sealed FROM shoal_entry WHERE domain = 1 AND serial = 9) "
        "WHERE domain = 1 AND serial = 8"
    ],
    "two rows have changed places": [
        "UPDATE shoal_entry SET serial = 100000 WHERE domain = 1 AND serial = 8",
        "UPDATE shoal_entry SET serial = 8 WHERE domain = 1 AND serial = 9",
        "UPDATE shoal_entry SET serial = 9 WHERE domain = 1 AND serial = 100000",
    ],
    "a row of another domain": [
        "DELETE FROM shoal_entry WHERE domain = 1 AND serial = 8",
        "UPDATE shoal_entry SET domain = 1 WHERE domain = 2 AND serial = 8",
    ],
    "a place is longer": ["UPDATE shoal_entry SET place = CAST(place || X'00' AS BLOB) WHERE domain = 1"],
    "places are text": ["UPDATE shoal_entry SET place = 'abcdefghijklmnop' WHERE domain = 1 AND serial = 5"],
    "a mark beside": ["UPDATE shoal_entry SET also = zeroblob(15) || X'01' WHERE domain = 1 AND serial = 5"],
    "nothing is sealed": ["UPDATE shoal_entry SET sealed = X'' WHERE domain = 1"],
    "sealed with a key that isn't there": ["UPDATE shoal_entry SET version = 7 WHERE domain = 1"],
    "no pseudonym ends": ["UPDATE shoal_entry SET until = 1 WHERE domain = 1"],
    "a revoked one is valid again": [
        "DELETE FROM shoal_entry WHERE domain = 1 AND generation = 0 AND serial > 120",
        "UPDATE shoal_entry SET generation = 0, state = 0 WHERE domain = 1 AND generation > 0",
    ],
    "more rights": ["UPDATE shoal_person SET rights = 'approve,manage,reveal,use'"],
    "fewer approvals": ["UPDATE shoal_domain SET approvals = 0"],
    "another approver": ["INSERT INTO shoal_approval VALUES (1, 'mei', 9999999999)"],
    "an approval that lasts": ["UPDATE shoal_approval SET until = 9999999999"],
    "a request of somebody else": ["UPDATE shoal_request SET person = 'mei'"],
    "a request that lasts": ["UPDATE shoal_request SET until = 9999999999"],
    "a request for others": ["UPDATE shoal_request SET sealed = zeroblob(80)"],
    "serials begin anew": ["UPDATE shoal_domain SET next = 1"],
    "a number as text": ["UPDATE shoal_domain SET made = 5"],
    "a wrapped key": ["UPDATE shoal_domain_key SET wrapped = zeroblob(60)"],
    "keys exchanged": [
        "UPDATE shoal_domain_key SET domain = domain + 10",
        "UPDATE shoal_domain_key SET domain = CASE domain WHEN 11 THEN 2 ELSE 1 END",
    ],
    "no keys": ["DELETE FROM shoal_domain_key"],
    "the last audit entry": [
        "DELETE FROM shoal_ledger_audit WHERE number = (SELECT max(number) FROM shoal_ledger_audit)"
    ],
    "no audit entries": ["DELETE FROM shoal_ledger_audit"],
    "a key of the audit trail": ["UPDATE shoal_audit_key SET wrapped = zeroblob(60)"],
    "no keys of the audit trail": ["DELETE FROM shoal_audit_key"],
    "a checkpoint of the audit trail": [
        "INSERT INTO shoal_ledger_audit_checkpoint VALUES (1, zeroblob(32), '', zeroblob(32), zeroblob(64))"
    ],
    "no head": ["DELETE FROM shoal_head"],
    "two heads": ['INSERT INTO shoal_head SELECT 2, format, vault, generation, backup, "check" FROM shoal_head'],
    "another generation": ["UPDATE shoal_head SET generation = generation + 1"],
    "another name": ["UPDATE shoal_head SET vault = '../../etc'"],
    "another format": ["UPDATE shoal_head SET format = 3"],
    "an older format": ["UPDATE shoal_head SET format = 1"],
    "a head of text": ["UPDATE shoal_head SET \"check\" = 'text'"],
    "no box": ["UPDATE shoal_person SET box = 'text'"],
    "nobody": ["DELETE FROM shoal_person"],
    "no table": ["DROP TABLE shoal_approval"],
    "no column": ["ALTER TABLE shoal_domain DROP COLUMN epoch"],
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_what_was_altered_by_sql(known: Known, name: str) -> None:
    known.sql(*ALTERATIONS[name])
    _, refused = answered(known)
    assert refused > 0
    with pytest.raises(ShoalError):
        known.room.open().verify()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM shoal_ledger_audit WHERE number = 4",
        "UPDATE shoal_ledger_audit SET payload = (SELECT payload FROM shoal_ledger_audit WHERE number = 3) "
        "WHERE number = 4",
        "UPDATE shoal_ledger_audit SET payload = 'text' WHERE number = 4",
        "UPDATE shoal_ledger_audit SET hash = zeroblob(32) WHERE number = 4",
        "UPDATE shoal_ledger_audit SET number = 1000 - number WHERE number BETWEEN 4 AND 5",
    ],
)
def test_an_audit_entry_that_was_altered_left_out_or_moved(known: Known, statement: str) -> None:
    known.sql(statement)
    with pytest.raises(IntegrityError, match="audit trail"):
        known.room.open().audit()
    with pytest.raises(IntegrityError, match="audit trail"):
        known.room.open().verify()
    with pytest.raises(IntegrityError, match="audit trail"):
        known.room.open().change_master()


@pytest.mark.requirement("V-04")
def test_an_older_copy_of_a_row_is_not_believed(known: Known) -> None:
    """A revoked pseudonym would be valid again, though its row was sealed by the vault itself."""
    columns = "place, generation, serial, version, until, state, also, sealed"
    old = known.rows(f"SELECT {columns} FROM shoal_entry WHERE domain = 1 AND serial = 50")  # noqa: S608
    vault = known.room.open()
    pseudonym = next(code for code in known.pseudonyms if serial_of(vault, code) == 50)
    person = PEOPLE[known.pseudonyms.index(pseudonym)]
    vault.revoke("patients", [pseudonym], "the card was lost")
    connection = sqlite3.connect(known.path)
    connection.execute("DELETE FROM shoal_entry WHERE domain = 1 AND serial = 50")
    connection.execute(f"INSERT INTO shoal_entry (domain, {columns}) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)", old[0])  # noqa: S608
    connection.commit()
    connection.close()
    for question in (
        lambda: known.room.open().lookup("patients", [person]),
        lambda: known.room.open().issue("patients", pl.Series([person]), FORM),
        lambda: known.room.open().reveal(known.request),
        lambda: known.room.open().verify(),
    ):
        with pytest.raises(IntegrityError, match="altered or are missing"):
            question()


def serial_of(vault: Vault, pseudonym: str) -> int:
    with vault._reading() as session:
        held = domains.keys(session, domains.get(session, "patients"))
        return int(serials_of(held.issue, FORM, pl.Series([pseudonym]))[0])


def test_an_older_copy_in_the_place_of_the_vault(known: Known) -> None:
    vault = known.room.open()
    vault.issue("patients", pl.Series(["came later"]), FORM)
    known.path.write_bytes(known.files[known.path])
    for question in (known.room.open, lambda: vault.issue("patients", PEOPLE, FORM), vault.verify):
        with pytest.raises(IntegrityError, match="older copy of the vault"):
            question()


def test_a_backup_in_the_place_of_the_vault(known: Known, tmp_path: Path) -> None:
    vault = known.room.open()
    vault.backup(tmp_path / "backup")
    shutil.copy(tmp_path / "backup", known.path)
    for question in (known.room.open, lambda: vault.issue("patients", PEOPLE, FORM)):
        with pytest.raises(IntegrityError, match="is a backup"):
            question()
    connection = sqlite3.connect(known.path)
    connection.execute("UPDATE shoal_head SET backup = 0")
    connection.commit()
    connection.close()
    with pytest.raises(IntegrityError, match="altered from outside"):
        known.room.open()


def test_another_vault_in_the_place_of_the_vault(known: Known, tmp_path: Path) -> None:
    opened = known.room.open()
    other = Room(str(tmp_path / "other"), known.room.state)
    other.create().add_domain("patients")
    shutil.copy(other.place, known.path)
    for question in (known.room.open, lambda: opened.issue("patients", PEOPLE, FORM)):
        with pytest.raises(ShoalError, match=r"another vault|altered from outside"):
            question()
    stranger = Room(str(tmp_path / "stranger"), tmp_path / "elsewhere")
    Vault.create(stranger.place, Passphrase("anita", "somebody else's phrase", QUICK), state=stranger.state)
    shutil.copy(stranger.place, known.path)
    with pytest.raises(ShoalError, match="not the right one"):
        known.room.open()


def test_rows_of_another_vault(known: Known, tmp_path: Path) -> None:
    other = Room(str(tmp_path / "other"), tmp_path / "elsewhere")
    vault = other.create()
    vault.add_domain("patients")
    vault.issue("patients", PEOPLE, FORM)
    known.sql("DELETE FROM shoal_entry WHERE domain = 1")
    connection = sqlite3.connect(known.path)
    connection.execute("ATTACH ? AS other", (other.place,))
    connection.execute("INSERT INTO shoal_entry SELECT * FROM other.shoal_entry")
    connection.commit()
    connection.close()
    assert answered(known)[1] >= 4


def test_what_the_machine_remembers_is_damaged(known: Known) -> None:
    (memory,) = known.room.state.glob("*.json")
    for content in (b"", b"{", b"[]", b'{"generation": "x"}', b"\xff\xfe"):
        memory.write_bytes(content)
        with pytest.raises(IntegrityError, match="remembers of the vault can't be read"):
            known.room.open()


def test_the_machine_can_remember_nothing(known: Known, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    for state in (tmp_path / "a file" / "in it", Path("/proc/nowhere")):
        with pytest.raises(ShoalError, match=r"can't be kept|can't be read"):
            Vault.open(known.path, ANITA, state=state)


def test_a_vault_that_vanishes(known: Known) -> None:
    vault = known.room.open()
    known.path.unlink()
    with pytest.raises(SourceError, match="no such vault"):
        vault.issue("patients", PEOPLE, FORM)
    assert not known.path.exists()


def test_rows_that_a_look_up_misses_though_they_are_whole(known: Known, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a damaged row of another domain leads the search of the database astray."""

    def misses(connection: Connection, domain: int, places: Sequence[bytes]) -> EntryRows:
        return chosen(fetch_places(connection, domain, places), np.arange(0))

    vault = known.room.open()
    monkeypatch.setattr("shoal.vault.entries.fetch_places", misses)
    for question in (
        lambda: vault.issue("patients", PEOPLE[5:6], FORM),
        lambda: vault.lookup("patients", ["nobody", PEOPLE[5]]),
    ):
        with pytest.raises(IntegrityError, match="index of the vault's entries is damaged"):
            question()
    monkeypatch.undo()
    monkeypatch.setattr("shoal.vault.entries.fetch_serials", misses)
    for question in (
        lambda: vault.reveal(known.request),
        lambda: vault.revoke("patients", [known.pseudonyms[5]], "the card was lost"),
    ):
        with pytest.raises(IntegrityError, match="index of its entries is damaged"):
            question()
    monkeypatch.undo()
    assert vault.lookup("patients", [PEOPLE[5]]) == [known.pseudonyms[5]]
    assert answered(known) == (len(QUESTIONS), 0)
