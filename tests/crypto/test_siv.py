"""AES-SIV on whole columns: the vectors of RFC 5297, and byte for byte what the library makes."""

from __future__ import annotations

import base64

import numpy as np
import polars as pl
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.crypto import Key
from shoal.crypto.hazmat.deterministic import FEW_VALUES, LONG_BYTES, Siv, decrypt_column, encrypt_column
from shoal.crypto.text_encoding import TextEncoding, read, write
from shoal.errors import IntegrityError

pytestmark = pytest.mark.requirement("T-19")

KEYS = st.binary(min_size=32, max_size=32).map(Key)
RFC_5297 = [
    (
        "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        ["101112131415161718191a1b1c1d1e1f2021222324252627"],
        "112233445566778899aabbccddee",
        "85632d07c6e8f37f950acd320a2ecc9340c02b9690c4dc04daef7f6afe5c",
    ),
    (
        "7f7e7d7c7b7a79787776757473727170404142434445464748494a4b4c4d4e4f",
        [
            "00112233445566778899aabbccddeeffdeaddadadeaddadaffeeddccbbaa99887766554433221100",
            "102030405060708090a0",
            "09f911029d74e35bd84156c5635688c0",
        ],
        "7468697320697320736f6d6520706c61696e7465787420746f20656e6372797074207573696e67205349562d414553",
        "7bdb6e3b432667eb06f4d14bff2fbd0fcb900f2fddbe404326601965c889bf17"
        "dba77ceb094fa663b7a3f748ba8af829ea64ad544a272e9c485b62a3fd5c0d",
    ),
]


def rows(values: list[bytes]) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.frombuffer(b"".join(values), dtype=np.uint8).reshape(len(values), len(values[0]))


@pytest.mark.parametrize(("key", "bound_to", "plain", "sealed"), RFC_5297)
def test_vectors_of_the_rfc(key: str, bound_to: list[str], plain: str, sealed: str) -> None:
    siv = Siv(bytes.fromhex(key), [bytes.fromhex(one) for one in bound_to])
    assert siv.encrypt(rows([bytes.fromhex(plain)] * 2))[1].tobytes().hex() == sealed
    assert siv.encrypt_one(bytes.fromhex(plain)).hex() == sealed
    assert siv.decrypt_one(bytes.fromhex(sealed)).hex() == plain


@pytest.mark.parametrize("key_bytes", [32, 48, 64])
@given(data=st.data())
@settings(max_examples=10)
def test_every_length_is_what_the_library_makes(key_bytes: int, data: st.DataObject) -> None:
    key = data.draw(st.binary(min_size=key_bytes, max_size=key_bytes))
    bound_to = data.draw(st.lists(st.binary(max_size=40), max_size=2))
    siv, library = Siv(key, bound_to), AESSIV(key)
    noise = data.draw(st.binary(min_size=300, max_size=300))
    for length in range(101):
        values = [noise[start : start + length] for start in (0, 7, 150)]
        assert [row.tobytes() for row in siv.encrypt(rows(values))] == [
            library.encrypt(one, bound_to) for one in values
        ]


@given(key=KEYS, texts=st.lists(st.text(max_size=40), max_size=40), often=st.sampled_from([1, FEW_VALUES]))
@settings(max_examples=60)
def test_columns_are_encrypted_value_by_value(key: Key, texts: list[str], often: int) -> None:
    """Few of a length or many, in any order: what the library makes of each alone."""
    library = AESSIV(key.expand(64, "aes-siv"))
    values = texts * often
    encrypted = encrypt_column(key, pl.Series("name", values, dtype=pl.String))
    alone = {
        text: base64.urlsafe_b64encode(library.encrypt(text.encode(), None)).decode().rstrip("=") for text in texts
    }
    assert encrypted.name == "name"
    assert encrypted.to_list() == [alone[text] for text in values]


@pytest.mark.parametrize("written", TextEncoding)
@given(key=KEYS, texts=st.lists(st.none() | st.text(max_size=60), max_size=20))
@settings(max_examples=30)
def test_round_trip(written: TextEncoding, key: Key, texts: list[str | None]) -> None:
    values = pl.Series("name", texts, dtype=pl.String)
    present = encrypt_column(key, values.drop_nulls(), written).to_list()
    encrypted = pl.Series("name", [text if text is None else present.pop(0) for text in texts], dtype=pl.String)
    assert decrypt_column(key, encrypted, written).equals(values)


def test_long_values() -> None:
    key = Key.new()
    values = pl.Series(["x" * length for length in (LONG_BYTES, LONG_BYTES + 1, 5000)] * FEW_VALUES)
    encrypted = encrypt_column(key, values)
    assert encrypted.n_unique() == 3
    assert decrypt_column(key, encrypted).equals(values)


@given(key=KEYS, text=st.text(max_size=20), place=st.integers(0), bit=st.integers(0, 7))
@settings(max_examples=60)
def test_an_altered_ciphertext_or_another_key_is_noticed(key: Key, text: str, place: int, bit: int) -> None:
    sealed = bytearray(read(encrypt_column(key, pl.Series([text]))[0], TextEncoding.BASE64URL))
    sealed[place % len(sealed)] ^= 1 << bit
    altered = write(rows([bytes(sealed)]), TextEncoding.BASE64URL)
    with pytest.raises(IntegrityError, match="altered"):
        decrypt_column(key, altered)
    with pytest.raises(IntegrityError, match="another key"):
        decrypt_column(key.derive("another"), encrypt_column(key, pl.Series([text])))


@pytest.mark.parametrize("broken", ["", "AAAA", "!!!!", "é"])
@pytest.mark.parametrize("written", TextEncoding)
def test_what_is_no_ciphertext_is_not_decrypted_nor_repeated(broken: str, written: TextEncoding) -> None:
    with pytest.raises(IntegrityError) as told:
        decrypt_column(Key.new(), pl.Series([broken]), written)
    assert not broken or broken not in str(told.value)


@given(values=st.integers(0, 40).flatmap(lambda n: st.lists(st.binary(min_size=n, max_size=n), min_size=1, max_size=5)))
@settings(max_examples=60)
def test_writing_is_that_of_the_standard_library(values: list[bytes]) -> None:
    wide = rows(values)
    assert write(wide, TextEncoding.HEX).to_list() == [value.hex() for value in values]
    base64url = [base64.urlsafe_b64encode(value).decode().rstrip("=") for value in values]
    assert write(wide, TextEncoding.BASE64URL).to_list() == base64url
    base32 = [base64.b32encode(value).decode().rstrip("=").lower() for value in values]
    assert write(wide, TextEncoding.BASE32).to_list() == base32
    assert [read(text, TextEncoding.BASE32) for text in base32] == values


def test_a_million_values_have_a_million_ciphertexts() -> None:
    values = pl.Series([f"PAT{number:09d}" for number in range(1_000_000)])
    encrypted = encrypt_column(Key.new(), values)
    assert encrypted.n_unique() == 1_000_000
