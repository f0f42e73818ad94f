"""Formats: what is written is read back, is valid by an independent check, and is in no range that is given out."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from stdnum import luhn, verhoeff
from stdnum.in_ import aadhaar, pan, vid
from tests.support.work import calls

from shoal.discover.recognisers import default_recognisers
from shoal.pseudonyms import NarrowFormat, WideFormat, pseudonym_formats
from shoal.pseudonyms.base32_alphabet import ALPHABET
from shoal.pseudonyms.formats.aadhaar import Aadhaar, Vid
from shoal.pseudonyms.formats.base32 import Base32
from shoal.pseudonyms.formats.card import Card
from shoal.pseudonyms.formats.email import Email
from shoal.pseudonyms.formats.hexadecimal import Hexadecimal
from shoal.pseudonyms.formats.integer import Integer
from shoal.pseudonyms.formats.name import Name, names_of
from shoal.pseudonyms.formats.nric import Fin, Nric
from shoal.pseudonyms.formats.pan import Pan
from shoal.pseudonyms.formats.phone import Phone

pytestmark = pytest.mark.requirement("T-06")

WIDE = (Hexadecimal(), Base32(), Email(), Email(domain="clinic.example"))
NARROW = (
    Integer(),
    Integer(digits=1),
    Integer(digits=6),
    Nric(),
    Nric(prefix="S"),
    *(Fin(prefix=letter, may_be_issued=True) for letter in ("F", "G", "M")),
    Aadhaar(),
    Vid(),
    Pan(),
    Card(),
    *(Phone(country=country) for country in ("none", "GB", "US", "AU")),
    Name(),
    Name(locale="ta_IN"),
)
MILLION = 1_000_000
PROPORTION = 0.6180339887498949


def named(form):
    return f"{form.key} {form.model_dump(exclude_defaults=True) or ''}"


def spread(form: NarrowFormat, many: int = 20_000) -> np.ndarray:
    """Numbers all over the format, with both ends."""
    inner = (np.arange(many) * PROPORTION % 1 * form.size).astype(np.int64)
    return np.unique(np.concatenate(([0, form.size - 1], inner)))


def written(form: NarrowFormat) -> list[str]:
    return form.write(spread(form)).to_list()


def test_each_kind_of_format_is_tried_here():
    assert {type(form) for form in (*WIDE, *NARROW)} == {kind for _, kind in pseudonym_formats}


blocks = st.lists(st.binary(min_size=16, max_size=16), max_size=20)


@pytest.mark.parametrize("form", WIDE, ids=named)
@settings(max_examples=30)
@given(blocks=blocks)
def test_a_wide_format_reads_what_it_writes(form: WideFormat, blocks):
    given = np.frombuffer(b"".join(blocks), np.uint8).reshape(-1, 16)
    values = form.write(given)
    read, fits = form.read(values)
    assert fits.all()
    assert (read == given).all()
    assert values.n_unique() == len(set(blocks))


@pytest.mark.parametrize("form", NARROW, ids=named)
@settings(max_examples=30)
@given(shares=st.lists(st.floats(0, 1, exclude_max=True), max_size=20))
def test_a_narrow_format_reads_what_it_writes(form: NarrowFormat, shares):
    numbers = np.array([min(int(share * form.size), form.size - 1) for share in shares], dtype=np.int64)
    values = form.write(numbers)
    assert values.dtype == pl.String()
    assert form.read(values).tolist() == numbers.tolist()
    assert values.n_unique() == len(set(numbers.tolist()))


@pytest.mark.parametrize("form", (*WIDE, *NARROW), ids=named)
@settings(max_examples=30)
@given(texts=st.lists(st.none() | st.text(max_size=30), max_size=10))
def test_other_texts_are_read_as_none_of_the_format(form, texts):
    values = pl.Series(texts, dtype=pl.String)
    if isinstance(form, WideFormat):
        read, fits = form.read(values)
        again = form.write(read).str.to_uppercase()
        assert all(
            one == str(text).upper().replace("-", "") for one, text, fit in zip(again, texts, fits, strict=True) if fit
        )
    else:
        numbers = form.read(values)
        there = numbers >= 0
        assert form.write(numbers[there]).to_list() == [
            text for text, is_one in zip(texts, there, strict=True) if is_one
        ]


@pytest.mark.parametrize("form", [form for form in NARROW if form.distinct], ids=named)
@pytest.mark.parametrize("spoil", (lambda text: text[:-1], lambda text: text + "0", lambda text: " " + text))
def test_a_spoilt_value_is_none(form: NarrowFormat, spoil):
    values = form.write(spread(form, 100))
    assert (form.read(pl.Series([spoil(value) for value in values])) == -1).all()


@pytest.mark.parametrize("form", (Nric(), Fin(may_be_issued=True), Aadhaar(), Vid(), Card()), ids=named)
def test_a_wrong_check_character_is_noticed(form: NarrowFormat):
    values = form.write(spread(form, 50))
    wrong = [value[:-1] + chr(ord(value[-1]) + 1) for value in values]
    assert (form.read(pl.Series(wrong)) == -1).all()


@pytest.mark.parametrize("form", NARROW, ids=named)
def test_an_empty_column(form: NarrowFormat):
    assert form.write(np.empty(0, dtype=np.int64)).to_list() == []
    assert form.read(pl.Series([], dtype=pl.String)).tolist() == []


@pytest.mark.parametrize("form", (Integer(digits=3), Phone(country="GB"), Integer(digits=1)), ids=named)
def test_a_small_format_has_each_value_once(form: NarrowFormat):
    assert form.write(np.arange(form.size)).n_unique() == form.size


@pytest.mark.parametrize("form", (*WIDE, *NARROW), ids=named)
def test_a_million_values_are_written_at_once(form):
    """Whole arrays: a million values take no more calls than a thousand."""

    def written(count: int) -> pl.Series:
        if isinstance(form, WideFormat):
            return form.write(np.arange(2 * count, dtype=np.uint64).view(np.uint8).reshape(-1, 16))
        return form.write(np.arange(count) % form.size)

    assert written(MILLION).n_unique() == (MILLION if isinstance(form, WideFormat) else min(form.size, MILLION))
    assert calls(partial(written, MILLION)) <= calls(partial(written, 1_000))


class TestNobodyHasThem:
    def test_aadhaar_and_vid_pass_the_check_digit_and_begin_as_none_that_is_given_out(self):
        for form, official, digits in ((Aadhaar(), aadhaar, 12), (Vid(), vid, 16)):
            values = written(form)
            assert all(verhoeff.is_valid(value) and len(value) == digits for value in values)
            assert {value[0] for value in values} == {"0", "1"}
            assert not any(official.is_valid(value) for value in values)

    def test_cards_pass_luhn_and_have_no_issuer(self):
        values = written(Card())
        assert all(luhn.is_valid(value) and re.fullmatch("9999[0-9]{12}", value) for value in values)

    def test_nric_numbers_have_the_right_letter_and_are_of_people_not_yet_born(self):
        recogniser = next(one for one in default_recognisers() if one.key == "nric")
        for form, years in ((Nric(), range(50, 100)), (Nric(prefix="S"), range(40, 60))):
            values = form.write(spread(form))
            assert recogniser.count(values) == len(values)
            assert set(values.str.slice(1, 2).cast(int)) == set(years)
            assert set(values.str.head(1)) == {form.prefix}

    def test_fins_have_the_right_letter_and_have_to_be_accepted(self):
        recogniser = next(one for one in default_recognisers() if one.key == "nric")
        values = Fin(prefix="G", may_be_issued=True).write(np.arange(0, 10_000_000, 997))
        assert recogniser.count(values) == len(values)
        with pytest.raises(ValidationError, match="may_be_issued: true"):
            Fin()

    def test_pans_have_the_form_and_a_kind_of_holder_that_is_not_used(self):
        values = written(Pan())
        assert all(re.fullmatch("[A-Z]{3}X[A-Z][0-9]{4}[A-Z]", value) for value in values)
        assert not any(pan.is_valid(value) for value in values)
        assert all(pan.is_valid(value[:3] + "P" + value[4:]) for value in values)

    @pytest.mark.parametrize(
        ("country", "pattern"),
        [
            ("none", r"\+999[0-9]{10}"),
            ("GB", r"\+447700900[0-9]{3}"),
            ("US", r"\+1[2-9][0-8][0-9]55501[0-9]{2}"),
            ("AU", r"\+61[2378](5550|7010)[0-9]{4}"),
        ],
    )
    def test_phones_are_in_the_ranges_that_are_kept_free(self, country, pattern):
        form = Phone(country=country)
        values = form.write(np.arange(min(form.size, 100_000)))
        assert values.str.contains(f"^{pattern}$").all()
        assert values.n_unique() == len(values)
        assert not values.str.contains(r"^\+1[2-9]11").any()

    @pytest.mark.parametrize("country", ["IN", "SG"])
    def test_countries_without_such_a_range_are_refused(self, country):
        with pytest.raises(ValidationError, match="no public range"):
            Phone(country=country)

    @pytest.mark.parametrize("domain", ["example.org", "example.com", "a.example.net", "clinic.test", "x.y.invalid"])
    def test_mail_goes_to_reserved_domains(self, domain):
        (address,) = Email(domain=domain).write(np.zeros((1, 16), np.uint8))
        assert address == f"{'0' * 26}@{domain}"

    @pytest.mark.parametrize("domain", ["gmail.com", "notexample.org", "example.org.in", "Example.org", "", "a b.test"])
    def test_mail_to_anywhere_else_is_refused(self, domain):
        with pytest.raises(ValidationError):
            Email(domain=domain)


def test_base_32_has_no_look_alikes_and_forgives_them():
    assert not set("ILOU") & set(ALPHABET)
    block = np.frombuffer(bytes.fromhex("000102030405060708090a0b0c0d0e0f"), np.uint8)[None]
    (value,) = Base32().write(block)
    typed = value.lower().replace("0", "o").replace("1", "l")
    read, fits = Base32().read(pl.Series([value, typed, f"{typed[:13]}-{typed[13:]}", "8" + value[1:], None]))
    assert fits.tolist() == [True, True, True, False, False]
    assert (read[:3] == block).all()


def test_whole_numbers_never_begin_with_zero():
    values = Integer(digits=6).write(spread(Integer(digits=6)))
    assert values.str.contains("^[1-9][0-9]{5}$").all()
    assert Integer(digits=6).read(pl.Series(["000123", "100000", "+123456", "1e5"])).tolist() == [-1, 0, -1, -1]


@pytest.mark.parametrize("digits", [0, 19])
def test_so_many_digits_are_refused(digits):
    with pytest.raises(ValidationError):
        Integer(digits=digits)


def test_names_are_those_of_the_locale_and_are_not_one_for_each():
    first, last = names_of("hi_IN")
    form = Name(locale="hi_IN")
    one, other = form.write(np.array([form.size - 1])).item().split(" ")
    assert (one, other) == (first[-1], last[-1])
    assert not form.distinct
    assert form.size == len(first) * len(last)


def test_a_locale_that_is_not_there_is_named_with_the_nearest():
    with pytest.raises(ValidationError, match="did you mean 'en_"):
        Name(locale="en_SG")


def test_unknown_parameters_are_refused():
    with pytest.raises(ValidationError, match="digit"):
        Integer(digit=6)  # type: ignore[call-arg]


@pytest.mark.parametrize("form", [form for form in (*WIDE, *NARROW) if form.characters], ids=named)
def test_only_the_stated_characters_occur(form):
    if isinstance(form, WideFormat):
        values = form.write(np.arange(2048, dtype=np.uint64).view(np.uint8).reshape(-1, 16)[:, ::-1])
    else:
        values = form.write(spread(form, 2000))
    assert set("".join(values)) <= form.characters
