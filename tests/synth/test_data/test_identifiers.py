"""Identifiers by another hand: python-stdnum, phonenumbers, the standard library, our recognisers; and who has them."""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from uuid import UUID

import phonenumbers
import polars as pl
import pytest
from stdnum import iban, luhn, verhoeff
from stdnum.in_ import aadhaar, epic, gstin, pan, vid
from tests.synth.test_data.making import MADE, made, recognised

from shoal.errors import PolicyError
from shoal.examples import hospital
from shoal.hierarchy.classifications.classification import classification
from shoal.pseudonyms.formats.email import RESERVED
from shoal.synth.test_data import Standing, TableSchema, registered_generators
from shoal.synth.test_data.generators.cards import PUBLISHED
from shoal.text.lexicon.gazetteers import NAME, folded, lexicon

pytestmark = pytest.mark.requirement("T-25")

THIRTY_SIX = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
VALID_PAN = {"holder": "P", "may_coincide": True}
Check = Callable[[str], bool]

ACCEPTED: list[tuple[object, Check]] = [
    ("aadhaar", verhoeff.is_valid),
    ("vid", verhoeff.is_valid),
    ({"pan": VALID_PAN}, pan.is_valid),
    ({"gstin": VALID_PAN}, gstin.is_valid),
    ("gstin", lambda number: luhn.is_valid(number, THIRTY_SIX)),
    ({"gstin": {"holder": "P"}}, lambda number: luhn.is_valid(number, THIRTY_SIX)),
    ({"voter_id": {"may_coincide": True}}, epic.is_valid),
    ("iban", iban.is_valid),
    ("card", luhn.is_valid),
    ({"card": "published"}, luhn.is_valid),
    ("uuid", lambda value: str(UUID(value)) == value and UUID(value).version == 4),
    ("ipv6", lambda value: str(ip_address(value)) == value),
]
REFUSED: list[tuple[object, Check]] = [
    ({"aadhaar": {"check": "wrong"}}, verhoeff.is_valid),
    ({"vid": {"check": "wrong"}}, verhoeff.is_valid),
    ("voter_id", epic.is_valid),
    ("aadhaar", aadhaar.is_valid),
    ("vid", vid.is_valid),
    ("pan", pan.is_valid),
    ({"pan": {"holder": "P"}}, pan.is_valid),
    ("gstin", gstin.is_valid),
]
"""Their check digit is wrong, or the range that nobody has is known to the library too."""


def _name(given: object) -> str:
    return re.sub(r"[^\w]+", " ", str(given)).strip() if not callable(given) else ""


@pytest.mark.parametrize(("column", "check"), ACCEPTED, ids=_name)
def test_another_library_accepts_them(column: object, check: Check) -> None:
    assert all(map(check, made(column)))


@pytest.mark.parametrize(("column", "check"), REFUSED, ids=_name)
def test_another_library_knows_that_nobody_has_them(column: object, check: Check) -> None:
    assert not any(map(check, made(column)))


@pytest.mark.parametrize(
    ("column", "form"),
    [
        ("aadhaar", "[01][0-9]{11}"),
        ({"aadhaar": {"check": "wrong"}}, "[2-9][0-9]{11}"),
        ("vid", "[01][0-9]{15}"),
        ("pan", "[A-Z]{3}X[A-Z](?!0000)[0-9]{4}[A-Z]"),
        ({"pan": {"holder": "C"}}, "[A-Z]{3}C[A-Z]0000[A-Z]"),
        ("gstin", "(0[1-9]|[12][0-9]|3[0-7])[A-Z]{3}X[A-Z][0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]"),
        ("voter_id", "[A-Z]{3}[0-9]{7}"),
        ("passport", "[QX][1-9][0-9]{5}[1-9]"),
        ({"passport": {"may_coincide": True}}, "[A-NPR-WY][1-9][0-9]{5}[1-9]"),
        ("ifsc", "XX[A-Z]{2}0[0-9]{6}"),
        ("upi", "[a-z]{4}[0-9]{8}@example"),
        ("iban", "DE[0-9]{2}9[0-9]{17}"),
        ("card", "9999[0-9]{12}"),
        ("nric", "T[5-9][0-9]{6}[A-Z]"),
        ({"nric": "S"}, "S[45][0-9]{6}[A-Z]"),
        ("fin", "M[0-9]{7}[A-Z]"),
        ("postal_code", "(8[3-9]|9[0-9])[0-9]{4}"),
        ({"phone": "GB"}, r"\+447700900[0-9]{3}"),
        ({"phone": "US"}, r"\+1[2-9][0-9]{2}55501[0-9]{2}"),
        ({"phone": "IN"}, r"\+9110[0-9]{8}"),
        ({"phone": "SG"}, r"\+65[245][0-9]{7}"),
        ("phone", r"\+999[0-9]{10}"),
        ({"mac": "documentation"}, "00:00:5e:00:53:[0-9a-f]{2}"),
        ({"address": "IN"}, r"[1-9][0-9]{0,2} [A-Z]\w+ [A-Z]\w+, [A-Z]\w+ (29|35|54|55|8[6-9])[0-9]{4}"),
        ({"address": "SG"}, r"[1-9][0-9]{0,2} [A-Z]\w+ [A-Z]\w+, Singapore (8[3-9]|9[0-9])[0-9]{4}"),
        ({"address": "US"}, r"[1-9][0-9]{0,2} [A-Z]\w+ [A-Z]\w+, [A-Z]\w+ 00[0-4][0-9]{2}"),
        ("user_name", r"[a-z]+\.[a-z]+[0-9]{4}"),
    ],
    ids=_name,
)
def test_they_come_from_the_range_that_nobody_has(column: object, form: str) -> None:
    values = made(column)
    assert values.n_unique() >= 256
    assert [value for value in values if not re.fullmatch(form, value)] == []


@pytest.mark.parametrize(
    ("column", "recogniser"),
    [
        ("aadhaar", "aadhaar"),
        ({"pan": VALID_PAN}, "pan"),
        ({"gstin": VALID_PAN}, "gstin"),
        ({"voter_id": {"may_coincide": True}}, "voter_id"),
        ("passport", "passport_labelled"),
        ({"passport": {"may_coincide": True}}, "passport"),
        ("ifsc", "ifsc"),
        ({"upi": "upi"}, "upi"),
        ("iban", "iban"),
        ("card", "card"),
        ({"card": "published"}, "card"),
        ("nric", "nric"),
        ({"fin": {"may_coincide": True}}, "nric"),
        ("pin_code", "pin_code"),
        ("postal_code", "postal_code"),
        ({"postal_code": "used"}, "postal_code_singapore"),
        *(({"phone": country}, "phone") for country in ("none", "AU", "GB", "IN", "SG", "US")),
        ("email", "email"),
        ("ipv4", "ipv4"),
        ("ipv6", "ipv6"),
        ("mac", "mac"),
        ("uuid", "uuid"),
        ("name", "name"),
        ("user_name", "username"),
        ("address", "address"),
    ],
    ids=_name,
)
def test_our_recognisers_take_them_for_real(column: object, recogniser: str) -> None:
    assert recognised(column, recogniser) == MADE


@pytest.mark.parametrize(
    ("column", "recogniser"),
    [({"aadhaar": {"check": "wrong"}}, "aadhaar"), ("voter_id", "voter_id"), ("fin", "nric"), ("pan", "pan")],
    ids=_name,
)
def test_our_recognisers_see_what_is_wrong_on_purpose(column: object, recogniser: str) -> None:
    assert recognised(column, recogniser) == 0


@pytest.mark.parametrize("country", ["IN", "SG"])
def test_no_numbers_of_these_phones_are_given_out(country: str) -> None:
    numbers = [phonenumbers.parse(number) for number in made({"phone": country})]
    assert all(map(phonenumbers.is_possible_number, numbers))
    assert not any(map(phonenumbers.is_valid_number, numbers))


def test_a_check_letter_of_a_fin_by_hand() -> None:
    """M1234567: 1·2+2·7+3·6+4·5+5·4+6·3+7·2 = 106, and 3 for M, leaves 10 of 11: K. Nobody's letter is another."""
    fins = made({"fin": {"may_coincide": True}}).to_list()
    for fin, wrong in zip(fins, made("fin").to_list(), strict=True):
        weighted = sum(int(digit) * weight for digit, weight in zip(fin[1:8], (2, 7, 6, 5, 4, 3, 2), strict=True))
        assert fin[8] == "XWUTRQPNJLK"[(weighted + 3) % 11]
        assert fin[:8] == wrong[:8]
        assert fin[8] != wrong[8]


def test_published_card_numbers_have_their_brand() -> None:
    beginnings = {
        "visa": "4", "mastercard": "5[1-5]|2[2-7]", "amex": "3[47]", "discover": "6011|65", "diners": "30|36|38",
        "jcb": "35", "unionpay": "62",
    }  # fmt: skip
    assert beginnings.keys() == PUBLISHED.keys()
    assert all(re.match(beginnings[brand], number) for brand, listed in PUBLISHED.items() for number in listed)


def test_machines_are_those_of_documents() -> None:
    blocks = [ip_network(block) for block in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]
    assert all(any(ip_address(value) in block for block in blocks) for value in made("ipv4"))
    assert all(ip_address(value) in ip_network("2001:db8::/32") for value in made("ipv6"))
    assert all(int(value[:2], 16) & 3 == 2 for value in made("mac"))


def test_mail_arrives_nowhere() -> None:
    domains = made("email").str.split("@").list.last().unique().to_list()
    assert sorted(domains) == ["example.com", "example.net", "example.org"]
    assert set(domains) <= set(RESERVED)
    with pytest.raises(PolicyError, match="could reach somebody"):
        TableSchema.of({"shoal": 1, "columns": {"mail": {"email": ["gmail.com"]}}})


@pytest.mark.parametrize(
    ("column", "name"), [("pin_code", "india-pin"), ({"postal_code": "used"}, "singapore-postal")], ids=_name
)
def test_postal_codes_begin_like_those_of_a_place(column: object, name: str) -> None:
    known = classification(name)
    assert all(known.labels(code, number=False) for code in made(column).unique())


@pytest.mark.parametrize(
    ("column", "name"), [({"pin_code": "unused"}, "india-pin"), ("postal_code", "singapore-postal")], ids=_name
)
def test_unused_postal_codes_are_of_no_place(column: object, name: str) -> None:
    known = classification(name)
    assert not any(known.labels(code, number=False) for code in made(column).unique())


@pytest.mark.parametrize(
    "culture", ["indian", "western", "chinese_singaporean", "malay_singaporean", "tamil_singaporean"]
)
def test_names_are_made_of_names(culture: str) -> None:
    known = lexicon().entries
    parts = made({"name": [culture]}).str.split(" ").explode().unique()
    names = [folded(part) for part in parts if part not in ("bin", "binte", "s/o", "d/o")]
    assert len(names) > 40
    strange = [name for name in names if not known.get(name, 0) & NAME]
    assert strange == []


def test_cultures_are_mixed_evenly() -> None:
    names = made({"name": ["malay_singaporean", "tamil_singaporean"]}, 10_000)
    malay = names.str.contains(" bint?e? | bin ").sum()
    tamil = names.str.contains(" [sd]/o ").sum()
    assert malay + tamil == 10_000
    assert 4_700 < malay < 5_300


def test_parts_of_names() -> None:
    assert not made({"name": {"part": "given"}}).str.contains(" ").any()
    assert set(made({"name": {"cultures": ["chinese_singaporean"], "part": "family"}})) > {"Tan", "Lim", "Ng"}


def test_the_example_is_met_by_chance_only() -> None:
    """Ten thousand made-up numbers among 10¹⁰ and 10¹¹ meet those of the example less than once in a thousand runs."""
    example = hospital.table(2_000)
    for column, generator in (("aadhaar", "aadhaar"), ("phone", "phone"), ("phone", {"phone": "IN"})):
        assert not made(generator, 10_000).is_in(example[column].cast(pl.String).drop_nulls().implode()).any()


def test_every_generator_says_why_its_values_belong_to_nobody() -> None:
    needed: dict[str, dict[str, object]] = {"category": {"values": ["a"]}, "pattern": {"text": "TEST-#"}}
    for key, generator in registered_generators:
        assurance = generator.model_validate(needed.get(key, {})).assurance
        assert assurance.because, key
        assert assurance.standing is not Standing.MAY_COINCIDE, f"{key}: has to be asked for"
        assert assurance.source or assurance.standing is Standing.IMPERSONAL or key == "pattern", key


@pytest.mark.parametrize(
    ("generator", "standing"),
    [
        ({"pan": VALID_PAN}, Standing.MAY_COINCIDE),
        ({"pan": {"holder": "P"}}, Standing.RESERVED),
        ({"aadhaar": {"check": "wrong"}}, Standing.WRONG_CHECK),
        ({"voter_id": {"may_coincide": True}}, Standing.MAY_COINCIDE),
        ({"upi": "okaxis"}, Standing.MAY_COINCIDE),
        ({"fin": {"may_coincide": True}}, Standing.MAY_COINCIDE),
        ({"passport": {"may_coincide": True}}, Standing.MAY_COINCIDE),
        ({"pattern": "AB-####"}, Standing.MAY_COINCIDE),
        ({"pin_code": "unused"}, Standing.RESERVED),
    ],
    ids=_name,
)
def test_what_may_coincide_says_so(generator: object, standing: Standing) -> None:
    schema = TableSchema.of({"shoal": 1, "columns": {"made": generator}})
    assert schema.columns["made"].generator.assurance.standing is standing
