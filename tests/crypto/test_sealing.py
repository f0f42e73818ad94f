"""AES-256-GCM: what is sealed opens with its key at its place, and in no other case."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.crypto import Key
from shoal.crypto.aead import NONCE_BYTES, TAG_BYTES, seal, seal_many, unseal, unseal_many
from shoal.errors import IntegrityError

KEYS = st.binary(min_size=32, max_size=32).map(Key)


def test_a_published_vector() -> None:
    """McGrew and Viega, The Galois/Counter Mode of Operation, appendix B, test case 16."""
    key = Key(bytes.fromhex("feffe9928665731c6d6a8f9467308308" * 2))
    sealed = (
        "cafebabefacedbaddecaf888"
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
        "76fc6ece0f4e1768cddf8853bb2d551b"
    )
    plain = (
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    )
    bound_to = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
    assert unseal(key, bytes.fromhex(sealed), bound_to).hex() == plain


@given(key=KEYS, values=st.lists(st.tuples(st.binary(max_size=40), st.binary(max_size=10)), max_size=8))
@settings(max_examples=60)
def test_round_trip(key: Key, values: list[tuple[bytes, bytes]]) -> None:
    plain, bound_to = [value for value, _ in values], [place for _, place in values]
    sealed = seal_many(key, plain, bound_to)
    assert [len(one) for one in sealed] == [len(one) + NONCE_BYTES + TAG_BYTES for one in plain]
    assert unseal_many(key, sealed, bound_to) == plain


@given(key=KEYS, plain=st.binary(max_size=20), place=st.integers(0), bit=st.integers(0, 7))
@settings(max_examples=80)
def test_what_was_altered_moved_or_cut_does_not_open(key: Key, plain: bytes, place: int, bit: int) -> None:
    sealed = seal(key, plain, b"row 1")
    altered = bytearray(sealed)
    altered[place % len(altered)] ^= 1 << bit
    attempts = [
        (key, bytes(altered), b"row 1"),
        (key, sealed, b"row 2"),
        (key, sealed[: place % len(sealed)], b"row 1"),
        (key.derive("another"), sealed, b"row 1"),
    ]
    for attempt in attempts:
        with pytest.raises(IntegrityError, match="altered, or is sealed with another key"):
            unseal(*attempt)
    with pytest.raises(IntegrityError):
        unseal_many(key, [sealed, bytes(altered)], [b"row 1", b"row 1"])


def test_sealing_twice_shows_no_equality() -> None:
    key = Key.new()
    sealed = seal_many(key, [b"Asha"] * 1000, [b"row"] * 1000)
    assert len({one[:NONCE_BYTES] for one in sealed}) == len({one[NONCE_BYTES:] for one in sealed}) == 1000


@pytest.mark.parametrize(
    ("plain", "sealed"),
    [
        (b"", "530f8afbc74536b9a963b4f1c4cb738b"),
        (bytes(16), "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
    ],
)
def test_the_vectors_of_the_gcm_specification(plain: bytes, sealed: str) -> None:
    """McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13 and 14: AES-256, nonce of zeros."""
    assert unseal(Key(bytes(32)), bytes(12) + bytes.fromhex(sealed), b"") == plain
