"""Homomorphic encryption: sums without the key are right, exact, and can be read by nobody else."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.crypto import Key
from shoal.crypto.homomorphic import LARGEST, PLAIN_MODULUS, SLOTS, PublicKey, SecretKey, library
from shoal.errors import DataError, InputError, IntegrityError

pytest.importorskip("tenseal", reason="homomorphic encryption needs the extra `crypto`")
pytestmark = pytest.mark.requirement("T-22")


@pytest.fixture(scope="module")
def keys() -> tuple[SecretKey, PublicKey]:
    return SecretKey.new()


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(-(10**15), 10**15), min_size=1, max_size=40), min_size=1, max_size=4), st.data())
def test_sums_of_picked_numbers_are_exact(
    keys: tuple[SecretKey, PublicKey], chunks: list[list[int]], data: st.DataObject
) -> None:
    secret, public = keys
    public = PublicKey(public.material)
    total, expected = public.total(), 0
    for chunk in chunks:
        picked = data.draw(st.lists(st.booleans(), min_size=len(chunk), max_size=len(chunk)))
        total.add(public.encrypt(np.array(chunk)), np.array(picked))
        total.add(public.encrypt(np.array(chunk)))
        expected += sum(chunk) + sum(number for number, taken in zip(chunk, picked, strict=True) if taken)
    ciphertext = total.ciphertext()
    assert ciphertext is not None
    assert sum(secret.decrypt(ciphertext).tolist()) == expected


def test_a_sum_of_many_picked_ciphertexts_is_exact(keys: tuple[SecretKey, PublicKey]) -> None:
    """Noise grows with every addition; four million numbers are nowhere near its limit."""
    secret, public = keys
    numbers = np.arange(SLOTS) * 10**9 - 4 * 10**12
    ciphertext, picked = public.encrypt(numbers), np.arange(SLOTS) % 3 == 0
    total = public.total()
    for _ in range(500):
        total.add(ciphertext, picked)
    added = total.ciphertext()
    assert added is not None
    assert (secret.decrypt(added) == np.where(picked, numbers * 500, 0)).all()


def test_equal_numbers_look_different(keys: tuple[SecretKey, PublicKey]) -> None:
    _, public = keys
    one, other = public.encrypt(np.array([7])), public.encrypt(np.array([7]))
    assert one != other
    assert abs(len(one) - len(other)) < 0.01 * len(one)


def test_without_the_secret_key_nothing_is_read(keys: tuple[SecretKey, PublicKey]) -> None:
    secret, public = keys
    assert secret.material not in public.material
    with pytest.raises(ValueError, match="secret_key"):
        library().bfv_vector_from(public._context, public.encrypt(np.array([7]))).decrypt()
    stranger, _ = SecretKey.new()
    read = stranger.decrypt(public.encrypt(np.zeros(SLOTS, dtype=np.int64)))
    assert (read != 0).mean() > 0.99


def test_the_parameters_are_those_that_are_claimed() -> None:
    """128 bits of security: degree 8192 with at most 218 bits (Homomorphic Encryption Standard 2018, table 1)."""
    assert all(PLAIN_MODULUS % divisor for divisor in (3, 5, 7, 11, 13))
    assert pow(2, PLAIN_MODULUS - 1, PLAIN_MODULUS) == 1
    assert PLAIN_MODULUS % (2 * SLOTS) == 1
    tenseal = library()
    with pytest.raises(ValueError, match="parameters"):  # the library itself refuses more than 218 bits
        tenseal.context(
            tenseal.SCHEME_TYPE.BFV,
            poly_modulus_degree=SLOTS,
            plain_modulus=PLAIN_MODULUS,
            coeff_mod_bit_sizes=[55, 55, 55, 55],
        )


def test_a_secret_key_opens_only_where_it_belongs(keys: tuple[SecretKey, PublicKey]) -> None:
    secret, public = keys
    key = Key(bytes(range(32)))
    sealed = secret.sealed(key, "set column")
    assert secret.material[:64] not in sealed
    ciphertext = public.encrypt(np.array([5, -6]))
    assert SecretKey.unsealed(key, sealed, "set column").decrypt(ciphertext)[:3].tolist() == [5, -6, 0]
    for wrong, bound in ((Key(bytes(32)), "set column"), (key, "another set")):
        with pytest.raises(IntegrityError):
            SecretKey.unsealed(wrong, sealed, bound)


@pytest.mark.parametrize("spoil", [lambda _: b"", lambda _: b"abc", lambda text: text[:-10], lambda text: text[:900]])
def test_what_is_no_ciphertext_is_refused(keys: tuple[SecretKey, PublicKey], spoil: object) -> None:
    secret, public = keys
    assert callable(spoil)
    spoilt = spoil(public.encrypt(np.array([1])))
    with pytest.raises(IntegrityError):
        public.total().add(spoilt)
    with pytest.raises(IntegrityError):
        secret.decrypt(spoilt)
    with pytest.raises(IntegrityError):
        PublicKey(spoilt).encrypt(np.array([1]))


def test_edges(keys: tuple[SecretKey, PublicKey]) -> None:
    secret, public = keys
    assert not secret.decrypt(public.encrypt(np.array([], dtype=np.int64))).any()
    assert secret.decrypt(public.encrypt(np.array([LARGEST, -LARGEST])))[:2].tolist() == [LARGEST, -LARGEST]
    with pytest.raises(DataError, match="too large"):
        public.encrypt(np.array([LARGEST + 1]))
    empty = public.total()
    empty.add(public.encrypt(np.array([5])), np.array([False]))
    assert empty.ciphertext() is None


def test_keys_travel_and_show_nothing(keys: tuple[SecretKey, PublicKey]) -> None:
    secret, public = keys
    public.encrypt(np.array([1]))
    assert pickle.loads(pickle.dumps(public)) == public  # noqa: S301  # our own bytes
    assert repr(secret) == "SecretKey()"


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tenseal", None)
    with pytest.raises(InputError, match=r'pip install "shoal\[crypto\]"'):
        SecretKey.new()
