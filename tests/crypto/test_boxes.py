"""Boxes: X25519 as RFC 7748 prints it, and HPKE written out from RFC 9180 as a second opinion on the library's."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from shoal.crypto import Key
from shoal.crypto.hpke import close_box, open_box, public_of
from shoal.errors import AccessError

pytestmark = pytest.mark.requirement("V-01")

AES_128, AES_256 = (1, 16), (2, 32)
"""The number of the cipher in RFC 9180, 7.3, and the length of its key."""


def test_the_public_keys_of_rfc_7748() -> None:
    """RFC 7748, 6.1."""
    alice = Key(bytes.fromhex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"))
    bob = Key(bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
    assert public_of(alice).hex() == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
    assert public_of(bob).hex() == "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"


def opened(key: bytes, box: bytes, info: bytes, cipher: tuple[int, int], bound_to: bytes = b"") -> bytes:
    """RFC 9180, base mode: 4.1 (DHKEM), 5.1 (key schedule), 5.2 (the first message)."""
    number, length = cipher
    enc, sealed = box[:32], box[32:]
    kem, suite = b"KEM\x00\x20", b"HPKE\x00\x20\x00\x01" + number.to_bytes(2, "big")
    private = X25519PrivateKey.from_private_bytes(key)
    agreed = private.exchange(X25519PublicKey.from_public_bytes(enc))
    both = enc + private.public_key().public_bytes_raw()
    shared = expand(extract(b"", kem, b"eae_prk", agreed), kem, b"shared_secret", both, 32)
    context = b"\x00" + extract(b"", suite, b"psk_id_hash", b"") + extract(b"", suite, b"info_hash", info)
    secret = extract(shared, suite, b"secret", b"")
    nonce = expand(secret, suite, b"base_nonce", context, 12)
    return AESGCM(expand(secret, suite, b"key", context, length)).decrypt(nonce, sealed, bound_to)


def extract(salt: bytes, suite: bytes, label: bytes, material: bytes) -> bytes:
    return hmac.digest(salt or bytes(32), b"HPKE-v1" + suite + label + material, hashlib.sha256)


def expand(secret: bytes, suite: bytes, label: bytes, info: bytes, length: int) -> bytes:
    """At most one block of SHA-256 is ever asked for."""
    labelled = length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info
    return hmac.digest(secret, labelled + b"\x01", hashlib.sha256)[:length]


def test_the_second_opinion_knows_the_vector_of_rfc_9180() -> None:
    """RFC 9180, A.1.1, sequence number 0."""
    box = bytes.fromhex(
        "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
        "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
    )
    key = bytes.fromhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8")
    assert opened(key, box, b"Ode on a Grecian Urn", AES_128, b"Count-0") == b"Beauty is truth, truth beauty"


def test_a_box_is_what_rfc_9180_says() -> None:
    key = Key.new()
    box = close_box(public_of(key), b"the master key", b"label")
    assert opened(key.material, box, b"label", AES_256) == b"the master key"


def test_a_box_opens_for_its_person_alone() -> None:
    alice = Key.new()
    box = close_box(public_of(alice), b"the master key", b"label")
    assert open_box(alice, box, b"label") == b"the master key"
    assert close_box(public_of(alice), b"the master key", b"label") != box
    for key, altered, label in (
        (Key.new(), box, b"label"),
        (alice, box, b"another label"),
        (alice, box[:-1] + bytes([box[-1] ^ 1]), b"label"),
        (alice, box[:10], b"label"),
    ):
        with pytest.raises(AccessError):
            open_box(key, altered, label)
