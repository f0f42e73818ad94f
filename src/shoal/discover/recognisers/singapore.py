"""Numbers that are given out in Singapore."""

from __future__ import annotations

from stdnum.sg import uen

from shoal.discover.recognisers.base import Recogniser
from shoal.schema import Role

_WEIGHTS = (2, 7, 6, 5, 4, 3, 2)
_SERIES = {
    "S": (0, "JZIHGFEDCBA"),
    "T": (4, "JZIHGFEDCBA"),
    "F": (0, "XWUTRQPNMLK"),
    "G": (4, "XWUTRQPNMLK"),
    "M": (3, "XWUTRQPNJLK"),
}
"""For each first letter what is added to the weighted sum, and the check letter for each remainder modulo 11."""


def nric_letter(series: str, digits: str) -> str:
    """The check letter of an NRIC number or FIN.

    >>> "S1234567" + nric_letter("S", "1234567")
    'S1234567D'
    """
    added, letters = _SERIES[series]
    weighted = sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, digits, strict=True))
    return letters[(weighted + added) % 11]


def _nric(value: str) -> bool:
    return nric_letter(value[0], value[1:8]) == value[8]


SINGAPORE = (
    Recogniser(
        "nric",
        "an NRIC number or FIN",
        Role.DIRECT,
        because="given once and for life, and asked for by many offices and shops",
        pattern=r"[STFGM][0-9]{7}[A-Z]",
        strength=0.97,
        names=("nric", "fin", "nric fin", "ic no"),
        check=_nric,
        proof="check letter",
        technique="suppress",
    ),
    Recogniser(
        "uen",
        "a UEN",
        Role.QUASI,
        because="public; it names the employer or the business of a person",
        pattern=r"[0-9]{8,9}[A-Z]|[RST][0-9]{2}[A-Z]{2}[0-9]{4}[A-Z]",
        strength=0.9,
        names=("uen",),
        check=uen.is_valid,
        proof="check letter",
        technique="suppress",
    ),
)
