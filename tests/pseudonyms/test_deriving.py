"""Derived pseudonyms: a keyed digest in a format, its declared uniqueness, how often narrow ones meet."""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.attack.codes.dictionary import dictionary
from shoal.attack.codes.identifier_formats import nric
from shoal.crypto import Key
from shoal.pseudonyms import Uniqueness
from shoal.pseudonyms.derivation import derive, derived_uniqueness, remainders, stays_within
from shoal.pseudonyms.formats.base32 import Base32
from shoal.pseudonyms.formats.card import Card
from shoal.pseudonyms.formats.hexadecimal import Hexadecimal
from shoal.pseudonyms.formats.integer import Integer
from shoal.pseudonyms.formats.name import Name
from shoal.pseudonyms.formats.nric import Nric

pytestmark = pytest.mark.requirement("T-06")

MATERIAL = bytes(range(32))
KEY, OTHER = Key(MATERIAL), Key(bytes(32))


@given(
    blocks=st.lists(st.binary(min_size=16, max_size=16), max_size=20),
    size=st.integers(1, (1 << 63) - 1),
)
@example(blocks=[b"\xff" * 16], size=(1 << 63) - 1)
def test_remainders_are_those_of_whole_numbers(blocks, size):
    given = np.frombuffer(b"".join(blocks), np.uint8).reshape(-1, 16)
    assert remainders(given, size).tolist() == [int.from_bytes(block, "big") % size for block in blocks]


@given(value=st.text())
def test_a_wide_pseudonym_is_the_keyed_digest_itself(value):
    digest = hashlib.blake2b(value.encode(), key=MATERIAL, digest_size=16).hexdigest()
    assert derive(KEY, Hexadecimal(), pl.Series([value])).item() == digest
    mac = hmac.digest(MATERIAL, value.encode(), "sha256")[:16].hex()
    assert derive(KEY, Hexadecimal(), pl.Series([value]), "hmac-sha256").item() == mac


@given(value=st.text())
def test_a_narrow_pseudonym_is_the_digest_modulo_the_size(value):
    digest = int.from_bytes(hashlib.blake2b(value.encode(), key=MATERIAL, digest_size=16).digest(), "big")
    expected = Nric().write(np.array([digest % Nric().size])).item()
    if Nric().read(pl.Series([value]))[0] < 0:
        assert derive(KEY, Nric(), pl.Series([value])).item() == expected


def test_uniqueness_is_declared():
    assert {derived_uniqueness(form) for form in (Hexadecimal(), Base32())} == {Uniqueness.UNIQUE}
    assert {derived_uniqueness(form) for form in (Card(), Integer(), Name())} == {Uniqueness.MAY_COLLIDE}


def test_a_million_wide_ones_are_all_different():
    values = pl.Series(np.arange(1_000_000)).cast(pl.String)
    assert derive(KEY, Base32(), values).n_unique() == len(values)


def test_narrow_ones_meet_as_often_as_birthdays():
    """n values in m places leave n − m(1 − (1 − 1/m)^n) without a place of their own: 5 437 here, ± 4 · 71."""
    n, m = 100_000, 900_000
    pseudonyms = derive(KEY, Integer(digits=6), pl.Series([f"person {number}" for number in range(n)]))
    expected = n - m * (1 - (1 - 1 / m) ** n)
    assert n - pseudonyms.n_unique() == pytest.approx(expected, abs=4 * expected**0.5)


@given(numbers=st.sets(st.integers(100, 999), max_size=50))
def test_values_of_the_format_are_permuted_within_it(numbers):
    form, values = Integer(digits=3), pl.Series([str(number) for number in numbers], dtype=pl.String)
    assert stays_within(form, values)
    assert derive(KEY, form, values).n_unique() == len(numbers)


def test_a_stray_value_changes_no_other_pseudonym():
    form, values = Integer(digits=6), pl.Series(["123456", "654321"])
    strays = pl.Series(["123456", "unknown", "654321"])
    assert not stays_within(form, strays)
    assert derive(KEY, form, strays).to_list()[::2] == derive(KEY, form, values).to_list()


def test_another_key_gives_other_pseudonyms():
    values = pl.Series([str(number) for number in range(1000)])
    assert not set(derive(KEY, Base32(), values)) & set(derive(OTHER, Base32(), values))


@pytest.mark.parametrize("form", (Hexadecimal(), Card(), Name()), ids=lambda form: form.key)
def test_an_empty_column(form):
    assert derive(KEY, form, pl.Series([], dtype=pl.String)).to_list() == []


@pytest.mark.requirement("R-05")
def test_a_dictionary_breaks_a_bare_hash_and_finds_nothing_without_the_key():
    """The whole range that the numbers come from is tried against both."""
    space = nric("S", 8_500_000, 8_519_999)
    people = pl.Series("nric", [text.decode() for text in space.write(np.arange(0, 20_000, 40)).tolist()])
    bare = pl.Series("nric", [hashlib.md5(text.encode(), usedforsecurity=False).hexdigest() for text in people])
    keyed = derive(KEY, Hexadecimal(), people).alias("nric")
    broken, held = (dictionary(column, [space]) for column in (bare, keyed))
    assert (broken.success.right, broken.success.trials) == (500, 500)
    assert (held.success.right, held.success.trials) == (0, 500)
    assert held.details["tried"] == 1  # type: ignore[index]
