"""Kinds of values that are met everywhere: addresses of the net, numbers of banks, what people say of themselves.

Column names are known in English and, romanised, in Hindi and Tamil.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import replace

from stdnum import iban, luhn

from shoal.discover.recognisers.base import Recogniser
from shoal.schema import DATES, NUMBERS, Role, ValueType


def _digits(value: str) -> str:
    return "".join(filter(str.isdigit, value))


def _phone(value: str) -> bool:
    return 8 <= len(_digits(value)) <= 15


def _card(value: str) -> bool:
    return 13 <= len(_digits(value)) <= 19 and luhn.is_valid(_digits(value))


def _ip(value: str) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _between(low: float, high: float) -> Callable[[str], bool]:
    return lambda value: low <= float(value) <= high


WHOLE = frozenset({ValueType.INTEGER})
TEXT = frozenset({ValueType.TEXT})
NUMBER = r"[+-]?[0-9]*\.?[0-9]+"

PHONE = Recogniser(
    "phone",
    "a phone number",
    Role.DIRECT,
    because="kept for years, and stored in the phones of all acquaintances",
    pattern=r"\+[0-9][0-9 ()./-]{6,22}",
    strength=0.8,
    names=("phone", "mobile", "tel", "telephone", "contact", "whatsapp", "fax", "doorabhash", "tholaipesi"),
    check=_phone,
    technique="suppress",
)

IDENTIFIERS = (
    Recogniser(
        "email",
        "an e-mail address",
        Role.DIRECT,
        because="unique, kept for years, and known to everybody who was ever written to",
        pattern=r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+",
        strength=0.97,
        names=("email", "e mail", "mail id"),
        technique="suppress",
    ),
    PHONE,
    replace(PHONE, pattern=r"[0-9(][0-9 ()./-]{6,22}", strength=0.0),
    Recogniser(
        "card",
        "a payment card number",
        Role.DIRECT,
        because="unique, and stored by every shop it was used in",
        pattern=r"[0-9][0-9 -]{11,22}",
        strength=0.85,
        names=("card", "card no", "card number", "credit card", "debit card"),
        check=_card,
        proof="check digit",
        technique={"mask": {"keep_last": 4}},
    ),
    Recogniser(
        "iban",
        "an IBAN",
        Role.DIRECT,
        because="kept for years, and printed on every invoice and transfer",
        pattern=r"[A-Z]{2}[0-9]{2}[A-Z0-9 ]{11,40}",
        strength=0.97,
        names=("iban",),
        check=iban.is_valid,
        proof="check digits",
        technique="suppress",
    ),
    Recogniser(
        "account",
        "an account number",
        Role.DIRECT,
        because="kept for years, and known to everybody who pays or is paid",
        pattern=r"[0-9A-Z -]{5,40}",
        names=("account", "account no", "account number", "acct", "a c no", "khata"),
        technique="suppress",
    ),
    Recogniser(
        "mac",
        "a MAC address",
        Role.DIRECT,
        because="it stays with a device, and every network that the device was in has seen it",
        pattern=r"([0-9A-F]{2}[:-]){5}[0-9A-F]{2}",
        strength=0.95,
        names=("mac", "mac address"),
        technique="suppress",
    ),
    Recogniser(
        "url",
        "a web address",
        Role.DIRECT,
        because="it can lead straight to a person's page",
        pattern=r"(HTTPS?|FTP)://\S+|WWW\.\S+\.\S+",
        strength=0.9,
        names=("url", "website", "homepage"),
        technique="suppress",
    ),
    Recogniser(
        "name",
        "a person's name",
        Role.DIRECT,
        because="it hardly ever changes, and everybody knows it",
        pattern=r"[\p{L}\p{M}][\p{L}\p{M}.' -]+",
        names=("name", "surname", "naam", "nam", "peyar", "father", "mother", "spouse", "nominee", "doctor"),
        never=("file", "company", "product", "city", "hospital", "school", "item", "event", "street", "tongue"),
        types=TEXT,
        technique="suppress",
    ),
    Recogniser(
        "username",
        "a user name",
        Role.DIRECT,
        because="unique, and shown to everybody on the service it belongs to",
        pattern=r"\S+",
        names=("username", "user name", "login", "handle", "user id", "userid"),
        technique="suppress",
    ),
)

ABOUT_PEOPLE = (
    Recogniser(
        "ipv4",
        "an IPv4 address",
        Role.QUASI,
        because="it leads to a household or an office, and every server visited has seen it",
        pattern=r"[0-9]{1,3}(\.[0-9]{1,3}){3}",
        strength=0.9,
        names=("ip", "ip address", "ipv4"),
        check=_ip,
        technique={"mask": {"kind": "ipv4"}},
    ),
    Recogniser(
        "ipv6",
        "an IPv6 address",
        Role.QUASI,
        because="it can lead to a single device, and every server visited has seen it",
        pattern=r"[0-9A-F:]*:[0-9A-F:.]+",
        strength=0.9,
        names=("ip", "ip address", "ipv6"),
        check=_ip,
        technique={"mask": {"kind": "ipv6"}},
    ),
    Recogniser(
        "birth_date",
        "a date of birth",
        Role.QUASI,
        because="it never changes, and friends and social media know it",
        names=("dob", "birth", "birth date", "date of birth", "birthday", "janm", "janm tithi", "pirantha naal"),
        types=DATES,
        hierarchy="dates",
    ),
    Recogniser(
        "age",
        "an age",
        Role.QUASI,
        because="it can be foreseen for life, and be told by sight",
        pattern=NUMBER,
        names=("age", "age years", "umr", "umar", "ayu", "vayathu", "vayadhu"),
        check=_between(0, 130),
        types=WHOLE,
        hierarchy={"intervals": {"widths": [5, 10, 20]}},
    ),
    Recogniser(
        "sex",
        "a sex or gender",
        Role.QUASI,
        because="it hardly ever changes, and can be told by sight",
        pattern=r"\S{1,12}( \S{1,12})?",
        names=("sex", "gender", "ling", "palinam"),
    ),
    Recogniser(
        "postal_code",
        "a postal code",
        Role.QUASI,
        because="it changes seldom, and neighbours, shops and social media know it",
        pattern=r"[A-Z0-9][A-Z0-9 -]{2,9}",
        names=("postal", "postal code", "postcode", "zip", "zipcode", "zip code"),
        hierarchy={"redact": {"side": "right"}},
    ),
    Recogniser(
        "address",
        "an address",
        Role.QUASI,
        because="it changes seldom, and can be looked up",
        names=("address", "street", "house no", "pata", "mugavari", "landmark"),
        never=("email", "mail", "ip", "mac", "web"),
        technique="suppress",
    ),
    Recogniser(
        "place",
        "a place",
        Role.QUASI,
        because="it changes seldom, and all acquaintances know it",
        names=("city", "town", "village", "district", "taluk", "state", "country", "gaon", "shahar", "zila", "oor"),
        types=TEXT,
    ),
    Recogniser(
        "latitude",
        "a latitude",
        Role.QUASI,
        because="with the longitude it leads to a house",
        pattern=NUMBER,
        names=("lat", "latitude"),
        check=_between(-90, 90),
        types=frozenset({ValueType.DECIMAL}),
        hierarchy={"grid": {"decimals": [3, 2, 1, 0]}},
    ),
    Recogniser(
        "longitude",
        "a longitude",
        Role.QUASI,
        because="with the latitude it leads to a house",
        pattern=NUMBER,
        names=("lon", "lng", "long", "longitude"),
        check=_between(-180, 180),
        types=frozenset({ValueType.DECIMAL}),
        hierarchy={"grid": {"decimals": [3, 2, 1, 0]}},
    ),
    Recogniser(
        "occupation",
        "an occupation",
        Role.QUASI,
        because="it lasts for years, and colleagues and social media know it",
        names=("occupation", "job", "job title", "designation", "profession", "vyavsay", "pesha", "thozhil"),
        types=TEXT,
    ),
    Recogniser(
        "group",
        "a group that somebody belongs to",
        Role.QUASI,
        because="it hardly ever changes, and is known to those around",
        names=("race", "ethnicity", "nationality", "marital status", "education", "mother tongue"),
        types=TEXT,
    ),
    Recogniser(
        "belief_or_caste",
        "a religion or caste",
        Role.SENSITIVE,
        because="who learns it can do harm with it",
        names=("religion", "caste", "dharm", "jati", "mazhab", "saathi", "matham"),
        types=TEXT,
    ),
    Recogniser(
        "health",
        "a matter of health",
        Role.SENSITIVE,
        because="outsiders seldom know it, and who learns it can do harm with it",
        names=("diagnosis", "disease", "illness", "icd", "hiv", "disability", "rog", "bimari", "noi", "vaccination"),
    ),
    Recogniser(
        "money",
        "a sum of money",
        Role.SENSITIVE,
        because="outsiders seldom know it, and who learns it can do harm with it",
        names=("salary", "income", "wage", "bill", "amount", "price", "balance", "vetan", "aay", "sambalam", "fee"),
        types=NUMBERS,
    ),
)

COMMON = IDENTIFIERS + ABOUT_PEOPLE
