"""Keys: derived as RFC 5869 says, one for each purpose, and never shown."""

from __future__ import annotations

import hashlib
import hmac
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.crypto import KEY_BYTES, Key

MATERIAL = st.binary(min_size=KEY_BYTES, max_size=KEY_BYTES)
PURPOSES = st.lists(st.text(max_size=4), max_size=3).map(tuple)


def hkdf(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869, 2.2 and 2.3."""
    extracted = hmac.digest(salt, material, "sha256")
    expanded, block = b"", b""
    for number in range(1, -(-length // 32) + 1):
        block = hmac.digest(extracted, block + info + bytes([number]), "sha256")
        expanded += block
    return expanded[:length]


def test_second_opinion_passes_the_first_vector_of_the_rfc() -> None:
    made = hkdf(b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)), 42)
    assert made.hex().startswith("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf")


@given(material=MATERIAL, purpose=PURPOSES, length=st.integers(1, 100))
@settings(max_examples=60)
def test_derivation_is_hkdf_over_the_purpose(material: bytes, purpose: tuple[str, ...], length: int) -> None:
    info = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in purpose)
    expected = hkdf(material, b"shoal keys 1", info, length)
    assert Key(material).expand(length, *purpose) == expected
    assert Key(material).derive(*purpose).material == hkdf(material, b"shoal keys 1", info, KEY_BYTES)


@given(material=MATERIAL, first=PURPOSES, second=PURPOSES)
@settings(max_examples=80)
def test_equal_purposes_and_no_others_give_equal_keys(
    material: bytes, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    key = Key(material)
    assert (key.derive(*first) == key.derive(*second)) is (first == second)
    assert key.derive(*first) != key


def test_names_are_not_run_together() -> None:
    key = Key(bytes(KEY_BYTES))
    assert key.derive("ab", "c") != key.derive("a", "bc")


@pytest.mark.requirement("V-05")
@given(material=MATERIAL)
@settings(max_examples=30)
def test_a_key_never_shows_itself(material: bytes) -> None:
    key = Key(material)
    assert repr(key) == str(key) == "Key(…)"
    assert key.fingerprint() == Key(material).fingerprint()
    assert len(key.fingerprint()) == 16
    assert key.fingerprint() not in (material.hex(), hashlib.sha256(material).hexdigest()[:16])
    assert pickle.loads(pickle.dumps(key)) == key  # noqa: S301  # our own bytes
    assert len({key, Key(material), key.derive("other")}) == 2


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_another_length_is_no_key(length: int) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Key(bytes(length))


def test_new_keys_are_different() -> None:
    assert len({Key.new() for _ in range(100)}) == 100
