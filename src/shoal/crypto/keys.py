"""A key, and the keys that are derived from it. A key never shows itself: not in a repr, not in an error.

One key per purpose: nothing is ever used for two things, so that what one use gives away is of no help with another.

>>> master = Key(bytes(32))
>>> master
Key(…)
>>> master.derive("domain", "patients") == master.derive("domain", "patients")
True
>>> master.derive("domain", "patients") == master.derive("domain", "staff")
False
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

from cryptography.hazmat.primitives.constant_time import bytes_eq
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from shoal.randomness import random_bytes

KEY_BYTES = 32


@dataclass(frozen=True, eq=False)
class Key:
    """256 bits. Picklable, so that a step that holds one can travel to an executor."""

    material: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.material) != KEY_BYTES:
            raise ValueError(f"a key has {KEY_BYTES} bytes")

    def __repr__(self) -> str:
        return "Key(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and bytes_eq(self.material, other.material)

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    @classmethod
    def new(cls) -> Self:
        return cls(random_bytes(KEY_BYTES))

    def derive(self, *purpose: str) -> Key:
        """The key for one purpose (HKDF-SHA-256, RFC 5869). Equal names, equal key."""
        return Key(self.expand(KEY_BYTES, *purpose))

    def expand(self, length: int, *purpose: str) -> bytes:
        """Key material of another length: AES-SIV wants two keys in one."""
        label = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in purpose)
        return HKDF(SHA256(), length, salt=b"shoal keys 1", info=label).derive(self.material)

    def fingerprint(self) -> str:
        """Tells keys apart and gives nothing of them away: 64 bits derived for this purpose alone."""
        return self.expand(8, "fingerprint").hex()
