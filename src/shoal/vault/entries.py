"""The entries of one domain: find, create, retire, open. All in sets; nothing is done value by value in the database.

What is not found in a domain that holds entries is not believed at once: first the domain's entries are counted and
their fingerprint is compared, so that a lost or altered row never makes a second pseudonym for the same person.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.crypto import Key
from shoal.crypto.keyed_digests import digests
from shoal.crypto.set_fingerprint import add, subtract
from shoal.errors import IntegrityError
from shoal.kernels.arrays import Integers
from shoal.vault import domains
from shoal.vault.domains import DERIVED, Domain
from shoal.vault.entry_rows import (
    CURRENT,
    PLACE_BYTES,
    EntryRows,
    counted,
    fetch_places,
    fetch_serials,
    put,
    scan_serials,
    take_out,
)
from shoal.vault.session import Session

CHUNK = 200_000
"""Entries that are held in memory at once."""


@dataclass
class EntryLookup:
    """Texts to be found in a domain, in the order of their places, each digested once for each key.

    That order is no order that anybody could know. New entries get their serials in it, so serials don't tell who came
    first, and the database is written from one end to the other.
    """

    texts: pl.Series = field(repr=False)
    contents: pl.Series | None = field(default=None, repr=False)
    """What new entries hold, if it isn't the text itself."""
    _places: dict[Key, EntryPlaces] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.texts)

    def places(self, key: Key) -> EntryPlaces:
        if key not in self._places:
            blocks = np.empty((len(self), PLACE_BYTES), dtype=np.uint8)
            for start in range(0, len(self), CHUNK):
                blocks[start : start + CHUNK] = digests(key, self._bytes(start))
            self._places[key] = EntryPlaces(blocks)
        return self._places[key]

    def only(self, at: Integers) -> EntryLookup:
        """These of them."""
        rest = {key: EntryPlaces(places.blocks[at]) for key, places in self._places.items()}
        return EntryLookup(self.texts.gather(at), None if self.contents is None else self.contents.gather(at), rest)

    def text(self, at: Integers) -> list[bytes]:
        return self.texts.gather(at).cast(pl.Binary).to_list()

    def content(self, at: Integers) -> list[bytes]:
        return self.text(at) if self.contents is None else self.contents.gather(at).to_list()

    def _bytes(self, start: int) -> list[bytes]:
        return self.texts[start : start + CHUNK].cast(pl.Binary).to_list()


@dataclass
class EntryPlaces:
    blocks: NDArray[np.uint8]

    @cached_property
    def order(self) -> Integers:
        halves = self.blocks.view(">u8")
        return np.lexsort((halves[:, 1], halves[:, 0]))

    def chunks(self) -> Iterator[tuple[Integers, list[bytes]]]:
        """In order: which texts, and their places."""
        for start in range(0, len(self.blocks), CHUNK):
            at = self.order[start : start + CHUNK]
            raw = self.blocks[at].tobytes()
            yield at, [raw[byte : byte + PLACE_BYTES] for byte in range(0, len(raw), PLACE_BYTES)]


@dataclass(frozen=True)
class EntryMatches:
    """For each text that was looked for: the serial of its entry (0 for none) and its end (0 for none)."""

    serial: Integers
    until: Integers
    contents: dict[int, bytes] = field(default_factory=dict, repr=False)
    """What the entries hold, where it is more than the text."""

    def lacking(self, seconds: int) -> Integers:
        """Those without an entry that is valid now."""
        ended = (self.until > 0) & (self.until <= seconds)
        return np.flatnonzero((self.serial == 0) | ended)


class DomainEntries:
    def __init__(self, session: Session, domain: Domain) -> None:
        self.session = session
        self.domain = domain
        self.keys = domains.keys(session, domain)

    def find(self, sought: EntryLookup) -> EntryMatches:
        """Current entries by what they are kept under: the value, or the derived pseudonym."""
        found = EntryMatches(np.zeros(len(sought), dtype=np.int64), np.zeros(len(sought), dtype=np.int64))
        if self.domain.entries:
            for version in self.keys.data:
                for at, places in sought.places(self.keys.place(version)).chunks():
                    self._find_some(sought, at, places, found)
        return found

    def _find_some(self, sought: EntryLookup, at: Integers, places: list[bytes], found: EntryMatches) -> None:
        rows = fetch_places(self.session.connection, self.domain.id, places)
        if not len(rows):
            return
        contents = rows.unsealed(self.domain.id, self.keys)
        by_order = np.searchsorted(_comparable(places), _comparable(rows.place))
        where = at[by_order.clip(max=len(at) - 1)]
        kept = [self.kept_under(content) for content in contents] if self.domain.kind == DERIVED else contents
        if kept != sought.text(where):
            raise IntegrityError(f"domain '{self.domain.name}': an entry is not in its place")
        found.serial[where], found.until[where] = rows.serial, rows.until
        if sought.contents is not None:
            found.contents.update(zip(where.tolist(), contents, strict=True))

    def create(self, sought: EntryLookup, also: Sequence[bytes] | None = None) -> Integers:
        """New entries with serials of their own, which no other entry ever had or will have."""
        version = self.keys.newest
        given = np.zeros(len(sought), dtype=np.int64)
        for at, places in sought.places(self.keys.place(version)).chunks():
            serial = np.arange(self.domain.next, self.domain.next + len(at), dtype=np.int64)
            rows = EntryRows(
                places,
                np.zeros(len(at), dtype=np.int64),
                serial,
                np.full(len(at), version, dtype=np.int64),
                np.full(len(at), self.domain.until(self.session.seconds), dtype=np.int64),
                np.full(len(at), CURRENT, dtype=np.int64),
                [b""] * len(at) if also is None else self._also([also[one] for one in at.tolist()], version),
                [],
            ).sealing(self.domain.id, self.keys, sought.content(at))
            put(self.session.connection, self.domain.id, rows)
            self._account(added=rows, next=self.domain.next + len(at))
            given[at] = serial
        return given

    def retire(self, serials: Sequence[int], state: int) -> int:
        """Entries that are no longer current. They stay, so that what was released can still be followed up."""
        rows = self.with_serials(serials)
        current = np.flatnonzero(rows.generation == 0)
        for version in np.unique(rows.version[current]):
            old = chosen(rows, current[rows.version[current] == version])
            new = replace(old, generation=old.serial, state=np.full(len(old), state, dtype=np.int64))
            self.exchange(old, new, old.unsealed(self.domain.id, self.keys))
        return len(current)

    def with_serials(self, serials: Sequence[int]) -> EntryRows:
        """The entries with these serials; those that were never given are left out, once that is certain."""
        rows = fetch_serials(self.session.connection, self.domain.id, serials)
        if len(rows) < len(set(serials)):
            self.refuse_incomplete()
            if len(rows) != len(scan_serials(self.session.connection, self.domain.id, serials)):
                raise IntegrityError(f"domain '{self.domain.name}': the index of its entries is damaged")
        return rows

    def exchange(self, old: EntryRows, new: EntryRows, contents: Sequence[bytes]) -> None:
        """Rows in the place of others, with the same serials."""
        sealed = new.sealing(self.domain.id, self.keys, contents)
        take_out(self.session.connection, self.domain.id, old.serial.tolist())
        put(self.session.connection, self.domain.id, sealed)
        self._account(added=sealed, gone=old)

    def under_newest(self, rows: EntryRows) -> tuple[EntryRows, list[bytes]]:
        """Rows and their contents as they are under the newest key."""
        contents, version = rows.unsealed(self.domain.id, self.keys), self.keys.newest
        texts = [self.kept_under(content) for content in contents]
        moved = replace(rows, place=self.places(texts, version), version=np.full(len(rows), version, dtype=np.int64))
        if any(rows.also):
            moved = replace(moved, also=self._also([unpacked(content)[2] for content in contents], version))
        return moved, contents

    def kept_under(self, content: bytes) -> bytes:
        """What an entry with this content is found by."""
        return unpacked(content)[1] if self.domain.kind == DERIVED else content

    def refuse_incomplete(self, absent: EntryLookup | None = None) -> None:
        """Entries that were lost or altered would make wrong answers: none is given.

        ``absent`` was looked for and not found; entries that are there nevertheless were missed.
        """
        missed = absent or EntryLookup(pl.Series([], dtype=pl.String()))
        places = np.concatenate([missed.places(self.keys.place(version)).blocks for version in self.keys.data])
        number, total = counted(self.session.connection, self.domain.id, self.keys.check, places)
        if (number, total) != (self.domain.entries, self.domain.fingerprint):
            raise IntegrityError(f"domain '{self.domain.name}': entries were altered or are missing")

    def refuse_outdated(self) -> None:
        """Where entries were retired, an older copy of one could be put back: then all are looked at first."""
        if self.domain.retired:
            self.refuse_incomplete()

    def also_marks(self, text: bytes) -> list[bytes]:
        return [self._also([text], version)[0] for version in self.keys.data]

    def places(self, texts: Sequence[bytes], version: int) -> list[bytes]:
        return _split(digests(self.keys.place(version), texts))

    def held(self, text: bytes) -> bytes | None:
        """What the current entry of one text holds."""
        for version in self.keys.data:
            rows = fetch_places(self.session.connection, self.domain.id, self.places([text], version))
            if len(rows):
                return rows.unsealed(self.domain.id, self.keys)[0]
        return None

    def _also(self, texts: Sequence[bytes], version: int) -> list[bytes]:
        return _split(digests(self.keys.also(version), texts))

    def _account(self, *, added: EntryRows, gone: EntryRows | None = None, next: int | None = None) -> None:  # noqa: A002 - the column's name
        total = add(self.domain.fingerprint, added.fingerprint(self.keys.check))
        number, retired = self.domain.entries + len(added), self.domain.retired + _retired(added)
        if gone is not None:
            total, number = subtract(total, gone.fingerprint(self.keys.check)), number - len(gone)
            retired -= _retired(gone)
        self.domain = domains.change(
            self.session,
            self.domain,
            fingerprint=total,
            entries=number,
            retired=retired,
            next=next or self.domain.next,
        )


def _retired(rows: EntryRows) -> int:
    return int((rows.generation > 0).sum())


def chosen(rows: EntryRows, at: NDArray[np.int64]) -> EntryRows:
    places = at.tolist()
    return EntryRows(
        [rows.place[i] for i in places],
        rows.generation[at],
        rows.serial[at],
        rows.version[at],
        rows.until[at],
        rows.state[at],
        [rows.also[i] for i in places],
        [rows.sealed[i] for i in places],
    )


def packed(value: bytes, pseudonym: bytes, also: bytes = b"") -> bytes:
    """What an entry for a derived pseudonym holds."""
    return struct.pack("<II", len(value), len(pseudonym)) + value + pseudonym + also


def unpacked(content: bytes) -> tuple[bytes, bytes, bytes]:
    value, pseudonym = struct.unpack_from("<II", content)
    rest = content[8:]
    return rest[:value], rest[value : value + pseudonym], rest[value + pseudonym :]


def _comparable(places: Sequence[bytes]) -> NDArray[np.bytes_]:
    return np.frombuffer(b"".join(places), dtype=f"S{PLACE_BYTES}")


def _split(blocks: NDArray[np.uint8]) -> list[bytes]:
    raw, width = blocks.tobytes(), blocks.shape[1]
    return [raw[at : at + width] for at in range(0, len(raw), width)]
