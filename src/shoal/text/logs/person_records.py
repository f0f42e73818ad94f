"""Pieces of somebody's record that a program puts into its log: names as HL7 and DICOM write them, births, numbers.

``PID-5=NAIR^LATHA^K``, ``(dob 1951-03-02)``, ``"userId": 4471``, ``User with id '5521'``, ``patient uuid=5946f880-…``,
``Duplicate entry 'asha' for key 'user_login'``. Only what a word beside it calls somebody's is taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from shoal.text.logs.signed_patterns import SignedPattern
from shoal.text.spans import Span

BY = "log records"
SURE = 0.9
_WHOSE = "user|patient|customer|member|employee|student|person|client|subject|citizen|beneficiary|applicant|subscriber"
_SIGNS = tuple(_WHOSE.split("|"))
_PART = r"[^\W\d_a-z][^\W\d_'’-]*+(?:['’-][^\W\d_]+)*+"
_NUMBER = r"(?P<value>(?=[\w-]*\d)[\w-]{3,64})(?![\w-])"
_MORE = r"(?:[ ]['’\w]+(?![\w=:^-]))?"
_PERSONAL_KEY = r"\w*(?:user|login|mail|name|phone|mobile|account|member|customer|patient|aadhaar|nric|pan\b)\w*"
_DATE = (
    r"(?P<value>\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|(?:19|20)\d{6}"
    r"|\d{1,2}[ -][A-Z][a-z]{2,8}[ -]\d{4})(?!\d)"
)

_RECORDS = {
    "person": (
        SignedPattern.of(rf"(?<![\w^|])(?P<value>{_PART}\^{_PART}{_MORE}(?:\^{_PART}|\^)*+)(?![\w^])", "^"),
    ),
    "medical_record": (
        SignedPattern.of(r"\bPID[-.](?:2|3|4|18)(?:[.-]\d+)?\s?[=:]\s?[\"']?(?P<value>[\w^-]{3,64})", "pid-", "pid."),
    ),
    "birth_date": (
        SignedPattern.of(
            rf"(?i:\b(?:dob|d\.o\.b\.?|birth[_ ]?date|date[_ ]of[_ ]birth|born(?: on)?))\W{{1,3}}{_DATE}",
            "dob", "d.o.b", "birth", "born",
        ),
    ),
    "upi": (
        SignedPattern.of(
            r"(?i:\b(?:payer|payee|vpa|upi(?:_?id)?)(?:_?(?:vpa|address|id))?)\"?\s?[=:]\s?\"?(?P<value>[\w.-]{2,64}@[a-z]{2,20})",
            "payer", "payee", "vpa", "upi",
        ),
    ),
    "age": (SignedPattern.of(r"\((?i:aged?) (?P<value>\d{1,3})\)", "(age"),),
    "username": (
        SignedPattern.of(rf"(?i:\"\w{{0,16}}(?:{_WHOSE})_?id\"):\s?(?P<value>\d{{4,20}})(?!\d)", *_SIGNS),
        SignedPattern.of(
            rf"(?i:\b(?:{_WHOSE})(?: (?:with|by|of|has))? (?:uu|gu)?id(?: is)?)\s?[=:#]?\s?[\"'\[(]?{_NUMBER}", *_SIGNS
        ),
        SignedPattern.of(
            rf"(?i:\"(?:\w{{0,16}}(?:{_WHOSE})|actor)(?:identity)?\"):\s?\{{[^{{}}]{{0,300}}?"
            r"(?i:\"(?:uu|gu)?id\"):\s?\"(?P<value>[\w.@|-]{4,64})\"",
            '":{', '": {',
        ),
        SignedPattern.of(
            r"(?i:\b(?:card|badge)(?: (?:no\.?|number|id))?)\s?[:=#]?\s?(?P<value>\d{6,19})(?!\w)", "card", "badge"
        ),
        SignedPattern.of(
            r"(?i:card\w*_last_?4|last_?4(?:_digits)?)\"?[=:]\s?\"?(?P<value>\d{4})(?!\d)", "last4", "last_4"
        ),
        SignedPattern.of(
            rf"\bDuplicate entry '(?P<value>[^'\n]{{2,100}})' for key '(?i:{_PERSONAL_KEY})'", "duplicate entry '"
        ),
        SignedPattern.of(rf"\bKey \((?i:{_PERSONAL_KEY})\)=\((?P<value>[^)\n]{{2,100}})\)", "key ("),
    ),
}  # fmt: skip


def find_records(text: str) -> Iterator[Span]:
    folded = text.casefold()
    for kind, patterns in _RECORDS.items():
        for pattern in patterns:
            for match in pattern.finditer(text, folded):
                yield Span(*match.span("value"), kind, SURE, BY)
