"""Numbers that are given out in India."""

from __future__ import annotations

from stdnum import verhoeff
from stdnum.in_ import epic, gstin, pan

from shoal.discover.recognisers.base import Recogniser
from shoal.schema import Role


def _aadhaar(value: str) -> bool:
    """The check digit only: numbers made for tests begin with 0 or 1, and have to be found as well."""
    return verhoeff.is_valid("".join(filter(str.isdigit, value)))


INDIA = (
    Recogniser(
        "aadhaar",
        "an Aadhaar number",
        Role.DIRECT,
        because="given once and for life, and copied at counters all over the country",
        pattern=r"[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}",
        strength=0.95,
        names=("aadhaar", "aadhar", "adhaar", "aadhaar no", "uid", "uidai"),
        check=_aadhaar,
        proof="check digit",
        technique={"mask": {"keep_last": 4}},
    ),
    Recogniser(
        "pan",
        "a PAN",
        Role.DIRECT,
        because="given once and for life, and known to employers, banks and shops",
        pattern=r"[A-Z]{5}[0-9]{4}[A-Z]",
        strength=0.9,
        names=("pan", "pan no", "pan number", "permanent account number"),
        check=pan.is_valid,
        technique="suppress",
    ),
    Recogniser(
        "gstin",
        "a GSTIN",
        Role.DIRECT,
        because="public, and it holds the PAN of the owner",
        pattern=r"[0-9]{2}[A-Z]{5}[0-9]{4}[A-Z][1-9A-Z]Z[0-9A-Z]",
        strength=0.98,
        names=("gstin", "gst", "gst no"),
        check=gstin.is_valid,
        proof="check digit",
        technique="suppress",
    ),
    Recogniser(
        "ifsc",
        "an IFSC",
        Role.QUASI,
        because="it names the branch of a bank, which is near to where its customers live",
        pattern=r"[A-Z]{4}0[A-Z0-9]{6}",
        strength=0.85,
        names=("ifsc", "ifs code"),
        hierarchy={"redact": {"side": "right"}},
    ),
    Recogniser(
        "voter_id",
        "a voter's card number",
        Role.DIRECT,
        because="kept for many years, and printed in public electoral rolls",
        pattern=r"[A-Z]{3}[0-9]{7}",
        strength=0.85,
        names=("epic", "voter", "voter id", "matdata"),
        check=epic.is_valid,
        proof="check digit",
        technique="suppress",
    ),
    Recogniser(
        "passport",
        "an Indian passport number",
        Role.DIRECT,
        because="kept for ten years, and copied by hotels and airlines",
        pattern=r"[A-PR-WY][1-9][0-9] ?[0-9]{4}[1-9]",
        strength=0.3,
        names=("passport",),
        technique="suppress",
    ),
    Recogniser(
        "pin_code",
        "a PIN code",
        Role.QUASI,
        because="it changes seldom, and neighbours, shops and social media know it",
        pattern=r"[1-9][0-9]{2} ?[0-9]{3}",
        names=("pin", "pincode", "pin code"),
        hierarchy={"redact": {"side": "right"}},
    ),
)
