"""The keys that open payloads, by epoch. A new key begins a new epoch; entries of old epochs stay as they are.

So keys change without a byte of the chain being rewritten, and who has only old keys can't read what comes later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.crypto import Key
from shoal.crypto.aead import seal, unseal
from shoal.errors import AccessError, InputError, IntegrityError
from shoal.ledger.entry import LedgerEntry, StoredEntry, canonical_json, framed


@dataclass(frozen=True)
class PayloadKeys:
    """The newest seals what is appended."""

    by_epoch: Mapping[int, Key] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.by_epoch or min(self.by_epoch) < 1:
            raise InputError("the keys of a ledger have epochs from 1 on")

    @property
    def newest(self) -> int:
        return max(self.by_epoch)

    def seal(self, entry: LedgerEntry, identity: str) -> tuple[bytes, int]:
        """The whole entry, so that not even its time and kind are seen, and the epoch of the key."""
        content = canonical_json({"at": entry.at, "kind": entry.kind, "payload": entry.payload})
        return seal(self.by_epoch[self.newest], content, _bound(identity, entry.number, self.newest)), self.newest

    def unseal(self, stored: StoredEntry, identity: str) -> LedgerEntry:
        if stored.epoch not in self.by_epoch:
            raise AccessError(f"entry {stored.number} of the ledger is sealed with a key that isn't at hand")
        content = unseal(self.by_epoch[stored.epoch], stored.payload, _bound(identity, stored.number, stored.epoch))
        try:
            return LedgerEntry(number=stored.number, **json.loads(content))
        except (ValueError, TypeError):
            raise IntegrityError(f"entry {stored.number} of the ledger holds no entry") from None


def _bound(identity: str, number: int, epoch: int) -> bytes:
    return framed([b"shoal ledger payload 1", identity.encode(), str(number).encode(), str(epoch).encode()])
