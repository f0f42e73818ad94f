"""What a ledger promises: in order, never changed, written together with what it records, sealed where it should be."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, text
from tests.ledger.conftest import ENTRY, NAME, SIGNER, Place, plainly_verified

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.errors import AccessError, InputError, IntegrityError, ShoalError, SourceError, TargetError
from shoal.ledger import Checkpoint, Ledger, LedgerChain, LedgerHead, PayloadKeys, ledger_tables
from shoal.ledger.entry import StoredEntry, genesis

KEYS = PayloadKeys({1: Key(b"1" * 32)})
LATER = PayloadKeys({1: Key(b"1" * 32), 2: Key(b"2" * 32)})


def test_entries_come_back_in_order_and_from_a_number_on(written: Ledger, place: Place) -> None:
    again = place.open()
    assert [entry.number for entry in again.entries()] == [1, 2, 3, 4, 5, 6]
    assert [entry.payload["epsilon"] for entry in again.entries(start=5)] == ["0.5", "0.6"]
    assert list(again.entries(start=7)) == []
    third = next(again.entries(start=3))
    assert (third.kind, third.payload) == ("spend", {"epsilon": "0.3", "for": ["census", 3]})
    for start in (0, -1, 8, 100):
        with pytest.raises(InputError, match="entr"):
            list(again.entries(start))


def test_what_append_returns_is_what_is_read(place: Place) -> None:
    ledger = place.create()
    moment = datetime.datetime(2026, 3, 1, 9, 30, 5, 999, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))
    made = [
        ledger.append("größer", {"b": None, "a": (1, "é\n\u0000"), "c": {"x": 1.5}}, at=moment),
        ledger.append("x", {}),
    ]
    assert made[0].at == "2026-03-01T04:30:05+00:00"
    assert made[0].payload == {"a": [1, "é\n\u0000"], "b": None, "c": {"x": 1.5}}
    assert list(place.open().entries()) == made


def test_many_entries_are_read_in_pages(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.ledger.chain._PAGE", 3)
    ledger = place.create()
    with ledger.transaction() as chain:
        for number in range(10):
            chain.append("x", {"n": number})
    assert [entry.payload["n"] for entry in ledger.entries()] == list(range(10))
    assert [entry.payload["n"] for entry in ledger.entries(start=4)] == list(range(3, 10))
    assert ledger.verify().entries == 10


def test_the_chain_is_the_one_that_the_docs_describe(written: Ledger, place: Place) -> None:
    rows = plainly_verified(place)
    facts = written.verify()
    assert (facts.entries, facts.checkpoints, facts.signed_through) == (6, 0, 0)
    assert facts.head == LedgerHead(6, bytes(rows[-1].hash))


def test_an_empty_ledger(place: Place) -> None:
    ledger = place.create()
    assert list(ledger.entries()) == []
    assert ledger.verify().entries == 0
    with pytest.raises(InputError, match="nothing in the ledger"):
        ledger.checkpoint(SIGNER)
    with pytest.raises(IntegrityError, match="no checkpoint that is signed"):
        ledger.verify(signers=[public_key(SIGNER)])


def test_a_lost_ledger_is_not_an_empty_one(place: Place, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"no such ledger|no ledger"):
        place.open()
    ledger = place.create()
    ledger.append("x", {})
    with pytest.raises(TargetError, match="already"):
        place.create()
    with pytest.raises(SourceError, match="no ledger 'budget'"):
        Ledger.open(place.address, "budget")
    assert ledger.verify().entries == 1
    assert not (tmp_path / "nowhere").exists()


def test_a_file_that_is_no_ledger_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("no database at all, but long enough to look at as one\n" * 100)
    before = path.read_bytes()
    for deed in (Ledger.open, Ledger.create):
        with pytest.raises(IntegrityError, match="not a ledger"):
            deed(path, NAME)
    assert path.read_bytes() == before


def test_a_ledger_is_for_its_owners_eyes(file_place: Place) -> None:
    file_place.create()
    assert Path(file_place.address).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "payload", [{"x": float("nan")}, {"x": object()}, {"x": b"bytes"}, {"x": "\ud800"}, [1, 2], {1: 2, "1": 3}]
)
def test_payloads_that_json_can_not_give_back(place: Place, payload: Any) -> None:
    ledger = place.create()
    with pytest.raises(InputError, match="payload"):
        ledger.append("x", payload)
    assert ledger.verify().entries == 0


def test_names_and_kinds_that_can_not_be(file_place: Place) -> None:
    ledger = file_place.create()
    for kind in ("", "two\nlines", "\x00", "\ud800"):
        with pytest.raises(InputError, match="kind"):
            ledger.append(kind, {})
    for name in ("", "Big", "a b", "x" * 40, 'x"; DROP TABLE y', "1st"):
        with pytest.raises(InputError, match="name"):
            Ledger.create(file_place.address, name)
    for epochs in ({}, {0: Key.new()}):
        with pytest.raises(InputError, match="epochs"):
            PayloadKeys(epochs)


def test_two_ledgers_in_one_database(written: Ledger, place: Place) -> None:
    other = Ledger.create(place.address, f"{NAME}_2")
    try:
        other.append("spend", {"epsilon": "0.1", "for": ["census", 1]})
        assert (written.verify().entries, other.verify().entries) == (6, 1)
        assert other.verify().head.hash != place.rows()[0].hash
    finally:
        place.sql(f"DROP TABLE shoal_ledger_{NAME}_2", f"DROP TABLE shoal_ledger_{NAME}_2_checkpoint")


def test_an_entry_is_written_with_what_it_records_or_not_at_all(written: Ledger, place: Place) -> None:
    tables = ledger_tables(MetaData(), NAME)
    place.sql("DROP TABLE IF EXISTS release", "CREATE TABLE release (name VARCHAR)")

    def release(name: str) -> None:
        with place.engine.begin() as connection:
            connection.execute(text("INSERT INTO release VALUES (:name)"), {"name": name})
            LedgerChain(connection, tables, NAME).append("release", {"name": name})
            if name == "second":
                raise KeyboardInterrupt

    release("first")
    with pytest.raises(KeyboardInterrupt):
        release("second")
    release("third")
    with place.engine.connect() as connection:
        names = list(connection.execute(text("SELECT name FROM release")).scalars())
    assert names == [entry.payload["name"] for entry in written.entries(start=7)] == ["first", "third"]
    assert written.verify().entries == len(plainly_verified(place)) == 8
    place.sql("DROP TABLE release")


def test_a_transaction_that_saw_an_older_moment_does_not_fork_the_chain(written: Ledger, place: Place) -> None:
    tables = ledger_tables(MetaData(), NAME)
    level = "REPEATABLE READ" if place.engine.dialect.name == "postgresql" else "AUTOCOMMIT"
    with place.engine.connect().execution_options(isolation_level=level) as connection:
        if level == "AUTOCOMMIT":
            connection.exec_driver_sql("BEGIN")
        late = LedgerChain(connection, tables, NAME)
        assert late.head().number == 6
        written.append("spend", {"epsilon": "1"})
        with pytest.raises(Exception, match=r"locked|duplicate key|could not serialize"):
            late.append("spend", {"epsilon": "2"})
    assert [entry.payload["epsilon"] for entry in written.entries(start=7)] == ["1"]
    assert written.verify().entries == 7


# Sealed payloads.


def test_a_sealed_entry_shows_nothing_and_is_verified_without_its_key(place: Place) -> None:
    sealed = place.create(KEYS)
    made = [sealed.append("reveal", {"reason": "follow-up"}), sealed.append("reveal", {"reason": "follow-up"})]
    rows = plainly_verified(place)
    assert [(row.at, row.kind, row.epoch) for row in rows] == [("", "", 1)] * 2
    assert not any(word in bytes(row.payload) for row in rows for word in (b"reveal", b"follow-up", b"payload"))
    assert bytes(rows[0].payload) != bytes(rows[1].payload)
    without = place.open()
    checkpoint = without.checkpoint(SIGNER)
    assert without.verify(signers=[public_key(SIGNER)], anchors=[checkpoint]).signed_through == 2
    with pytest.raises(AccessError, match="sealed"):
        list(without.entries())
    with pytest.raises(IntegrityError, match="another key"):
        list(place.open(PayloadKeys({1: Key.new()})).entries())
    assert list(place.open(KEYS).entries()) == made
    assert repr(KEYS) == "PayloadKeys()"


def test_a_new_key_rewrites_nothing(place: Place) -> None:
    made = [place.create().append("clear", {"n": 0}), place.open(KEYS).append("x", {"n": 1})]
    before = place.rows()
    made.append(place.open(LATER).append("x", {"n": 2}))
    assert place.rows()[:2] == before
    assert [row.epoch for row in plainly_verified(place)] == [0, 1, 2]
    assert list(place.open(LATER).entries()) == made
    assert place.open().verify().entries == 3
    with pytest.raises(AccessError, match=r"entry 3 .* isn't at hand"):
        list(place.open(KEYS).entries())


def test_nothing_in_clear_follows_what_was_sealed(place: Place) -> None:
    place.create(KEYS).append("x", {"n": 1})
    with pytest.raises(AccessError, match="takes its keys"):
        place.open().append("x", {"n": 2})
    assert place.open().verify().entries == 1


def test_a_sealed_payload_that_was_moved_does_not_open(place: Place) -> None:
    """Even where somebody has computed the whole chain anew."""
    ledger = place.create(KEYS)
    ledger.append("x", {"n": 1})
    ledger.append("x", {"n": 2})
    first, second = place.rows()
    place.sql(f"DELETE FROM {ENTRY}")  # noqa: S608
    tables = ledger_tables(MetaData(), NAME)
    swapped = place.open()
    with place.engine.begin() as connection:
        last = genesis(NAME).hash
        for number, row in ((1, second), (2, first)):
            stored = StoredEntry(number, "", "", bytes(row.payload), 1, b"")
            last = stored.computed_hash(last)
            connection.execute(tables.entry.insert().values({**stored._asdict(), "hash": last}))
    assert swapped.verify().entries == 2
    with pytest.raises(IntegrityError, match="altered"):
        list(ledger.entries())


# Checkpoints.


def test_a_checkpoint_is_checked_with_the_public_key_alone(written: Ledger, place: Place) -> None:
    signer = public_key(SIGNER)
    first = written.checkpoint(SIGNER)
    assert written.checkpoint(SIGNER) == first
    written.append("spend", {})
    facts = place.open().verify(signers=[signer])
    assert (facts.entries, facts.checkpoints, facts.signed_through) == (7, 1, 6)
    second = written.checkpoint(SIGNER)
    facts = place.open().verify(signers=[signer], anchors=[first, second, LedgerHead(3, bytes(place.rows()[2].hash))])
    assert (facts.checkpoints, facts.signed_through) == (2, 7)
    assert Checkpoint.from_dict(second.to_dict()) == second
    assert place.open().verify().signed_through == 0
    stored = b"".join(
        bytes(cell) for row in place.rows(f"shoal_ledger_{NAME}_checkpoint") for cell in (row.hash, row.signer)
    )
    assert SIGNER.material not in stored


def test_several_signers(written: Ledger) -> None:
    other = Key.new()
    written.checkpoint(SIGNER)
    written.checkpoint(other)
    assert written.verify(signers=[public_key(SIGNER), public_key(other)]).checkpoints == 2
    with pytest.raises(IntegrityError, match="isn't trusted"):
        written.verify(signers=[public_key(SIGNER)])
    with pytest.raises(IntegrityError, match="isn't trusted"):
        written.verify(signers=[public_key(Key.new())])


def test_a_checkpoint_of_another_ledger_is_none(written: Ledger, place: Place) -> None:
    head = written.verify().head
    foreign = Checkpoint.sign(SIGNER, "other", head, "2026-03-01T09:00:00+00:00")
    with pytest.raises(IntegrityError, match="not signed so"):
        written.verify(anchors=[foreign])
    own = Checkpoint.sign(SIGNER, NAME, head, "2026-03-01T09:00:00+00:00")
    written.verify(anchors=[own], signers=[public_key(SIGNER)])


@pytest.mark.parametrize(
    "told", [{}, {"number": "x"}, {"number": 1, "hash": "zz", "at": "", "signer": "", "signature": ""}]
)
def test_what_is_no_checkpoint(told: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match="no checkpoint"):
        Checkpoint.from_dict(told)


def test_no_driver_error_and_no_password_gets_out(tmp_path: Path) -> None:
    for address in (
        "mysql://u@h/d",
        "nonsense://",
        "postgresql://u:geheim@127.0.0.1:1/none",
        str(tmp_path / "a" / "b"),
    ):
        with pytest.raises(ShoalError) as told:
            Ledger.create(address, NAME)
        assert not re.search("geheim|sqlalchemy|psycopg", str(told.value))
    assert list(tmp_path.iterdir()) == []
