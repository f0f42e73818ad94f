"""Signatures (Ed25519, RFC 8032): whoever has the public key can tell who signed; nobody can sign without the other.

>>> key = Key(bytes(32))
>>> check_signature(public_key(key), sign(key, b"so it was"), b"so it was")
>>> check_signature(public_key(key), sign(key, b"so it was"), b"so it was not")
Traceback (most recent call last):
    ...
shoal.errors.IntegrityError: a signature doesn't fit what it stands under
"""

from __future__ import annotations

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shoal.crypto.keys import Key
from shoal.errors import IntegrityError

PUBLIC_KEY_BYTES = 32


def public_key(key: Key) -> bytes:
    """What others need to check what is signed with this key."""
    return Ed25519PrivateKey.from_private_bytes(key.material).public_key().public_bytes_raw()


def sign(key: Key, message: bytes) -> bytes:
    return Ed25519PrivateKey.from_private_bytes(key.material).sign(message)


def check_signature(public: bytes, signature: bytes, message: bytes) -> None:
    """Nothing, or an IntegrityError."""
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError, TypeError):
        raise IntegrityError("a signature doesn't fit what it stands under") from None
