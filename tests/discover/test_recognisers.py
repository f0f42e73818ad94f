"""Each kind of number is recognised by form and check digit, and told apart from what only looks like it."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import luhn, verhoeff

from shoal.discover.column_roles import recognise
from shoal.discover.recognisers import Recogniser, default_recognisers, words
from shoal.kernels.check_characters import nric_letter
from shoal.policy.model import Attribute
from shoal.schema import Column, ValueType
from shoal.schema.type_detection import detect

pytestmark = pytest.mark.requirement("D-03")


def key_of(values: list[str], name: str = "x") -> str | None:
    series = pl.Series(values, dtype=pl.String)
    column = detect(pl.LazyFrame({name: series}), [name])[name]
    found = recognise(column, series)
    return found.recogniser.type if found else None


GENUINE = {
    "aadhaar": ["2341 2341 2346", "234123412346", "0123 4567 8906"],
    "pan": ["ACUPA7085R", "aappv8261k"],
    "gstin": ["27AAPFU0939F1ZV"],
    "ifsc": ["SBIN0001234", "HDFC0ABC123"],
    "voter_id": ["WKH1186253"],
    "nric": ["S1234567D", "T1234567J", "F1234567N", "G1234567X", "M1234567K"],
    "uen": ["00192200M", "197401143C", "S16FC0121D"],
    "card": ["4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009"],
    "iban": ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"],
    "phone": ["+65 6123 4567", "+91 (0) 20 2345 6789"],
    "email": ["someone@example.org", "a.b+c@mail.example.co.in"],
    "url": ["https://example.org/a?b=c", "www.example.org"],
    "ipv4": ["192.168.0.1", "8.8.8.8"],
    "ipv6": ["2001:db8::1", "fe80::", "::ffff:192.0.2.1"],
    "mac": ["00:1A:2b:3c:4d:5e", "00-1a-2b-3c-4d-5e"],
}
FAKE = {
    "aadhaar": ["2341 2341 2347", "2341-2341", "23412341234a"],
    "pan": ["ABMXA3211G", "ACUPA0000R", "ACUPA7085"],
    "gstin": ["27AAPFU0939F1ZO"],
    "ifsc": ["SBIN1001234", "SBI00001234"],
    "voter_id": ["WKH1186263"],
    "nric": ["S1234567A", "T1234567D", "F1234567X", "G1234567N", "M1234567X", "A1234567D", "S123456D"],
    "uen": ["00192200A"],
    "card": ["4111 1111 1111 1112", "4111"],
    "iban": ["GB82 WEST 1234 5698 7654 33"],
    "phone": ["+65 6123", "+1234567890123456"],
    "email": ["someone@example", "some one@example.org", "@example.org"],
    "url": ["example", "http://"],
    "ipv4": ["256.1.1.1", "1.2.3", "1.2.3.4.5"],
    "ipv6": ["2001:db8::1::2", "12:30", "::g"],
    "mac": ["00:1A:2b:3c:4d", "00:1A:2b:3c:4d:5g"],
}


@pytest.mark.parametrize("key", GENUINE)
def test_genuine_values_are_recognised_without_a_hint(key: str) -> None:
    assert key_of(GENUINE[key]) == key


@pytest.mark.parametrize("key", FAKE)
def test_values_that_only_look_alike_are_not(key: str) -> None:
    assert not [value for value in FAKE[key] if key_of([value]) == key]


HINTED = [
    ("name", "patient_name", ["Asha Rao", "J. D'Souza", "आशा राव"]),
    ("name", "PEYAR", ["Thenmozhi Arumugam"]),
    (None, "file_name", ["report"]),
    ("phone", "MobileNo", ["98765 43210", "022-2345678"]),
    ("passport", "passport_no", ["A1234567"]),
    ("pin_code", "PIN", ["411005", "411 028"]),
    ("postal_code", "zip", ["12345-6789", "SW1A 1AA"]),
    ("account", "AccountNumber", ["00012345678"]),
    ("username", "user id", ["asha_99"]),
    ("age", "umr", ["34", "7"]),
    (None, "age", ["340", "700"]),
    ("sex", "gender", ["F", "M"]),
    ("birth_date", "DateOfBirth", ["1990-12-31"]),
    (None, "date_of_birth", ["unknown"]),
    ("latitude", "lat", ["18.52043", "-33.9"]),
    (None, "lat", ["118.5", "95.25"]),
    ("longitude", "gps_lon", ["173.85674"]),
    ("address", "home address", ["12 MG Road"]),
    ("email", "email address", ["a@example.org"]),
    ("place", "gaon", ["Shirur"]),
    ("occupation", "job-title", ["Teacher"]),
    ("belief_or_caste", "religion", ["x"]),
    ("health", "Diagnosis", ["Asthma"]),
    ("money", "net salary", ["1200.50"]),
]


@pytest.mark.parametrize(("key", "name", "values"), HINTED)
def test_the_name_of_a_column_tells_where_the_form_can_not(key: str | None, name: str, values: list[str]) -> None:
    assert key_of(values, name) == key
    if key not in {"email", "passport", None}:
        assert key_of(values) is None, "and without the name nothing is claimed"


def test_a_name_strengthens_what_the_form_tells() -> None:
    values = pl.Series(["A1234567"])
    plain, named = recognise(Column("x"), values), recognise(Column("passport"), values)
    assert plain and named
    assert (round(plain.confidence, 3), round(named.confidence, 3)) == (0.3, 0.79)


def test_confidence_falls_with_the_share_that_fits() -> None:
    mixed = pl.Series(["someone@example.org", "unknown"])
    found = recognise(Column("x"), mixed)
    assert found
    assert (found.share, round(found.confidence, 3)) == (0.5, 0.485)
    assert recognise(Column("x"), pl.Series(["someone@example.org", *map(str, range(9))])) is None


@settings(max_examples=60)
@given(st.integers(0, 10**11 - 1))
def test_every_other_last_digit_breaks_an_aadhaar_number(body: int) -> None:
    digits = f"{body:011}"
    fitting = _recogniser("aadhaar").count(pl.Series([f"{digits}{last}" for last in range(10)]))
    assert fitting == 1
    assert _recogniser("aadhaar").count(pl.Series([digits + verhoeff.calc_check_digit(digits)])) == 1


@settings(max_examples=60)
@given(st.sampled_from("STFGM"), st.integers(0, 10**7 - 1), st.integers(0, 6))
def test_every_changed_digit_breaks_an_nric(series: str, number: int, place: int) -> None:
    digits = f"{number:07}"
    letter = nric_letter(series, digits)
    others = [digits[:place] + str(digit) + digits[place + 1 :] for digit in range(10)]
    assert _recogniser("nric").count(pl.Series([f"{series}{other}{letter}" for other in others])) == 1


@settings(max_examples=30)
@given(st.integers(10**14, 10**15 - 1))
def test_every_other_last_digit_breaks_a_card_number(body: int) -> None:
    numbers = [f"{body}{last}" for last in range(10)]
    assert _recogniser("card").count(pl.Series(numbers)) == 1
    assert luhn.is_valid(f"{body}{luhn.calc_check_digit(str(body))}")


@settings(max_examples=150)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_no_text_breaks_a_recogniser(values: list[str]) -> None:
    series = pl.Series(values, dtype=pl.String)
    for recogniser in default_recognisers():
        assert 0 <= recogniser.count(series) <= len(values)


@pytest.mark.requirement("D-04")
@pytest.mark.parametrize("recogniser", default_recognisers(), ids=lambda recogniser: recogniser.key)
def test_what_is_proposed_can_stand_in_a_policy(recogniser: Recogniser) -> None:
    given = {"role": recogniser.role, "technique": recogniser.technique, "hierarchy": recogniser.hierarchy}
    attribute = Attribute.model_validate({key: value for key, value in given.items() if value is not None})
    types = recogniser.types or {ValueType.TEXT}
    bound = [*attribute.steps, *([attribute.hierarchy] if attribute.hierarchy else [])]
    for type_ in types:
        column = Column("x", type_, scale=5 if type_ is ValueType.DECIMAL else 0)
        assert [what.refuse(column) for what in bound] == [None] * len(bound)  # type: ignore[attr-defined]


def test_words_of_a_name() -> None:
    assert words("DateOfBirth") == words("DATE_OF_BIRTH") == words("date-of birth") == "date of birth"
    assert words("पता") == "पता"
    assert words("") == ""


def _recogniser(key: str) -> Recogniser:
    return next(each for each in default_recognisers() if each.key == key)
