"""FF1: NIST's samples, two other implementations, round trips, and what is refused."""

from __future__ import annotations

import string

import polars as pl
import pytest
from fastfpe import ff1
from ffx import FF1
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.crypto.hazmat.ff1 import SMALLEST_DOMAIN, Ff1
from shoal.errors import DataError, InputError

pytestmark = pytest.mark.requirement("T-21")

KEY_256 = "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94"
KEY_192, KEY_128 = KEY_256[:48], KEY_256[:32]
DIGITS, RADIX_36 = string.digits, string.digits + string.ascii_lowercase
TEN, NINETEEN = "0123456789", "0123456789abcdefghi"
TWEAK_10, TWEAK_36 = "39383736353433323130", "3737373770717273373737"
SAMPLES = [
    (KEY_128, DIGITS, "", TEN, "2433477484"),
    (KEY_128, DIGITS, TWEAK_10, TEN, "6124200773"),
    (KEY_128, RADIX_36, TWEAK_36, NINETEEN, "a9tv40mll9kdu509eum"),
    (KEY_192, DIGITS, "", TEN, "2830668132"),
    (KEY_192, DIGITS, TWEAK_10, TEN, "2496655549"),
    (KEY_192, RADIX_36, TWEAK_36, NINETEEN, "xbj3kv35jrawxv32ysr"),
    (KEY_256, DIGITS, "", TEN, "6657667009"),
    (KEY_256, DIGITS, TWEAK_10, TEN, "1001623463"),
    (KEY_256, RADIX_36, TWEAK_36, NINETEEN, "xs8a0azh2avyalyzuwd"),
]
ALPHABETS = st.sampled_from(
    [
        DIGITS,
        "01",
        string.ascii_letters,
        RADIX_36,
        "अआइईउऊएऐओऔ",
        "".join(map(chr, range(0x4E00, 0x4E00 + 256))),
        "]^-\\[a",
        "\x00\x7fab",
    ]
)
KEYS = st.sampled_from([16, 24, 32]).flatmap(lambda size: st.binary(min_size=size, max_size=size))


def texts(values: list[str]) -> pl.Series:
    return pl.Series("number", values, dtype=pl.String)


@pytest.mark.parametrize(("key", "alphabet", "tweak", "plain", "encrypted"), SAMPLES)
def test_nist_samples(key: str, alphabet: str, tweak: str, plain: str, encrypted: str) -> None:
    cipher = Ff1(bytes.fromhex(key), alphabet, bytes.fromhex(tweak))
    assert cipher.encrypt(texts([plain])).to_list() == [encrypted]
    assert cipher.decrypt(texts([encrypted])).to_list() == [plain]


@given(key=KEYS, alphabet=ALPHABETS, tweak=st.binary(max_size=40), data=st.data())
@settings(max_examples=120)
def test_two_other_implementations_agree(key: bytes, alphabet: str, tweak: bytes, data: st.DataObject) -> None:
    cipher = Ff1(key, alphabet, tweak)
    one = st.text(alphabet, min_size=cipher.shortest, max_size=cipher.shortest + 25)
    values = data.draw(st.lists(one, max_size=8))
    encrypted = cipher.encrypt(texts(values))
    assert encrypted.name == "number"
    assert encrypted.to_list() == [ff1.encrypt(key.hex(), tweak.hex(), alphabet, value) for value in values]
    assert encrypted.to_list() == [FF1(key, alphabet=alphabet).encrypt(value, tweak=tweak) for value in values]
    assert cipher.decrypt(encrypted).to_list() == values


@given(key=KEYS, alphabet=ALPHABETS, data=st.data())
@settings(max_examples=80)
def test_other_characters_stay_and_the_rest_is_encrypted_as_if_they_were_not_there(
    key: bytes, alphabet: str, data: st.DataObject
) -> None:
    cipher = Ff1(key, alphabet)
    cores = data.draw(st.lists(st.text(alphabet, min_size=cipher.shortest, max_size=20), min_size=1, max_size=5))
    others = st.text(st.characters(codec="utf-8", exclude_characters=alphabet), max_size=2)
    spread = ["".join(one + data.draw(others) for one in core) for core in cores]
    encrypted = cipher.encrypt(texts(spread)).to_list()
    alone = cipher.encrypt(texts(cores)).to_list()
    for value, core, made in zip(spread, alone, encrypted, strict=True):
        letters = iter(core)
        assert made == "".join(next(letters) if one in alphabet else one for one in value)
    assert cipher.decrypt(texts(encrypted)).to_list() == spread


@pytest.mark.parametrize(
    ("alphabet", "shortest"), [(DIGITS, 6), ("01", 20), ("abc", 13), (RADIX_36, 4), (string.ascii_letters, 4)]
)
def test_a_domain_of_less_than_a_million_is_refused(alphabet: str, shortest: int) -> None:
    cipher = Ff1(bytes(32), alphabet)
    assert cipher.shortest == shortest
    assert len(alphabet) ** (shortest - 1) < SMALLEST_DOMAIN <= len(alphabet) ** shortest
    short = alphabet[0] * (shortest - 1)
    for refused in (cipher.encrypt, cipher.decrypt):
        with pytest.raises(DataError, match=rf"2 different value\(s\) have fewer than {shortest} characters") as told:
            refused(texts([short, alphabet[0] * shortest, short[:-1] + "~~~~~~~~~~~~~~~~~~~~~"]))
        assert short not in str(told.value)


def test_other_characters_are_refused_where_they_are_not_to_stay() -> None:
    cipher = Ff1(bytes(32), DIGITS, keeps_others=False)
    with pytest.raises(DataError, match=r"1 different value\(s\) have characters outside the alphabet"):
        cipher.encrypt(texts(["123456", "123-456"]))
    assert len(cipher.encrypt(texts(["123456"]))[0]) == 6


@pytest.mark.parametrize(("alphabet", "problem"), [("0", "from 2 to 256"), ("", "from 2"), ("0120", "twice")])
def test_alphabets_that_are_none(alphabet: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        Ff1(bytes(32), alphabet)
    with pytest.raises(InputError, match="from 2 to 256"):
        Ff1(bytes(32), "".join(map(chr, range(0x4E00, 0x4E00 + 257))))


def test_no_values() -> None:
    assert Ff1(bytes(32), DIGITS).encrypt(texts([])).to_list() == []
    assert Ff1(bytes(32), "अआइई").encrypt(texts([])).to_list() == []


def test_a_million_numbers_have_a_million_ciphertexts() -> None:
    """All numbers of six digits: the ciphertexts are those numbers in another order."""
    numbers = texts([f"{number:06d}" for number in range(1_000_000)])
    encrypted = Ff1(bytes(32), DIGITS).encrypt(numbers)
    assert encrypted.sort().equals(numbers)
    assert (encrypted == numbers).sum() < 20
