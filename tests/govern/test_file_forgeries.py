"""Forging below the tables: bytes of the file, indices, values of other types, things that act on what is written."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import create_engine, make_url
from tests.govern.conftest import START, Do, copied, open_project, staffed
from tests.support.commands import in_process

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.crypto.signing_keys import public_key_pem
from shoal.errors import IntegrityError
from shoal.govern.registry import GovernanceRegistry

pytestmark = pytest.mark.requirement("G-09")
KEY = Key(bytes(32))
SIGNERS = [public_key(KEY)]
READ = (
    "shoal_ledger_registry ORDER BY number",
    "shoal_ledger_registry_checkpoint ORDER BY number, signer",
    "shoal_registry_version ORDER BY entry",
    "shoal_registry_version ORDER BY kind, id",
    "shoal_registry_record ORDER BY kind, id",
    "shoal_registry_record ORDER BY kind, project",
    "shoal_registry_due ORDER BY day",
    "shoal_registry_due ORDER BY kind, id",
)
"""Each table by each of its indices."""


@pytest.fixture
def signed(registry: GovernanceRegistry, do: Do, file_place: str, tmp_path: Path) -> Path:
    """A file by itself, without a log beside it."""
    open_project(do)
    do("chief-investigator", "project.assign", "hospital", step=3, owner="manager", due="2026-04-01")
    registry.checkpoint(KEY)
    return Path(copied(file_place, tmp_path / "signed.db"))


def everything(path: Path) -> list[list[Any]]:
    with closing(sqlite3.connect(path)) as connection:
        return [sorted(connection.execute(f"SELECT * FROM {order}"), key=repr) for order in READ]  # noqa: S608


def verified(path: Path) -> int:
    with GovernanceRegistry.open(path) as registry:
        return registry.verify(signers=SIGNERS).entries


@pytest.mark.parametrize("number", [150, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_bit_of_the_file_is_seen_or_changes_nothing(signed: Path, number: int) -> None:
    """Pages have room that nobody reads; whatever is read, by whichever index, is as it was or is told."""
    before, honest, draw, came = signed.read_bytes(), everything(signed), Random(number), Counter[str]()
    for _ in range(number):
        place = draw.randrange(len(before))
        forged = before[:place] + bytes([before[place] ^ 1 << draw.randrange(8)]) + before[place + 1 :]
        signed.write_bytes(forged)
        try:
            verified(signed)
        except IntegrityError:
            came["seen"] += 1
        else:
            came["nothing"] += 1
            assert everything(signed) == honest, f"bit of byte {place}"
    assert min(came["seen"], came["nothing"]) > number / 20


def test_an_index_that_was_altered_alone_is_seen(signed: Path, do: Do) -> None:
    """What is due would not be found by its day, though it stands in the table."""
    with closing(sqlite3.connect(signed)) as connection:
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        where = "SELECT rootpage FROM sqlite_master WHERE name = 'shoal_registry_due_day'"
        page = connection.execute(where).fetchone()[0]
    whole = signed.read_bytes()
    index = slice((page - 1) * size, page * size)
    assert whole[index].count(b"2026-04-01") == 1
    late = START.date().replace(year=2026, month=4, day=2)
    with GovernanceRegistry.open(signed) as registry:
        assert len(registry.due(late)) == 1
    signed.write_bytes(whole[: index.start] + whole[index].replace(b"2026-04-01", b"2096-04-01") + whole[index.stop :])
    with GovernanceRegistry.open(signed) as registry:
        assert not registry.due(late)
        with pytest.raises(IntegrityError, match="an index tells something else"):
            registry.verify(signers=SIGNERS)


FORGERIES = {
    "content of another type": "UPDATE shoal_registry_version SET content = CAST(content AS BLOB) WHERE entry = 3",
    "salt of another type": "UPDATE shoal_registry_version SET salt = CAST(salt AS BLOB) WHERE entry = 3",
    "identifier of another type": "UPDATE shoal_registry_version SET id = CAST(id AS BLOB) WHERE entry = 3",
    "record of another type": "UPDATE shoal_registry_record SET status = CAST(status AS BLOB) WHERE kind = 'project'",
    "entry of another type": "UPDATE shoal_registry_record SET entry = 'x' WHERE kind = 'project'",
    "day of another type": "UPDATE shoal_registry_due SET day = CAST(day AS BLOB) WHERE kind = 'project'",
    "no version": "DELETE FROM shoal_registry_schema",
    "two versions": "INSERT INTO shoal_registry_schema VALUES (1)",
    "another version": "UPDATE shoal_registry_schema SET version = 99",
    "version of another type": "UPDATE shoal_registry_schema SET version = 'x'",
    "missing table": "DROP TABLE shoal_registry_due",
    "missing column": "ALTER TABLE shoal_registry_record DROP COLUMN status",
    "no checkpoint": "DELETE FROM shoal_ledger_registry_checkpoint",
    "checkpoint moved": "UPDATE shoal_ledger_registry_checkpoint SET number = number - 1",
    "checkpoint by nobody": "UPDATE shoal_ledger_registry_checkpoint SET signer = 'x'",
    "checkpoint dated back": "UPDATE shoal_ledger_registry_checkpoint SET at = '2020-01-01T00:00:00+00:00'",
    "signature of another type": "UPDATE shoal_ledger_registry_checkpoint SET signature = 7",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON shoal_registry_record BEGIN DELETE FROM shoal_registry_due; END",
    "view": "ALTER TABLE shoal_registry_record RENAME TO r; CREATE VIEW shoal_registry_record AS SELECT * FROM r",
}


@pytest.mark.parametrize("name", FORGERIES)
def test_shoal_verify_says_changed(
    signed: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Exit code 1 and one line, never a fault of the program."""
    assert verified(signed)
    with closing(sqlite3.connect(signed, isolation_level=None)) as connection:
        connection.executescript(FORGERIES[name])
    with pytest.raises(IntegrityError):
        verified(signed)
    (tmp_path / "key.pub").write_bytes(public_key_pem(SIGNERS[0]))
    call = in_process(monkeypatch, capfd)
    ended = call("verify", str(signed), "--key", str(tmp_path / "key.pub"))
    assert (ended.code, ended.stdout.startswith("changed: "), ended.stderr) == (1, True, "")


ON_THE_SERVER = (
    "ALTER TABLE shoal_registry_due ENABLE ROW LEVEL SECURITY",
    "CREATE RULE nothing AS ON INSERT TO shoal_registry_due DO INSTEAD NOTHING",
    "CREATE TRIGGER later BEFORE UPDATE ON shoal_registry_record FOR EACH ROW"
    " EXECUTE FUNCTION suppress_redundant_updates_trigger()",
)


@pytest.mark.server
@pytest.mark.parametrize("statement", ON_THE_SERVER)
def test_the_same_on_a_server(server_place: str, statement: str) -> None:
    with staffed(server_place) as registry:
        assert registry.verify().entries
        engine = create_engine(make_url(server_place).set(drivername="postgresql+psycopg"))
        with engine.begin() as connection:
            connection.exec_driver_sql(statement)
        engine.dispose()
        with pytest.raises(IntegrityError, match="acts on one"):
            registry.verify()
