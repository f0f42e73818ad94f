"""A box that anybody can close for a person and only that person can open (HPKE, RFC 9180: X25519, AES-256-GCM).

So a new master key can be handed to everybody who may have it without asking each for their passphrase.
"""

from __future__ import annotations

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from shoal.crypto.keys import Key
from shoal.errors import AccessError

_SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)


def public_of(key: Key) -> bytes:
    """What others need to close a box for the holder of this key."""
    return X25519PrivateKey.from_private_bytes(key.material).public_key().public_bytes_raw()


def close_box(public: bytes, content: bytes, label: bytes) -> bytes:
    return _SUITE.encrypt(content, X25519PublicKey.from_public_bytes(public), info=label)


def open_box(key: Key, box: bytes, label: bytes) -> bytes:
    try:
        return _SUITE.decrypt(box, X25519PrivateKey.from_private_bytes(key.material), info=label)
    except (InvalidTag, ValueError):
        raise AccessError("the passphrase or key file is not the right one") from None
