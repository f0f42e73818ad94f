"""Tests of values that have a form already, by the names that recogniser files use for them.

They are given the value in capitals. A check that fails rules the value out; what one proves beyond the form is said in
the recogniser's ``proof``. Every number that python-stdnum knows can be named too: ``stdnum.de.idnr``.
"""

from __future__ import annotations

import datetime
import importlib
import importlib.util
import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

Check = Callable[[str], bool]
_PLAIN_PHONE = re.compile(r"[+]([1-9][0-9]*(?:[ -][1-9][0-9]*)*)")
"""Without parts that begin with a zero, which may be left out when one calls from abroad."""
_IPV4 = re.compile(r"(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}")


def _digits(value: str) -> str:
    return "".join(filter(str.isdigit, value))


def aadhaar(value: str) -> bool:
    """The check digit only: numbers made for tests begin with 0 or 1, and have to be found as well."""
    return _VERHOEFF(_digits(value))


def nric(value: str) -> bool:
    from shoal.kernels.check_characters import nric_letter

    return nric_letter(value[0], value[1:8]) == value[8]


def phone_length(value: str) -> bool:
    return 8 <= len(_digits(value)) <= 15


_WHOLE_PHONE_AND_MORE = re.compile(r"\+[0-9]{11,15}[ ./-]+[0-9]")
"""A number written without a gap is over at the first one: what follows is another."""


def phone_digits(value: str) -> bool:
    """As many digits as a number has where its name has been said already."""
    return not _WHOLE_PHONE_AND_MORE.match(value) and 6 <= len(_digits(value)) <= 20


def card(value: str) -> bool:
    return 12 <= len(_digits(value)) <= 19 and _LUHN(_digits(value))


def iban_form(value: str) -> bool:
    """As long as in its country, with letters where it has some there; its check digits may be wrong."""
    from stdnum import numdb

    number = re.sub("[ -]", "", value)
    _, about = numdb.get("iban").info(number)[0]
    parts = re.findall("([0-9]+)!([nac])", about.get("bban", ""))
    form = "".join(f"[{_OF_IBANS[kind]}]{{{length}}}" for length, kind in parts)
    return bool(parts) and re.fullmatch(form, number[4:]) is not None


_OF_IBANS = {"n": "0-9", "a": "A-Z", "c": "A-Z0-9"}


def ip(value: str) -> bool:
    if ":" not in value:
        return _IPV4.fullmatch(value) is not None
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def phone(value: str) -> bool:
    """A number with its country code that is long enough for the country."""
    if _WHOLE_PHONE_AND_MORE.match(value):
        return False
    plain = _PLAIN_PHONE.fullmatch(value)
    if plain and len(digits := _digits(plain[1])) in _phone_lengths(int(digits[:2])):
        return True
    import phonenumbers

    try:
        return phonenumbers.is_possible_number(phonenumbers.parse(re.sub("^(?:00|011)", "+", value)))
    except phonenumbers.NumberParseException:
        return False


@cache
def _phone_lengths(code: int) -> frozenset[int]:
    """How many digits whole numbers have under a country code of two digits: most numbers need no closer look."""
    import phonenumbers

    regions = phonenumbers.COUNTRY_CODE_TO_REGION_CODE.get(code, ())
    found = phonenumbers.PhoneMetadata.metadata_for_region(regions[0], None) if regions and code > 9 else None
    general = None if found is None else found.general_desc
    return frozenset() if general is None else frozenset(2 + length for length in general.possible_length)


@dataclass(frozen=True)
class PhoneCheck:
    """A number that is given out in one of some countries, written as one does there."""

    regions: tuple[str, ...]

    def __call__(self, value: str) -> bool:
        import phonenumbers

        try:
            return any(phonenumbers.is_valid_number(phonenumbers.parse(value, region)) for region in self.regions)
        except phonenumbers.NumberParseException:
            return False


@dataclass(frozen=True)
class RangeCheck:
    low: float
    high: float

    def __call__(self, value: str) -> bool:
        return self.low <= float(value) <= self.high


@dataclass(frozen=True)
class StdnumCheck:
    """A number by its module in python-stdnum, which is imported when the first value is checked."""

    module: str

    def __call__(self, value: str) -> bool:
        return bool(importlib.import_module(self.module).is_valid(value))


_LUHN = StdnumCheck("stdnum.luhn")
_VERHOEFF = StdnumCheck("stdnum.verhoeff")


def date(value: str) -> bool:
    """Days and months that exist, in whatever order."""
    numbers = [int(part) for part in re.findall("[0-9]+", value)[:3]]
    if len(numbers) < 3:
        return all(number <= 31 or 1000 <= number <= 2999 for number in numbers)
    orders = ((0, 1, 2), (2, 1, 0), (2, 0, 1))
    return any(_exists(*(numbers[place] for place in order)) for order in orders)


def _exists(year: int, month: int, day: int) -> bool:
    try:
        datetime.date(year + 2000 if year < 100 else year, month, day)
    except ValueError:
        return False
    return 1000 <= year <= 2999 or year < 100


def ssn(value: str) -> bool:
    """Three, two and four digits, none of them all zeros. Numbers of areas that are never given out are found too."""
    digits = _digits(value)
    return len(digits) == 9 and digits[:3] not in ("000", "666") and digits[3:5] != "00" and digits[5:] != "0000"


def luhn15(value: str) -> bool:
    """Fifteen digits, the last of which follows from the others, as in an IMEI."""
    return len(_digits(value)) == 15 and _LUHN(_digits(value))


def age(value: str) -> bool:
    found = re.search("[0-9]+", value)
    return found is not None and int(found[0]) <= 125


def plate_sg(value: str) -> bool:
    """The check letter of a Singaporean plate: the last two letters and four digits, weighed, modulo 19."""
    found = re.fullmatch("([A-Z]{1,3})[ -]?([0-9]{1,4})[ -]?([A-Z])", value)
    if found is None:
        return False
    letters = [ord(letter) - 64 for letter in found[1][-2:].rjust(2, "@")]
    digits = [int(digit) for digit in found[2].zfill(4)]
    total = sum(number * weight for number, weight in zip(letters + digits, (9, 4, 5, 4, 3, 2), strict=True))
    return "AZYXUTSRPMLKJHGEDCB"[total % 19] == found[3]


def coordinates(value: str) -> bool:
    """A latitude and a longitude, in that order or the other."""
    found = re.findall(r"[0-9]+(?=°)" if "°" in value and "′" in value.replace("'", "′") else r"[0-9]+\.[0-9]+", value)
    numbers = [float(part) for part in found]
    return len(numbers) == 2 and max(numbers) <= 180 and min(numbers) <= 90


def medley(value: str) -> bool:
    """Letters and digits without a rule, as in keys that machines make: at least 3 bits a character."""
    kinds = bool(re.search("[0-9]", value)) and bool(re.search("[A-Z]", value))
    shares = [count / len(value) for count in Counter(value).values()]
    return kinds and -sum(share * math.log2(share) for share in shares) >= 3


def top_level(value: str) -> bool:
    """The last part of a host's name is one that exists, or a common one for tests."""
    last = value.rstrip(".").rpartition(".")[2]
    return last in _TOP_LEVEL or (len(last) == 2 and last.isalpha() and last not in _ENDINGS_OF_FILES)


_TOP_LEVEL = frozenset(
    re.findall(
        "[A-Z]+",
        "COM ORG NET EDU GOV MIL INT INFO BIZ NAME MOBI ASIA IO AI APP DEV CLOUD ONLINE SHOP SITE STORE TECH XYZ BLOG "
        "NEWS EXAMPLE TEST LOCAL INTERNAL CLINIC HOSPITAL HEALTH BANK LTD PRO AGENCY CLUB LIVE LIFE WORLD TODAY",
    )
)
_ENDINGS_OF_FILES = frozenset(
    ("PY", "JS", "TS", "MD", "SH", "RS", "CC", "GZ", "SO", "PL", "RB", "PS", "AS", "VB", "DB")
)
"""Countries' endings that are far more often those of files."""

CHECKS: dict[str, Check] = {
    "aadhaar": aadhaar,
    "age": age,
    "card": card,
    "coordinates": coordinates,
    "date": date,
    "epic": StdnumCheck("stdnum.in_.epic"),
    "gstin": StdnumCheck("stdnum.in_.gstin"),
    "iban": StdnumCheck("stdnum.iban"),
    "iban_form": iban_form,
    "ip": ip,
    "luhn15": luhn15,
    "medley": medley,
    "nric": nric,
    "pan": StdnumCheck("stdnum.in_.pan"),
    "phone": phone,
    "phone_digits": phone_digits,
    "phone_length": phone_length,
    "plate_sg": plate_sg,
    "ssn": ssn,
    "top_level": top_level,
    "uen": StdnumCheck("stdnum.sg.uen"),
}


@cache
def check_named(name: str) -> Check | None:
    """The check of that name: ours, ``phone in GB, IE``, or python-stdnum's; None if there is none."""
    if name in CHECKS:
        return CHECKS[name]
    if found := re.fullmatch("phone in ([A-Z]{2}(?:, ?[A-Z]{2})*)", name):
        return PhoneCheck(tuple(re.findall("[A-Z]{2}", found[1])))
    if re.fullmatch(r"stdnum(?:\.[a-z][a-z0-9_]*){1,2}", name):
        return StdnumCheck(name) if _is_number(name) else None
    return None


def _is_number(module: str) -> bool:
    """Told from its source: to import all of them would take longer than most scans."""
    try:
        found = importlib.util.find_spec(module)
    except ImportError:
        return False
    return found is not None and found.origin is not None and "def is_valid" in Path(found.origin).read_text("utf-8")
