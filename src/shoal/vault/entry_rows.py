"""Entries as columns: sealed, bound to their place, fetched and written in sets.

An entry is found by its *place*, a keyed digest of the value; so the file shows neither values nor, as each domain has
keys of its own, that two domains hold the same person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from shoal.crypto.aead import TAG_BYTES, seal_many, unseal_many
from shoal.crypto.keys import Key
from shoal.crypto.set_fingerprint import ROW_BYTES, add, fingerprint
from shoal.errors import IntegrityError
from shoal.kernels.arrays import Integers
from shoal.vault.domains import DomainKeys
from shoal.vault.padding import padded, unpadded
from shoal.vault.tables import entry

CURRENT: Final = 0
REVOKED: Final = 1
EXPIRED: Final = 2
REPLACED: Final = 3
STATES: Final = {CURRENT: "valid", REVOKED: "revoked", EXPIRED: "expired", REPLACED: "replaced"}

PLACE_BYTES: Final = 16
_COLUMNS: Final = "place, generation, serial, version, until, state, also, sealed"
_TAGS: Final = (
    f"SELECT place, generation, serial, version, until, state, also, "  # noqa: S608
    f"substr(sealed, length(sealed) - {TAG_BYTES - 1}) FROM {entry.name} WHERE domain = "
)
_AT_ONCE: Final = 30_000
"""Values in one statement; SQLite takes 32,766."""
_FETCHED: Final = 100_000

_FIELDS: Final = np.dtype(
    [
        ("place", "u1", PLACE_BYTES),
        ("generation", "<i8"),
        ("serial", "<i8"),
        ("until", "<i8"),
        ("version", "<i4"),
        ("state", "<i4"),
    ]
)
_BOUND: Final = np.dtype([("fields", _FIELDS), ("domain", "<i4"), ("also", "u1", PLACE_BYTES)])
_CHECKED: Final = np.dtype([("fields", _FIELDS), ("also", "u1", PLACE_BYTES), ("tag", "u1", TAG_BYTES)])


@dataclass(frozen=True)
class EntryRows:
    place: Sequence[bytes]
    generation: Integers
    serial: Integers
    version: Integers
    until: Integers
    state: Integers
    also: Sequence[bytes]
    sealed: Sequence[bytes]

    def __len__(self) -> int:
        return len(self.place)

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]]) -> EntryRows:
        """As the database gives them; what is not of the column's kind was altered."""
        columns = list(zip(*rows, strict=True)) if rows else [()] * 8
        place, generation, serial, version, until, state, also, sealed = columns
        if any(set(map(type, column)) - {bytes} for column in (place, also, sealed)):
            raise _altered()
        numbers = [np.array(column) for column in (generation, serial, version, until, state)]
        if rows and any(column.dtype != np.int64 for column in numbers):
            raise _altered()
        generations, serials, versions, untils, states = (column.astype(np.int64, copy=False) for column in numbers)
        return cls(place, generations, serials, versions, untils, states, also, sealed)

    def unsealed(self, domain: int, keys: DomainKeys) -> list[bytes]:
        """What the entries hold. Each is checked to be whole and in its place."""
        bound = self._bound(domain)
        versions = np.unique(self.version)
        if len(versions) == 1:
            return unpadded(unseal_many(keys.seal(int(versions[0])), self.sealed, bound))
        held: list[bytes] = [b""] * len(self)
        for version in versions:
            here = np.flatnonzero(self.version == version).tolist()
            opened = unseal_many(keys.seal(int(version)), [self.sealed[at] for at in here], [bound[at] for at in here])
            for at, content in zip(here, unpadded(opened), strict=True):
                held[at] = content
        return held

    def sealing(self, domain: int, keys: DomainKeys, contents: Sequence[bytes]) -> EntryRows:
        """The same rows, holding these contents, under the key of their (one) version."""
        if not len(self):
            return self
        sealed = seal_many(keys.seal(int(self.version[0])), padded(contents), self._bound(domain))
        return EntryRows(
            self.place, self.generation, self.serial, self.version, self.until, self.state, self.also, sealed
        )

    def fingerprint(self, key: Key) -> int:
        checked = np.zeros(len(self), dtype=_CHECKED)
        checked["fields"] = self._fields()
        checked["tag"] = _bytes([sealed[-TAG_BYTES:] for sealed in self.sealed], TAG_BYTES)
        if any(self.also):
            checked["also"] = self._also()
        return fingerprint(key, checked.view(np.uint8).reshape(len(self), ROW_BYTES))

    def _fields(self) -> NDArray[np.void]:
        fields = np.zeros(len(self), dtype=_FIELDS)
        fields["place"] = _bytes(self.place, PLACE_BYTES)
        for name in ("generation", "serial", "until", "version", "state"):
            fields[name] = getattr(self, name)
        return fields

    def _bound(self, domain: int) -> list[bytes]:
        bound = np.zeros(len(self), dtype=_BOUND)
        bound["fields"], bound["domain"] = self._fields(), domain
        if any(self.also):
            bound["also"] = self._also()
        raw, width = bound.tobytes(), _BOUND.itemsize
        return [raw[at : at + width] for at in range(0, len(raw), width)]

    def _also(self) -> NDArray[np.uint8]:
        return _bytes([also or bytes(PLACE_BYTES) for also in self.also], PLACE_BYTES)


def _bytes(values: Sequence[bytes], width: int) -> NDArray[np.uint8]:
    """Values of one width as rows; one of another width was altered."""
    if set(map(len, values)) - {width}:
        raise _altered()
    return np.frombuffer(b"".join(values), dtype=np.uint8).reshape(-1, width)


def _altered() -> IntegrityError:
    return IntegrityError("entries of the vault were altered")


def fetch_places(connection: Connection, domain: int, places: Sequence[bytes]) -> EntryRows:
    """The current entries at these places, in any order."""
    return EntryRows.of(_fetch(connection, domain, "generation = 0 AND place", list(places)))


def fetch_serials(connection: Connection, domain: int, serials: Sequence[int]) -> EntryRows:
    return EntryRows.of(_fetch(connection, domain, "serial", list(serials)))


def scan_serials(connection: Connection, domain: int, serials: Sequence[int]) -> EntryRows:
    """Read past the index, which may be damaged while the entries are whole."""
    return EntryRows.of(_fetch(connection, domain, "serial + 0", list(serials)))


def scan_also(connection: Connection, domain: int, also: bytes) -> EntryRows:
    return EntryRows.of(_fetch(connection, domain, "also", [also]))


def fetch_outdated(connection: Connection, domain: int, newest: int, after: int, at_most: int) -> EntryRows:
    """Entries under older keys, from a serial on."""
    statement = (
        f"SELECT {_COLUMNS} FROM {entry.name} WHERE domain = {domain:d} AND serial > {after:d} "  # noqa: S608
        f"AND version <> {newest:d} ORDER BY serial LIMIT {at_most:d}"
    )
    return EntryRows.of([tuple(row) for row in connection.exec_driver_sql(statement)])


def by_serial(connection: Connection, domain: int, before: int, at_most: int) -> Iterator[EntryRows]:
    """All entries with serials below one, some at a time, which may be changed before the next are asked for."""
    last = 0
    while True:
        statement = (
            f"SELECT {_COLUMNS} FROM {entry.name} WHERE domain = {domain:d} "  # noqa: S608
            f"AND serial > {last:d} AND serial < {before:d} ORDER BY serial LIMIT {at_most:d}"
        )
        rows = EntryRows.of(connection.exec_driver_sql(statement).all())
        if not len(rows):
            return
        last = int(rows.serial[-1])
        yield rows


def every(connection: Connection, domain: int) -> Iterator[EntryRows]:
    """All entries of a domain, some at a time."""
    statement = f"SELECT {_COLUMNS} FROM {entry.name} WHERE domain = {domain:d}"  # noqa: S608
    result = connection.exec_driver_sql(statement, execution_options={"yield_per": _FETCHED})
    for part in result.partitions(_FETCHED):
        yield EntryRows.of([tuple(row) for row in part])


def counted(connection: Connection, domain: int, key: Key, absent: NDArray[np.uint8]) -> tuple[int, int]:
    """How many entries there are, and their fingerprint, read one after the other without opening any.

    A current entry at a place that is said to be absent was missed by the look-up: the order of the rows is damaged.
    """
    number, total, missed = 0, 0, _Places(absent)
    result = connection.exec_driver_sql(f"{_TAGS}{domain:d}", execution_options={"yield_per": _FETCHED})
    for part in result.partitions(_FETCHED):
        rows = EntryRows.of(part)
        if missed.hold(_current_places(rows)):
            raise IntegrityError("the index of the vault's entries is damaged")
        number, total = number + len(rows), add(total, rows.fingerprint(key))
    return number, total


class _Places:
    """Many places, to be asked whether any of a few others is among them."""

    def __init__(self, blocks: NDArray[np.uint8]) -> None:
        self._halves = [np.sort(half) for half in _halves(blocks)]

    def hold(self, blocks: NDArray[np.uint8]) -> bool:
        if not len(self._halves[0]):
            return False
        both = [_among(half, known) for half, known in zip(_halves(blocks), self._halves, strict=True)]
        return bool((both[0] & both[1]).any())


def _halves(blocks: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(blocks).view("<u8").reshape(-1, 2).T


def _among(values: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = known[np.searchsorted(known, values).clip(max=len(known) - 1)] == values
    return found


def _current_places(rows: EntryRows) -> NDArray[np.uint8]:
    """Of current entries."""
    places: NDArray[np.uint8] = _bytes(rows.place, PLACE_BYTES)[rows.generation == 0]
    return places


def put(connection: Connection, domain: int, rows: EntryRows) -> None:
    cells = zip(
        [domain] * len(rows),
        rows.place,
        rows.generation.tolist(),
        rows.serial.tolist(),
        rows.version.tolist(),
        rows.until.tolist(),
        rows.state.tolist(),
        rows.also,
        rows.sealed,
        strict=True,
    )
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.dbapi_connection
        with driver.cursor() as cursor, cursor.copy(f"COPY {entry.name} (domain, {_COLUMNS}) FROM STDIN") as copy:
            for row in cells:
                copy.write_row(row)
    elif len(rows):
        marks = ", ".join("?" * 9)
        connection.exec_driver_sql(f"INSERT INTO {entry.name} (domain, {_COLUMNS}) VALUES ({marks})", list(cells))  # noqa: S608


def take_out(connection: Connection, domain: int, serials: Sequence[int]) -> None:
    for start in range(0, len(serials), _AT_ONCE):
        some = serials[start : start + _AT_ONCE]
        numbers = ", ".join(str(int(serial)) for serial in some)
        gone = connection.exec_driver_sql(
            f"DELETE FROM {entry.name} WHERE domain = {domain:d} AND serial IN ({numbers})"  # noqa: S608
        )
        if gone.rowcount != len(some):
            raise _altered()


def empty(connection: Connection, domain: int) -> None:
    connection.exec_driver_sql(f"DELETE FROM {entry.name} WHERE domain = {domain:d}")  # noqa: S608


def _fetch(connection: Connection, domain: int, what: str, values: list[Any]) -> list[Sequence[Any]]:
    """Straight from the driver: a row object for each of a million rows would cost as much as the look-up."""
    start = f"SELECT {_COLUMNS} FROM {entry.name} WHERE domain = {domain:d} AND {what} "  # noqa: S608
    driver: Any = connection.connection.dbapi_connection
    with closing(driver.cursor()) as cursor:
        if connection.dialect.name == "postgresql":
            cursor.execute(f"{start} = ANY(%s)", (values,))
            return list(cursor.fetchall())
        found: list[Sequence[Any]] = []
        for at in range(0, len(values), _AT_ONCE):
            some = values[at : at + _AT_ONCE]
            cursor.execute(f"{start} IN ({', '.join('?' * len(some))})", some)
            found += cursor.fetchall()
        return found
