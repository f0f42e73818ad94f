"""Users in objects that programs write as JSON: ``"actor": {"login": "asha"}``, ``"createdBy": "asha"``."""

from __future__ import annotations

from shoal.text.logs.signed_patterns import SignedPattern

_DID = r"(?:created|updated|modified|changed|submitted|requested|performed|approved|acted|action)_?by"
_DOER = rf"owner|author|creator|request[eo]r|operator|submitter|assignee|assigned_?to|{_DID}"
_STRING = r"\s?\"(?P<value>[^\"\\]{2,64})\""

USERS_IN_OBJECTS = (
    SignedPattern.of(
        rf"(?i:\"\w{{0,24}}(?:user|actor|member|{_DOER})(?:identity)?)\":\s?\{{[^{{}}]{{0,300}}?"
        rf"(?i:\"\w{{0,16}}(?:name|login|email|upn)\"):{_STRING}",
        '":{',
        '": {',
    ),
)
DOERS_IN_OBJECTS = (
    SignedPattern.of(
        rf"(?i:\"\w{{0,24}}(?:{_DOER})(?:_?name)?\"):{_STRING}",
        'er"', 'or"', 'name"', 'ee"', 'by"', 'to"',
    ),
)  # fmt: skip
"""Things have owners and authors that are nobody too: an everyday word here is nobody's name."""
