"""Issued pseudonyms: unique by construction, read back with the key alone, refused where a format is used up."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.crypto import Key
from shoal.errors import DataError, InputError
from shoal.pseudonyms import Uniqueness
from shoal.pseudonyms.formats.base32 import Base32
from shoal.pseudonyms.formats.card import Card
from shoal.pseudonyms.formats.email import Email
from shoal.pseudonyms.formats.hexadecimal import Hexadecimal
from shoal.pseudonyms.formats.integer import Integer
from shoal.pseudonyms.formats.name import Name
from shoal.pseudonyms.formats.nric import Nric
from shoal.pseudonyms.formats.phone import Phone
from shoal.pseudonyms.issuance import issued_uniqueness, pseudonyms_of, serials_of
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness

pytestmark = pytest.mark.requirement("T-05", "V-04")

KEY, OTHER = Key(bytes(32)), Key(bytes([1] * 32))
FORMS = (Base32(), Hexadecimal(), Email(), Card(), Nric(), Integer(), Integer(digits=4), Phone(country="GB"))


def named(form):
    return form.key


def run(seed: int = 5) -> RunSecrets:
    return RunSecrets(Randomness(seed))


@pytest.mark.parametrize("form", FORMS, ids=named)
@settings(max_examples=20)
@given(shares=st.lists(st.floats(0, 1, exclude_max=True), max_size=30))
def test_the_serial_comes_back(form, shares):
    serials = np.array([int(share * min(form.size, 1 << 62)) for share in shares], dtype=np.int64)
    assert serials_of(KEY, form, pseudonyms_of(KEY, form, serials)).tolist() == serials.tolist()


@pytest.mark.parametrize("form", [form for form in FORMS if form.size >= 1_000_000], ids=named)
def test_a_million_are_all_different(form):
    assert pseudonyms_of(KEY, form, np.arange(1_000_000)).n_unique() == 1_000_000


def test_a_format_is_used_up_to_its_last_value_and_not_beyond():
    form = Integer(digits=3)
    assert pseudonyms_of(KEY, form, np.arange(900)).n_unique() == 900
    with pytest.raises(DataError, match="only 900 values"):
        pseudonyms_of(KEY, form, np.array([900]))


def test_names_begin_again_and_lead_nowhere():
    form = Name()
    serials = np.array([3, 3 + form.size])
    names = pseudonyms_of(KEY, form, serials)
    assert names.n_unique() == 1
    assert serials_of(KEY, form, names).tolist() == [-1, -1]
    assert issued_uniqueness(form) is Uniqueness.MAY_COLLIDE


@pytest.mark.parametrize("form", (Base32(), Hexadecimal(), Email()), ids=named)
def test_a_made_up_wide_pseudonym_is_a_forgery(form):
    forged = form.write(np.random.default_rng(2).integers(0, 256, (5_000, 16), dtype=np.uint8))
    assert (serials_of(KEY, form, forged) == -1).all()
    issued = pseudonyms_of(KEY, form, np.arange(5_000))
    assert (serials_of(OTHER, form, issued) == -1).all()


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_what_is_not_of_the_format_has_no_serial(form):
    assert serials_of(KEY, form, pl.Series(["", None, "Asha", "0" * 50], dtype=pl.String)).tolist() == [-1] * 4


def test_other_keys_and_other_formats_have_nothing_in_common():
    """Two six-digit pseudonyms of one serial agree by chance once in 900 000."""
    serials = np.arange(10_000)
    one, other = (pseudonyms_of(key, Integer(digits=6), serials) for key in (KEY, OTHER))
    assert (one == other).sum() < 5
    plain = pseudonyms_of(KEY, Hexadecimal(), serials)
    blocks, _ = Base32().read(pseudonyms_of(KEY, Base32(), serials))
    assert not set(plain) & set(Hexadecimal().write(blocks))


def test_pseudonyms_are_in_no_order():
    numbers = pseudonyms_of(KEY, Integer(digits=9), np.arange(10_000)).cast(pl.Int64).to_numpy()
    assert abs(np.corrcoef(np.arange(10_000), numbers)[0, 1]) < 0.05


class TestForThisRun:
    def test_a_value_keeps_its_pseudonym_within_the_run_and_the_domain(self):
        secrets = run()
        first = secrets.issue("patients", pl.Series(["a", "b"]), Base32()).to_list()
        again = secrets.issue("patients", pl.Series(["c", "b", "a"]), Base32()).to_list()
        assert again[1:] == first[::-1]
        assert again[0] not in first

    def test_domains_and_runs_have_nothing_in_common(self):
        values = pl.Series([str(number) for number in range(1000)])
        one = set(run().issue("a", values, Base32()))
        assert not one & set(run().issue("b", values, Base32()))
        assert not one & set(run(6).issue("a", values, Base32()))
        assert not one & set(RunSecrets(Randomness()).issue("a", values, Base32()))

    def test_the_order_of_the_data_changes_nothing(self):
        values = pl.Series([str(number) for number in range(1000)])
        forwards = dict(zip(values, run().issue("a", values, Card()), strict=True))
        backwards = dict(zip(values.reverse(), run().issue("a", values.reverse(), Card()), strict=True))
        assert forwards == backwards

    def test_serials_say_nothing_of_the_order_of_values(self):
        secrets, values = run(), pl.Series([f"{number:05}" for number in range(5000)])
        serials = serials_of(secrets.key("a", "issue"), Base32(), secrets.issue("a", values, Base32()))
        assert sorted(serials) == list(range(5000))
        assert abs(np.corrcoef(np.arange(5000), serials)[0, 1]) < 0.05

    @settings(max_examples=25)
    @given(calls=st.lists(st.lists(st.text(max_size=3), unique=True, max_size=20), max_size=6))
    def test_calls_agree_with_a_dictionary_and_no_pseudonym_is_used_twice(self, calls):
        secrets, known = run(), dict[str, str]()
        for values in calls:
            given = secrets.issue("a", pl.Series(values, dtype=pl.String), Integer(digits=3)).to_list()
            for value, pseudonym in zip(values, given, strict=True):
                assert known.setdefault(value, pseudonym) == pseudonym
        assert len(set(known.values())) == len(known)

    def test_nothing_can_be_kept(self):
        with pytest.raises(InputError, match="without a vault"):
            run().remember("a", pl.Series(["x"]), pl.Series(["y"]))
