"""Secret permutations: every number once, back again, and the same as FF1 by another hand."""

from __future__ import annotations

import numpy as np
import pytest
from ffx import FF1
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.crypto import Key
from shoal.crypto.permutation import LARGEST, SMALLEST_FF1, Permutation, block_permutation, block_serials

pytestmark = pytest.mark.requirement("T-05")

KEYS = st.binary(min_size=32, max_size=32).map(Key)


@given(key=KEYS, size=st.integers(1, 3000))
@settings(max_examples=40)
def test_small_sets_are_shuffled_whole(key: Key, size: int) -> None:
    secret = Permutation(key, size)
    images = secret.forward(np.arange(size))
    assert sorted(images.tolist()) == list(range(size))
    assert (secret.backward(images) == np.arange(size)).all()
    assert (Permutation(key, size).forward(np.arange(size)) == images).all()


@pytest.mark.parametrize("size", [SMALLEST_FF1 - 1, SMALLEST_FF1, (1 << 20) + 1])
def test_a_million_numbers_are_all_different(size: int) -> None:
    secret = Permutation(Key(bytes(32)), size)
    images = secret.forward(np.arange(size))
    assert (np.bincount(images, minlength=size) == 1).all()
    assert (secret.backward(images) == np.arange(size)).all()


@given(key=KEYS, size=st.integers(SMALLEST_FF1, LARGEST), data=st.data())
@settings(max_examples=40)
def test_large_sets_are_permuted_by_ff1_with_cycle_walking(key: Key, size: int, data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=5))
    secret = Permutation(key, size)
    images = secret.forward(np.array(numbers, dtype=np.int64))
    other = FF1(key.material)
    assert images.tolist() == [other.encrypt_int(number, domain=size) for number in numbers]
    assert secret.backward(images).tolist() == numbers


def test_another_key_or_size_another_order() -> None:
    numbers = np.arange(1000)
    orders = [
        Permutation(Key(bytes([key]) * 32), size).forward(numbers).tolist() for key in (1, 2) for size in (1000, 1001)
    ]
    assert len({tuple(order) for order in orders}) == 4


@pytest.mark.parametrize("size", [10, SMALLEST_FF1])
@pytest.mark.parametrize("number", [-1, 1])
def test_numbers_outside_are_refused(size: int, number: int) -> None:
    beyond = np.array([number if number < 0 else size])
    for way in (Permutation(Key(bytes(32)), size).forward, Permutation(Key(bytes(32)), size).backward):
        with pytest.raises(ValueError, match="outside the permutation"):
            way(beyond)


@pytest.mark.parametrize("size", [0, LARGEST + 1])
def test_sizes_outside_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="from 1 to"):
        Permutation(Key(bytes(32)), size)


@pytest.mark.parametrize("size", [10, SMALLEST_FF1])
def test_no_numbers_no_images(size: int) -> None:
    assert len(Permutation(Key(bytes(32)), size).forward(np.empty(0, dtype=np.int64))) == 0


def test_block_is_aes_of_the_serial_number() -> None:
    """FIPS 197, appendix C.3, read backwards: its plaintext is no serial number, so it is no block of ours."""
    key = Key(bytes(range(32)))
    block = np.frombuffer(bytes.fromhex("8ea2b7ca516745bfeafc49904b496089"), dtype=np.uint8).reshape(1, 16)
    assert block_serials(key, block).tolist() == [-1]
    # NIST CAVP, AES-256 ECB, variable key with a plaintext of zeros, count 0: serial number 0 under that key.
    known = block_permutation(Key(bytes([0x80, *bytes(31)])), np.array([0]))
    assert known.tobytes().hex() == "e35a6dcb19b201a01ebcfa8aa22b5759"


@given(key=KEYS, serials=st.lists(st.integers(0, LARGEST - 1), unique=True, max_size=20))
@settings(max_examples=60)
def test_blocks_are_different_and_lead_back(key: Key, serials: list[int]) -> None:
    blocks = block_permutation(key, np.array(serials, dtype=np.int64))
    assert blocks.shape == (len(serials), 16)
    assert len({block.tobytes() for block in blocks}) == len(serials)
    assert block_serials(key, blocks).tolist() == serials
    assert (block_serials(key.derive("another"), blocks) == -1).all()
