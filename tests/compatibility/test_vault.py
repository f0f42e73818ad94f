"""A vault of format 1, as version 0.1 wrote it: it opens, answers as it did, becomes one of format 2 whole or not."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sqlalchemy import Engine, MetaData, create_engine, event, insert, make_url
from tests.servers import postgres, postgres_url

from shoal.crypto.passphrase import Effort
from shoal.errors import AccessError, IntegrityError, SourceError
from shoal.ledger.db_errors import database_error
from shoal.pseudonyms.formats.base32 import Base32
from shoal.vault import Passphrase, Right, Vault, format_1
from shoal.vault.tables import metadata

__all__ = ["postgres", "postgres_url"]

WRITTEN = Path(__file__).parent / "version_0_1"
KNOWN: dict[str, Any] = json.loads((WRITTEN / "vault.json").read_text(encoding="utf-8"))
QUICK = Effort(iterations=1, lanes=1, memory_kib=8)
ANITA = Passphrase("anita", "anita's long passphrase", QUICK)
RAVI = Passphrase("ravi", "ravi's long passphrase", QUICK)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path(shutil.copy(WRITTEN / "people.vault", tmp_path / "people.vault"))


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    return Path(shutil.copy(WRITTEN / "people.backup", tmp_path / "people.backup"))


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture(autouse=True)
def at_that_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour before the waiting request ends."""
    asked = dict(rows(WRITTEN / "people.vault", "SELECT id, until FROM shoal_request"))
    moment = datetime.datetime.fromtimestamp(asked[KNOWN["waiting"]] - 3600, datetime.UTC)
    for module in ("vault", "migration"):
        monkeypatch.setattr(f"shoal.vault.{module}.now", lambda: moment)


def rows(path: Path, statement: str) -> list[Any]:
    connection = sqlite3.connect(f"file:{path}?immutable=1" if path.parent == WRITTEN else f"file:{path}", uri=True)
    found = connection.execute(statement).fetchall()
    connection.close()
    return found


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def format_of(path: Path) -> int:
    ((found,),) = rows(path, "SELECT format FROM shoal_head")
    return int(found)


def brief(vault: Vault) -> list[dict[str, Any]]:
    keys = ("number", "person", "action", "domain")
    return [{key: entry.to_dict()[key] for key in keys} for entry in vault.audit()]


def answers_as_before(vault: Vault) -> None:
    for domain in ("patients", "staff"):
        people, codes = list(KNOWN[domain]), list(KNOWN[domain].values())
        assert vault.issue(domain, pl.Series(people), Base32()).to_list() == codes
        assert vault.lookup(domain, people) == codes


def test_the_fixture_is_of_format_1(place: Path, backup: Path) -> None:
    for path in (place, backup):
        assert format_of(path) == 1
        tables = {name for (name,) in rows(path, "SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert "shoal_audit" in tables
        assert not any("ledger" in name for name in tables)


def test_it_opens_and_answers_as_before(place: Path, state: Path) -> None:
    vault = Vault.open(place, ANITA, state=state)
    assert format_of(place) == 2
    migrated = {"number": 15, "person": "anita", "action": "migrate", "domain": None}
    assert brief(vault) == [*KNOWN["audit"], migrated]
    answers_as_before(vault)
    approved = Vault.open(place, RAVI, state=state).approve(KNOWN["waiting"])
    assert approved.approved_by == ("ravi",)
    (found,) = vault.reveal(KNOWN["waiting"])
    assert (found.pseudonym, found.value) == (KNOWN["patients"]["Bela"], "Bela")
    checked = vault.verify()
    assert (checked.domains, checked.entries) == (2, 6)
    assert checked.audit_entries == len(vault.audit()) == 19
    tables = {name for (name,) in rows(place, "SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert "shoal_audit" not in tables


def test_times_and_details_of_the_trail_stay(place: Path, state: Path) -> None:
    vault = Vault.open(place, ANITA, state=state)
    with vault._reading() as session:
        old = Path(f"{place}.old")
        shutil.copy(WRITTEN / "people.vault", old)
        engine = create_engine(f"sqlite:///{old}")
        with engine.connect() as connection:
            before = list(format_1.audit_entries(connection, session.master))
        engine.dispose()
    assert vault.audit()[:-1] == before
    assert before[8].details["reason"] == "follow-up of a positive test"


def test_nobody_needs_the_right_to_manage_for_it(place: Path, state: Path) -> None:
    assert brief(Vault.open(place, RAVI, state=state))[-1]["person"] == "ravi"
    vault = Vault.open(place, ANITA, state=state)
    answers_as_before(vault)
    vault.admit(Passphrase("mei", "mei's long passphrase", QUICK), [Right.USE])
    vault.dismiss("ravi")
    vault.verify()


@pytest.mark.parametrize(
    "who", [Passphrase("anita", "some other passphrase", QUICK), Passphrase("mei", "mei's long passphrase", QUICK)]
)
def test_who_is_not_let_in_changes_nothing(place: Path, state: Path, who: Passphrase) -> None:
    before = place.read_bytes()
    with pytest.raises(AccessError, match=r"not the right one|nobody called"):
        Vault.open(place, who, state=state)
    assert place.read_bytes() == before


def test_where_nothing_can_be_written_it_says_why(place: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: object) -> Iterator[None]:
        raise database_error("people.vault", "attempt to write a readonly database", "vault")

    monkeypatch.setattr("shoal.vault.database.VaultDatabase.writing", refused)
    with pytest.raises(SourceError, match=r"of format 1 .* brought to format 2 .* no right to read or write"):
        Vault.open(place, ANITA, state=state)
    assert format_of(place) == 1


@pytest.mark.parametrize(
    ("statement", "match"),
    [
        ("DELETE FROM shoal_audit WHERE number = 14", "altered from outside"),
        ("UPDATE shoal_person SET rights = 'approve,manage,reveal,use'", "altered from outside"),
        ("UPDATE shoal_head SET generation = generation + 1", "altered from outside"),
        ("DELETE FROM shoal_audit WHERE number = 4", "audit trail is broken at entry 4"),
        ("UPDATE shoal_audit SET sealed = zeroblob(80) WHERE number = 7", "audit trail is broken at entry 7"),
        ('UPDATE shoal_audit SET "check" = zeroblob(32) WHERE number = 1', "audit trail is broken at entry 1"),
        ("DROP TABLE shoal_audit", "damaged"),
        ("UPDATE shoal_head SET format = 2", "altered from outside|damaged"),
        ("UPDATE shoal_head SET format = 3", "format 3"),
    ],
)
def test_one_that_was_altered_is_not_converted(place: Path, state: Path, statement: str, match: str) -> None:
    change(place, statement)
    before, tables = format_of(place), rows(place, "SELECT name FROM sqlite_master ORDER BY name")
    with pytest.raises(IntegrityError, match=match):
        Vault.open(place, ANITA, state=state)
    assert format_of(place) == before
    assert rows(place, "SELECT name FROM sqlite_master ORDER BY name") == tables


def test_tables_that_somebody_put_there_first_are_not_built_upon(place: Path, state: Path) -> None:
    change(place, "CREATE TABLE shoal_ledger_audit (number, at, kind, payload, epoch, hash)")
    with pytest.raises(SourceError, match="of format 1"):
        Vault.open(place, ANITA, state=state)
    assert format_of(place) == 1


def test_an_older_copy_is_not_converted(place: Path, state: Path) -> None:
    Vault.open(place, ANITA, state=state).issue("staff", pl.Series(["Chan"]), Base32())
    for end in ("", "-wal", "-shm"):
        Path(f"{place}{end}").unlink(missing_ok=True)
    shutil.copy(WRITTEN / "people.vault", place)
    with pytest.raises(IntegrityError, match="older copy"):
        Vault.open(place, ANITA, state=state)
    assert format_of(place) == 1


def test_a_backup_of_format_1_is_restored(backup: Path, tmp_path: Path, state: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(IntegrityError, match="is a backup"):
        Vault.open(backup, ANITA, state=state)
    restored = Vault.restore(backup, tmp_path / "restored.vault", ANITA, skip=50, state=state)
    assert [entry["action"] for entry in brief(restored)[13:]] == ["backup", "migrate", "restore"]
    assert brief(restored)[:14] == KNOWN["audit"]
    answers_as_before(restored)
    Vault.open(tmp_path / "restored.vault", RAVI, state=state).approve(KNOWN["waiting"])
    assert [one.value for one in restored.reveal(KNOWN["waiting"])] == ["Bela"]
    restored.verify()
    assert backup.read_bytes() == before
    restored.backup(tmp_path / "again.backup")
    assert format_of(tmp_path / "again.backup") == 2
    answers_as_before(Vault.restore(tmp_path / "again.backup", tmp_path / "third.vault", ANITA, state=state))


def test_a_backup_of_format_1_that_was_altered_is_not_restored(backup: Path, tmp_path: Path, state: Path) -> None:
    change(backup, "DELETE FROM shoal_audit WHERE number = 4")
    with pytest.raises(IntegrityError, match="audit trail is broken at entry 4"):
        Vault.restore(backup, tmp_path / "restored.vault", ANITA, skip=50, state=state)
    assert not (tmp_path / "restored.vault").exists()


def test_eight_who_open_it_at_once(place: Path, state: Path) -> None:
    def opened(_: int) -> str:
        return Vault.open(place, ANITA, state=state).name

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(opened, range(8)))) == 1
    actions = [entry["action"] for entry in brief(Vault.open(place, ANITA, state=state))]
    assert actions.count("migrate") == 1
    assert len(actions) == 15


def killed_at(statement: int, work: Callable[[], object]) -> bool:
    """Whether a child that does the work was killed, by kill -9, before it sent its so-many-th statement."""
    child = os.fork()
    if child == 0:
        left = iter(range(statement))

        def count(*_: object) -> None:
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", count)
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_killed_before_any_statement_it_is_of_one_format_or_the_other(tmp_path: Path) -> None:
    formats = []
    for statement in range(0, 1000, 3):
        folder = tmp_path / str(statement)
        folder.mkdir()
        place = Path(shutil.copy(WRITTEN / "people.vault", folder / "people.vault"))
        killed = killed_at(statement, lambda place=place: Vault.open(place, ANITA, state=place.parent / "state"))  # type: ignore[misc]
        formats.append(format_of(place))
        if statement % 9 == 0 or not killed:
            vault = Vault.open(place, ANITA, state=folder / "state")
            assert brief(vault)[:14] == KNOWN["audit"]
            assert vault.verify().audit_entries == 15
        shutil.rmtree(folder)
        if not killed:
            break
    assert formats == sorted(formats)
    assert formats.count(1) > 20
    assert formats[-1] == 2


@pytest.mark.server
def test_on_a_server_too(postgres_url: str, tmp_path: Path, state: Path) -> None:
    """The same tables on PostgreSQL, as version 0.1 made them there."""
    source = create_engine(f"sqlite:///{shutil.copy(WRITTEN / 'people.vault', tmp_path / 'source')}")
    target = create_engine(make_url(postgres_url).set(drivername="postgresql+psycopg"))
    metadata.drop_all(target)
    old = MetaData()
    tables = [table.to_metadata(old) for table in (*format_1.TABLES, format_1.audit)]
    old.drop_all(target)
    old.create_all(target)
    with source.connect() as reader, target.begin() as writer:
        for table in tables:
            writer.execute(insert(table), [dict(row._mapping) for row in reader.execute(table.select())])
    try:
        vault = Vault.open(postgres_url, ANITA, state=state)
        assert [entry["action"] for entry in brief(vault)[13:]] == ["backup", "migrate"]
        answers_as_before(vault)
        vault.change_master()
        assert vault.verify().entries == 6
        with target.connect() as connection:
            assert not target.dialect.has_table(connection, "shoal_audit")
    finally:
        metadata.drop_all(target)
        old.drop_all(target)
        source.dispose()
        target.dispose()
