"""Keyed digests: the vectors of the RFCs, and BLAKE2b written out from RFC 7693 as a second opinion."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.crypto import Key
from shoal.crypto.keyed_digests import digests

pytestmark = pytest.mark.requirement("T-06")

# RFC 4231, test cases 1 to 5. HMAC pads a short key with zeros, so that a key of 32 bytes can stand for each of them.
RFC_4231 = [
    ("0b" * 20, b"Hi There".hex(), "b0344c61d8db38535ca8afceaf0bf12b"),
    (b"Jefe".hex(), b"what do ya want for nothing?".hex(), "5bdcc146bf60754e6a042426089575c7"),
    ("aa" * 20, "dd" * 50, "773ea91e36800e46854db8ebd09181a7"),
    (bytes(range(1, 26)).hex(), "cd" * 50, "82558a389a443c0ea4cc819899f2083a"),
    ("0c" * 20, b"Test With Truncation".hex(), "a3b6167473100ee06e0c796c2955552b"),
]

IV = [
    0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B, 0xA54FF53A5F1D36F1,
    0x510E527FADE682D1, 0x9B05688C2B3E6C1F, 0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179,
]  # fmt: skip
SIGMA = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
    [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
    [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
    [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
    [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
    [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
    [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
    [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
    [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
]
WORD = (1 << 64) - 1
LANES = [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)]  # fmt: skip  # noqa: E501


def turned(word: int, by: int) -> int:
    return ((word >> by) | (word << (64 - by))) & WORD


def mixed(v: list[int], lane: tuple[int, int, int, int], x: int, y: int) -> None:
    a, b, c, d = lane
    for added, first, second in ((x, 32, 24), (y, 16, 63)):
        v[a] = (v[a] + v[b] + added) & WORD
        v[d] = turned(v[d] ^ v[a], first)
        v[c] = (v[c] + v[d]) & WORD
        v[b] = turned(v[b] ^ v[c], second)


def blake2b(message: bytes, key: bytes, length: int) -> bytes:
    """RFC 7693, 3.2 and 3.3, step by step."""
    data = (key.ljust(128, b"\0") if key else b"") + message
    h = [IV[0] ^ 0x01010000 ^ (len(key) << 8) ^ length, *IV[1:]]
    blocks = max(1, -(-len(data) // 128))
    for place in range(blocks):
        last = place == blocks - 1
        block = data[128 * place : 128 * (place + 1)].ljust(128, b"\0")
        m = [int.from_bytes(block[at : at + 8], "little") for at in range(0, 128, 8)]
        v = [*h, *IV]
        v[12] ^= len(data) if last else 128 * (place + 1)
        v[14] ^= WORD if last else 0
        for turn in range(12):
            order = SIGMA[turn % 10]
            for lane, at in zip(LANES, range(0, 16, 2), strict=True):
                mixed(v, lane, m[order[at]], m[order[at + 1]])
        h = [one ^ v[at] ^ v[at + 8] for at, one in enumerate(h)]
    return b"".join(one.to_bytes(8, "little") for one in h)[:length]


def test_second_opinion_passes_the_vectors_of_the_rfc() -> None:
    """RFC 7693, appendix A ("abc"), and appendix E: one digest over keyed and unkeyed digests of many lengths."""
    assert blake2b(b"abc", b"", 64).hex().startswith("ba80a53f981c4d0d6a2797b69f12f6e9")

    def sequence(length: int, seed: int) -> bytes:
        a, b = (0xDEAD4BAD * seed) & 0xFFFFFFFF, 1
        out = bytearray()
        for _ in range(length):
            a, b = b, (a + b) & 0xFFFFFFFF
            out.append(b >> 24)
        return bytes(out)

    joined = b""
    for length in (20, 32, 48, 64):
        for size in (0, 3, 128, 129, 255, 1024):
            message = sequence(size, size)
            joined += blake2b(message, b"", length) + blake2b(message, sequence(length, length), length)
    assert blake2b(joined, b"", 32).hex() == "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475"


@given(key=st.binary(min_size=32, max_size=32), values=st.lists(st.binary(max_size=300), max_size=4))
@settings(max_examples=25)
def test_blake2b_is_that_of_the_rfc(key: bytes, values: list[bytes]) -> None:
    made = digests(Key(key), values)
    assert made.shape == (len(values), 16)
    assert made.dtype == np.uint8
    assert [row.tobytes() for row in made] == [blake2b(value, key, 16) for value in values]


def test_the_blake2_authors_vector_for_a_keyed_digest() -> None:
    """The first of blake2b's keyed known answers, through the primitive that ``digests`` calls."""
    known = hashlib.blake2b(b"", key=bytes(range(64))).hexdigest()
    assert known.startswith("10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786")


@pytest.mark.parametrize(("key", "data", "digest"), RFC_4231)
def test_hmac_vectors(key: str, data: str, digest: str) -> None:
    padded = Key(bytes.fromhex(key).ljust(32, b"\0"))
    assert digests(padded, [bytes.fromhex(data)], "hmac-sha256").tobytes().hex() == digest


@pytest.mark.parametrize("algorithm", ["blake2b", "hmac-sha256"])
def test_another_key_another_digest_and_no_values_none(algorithm: str) -> None:
    first, second = (digests(Key(bytes([n]) * 32), [b"Asha"], algorithm) for n in (1, 2))  # type: ignore[arg-type]
    assert (first != second).any()
    assert digests(Key.new(), [], algorithm).shape == (0, 16)  # type: ignore[arg-type]
