"""Somebody with the database and no key: whatever they alter, the first number that doesn't hold is named."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import MetaData, create_engine
from sqlalchemy.pool import StaticPool
from tests.ledger.conftest import CHECKPOINT, ENTRY, NAME, SIGNER, Place, plainly_verified

from shoal.crypto import Key
from shoal.crypto.signatures import public_key
from shoal.errors import IntegrityError
from shoal.ledger import Ledger, LedgerBrokenError, LedgerChain, ledger_tables
from shoal.ledger.entry import StoredEntry, genesis

TABLES = ledger_tables(MetaData(), NAME)
COPY = f"INSERT INTO {ENTRY} SELECT %s, at, kind, payload, epoch, hash FROM {ENTRY} WHERE number = %s"  # noqa: S608


def broken_at(ledger: Ledger) -> int:
    with pytest.raises(LedgerBrokenError) as told:
        ledger.verify()
    assert f"entry {told.value.number}:" in str(told.value)
    with pytest.raises(LedgerBrokenError) as also:
        list(ledger.entries())
    assert also.value.number == told.value.number
    with pytest.raises(LedgerBrokenError):
        ledger.checkpoint(SIGNER)
    return told.value.number


def test_what_nobody_touched(written: Ledger) -> None:
    """The questions below can be answered otherwise."""
    assert written.verify().entries == len(list(written.entries())) == written.checkpoint(SIGNER).number == 6


@pytest.mark.parametrize(
    ("statements", "number"),
    [
        (["UPDATE {} SET at = '2026-01-01T00:00:00+00:00' WHERE number = 3"], 3),
        (["UPDATE {} SET kind = 'refund' WHERE number = 1"], 1),
        (["UPDATE {} SET payload = (SELECT payload FROM {} WHERE number = 2) WHERE number = 5"], 5),
        (["UPDATE {} SET epoch = 1 WHERE number = 6"], 6),
        (["UPDATE {} SET hash = (SELECT hash FROM {} WHERE number = 3) WHERE number = 4"], 4),
        (["UPDATE {} SET number = 7 WHERE number = 6"], 6),
        (["UPDATE {} SET number = 0 WHERE number = 1"], 1),
        (["UPDATE {} SET number = number + 1000", "UPDATE {} SET number = number - 999"], 1),
        (["DELETE FROM {} WHERE number = 1"], 1),
        (["DELETE FROM {} WHERE number = 4"], 4),
        (["DELETE FROM {} WHERE number BETWEEN 2 AND 5"], 2),
        (
            [
                "UPDATE {} SET number = 1002 WHERE number = 2",
                "UPDATE {} SET number = 2 WHERE number = 3",
                "UPDATE {} SET number = 3 WHERE number = 1002",
            ],
            2,
        ),
        ([COPY % (7, 6)], 7),
        ([COPY % (0, 1)], 1),
        ([COPY % (-5, 6)], 1),
        (["UPDATE {} SET number = number + 1000 WHERE number > 3", COPY % (4, 3),
          "UPDATE {} SET number = number - 999 WHERE number > 1000"], 4),
    ],
)  # fmt: skip
def test_the_first_number_that_does_not_hold(
    written: Ledger, place: Place, statements: Sequence[str], number: int
) -> None:
    place.sql(*(statement.replace("{}", ENTRY) for statement in statements))
    assert broken_at(written) == number
    with pytest.raises(AssertionError):
        plainly_verified(place)


@pytest.mark.parametrize("column", ["number", "at", "kind", "payload", "epoch", "hash"])
def test_cells_of_another_type(file_place: Place, column: str) -> None:
    """SQLite takes any value in any column."""
    ledger = file_place.create()
    for number in range(3):
        ledger.append("x", {"n": number})
    value = "'text'" if column in ("number", "payload", "epoch", "hash") else "X'00'"
    file_place.sql(f"UPDATE {ENTRY} SET {column} = {value} WHERE number = 2")  # noqa: S608
    assert broken_at(ledger) == 2


WATCHING = {
    "sqlite": "CREATE TRIGGER watching AFTER INSERT ON {} BEGIN SELECT 1; END",
    "postgresql": "CREATE RULE watching AS ON INSERT TO {} DO ALSO NOTHING",
}


@pytest.mark.parametrize("table", [ENTRY, CHECKPOINT])
def test_what_acts_on_the_tables_is_told(written: Ledger, place: Place, table: str) -> None:
    assert written.verify().entries == 6
    place.sql(WATCHING[place.engine.dialect.name].replace("{}", table))
    with pytest.raises(IntegrityError, match="acts on one"):
        written.verify()


def test_an_index_that_was_altered_alone(file_place: Place) -> None:
    """The last entry is looked up by it when somebody appends."""
    ledger = file_place.create()
    for number in range(3):
        ledger.append("x", {"n": number})
    path = Path(file_place.address)
    with file_place.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
        index = f"SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_{ENTRY}_1'"  # noqa: S608
        end = connection.exec_driver_sql(index).scalar_one() * size
    file_place.engine.dispose()
    assert ledger.verify().entries == 3
    whole = path.read_bytes()
    last = whole.rindex(b"\x03\x03", end - size, end)  # entry 3 is in row 3
    path.write_bytes(whole[:last] + b"\x07" + whole[last + 1 :])
    with pytest.raises(IntegrityError, match="an index tells"):
        ledger.verify()


def rewritten(place: Place, change: int, upto: int) -> None:
    """Another payload for one entry, and the chain computed anew from there on, as whoever knows the formula can."""
    rows = [StoredEntry(row.number, row.at, row.kind, bytes(row.payload), row.epoch, b"") for row in place.rows()]
    place.sql(f"DELETE FROM {ENTRY}")  # noqa: S608
    last = genesis(NAME).hash
    with place.engine.begin() as connection:
        for row in rows[:upto]:
            now = row._replace(payload=b'{"epsilon":"0"}') if row.number == change else row
            last = now.computed_hash(last)
            connection.execute(TABLES.entry.insert().values({**now._asdict(), "hash": last}))


def test_a_chain_that_was_computed_anew(written: Ledger, place: Place) -> None:
    anchor = written.verify().head
    written.checkpoint(SIGNER)
    rewritten(place, 3, 6)
    plainly_verified(place)
    for check in (written.verify, lambda: written.checkpoint(SIGNER)):
        with pytest.raises(LedgerBrokenError, match="vouched for") as told:
            check()
        assert told.value.number == 6
    place.sql(f"DELETE FROM {CHECKPOINT}")  # noqa: S608
    assert written.verify().entries == 6, "without checkpoint and anchor nobody can tell"
    with pytest.raises(LedgerBrokenError, match="vouched for"):
        written.verify(anchors=[anchor])
    with pytest.raises(IntegrityError, match="no checkpoint that is signed"):
        written.verify(signers=[public_key(SIGNER)])


def test_the_end_that_was_cut_off(written: Ledger, place: Place) -> None:
    kept = written.checkpoint(SIGNER)
    head = written.verify().head
    place.sql(f"DELETE FROM {ENTRY} WHERE number > 4")  # noqa: S608
    with pytest.raises(LedgerBrokenError, match="cut off") as told:
        written.verify()
    assert told.value.number == 5
    with pytest.raises(LedgerBrokenError):
        written.checkpoint(SIGNER)
    place.sql(f"DELETE FROM {CHECKPOINT}")  # noqa: S608
    assert written.verify().entries == 4, "without checkpoint and anchor nobody can tell"
    for anchor in (kept, head):
        with pytest.raises(LedgerBrokenError, match="cut off") as told:
            written.verify(anchors=[anchor])
        assert told.value.number == 5


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {} SET number = 5",
        "UPDATE {} SET hash = (SELECT hash FROM shoal_ledger_history WHERE number = 2)",
        "UPDATE {} SET at = '2030-01-01T00:00:00+00:00'",
        "UPDATE {} SET signer = signature",
        "UPDATE {} SET signature = signer",
        "UPDATE {} SET number = -1",
    ],
)
def test_a_checkpoint_that_was_altered(written: Ledger, place: Place, statement: str) -> None:
    written.checkpoint(SIGNER)
    place.sql(statement.replace("{}", CHECKPOINT))
    with pytest.raises(IntegrityError, match="not signed so"):
        written.verify()
    with pytest.raises(IntegrityError):
        written.checkpoint(SIGNER)


def test_a_checkpoint_by_somebody_else(written: Ledger, place: Place) -> None:
    written.checkpoint(SIGNER)
    rewritten(place, 3, 6)
    place.sql(f"DELETE FROM {CHECKPOINT}")  # noqa: S608
    written.checkpoint(Key.new())
    assert written.verify().signed_through == 0
    with pytest.raises(IntegrityError, match="isn't trusted"):
        written.verify(signers=[public_key(SIGNER)])


PAYLOADS = st.lists(
    st.dictionaries(st.text(max_size=5), st.none() | st.integers() | st.text(max_size=9), max_size=3),
    min_size=1,
    max_size=8,
)


@settings(max_examples=80, deadline=None)
@given(PAYLOADS, st.data())
def test_whatever_is_written_is_read_and_whatever_is_altered_is_found(
    payloads: list[dict[str, object]], data: st.DataObject
) -> None:
    engine = create_engine("sqlite://", poolclass=StaticPool)
    place = Place("", engine)
    with engine.begin() as connection:
        TABLES.entry.metadata.create_all(connection)
        chain = LedgerChain(connection, TABLES, NAME)
        for payload in payloads:
            chain.append(data.draw(st.sampled_from(["a", "b", "é"])), payload)
        assert [entry.payload for entry in chain.entries()] == payloads
        head = chain.verify().head
    assert len(plainly_verified(place)) == len(payloads)
    number = data.draw(st.integers(1, len(payloads)))
    column = data.draw(st.sampled_from(["at", "kind", "payload", "hash"]))
    old = place.rows()[number - 1]._mapping[column]
    position = data.draw(st.integers(0, max(0, len(old) - 1)))
    changed = old[:position] + (b"~" if isinstance(old, bytes) else "~") + old[position + 1 :]
    place.sql(f"UPDATE {ENTRY} SET {column} = :changed WHERE number = {number}", changed=changed)  # noqa: S608
    with engine.connect() as connection:
        chain = LedgerChain(connection, TABLES, NAME)
        if changed == old:
            assert chain.verify().head == head
        else:
            with pytest.raises(LedgerBrokenError) as told:
                chain.verify()
            assert told.value.number == number
    engine.dispose()
