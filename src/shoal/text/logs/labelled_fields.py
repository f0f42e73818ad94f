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
_KEY = r"[A-Za-z][\w.-]{1,40}[=:](?!//)"
"""What begins a field inside what another's colon begins: ``Store: name=…``."""
_FIELD = re.compile(
    rf"(?<![\w.-])(?P<key>[A-Za-z][\w.-]{{1,40}})\\?[\"']?\s?(?:=>?|:(?![/:]))\s?(?!{_KEY})"
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
_DOERS = frozenset(
    {
        "student", "pupil", "teacher", "driver", "prescriber", "physician", "surgeon", "nurse", "doctor", "author",
        "cashier", "teller", "clerk", "inspector", "reviewer", "approver", "applicant", "borrower", "guarantor",
        "claimant", "insured", "policyholder", "tenant", "resident", "visitor", "citizen", "voter", "candidate",
        "subscriber", "cardholder", "holder", "caller", "callee", "attendee", "participant", "employee", "manager",
        "supervisor", "officer", "by", "performer", "uploader", "editor", "committer", "assignee", "reporter",
    }
)  # fmt: skip
"""Keys whose value is a name or an account where it looks like one: things have drivers and authors too."""
_OF_THINGS = frozenset({"driver", "author", "manager", "holder", "editor", "performer", "by", "reporter", "tenant"})
_GOES_ON = re.compile(r"(?: [^\W\d_a-zß-öø-ÿ][\w.'’-]*(?![\w=:]))+")
_DEGREES = frozenset({"lat", "latitude", "lon", "lng", "long", "longitude"})
_FINE = re.compile(r"[+-]?\d{1,3}\.\d{4,}")
"""Degrees that are told to some ten metres."""
_TOWNS = frozenset({"city", "town", "village"})
"""Where somebody signs in, as services write it."""
_ALSO_OF_MACHINES = frozenset(
    {
        "client", "owner", "member", "sender", "recipient", "holder", "display", "user", "guest", "full", "first",
        "last", "given", "family",
    }
)  # fmt: skip
"""Programs have these too: a name behind them has to look like one."""
_NOTHING = frozenset(
    {"none", "null", "nil", "na", "unknown", "undefined", "true", "false", "ok", "yes", "no", "off", "on"}
)
FEWEST_DIGITS_OF_A_DATE = 4
_CAPITALISED = re.compile(r"[^\W\d_a-zß-öø-ÿ](?:[^\W\d_A-ZÀ-Þ]+|\.)")
_ACCOUNT = re.compile(r"[A-Za-z][\w.-]{2,40}")
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
        end = _end(text, field)
        kind = _kind(field, text[field.start : end])
        if kind is not None:
            yield Span(field.start, end, kind, SURE, BY)


def _end(text: str, field: LogField) -> int:
    """Of a value; a name that is not quoted goes on as long as its words have capitals."""
    if field.is_quoted or words(field.key) not in _DOERS | _ROLES or not text[field.start].isupper():
        return field.end
    more = _GOES_ON.match(text, field.end)
    return field.end if more is None else more.end()


def _kind(field: LogField, value: str) -> str | None:
    key = words(field.key)
    if value.strip(" ./-").lower() in _NOTHING:
        return None
    if _is_of_a_person(key) and _PLAIN_NAME.fullmatch(value) and _may_be_named(key, field, value):
        return "person"
    if key == "name" and field.is_quoted and _is_full_name(value):
        return "person"
    if key in _DOERS and _is_somebody(key, value):
        return "person"
    return _hinted_kind(key, field, value)


def _is_somebody(key: str, value: str) -> bool:
    """Several words with capitals, one of them known as a name, or one word that is none of everyday."""
    said = value.partition(" <")[0].split()
    if len(said) > 1:
        return all(_CAPITALISED.fullmatch(word) or word.isupper() for word in said) and any(
            lexicon().kinds(word) & NAME for word in said
        )
    parts = [part for part in re.split(r"[\W\d_]+", value) if len(part) > 1]
    if not parts or not _ACCOUNT.fullmatch(value) or any(map(_is_a_word, parts)):
        return False
    return key not in _OF_THINGS or any(lexicon().kinds(part) & NAME for part in parts)


def _hinted_kind(key: str, field: LogField, value: str) -> str | None:
    if key in _TOWNS and field.is_quoted and _CAPITALISED.match(value):
        return "place"
    if key in _DEGREES and _FINE.fullmatch(value):
        return "gps"
    for recogniser in _hinted(key):
        if recogniser.key in _PERSONAL:
            if _tells(recogniser.key, value):
                return recogniser.type
        elif any(map(str.isdigit, value)) and re.fullmatch(recogniser.pattern, value.upper()):
            return recogniser.type
    return None


def _tells(key: str, value: str) -> bool:
    if key == "birth_date":
        return sum(map(str.isdigit, value)) >= FEWEST_DIGITS_OF_A_DATE
    if key == "address":
        return " " in value
    return any(map(str.isalpha, value))


def _may_be_named(key: str, field: LogField, value: str) -> bool:
    if _ALSO_OF_MACHINES.isdisjoint(key.split()):
        return field.is_quoted or not _is_a_word(value)
    said = value.split()
    return not all(map(_is_a_word, said)) and (value[0].isupper() or any(lexicon().kinds(word) & NAME for word in said))


def _is_of_a_person(key: str) -> bool:
    said = key.split()
    if said[-1] in ("name", "surname", "firstname", "lastname", "fullname"):
        return said[-1] != "name" or any(word in _PEOPLE for word in said)
    return len(said) == 1 and said[0] in _ROLES


def _is_full_name(value: str) -> bool:
    """Several words, each with a capital, of which one at least is no everyday word."""
    said = value.split()
    return len(said) > 1 and all(map(_CAPITALISED.fullmatch, said)) and not all(map(_is_a_word, said))


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
