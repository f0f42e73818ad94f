"""AES-256-GCM (NIST SP 800-38D): sealed so that nobody without the key reads it and nobody at all alters it unseen.

A sealed value is nonce ‖ ciphertext ‖ tag. What it belongs to (the row's place, say) is bound to it as associated
data, so that a sealed value that was moved elsewhere doesn't open. Nonces are random, 96 bits: under one key at most
2³² values may be sealed (SP 800-38D, 8.3); who seals more than that takes a new key.
"""

from __future__ import annotations

from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shoal.crypto.keys import Key
from shoal.errors import IntegrityError
from shoal.randomness import random_bytes

NONCE_BYTES = 12
TAG_BYTES = 16


def seal(key: Key, plain: bytes, bound_to: bytes) -> bytes:
    return seal_many(key, [plain], [bound_to])[0]


def unseal(key: Key, sealed: bytes, bound_to: bytes) -> bytes:
    return unseal_many(key, [sealed], [bound_to])[0]


def seal_many(key: Key, plain: Sequence[bytes], bound_to: Sequence[bytes]) -> list[bytes]:
    encrypt = AESGCM(key.material).encrypt
    nonces = random_bytes(NONCE_BYTES * len(plain))
    return [
        (nonce := nonces[place : place + NONCE_BYTES]) + encrypt(nonce, value, bound)
        for place, value, bound in zip(range(0, len(nonces), NONCE_BYTES), plain, bound_to, strict=True)
    ]


def unseal_many(key: Key, sealed: Sequence[bytes], bound_to: Sequence[bytes]) -> list[bytes]:
    """All, or an IntegrityError: a value that was altered, moved or sealed with another key is no value."""
    decrypt = AESGCM(key.material).decrypt
    try:
        return [
            decrypt(value[:NONCE_BYTES], value[NONCE_BYTES:], bound)
            for value, bound in zip(sealed, bound_to, strict=True)
        ]
    except (InvalidTag, ValueError):
        raise IntegrityError("a sealed value was altered, or is sealed with another key") from None
