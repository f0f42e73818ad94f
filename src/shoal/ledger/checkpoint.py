"""A checkpoint: somebody's signature under how far a ledger had come, which a public key is enough to check.

One signature covers the whole history up to its number, since the hash there covers all entries before. Kept outside
the database it shows also that the end was cut off together with the checkpoints that stood there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Self

from shoal.crypto import Key
from shoal.crypto.signatures import check_signature, public_key, sign
from shoal.errors import IntegrityError
from shoal.ledger.entry import LedgerHead, framed

_LABEL: Final = b"shoal ledger checkpoint 1"


@dataclass(frozen=True)
class Checkpoint:
    number: int
    hash: bytes
    at: str
    signer: bytes
    """The public key."""
    signature: bytes

    @property
    def head(self) -> LedgerHead:
        return LedgerHead(self.number, self.hash)

    @classmethod
    def sign(cls, key: Key, identity: str, head: LedgerHead, at: str) -> Self:
        signer = public_key(key)
        return cls(head.number, head.hash, at, signer, sign(key, _message(identity, head, at, signer)))

    def check(self, identity: str) -> None:
        """An IntegrityError unless the signer has signed this for this ledger."""
        try:
            message = _message(identity, self.head, self.at, self.signer)
            check_signature(self.signer, self.signature, message)
        except (IntegrityError, AttributeError, TypeError):
            raise IntegrityError(f"the ledger's checkpoint at entry {self.number} was not signed so") from None

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "hash": self.hash.hex(),
            "at": self.at,
            "signer": self.signer.hex(),
            "signature": self.signature.hex(),
        }

    @classmethod
    def from_dict(cls, told: dict[str, Any]) -> Self:
        """What ``to_dict`` gave, as from a JSON file."""
        try:
            parts = {name: bytes.fromhex(told[name]) for name in ("hash", "signer", "signature")}
            return cls(number=int(told["number"]), at=str(told["at"]), **parts)
        except (KeyError, TypeError, ValueError):
            raise IntegrityError("this is no checkpoint of a ledger") from None


def _message(identity: str, head: LedgerHead, at: str, signer: bytes) -> bytes:
    return framed([_LABEL, identity.encode(), str(head.number).encode(), head.hash, at.encode(), signer])
