"""An entry, and the bytes that its hash is taken over.

    hash(n) = SHA-256 of the parts "shoal ledger entry 1", n, time, kind, payload, key epoch, hash(n - 1)

each part after its length in eight bytes, numbers in decimal digits, text in UTF-8. In the place of hash(0) stands the
SHA-256 of the parts "shoal ledger 1" and the ledger's identity, so that no chain passes for another ledger's.
A payload is a JSON object with sorted keys and no spaces. The hash covers the columns as they are stored: of a sealed
entry time and kind are empty and the payload is ciphertext, so the chain can be followed without any key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from shoal.errors import InputError, IntegrityError

_ENTRY: Final = b"shoal ledger entry 1"
_LEDGER: Final = b"shoal ledger 1"


class LedgerBrokenError(IntegrityError):
    """The chain doesn't hold at one entry; what comes after it is not to be believed either."""

    def __init__(self, number: int, fault: str) -> None:
        super().__init__(f"the ledger is broken at entry {number}: {fault}")
        self.number = number


@dataclass(frozen=True)
class LedgerHead:
    """How far a ledger has come: kept elsewhere, it is an anchor that shows whether the end was cut off."""

    number: int
    hash: bytes


@dataclass(frozen=True)
class LedgerEntry:
    number: int
    at: str
    """The moment in UTC, as ISO 8601."""
    kind: str
    payload: Mapping[str, Any]


class StoredEntry(NamedTuple):
    """A row as it stands in the database."""

    number: int
    at: str
    kind: str
    payload: bytes
    epoch: int
    """Of the key that the entry is sealed with; 0 for an entry in clear."""
    hash: bytes

    @property
    def head(self) -> LedgerHead:
        return LedgerHead(self.number, self.hash)

    def is_well_formed(self) -> bool:
        """SQLite keeps cells of any type in any column."""
        return tuple(map(type, self)) == _TYPES

    def computed_hash(self, previous: bytes) -> bytes:
        number, epoch = str(self.number).encode(), str(self.epoch).encode()
        return digest((_ENTRY, number, self.at.encode(), self.kind.encode(), self.payload, epoch, previous))


_TYPES: Final = (int, str, str, bytes, int, bytes)
"""Of the columns of an entry."""


def genesis(identity: str) -> LedgerHead:
    """What the first entry follows."""
    return LedgerHead(0, digest([_LEDGER, identity.encode()]))


def digest(parts: Iterable[bytes]) -> bytes:
    """SHA-256 of parts in order, each with its length, so that none can shift.

    >>> digest([b"ab", b"c"]) == digest([b"a", b"bc"])
    False
    """
    return hashlib.sha256(framed(parts)).digest()


def framed(parts: Iterable[bytes]) -> bytes:
    return b"".join([len(part).to_bytes(8, "big") + part for part in parts])


def canonical_json(payload: Mapping[str, Any]) -> bytes:
    """Refuses what JSON can't give back as it was."""
    try:
        text = json.dumps(dict(payload), sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError):
        raise InputError("a ledger's payload is a JSON object of text, numbers, lists and objects") from None
