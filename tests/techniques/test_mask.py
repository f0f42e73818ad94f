"""Character masking: what is shown is chosen, what is covered can't be worked out."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from stdnum import luhn, verhoeff

from shoal.randomness import Randomness
from shoal.schema import ROW, Column, ValueType
from shoal.techniques import Context
from shoal.techniques.suppression.mask import Mask
from shoal.techniques.suppression.mask_formats import NUMBERS, MaskFormat
from shoal.techniques.suppression.mask_positions import SEPARATORS, PositionMask

pytestmark = pytest.mark.requirement("T-04")

CONTEXT = Context({}, Randomness(0).stream("mask"))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)
COVERED = st.characters(codec="utf-8", exclude_characters=SEPARATORS)
ENDS = st.integers(0, 4)


def mask(technique: Mask, values: list[str | None]) -> list[str | None]:
    column = Column("value")
    frame = pl.DataFrame({"value": pl.Series(values, dtype=pl.String)})
    masked: list[str | None] = technique.bind(column, CONTEXT).apply(frame)["value"].to_list()
    return masked


def mask_one(technique: Mask, value: str) -> str:
    (masked,) = mask(technique, [value])
    assert masked is not None
    return masked


def expected(value: str, first: int, last: int, char: str, length: int | None, *, separators: bool) -> str:
    """The definition, character by character."""
    end = len(value) - last
    kept = [place < first or place >= end for place in range(len(value))]
    hides = any(not keep and not (separators and value[place] in SEPARATORS) for place, keep in enumerate(kept))
    if first + last >= len(value) or not hides:
        kept = [False] * len(value)
    if length is not None:
        return value[:first] + char * (length - first - last) + value[end:] if any(kept) else char * length
    return "".join(
        one if keep or (separators and one in SEPARATORS) else char for one, keep in zip(value, kept, strict=True)
    )


@pytest.mark.parametrize(
    ("parameters", "value", "masked"),
    [
        ({}, "Asha", "****"),
        ({"keep_last": 4, "char": "x"}, "234567891234", "xxxxxxxx1234"),
        ({"keep_first": 2, "keep_last": 2}, "234567891234", "23********34"),
        ({"keep_last": 4, "length": 6}, "234567891234", "**1234"),
        ({"keep_last": 4, "length": 20}, "12345", "****************2345"),
        ({"keep_first": 2, "keep_last": 2}, "1234", "****"),
        ({"keep_first": 2, "keep_last": 2}, "", ""),
        ({"keep_first": 2, "keep_last": 2, "length": 5}, "", "*****"),
        ({"keep_first": 2, "keep_last": 3, "length": 6}, "12345", "******"),
        ({"keep_last": 4, "keep_separators": True}, "2345 6789 1234", "**** **** 1234"),
        ({"keep_last": 1, "keep_separators": True}, "-1", "-*"),
        ({"keep_last": 3, "keep_separators": True, "char": "$"}, "12.34", "$$.34"),
        ({"keep_last": 2, "char": "•"}, "नमस्ते", "••••ते"),
        ({"keep_first": 1, "keep_separators": True, "char": "█"}, "Łódź-Ü", "Ł███-█"),
    ],
)
def test_positions(parameters: dict[str, object], value: str, masked: str) -> None:
    assert mask_one(Mask.model_validate(parameters), value) == masked


@given(value=TEXTS, first=ENDS, last=ENDS, char=st.sampled_from("*x•$"), extra=st.none() | st.integers(1, 20))
@settings(max_examples=80)
def test_covers_as_defined(value: str, first: int, last: int, char: str, extra: int | None) -> None:
    length = None if extra is None else first + last + extra
    technique = Mask(keep_first=first, keep_last=last, char=char, length=length)
    assert mask_one(technique, value) == expected(value, first, last, char, length, separators=False)


@given(
    value=st.text(st.sampled_from("12é ः-.\x00\x01"), max_size=9), first=ENDS, last=ENDS, char=st.sampled_from("*x•$")
)
@settings(max_examples=80)
def test_covers_all_but_separators_as_defined(value: str, first: int, last: int, char: str) -> None:
    technique = Mask(keep_first=first, keep_last=last, char=char, keep_separators=True)
    assert mask_one(technique, value) == expected(value, first, last, char, None, separators=True)


@given(
    values=st.lists(st.none() | st.text("0123456789é", min_size=11, max_size=13), max_size=8),
    start=st.integers(0, 2),
    first=ENDS,
    last=ENDS,
    char=st.sampled_from("x•{"),
)
@settings(max_examples=150)
def test_columns_are_covered_value_by_value(
    values: list[str | None], start: int, first: int, last: int, char: str
) -> None:
    cover = PositionMask(first, last, char)
    column = pl.Series(values, dtype=pl.String)[start:]
    alone = [None if value is None else expected(value, first, last, char, None, separators=False) for value in column]
    assert cover.mask(column).to_list() == alone
    same = column.filter(column.str.len_bytes() == 12)
    assert cover.mask(same).to_list() == [expected(value, first, last, char, None, separators=False) for value in same]


@given(data=st.data(), first=ENDS, last=ENDS, length=st.none() | st.integers(9, 20))
@settings(max_examples=80)
def test_covered_characters_leave_no_trace(data: st.DataObject, first: int, last: int, length: int | None) -> None:
    """Metamorphic: other characters under the cover, the same result."""
    value = data.draw(TEXTS)
    start, end = (0, len(value)) if first + last >= len(value) else (first, len(value) - last)
    other = data.draw(st.text(COVERED, min_size=end - start, max_size=end - start))
    technique = Mask(keep_first=first, keep_last=last, length=length)
    assert mask_one(technique, value[:start] + other + value[end:]) == mask_one(technique, value)


@given(data=st.data(), first=ENDS, last=ENDS)
@settings(max_examples=80)
def test_covered_characters_between_separators_leave_no_trace(data: st.DataObject, first: int, last: int) -> None:
    value = data.draw(st.text(st.sampled_from("12é -."), max_size=9))
    other = "".join(one if one in SEPARATORS else data.draw(COVERED) for one in value)
    technique = Mask(keep_first=first, keep_last=last, keep_separators=True)
    masked = mask_one(technique, value)
    shown = [place for place, one in enumerate(masked) if one != "*"]
    other = "".join(value[place] if place in shown else one for place, one in enumerate(other))
    assert mask_one(technique, other) == masked


@given(value=TEXTS, first=ENDS, last=ENDS)
@settings(max_examples=60)
def test_length_is_kept_and_masking_twice_changes_nothing(value: str, first: int, last: int) -> None:
    technique = Mask(keep_first=first, keep_last=last)
    once = mask_one(technique, value)
    assert len(once) == len(value)
    assert mask_one(technique, once) == once


@given(values=st.lists(TEXTS, min_size=2, max_size=6))
@settings(max_examples=30)
def test_fixed_length_hides_the_length(values: list[str]) -> None:
    assert {len(one or "") for one in mask(Mask(keep_first=1, keep_last=1, length=7), list(values))} == {7}


FORMATS = {
    "email": {
        "john.tan@example.org": "********@example.org",
        "a@b@example.org": "***************",
        "John <john@example.org>": "***********************",
        "@john": "*****",
        "john@localhost": "**************",
    },
    "ipv4": {
        "12.120.210.88": "12.120.***.***",
        "12.120.210.88/24": "****************",
        "::1": "***",
    },
    "ipv6": {
        "2001:db8:85a3::8a2e:370:7334": "2001:0db8:85a3:****:****:****:****:****",
        "1::3:4:5:6:7:8": "0001:0000:0003:****:****:****:****:****",
        "::2:3:4:5:6:7:8": "0000:0002:0003:****:****:****:****:****",
        "1:2:3:4:5:6:7::": "0001:0002:0003:****:****:****:****:****",
        "FE80::": "fe80:0000:0000:****:****:****:****:****",
        "1::2::3": "*******",
        "1:2:3:4:5:6:7:8:9": "*****************",
        "12.120.210.88": "*************",
    },
    "ip": {
        "12.120.210.88": "12.120.***.***",
        "::1": "0000:0000:0000:****:****:****:****:****",
    },
    "plate": {
        "SMF 1234 A": "SMF1****",
        "E1": "****",
        "white car, driver known": "***********************",
    },
    "iu": {
        "123-456-7890": "1234567***",
        "12345": "*****",
    },
    "postal": {
        "411005": "41****",
        "SW1A 1AA": "SW*****",
        "12345-6789": "12*******",
    },
    "phone": {
        "+91 98444 12345": "+** ***** *2345",
        "12345678": "****5678",
        "1234567": "*******",
        "ask Asha 12345678": "*****************",
    },
    "card": {
        "4111-1111-1111-1111": "****-****-****-1111",
        "378282246310005": "***********0005",
    },
    "aadhaar": {
        "2345 6789 1234": "**** **** 1234",
        "23456789123": "***********",
    },
    "vid": {
        "9123456789012345": "************2345",
    },
    "nric": {
        "S1234567D": "*****567*",
        "s1234567d": "*****567*",
        "1234567D": "********",
    },
}
"""By kind what becomes of each text."""


@pytest.mark.parametrize(
    ("kind", "value", "masked"), [(kind, *case) for kind, cases in FORMATS.items() for case in cases.items()]
)
def test_formats(kind: str, value: str, masked: str) -> None:
    assert mask_one(Mask(kind=MaskFormat(kind)), value) == masked


def test_email_options() -> None:
    addresses: list[str | None] = ["asha@example.org", "b@x.in", None]
    assert mask(Mask(kind=MaskFormat.EMAIL, keep_first=1), addresses) == ["a***@example.org", "*@x.in", None]
    hidden = Mask(kind=MaskFormat.EMAIL, keep_domain=False, length=5)
    assert mask(hidden, addresses) == ["*****@*****", "*****@*****", None]


def test_a_kept_prefix_and_a_fixed_length_of_numbers() -> None:
    assert mask_one(Mask(kind=MaskFormat.NRIC, keep_first=1), "S1234567D") == "S****567*"
    assert mask_one(Mask(kind=MaskFormat.CARD, length=6), "4111 1111 1111 1111") == "**1111"
    assert mask_one(Mask(kind=MaskFormat.NRIC, length=6), "S1234567D") == "**567*"


@pytest.mark.parametrize("kind", list(NUMBERS))
@given(data=st.data())
@settings(max_examples=15)
def test_covered_digits_leave_no_trace(kind: MaskFormat, data: st.DataObject) -> None:
    shape = NUMBERS[kind]
    lead, trail = ("S", "D") if shape.trail else ("", "")
    digits = st.text("0123456789", min_size=shape.most, max_size=shape.most)
    one, other = data.draw(digits), data.draw(digits)
    shown = 3 if shape.trail else 4
    technique = Mask(kind=kind)
    assert mask_one(technique, lead + one + trail) == mask_one(technique, lead + other[:-shown] + one[-shown:] + trail)


def possible(masked: str, check: Callable[[str], str]) -> int:
    """How many valid numbers would give this result, by trying them all; the check character stands last."""
    holes = [place for place, one in enumerate(masked[:-1]) if one == "*"]
    found = 0
    for number in range(10 ** len(holes)):
        body = list(masked[:-1])
        for place, digit in zip(holes, str(number).zfill(len(holes)), strict=True):
            body[place] = digit
        found += masked[-1] in ("*", check("".join(body)))
    return found


def nric_letter(body: str) -> str:
    weighted = sum(int(digit) * weight for digit, weight in zip(body[1:], (2, 7, 6, 5, 4, 3, 2), strict=True))
    return "JZIHGFEDCBA"[weighted % 11]


def test_a_check_character_never_gives_the_covered_ones_back() -> None:
    """Naive masking of a card's middle leaves a thousand numbers, of an NRIC a few hundred; here 10^4 stay."""
    assert possible("41111111****1111", luhn.calc_check_digit) == 10**3
    card = mask_one(Mask(kind=MaskFormat.CARD, keep_first=8, keep_last=4), "4111111111111111")
    assert card == "41111111****111*"
    assert possible(card, luhn.calc_check_digit) == 10**4
    assert possible("S****567" + nric_letter("S1234567"), nric_letter) < 10**3
    nric = mask_one(Mask(kind=MaskFormat.NRIC, keep_first=1), "S1234567" + nric_letter("S1234567"))
    assert possible(nric, nric_letter) == 10**4
    aadhaar = mask_one(Mask(kind=MaskFormat.AADHAAR, keep_first=4, keep_last=4), "234567891234")
    assert aadhaar == "2345****123*"
    assert possible(aadhaar, verhoeff.calc_check_digit) == 10**4


@pytest.mark.parametrize("kind", list(NUMBERS))
@given(first=st.integers(0, 20), last=st.integers(0, 20))
@settings(max_examples=40)
def test_numbers_cover_enough_or_are_refused(kind: MaskFormat, first: int, last: int) -> None:
    shape = NUMBERS[kind]
    try:
        technique = Mask(kind=kind, keep_first=first, keep_last=last)
    except ValidationError:
        assert first + last > shape.most + bool(shape.trail) - 5
        return
    value = ("S" if shape.trail else "") + "1" * shape.most + ("D" if shape.trail else "")
    masked = mask_one(technique, value)[shape.guessable :]
    assert masked.count("*") >= 4 + shape.check


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"char": ""}, "at least 1 character"),
        ({"char": "xx"}, "at most 1 character"),
        ({"char": "\x00"}, "printable"),
        ({"keep_last": -1}, "greater than or equal to 0"),
        ({"keep_first": 2, "keep_last": 2, "length": 4}, "nothing would be masked"),
        ({"keep_separators": True, "length": 9}, "tell the length"),
        ({"keep_separators": True, "char": "-"}, "can't be a separator"),
        ({"kind": "card", "char": "-"}, "can't be a separator"),
        ({"keep_domain": False}, "without a kind doesn't take keep_domain"),
        ({"kind": "ipv4", "keep_last": 4}, "kind ipv4 doesn't take keep_last"),
        ({"kind": "plate", "length": 4}, "kind plate doesn't take length"),
        ({"kind": "aadhaar", "keep_last": 9}, "fewer than 10,000 numbers"),
        ({"kind": "nric", "keep_last": 5}, "fewer than 10,000 numbers"),
        ({"kind": "nric", "length": 4}, "nothing would be masked"),
        ({"kind": "passport"}, "'email'"),
        ({"keep": 3}, "Extra inputs"),
    ],
)
def test_wrong_parameters(parameters: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(problem)):
        Mask.model_validate(parameters)


@pytest.mark.parametrize(
    "technique",
    [
        Mask(),
        Mask(keep_first=2, keep_last=2),
        Mask(keep_first=2, keep_last=2, length=6),
        Mask(keep_first=2, keep_last=2, keep_separators=True),
        *(Mask(kind=kind) for kind in MaskFormat),
    ],
    ids=str,
)
def test_missing_empty_and_split(technique: Mask) -> None:
    """Missing stays missing, an empty frame has the same schema, and batches don't matter."""
    values = ["asha@example.org", None, "12.120.210.88", "::1", "", "4111 1111 1111 1111", "S1234567D", "SMF1234A"]
    frame = pl.DataFrame({"value": values, ROW: pl.Series(range(8), dtype=pl.UInt64)})
    step = pickle.loads(pickle.dumps(technique.bind(Column("value"), CONTEXT)))  # noqa: S301  # our own bytes
    whole = step.apply(frame)
    assert whole["value"].is_null().to_list() == [value is None for value in values]
    assert step.apply(frame.clear()).schema == whole.schema == frame.schema
    for cut in range(9):
        assert pl.concat([step.apply(frame[:cut]), step.apply(frame[cut:])]).equals(whole)


@pytest.mark.parametrize(
    ("type_", "values", "masked"),
    [
        (ValueType.INTEGER, pl.Series([411005, None]), ["411***", None]),
        (ValueType.TEXT, pl.Series(["Pune"], dtype=pl.Categorical), ["Pun*"]),
        (ValueType.DATE, pl.Series(["2024-02-14"]).str.to_date(), ["202*******"]),
        (ValueType.DECIMAL, pl.Series([12.5]), ["12.*"]),
    ],
)
def test_other_types_are_masked_as_text(type_: ValueType, values: pl.Series, masked: list[str | None]) -> None:
    technique = Mask(keep_first=3)
    column = Column("value", type_, values.dtype, scale=1, date_format="%F", rows=2)
    step = technique.bind(column, CONTEXT)
    applied = step.apply(pl.DataFrame({"value": values}))["value"]
    assert step.reads == ("value",)
    assert applied.to_list() == masked
    assert technique.leaves(column) == Column("value", rows=2)
    assert applied.dtype == technique.leaves(column).storage


@pytest.mark.requirement("T-29")
def test_masking_a_boolean_is_refused_with_the_reason() -> None:
    flag = Column("smokes", ValueType.BOOLEAN, pl.Boolean())
    assert "tells true from false in column 'smokes'" in (Mask().refuse(flag) or "")
    assert Mask(length=3).refuse(flag) is None
    assert Mask().refuse(Column("name")) is None
