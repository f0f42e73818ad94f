"""From a passphrase to a key: Argon2id (RFC 9106), slow on purpose, so that guessing costs."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from shoal.crypto.keys import KEY_BYTES, Key
from shoal.randomness import random_bytes

SALT_BYTES = 16
MIN_LENGTH = 12


@dataclass(frozen=True)
class Effort:
    """What one guess costs."""

    iterations: int
    lanes: int
    memory_kib: int

    def refuse_absurd(self) -> Effort:
        """So that an altered file can't make a machine work for hours, or take all of its memory. A ValueError."""
        if not (1 <= self.iterations <= 64 and 1 <= self.lanes <= 64 and 8 <= self.memory_kib <= 4 * 1024 * 1024):
            raise ValueError("more effort than any passphrase is worth")
        return self


RFC_9106_SECOND = Effort(iterations=3, lanes=4, memory_kib=64 * 1024)
"""The second recommended option of RFC 9106, section 4: 64 MiB, for machines that do other work as well."""


def new_salt() -> bytes:
    return random_bytes(SALT_BYTES)


def stretch(passphrase: str, salt: bytes, effort: Effort = RFC_9106_SECOND) -> Key:
    """The key behind a passphrase. The same text typed on another keyboard (NFC) gives the same key."""
    typed = unicodedata.normalize("NFC", passphrase).encode()
    how = Argon2id(
        salt=salt,
        length=KEY_BYTES,
        iterations=effort.iterations,
        lanes=effort.lanes,
        memory_cost=effort.memory_kib,
    )
    return Key(how.derive(typed))
