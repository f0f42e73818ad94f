"""Keys for signatures as files that other tools read too: PKCS #8 to sign, SubjectPublicKeyInfo to check."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from shoal.crypto.keys import Key
from shoal.errors import AccessError, InputError


def signing_key_pem(key: Key, passphrase: str | None = None) -> bytes:
    """For the file of who signs."""
    sealed = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    private = Ed25519PrivateKey.from_private_bytes(key.material)
    return private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, sealed)


def public_key_pem(public: bytes) -> bytes:
    """For the file that is given to everybody."""
    return Ed25519PublicKey.from_public_bytes(public).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def signing_key_in(pem: bytes, passphrase: str | None = None) -> Key:
    """
    >>> key = Key.new()
    >>> signing_key_in(signing_key_pem(key, "a long sentence"), "a long sentence").material == key.material
    True
    """
    try:
        loaded = load_pem_private_key(pem, None if passphrase is None else passphrase.encode())
    except TypeError:
        asked = "a passphrase is needed to open it" if passphrase is None else "it was not sealed with a passphrase"
        raise AccessError(f"the signing key can't be opened: {asked}") from None
    except ValueError:
        raise AccessError("the signing key can't be opened: it is damaged, or the passphrase is wrong") from None
    if not isinstance(loaded, Ed25519PrivateKey):
        raise InputError("the signing key is of another kind than Ed25519")
    return Key(loaded.private_bytes_raw())


def public_key_in(pem: bytes) -> bytes:
    try:
        loaded = load_pem_public_key(pem)
    except ValueError:
        raise InputError("this is no public key (PEM)") from None
    if not isinstance(loaded, Ed25519PublicKey):
        raise InputError("the public key is of another kind than Ed25519")
    return loaded.public_bytes_raw()
