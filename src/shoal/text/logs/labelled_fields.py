"""Values behind a key that says whose they are: ``patient_name="Asha Rao"``, ``"dob": "1990-04-01"``, ``phone=98…``.

A key is read as the name of a column is: the recognisers know what columns of their kind are called. The form of the
value has to agree, since programs use short words for much else (``card=eth0``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from shoal.discover.recognisers import Recogniser, default_recognisers, words
from shoal.schema import Role
from shoal.text.lexicon.gazetteers import NAME, LexiconKind, lexicon
from shoal.text.spans import Span

BY = "log fields"
SURE = 0.9
LONGEST_KEY = 4
"""Words of a key that are looked at together."""
_FIELD = re.compile(
    r"(?<![\w.-])(?P<key>[A-Za-z][\w.-]{1,40})\\?[\"']?\s?(?:=|:(?![/:]))\s?"
    r"(?:\\?\"(?P<quoted>[^\"\\\n]{1,200})\\?\"|'(?P<single>[^'\n]{1,200})'|(?P<bare>[^\s,;&|\"'()\[\]{}<>]{1,200}))"
)
_FOUND_BY_FORM = frozenset({"url", "mac", "ipv4", "ipv6", "username", "email", "secret", "domain"})
_PERSONAL = frozenset({"birth_date", "address", "health", "belief_or_caste"})
_PEOPLE = frozenset(
    {
        "patient", "customer", "client", "user", "display", "contact", "father", "mother", "spouse", "nominee",
        "doctor", "employee", "member", "student", "owner", "holder", "sender", "recipient", "payee", "beneficiary",
        "first", "last", "full", "given", "family", "applicant", "passenger", "guest", "cardholder", "person",
    }
)  # fmt: skip
"""Whose name it is."""
_ROLES = frozenset({"patient", "customer", "nominee", "spouse", "payee", "beneficiary", "passenger"})
"""Keys whose value is a name."""
_PLAIN_NAME = re.compile(r"[^\W\d_][^\W\d_]*\.?(?:[ .'’-]{1,2}[^\W\d_]+\.?){0,4}")


@dataclass(frozen=True)
class LogField:
    """A key and its value: where the key begins, and where the value stands."""

    key: str
    key_start: int
    start: int
    end: int
    is_quoted: bool


def fields_in(text: str) -> Iterator[LogField]:
    if "=" not in text and ":" not in text:
        return
    for match in _FIELD.finditer(text):
        name = "bare" if match["bare"] else "quoted" if match["quoted"] else "single"
        start, end = match.span(name)
        yield LogField(match["key"], match.start("key"), start, end, name != "bare")


def find_labelled(text: str, fields: list[LogField]) -> Iterator[Span]:
    for field in fields:
        kind = _kind(field, text[field.start : field.end])
        if kind is not None:
            yield Span(field.start, field.end, kind, SURE, BY)


def _kind(field: LogField, value: str) -> str | None:
    key = words(field.key)
    if _is_of_a_person(key) and _PLAIN_NAME.fullmatch(value) and (field.is_quoted or not _is_a_word(value)):
        return "person"
    for recogniser in _hinted(key):
        if recogniser.key in _PERSONAL:
            if any(map(str.isdigit if recogniser.key == "birth_date" else str.isalpha, value)) and (
                field.is_quoted or recogniser.key != "address"
            ):
                return recogniser.type
        elif any(map(str.isdigit, value)) and re.fullmatch(recogniser.pattern, value.upper()):
            return recogniser.type
    return None


def _is_of_a_person(key: str) -> bool:
    said = key.split()
    if said[-1] in ("name", "surname", "firstname", "lastname", "fullname"):
        return said[-1] != "name" or any(word in _PEOPLE for word in said)
    return len(said) == 1 and said[0] in _ROLES


def _is_a_word(value: str) -> bool:
    kinds = lexicon().kinds(value)
    return bool(kinds & LexiconKind.COMMON) and not kinds & NAME


def _hinted(key: str) -> Iterator[Recogniser]:
    said = key.split()
    known = _by_name()
    for size in range(min(LONGEST_KEY, len(said)), 0, -1):
        for place in range(len(said) - size + 1):
            for recogniser in known.get(" ".join(said[place : place + size]), ()):
                if not set(recogniser.never) & set(said):
                    yield recogniser


@cache
def _by_name() -> dict[str, list[Recogniser]]:
    """The recognisers that names of columns tell of."""
    known: dict[str, list[Recogniser]] = {}
    for recogniser in default_recognisers():
        direct = (
            recogniser.role is Role.DIRECT and recogniser.type not in _FOUND_BY_FORM and "L}" not in recogniser.pattern
        )
        if direct or recogniser.key in _PERSONAL:
            for name in (*recogniser.names, *recogniser.called):
                known.setdefault(name, []).append(recogniser)
    return known
