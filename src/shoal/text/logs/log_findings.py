"""What of a log is about somebody: what stands in its fields, and of what was found as in prose that which holds here.

Names of classes, loggers and states look like names of people, firms and places, and numbers of blocks like those of
phones. So in a log words are believed only where they are plain words that lists know as names and stand in a sentence,
in quotes or behind a title; bare numbers only behind a word that says what they are. Dates and times are those of the
machine, and so are its handles (``token=0x7f3c``), objects (``key=ApiKey@6d06``), units and versions.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from shoal.discover.recognisers import Recogniser, default_recognisers
from shoal.schema import Role
from shoal.text.lexicon.gazetteers import NAME, LexiconKind, lexicon
from shoal.text.logs.labelled_fields import LogField, fields_in, find_labelled
from shoal.text.logs.network_fields import find_connections, is_a_version
from shoal.text.logs.path_names import find_names_in_paths
from shoal.text.logs.person_records import find_records
from shoal.text.logs.user_fields import ACCOUNTS, find_users
from shoal.text.logs.user_fields import BY as USERS
from shoal.text.spacy_finder import MODELS
from shoal.text.spans import Span

WORD_FINDERS = frozenset(
    {
        "names", "places", "organisations", "addresses", "occupations", "lists", "spoken", "figures", "quantities",
        "references", "health", "standing",
    }
)  # fmt: skip
"""Who goes by words and lists; what any other finder finds is believed."""
FOUND_BY_FIELD = frozenset({"url", "username"})
ADDRESSES = frozenset({"ipv4", "ipv6"})
BY_FORM = frozenset({"email", "mac", "secret", "iban", "unchecked", "query"})
"""Kinds whose form alone is believed."""
NEAR = 32
"""Characters before a number in which a word has to say what it is."""
NAMED = 0.78
"""From this score on a listed name is believed."""
CHECKED = 0.7
SHORTEST_AGAIN, SHORTEST_NAME = 4, 3
_WORD = re.compile(r"[^\W\d_]+")
_PLAIN = re.compile(r"[^\W\d_a-zß-öø-ÿ][^\W\d_A-ZÀ-Þ]+|[A-Z]\.?")
_PART_OF_A_NAME = "_$/\\@#"
_OF_A_MACHINE = frozenset(
    {
        "address", "author", "auto", "call", "cms", "coin", "desk", "device", "discover", "dm", "election", "expir",
        "extension", "fin", "follow", "handle", "ic", "line", "mac", "ni", "nic", "payment", "reach", "reg",
        "registration", "rfc", "ring", "run", "serial", "sim", "tagged", "text", "uid", "url", "user", "van", "vid",
    }
)  # fmt: skip
"""Labels of people's numbers that by themselves are words for things of a program."""
_BETWEEN = frozenset({"no", "nr", "number", "num", "id", "is", "was", "to", "for", "of", "from", "the"})
"""Words between a label and its value."""
_NEAREST_LABEL = 5
"""Letters of a label that is too short to be believed but right beside its value."""
_CLAUSE = re.compile(r"[;,|(){}\[\]<>]")
_HANDLE = re.compile(r"0x[\da-fA-F]+$|[A-Za-z][\w.$]*(?:[{(]|@[\da-f]{5,16}$)")
"""A number of a machine, or an object as a program writes it."""
_LONGER = re.compile(r"\.\d|-[A-Za-z]")
_OF_A_PASSWORD = re.compile(r"(?i:passw|pwd|passphrase|passcode|kennwort|mot de passe|contrase|senha|parola|密)[^,;]*$")
"""Somebody may have made a word their password; tokens and keys are made by machines."""
SHORTEST_KEY = 16
_UNIT = re.compile(r"[\w.-]+@[\w.:-]*\.(?:service|socket|timer|scope|slice|mount|target|device|path)")
_OF_A_CIPHER = re.compile(r"(?i:cipher|\bmac|\bkex|\bpfs|algorithms?|compression)\w*[=: ]+(?:[\w@.,-]+,)?$")
"""Ciphers that a vendor adds carry its name: ``fast-mac@example.org``."""
_NO_SECRET_BEFORE = re.compile(r"\w\((?:\w+:)+$|=(?:\"\"|'') ?$")
"""Before what a module does, as in ``pam_unix(passwd:auth)``, and behind a secret that is empty."""
_LINE_BEGINS = re.compile(r"\n\W*$")
"""What is said of a secret at the end of a line is not said of the line that follows."""
_PAIR_BEHIND = re.compile(r"[:-][\da-fA-F]{2}(?![\da-zA-Z])")
_PAIR_BEFORE = re.compile(r"[\da-fA-F]{2}[:-]$")
_SPEAKS_BEFORE = re.compile(r"(?:^|[\s(])[a-z]{2,} (?:[A-Z][a-z]{0,3}\.? )?$|(?i:\b(?:name|patient|customer): ?)$")
_OF_PEOPLE = re.compile(
    r"(?i:\b(?:user|patient|customer|client|member|employee|doctor|subscriber|applicant|caller|guest|tenant|holder"
    r"|assigned to|reminder for|mail(?:ed)? to) )$"
)
"""What comes before somebody and nothing else; one of their names may be on no list."""
_SPEAKS_BEHIND = re.compile(r"(?:['’]s)? [a-z]{2,}(?![\w=:./(-])")
_RUNS_ON = re.compile(r" [A-Z0-9]|[=:]\S")
QUOTED = 0.9
"""From this score on a title or quotes speak for a name."""


def log_findings(text: str, found: Iterable[Span]) -> list[Span]:
    """What is to be believed of a log: of what finders found there, and what its fields tell."""
    fields = list(fields_in(text))
    kept = [held for span in found if _holds(text, held := _before_next_key(text, span, fields))]
    users = [user for user in find_users(text) if not any(_is_part(user, name) for name in kept)]
    told = [*users, *find_connections(text), *find_labelled(text, fields), *find_names_in_paths(text)]
    return [*kept, *told, *find_records(text), *_again(text, told)]


def _is_part(user: Span, name: Span) -> bool:
    """Whether the user is called by more than the one word: ``User Asha Rao``."""
    return name.type == "person" and name.start <= user.start and user.end <= name.end and user.length < name.length


def _before_next_key(text: str, span: Span, fields: Sequence[LogField]) -> Span:
    """The span up to the next key, which begins something else: ``00 mac=00:…`` is no date."""
    place = bisect_right(fields, span.start, key=lambda field: field.key_start)
    following = fields[place].key_start if place < len(fields) else span.end
    if following < span.end and text[following - 1].isspace():
        return span._replace(end=following - 1)
    return span


def _holds(text: str, span: Span) -> bool:
    if span.type in ADDRESSES:
        return not _is_counted_up(text, span)
    if span.type in BY_FORM:
        return not _is_of_the_system(text, span)
    if span.by in WORD_FINDERS or span.by in MODELS:
        return span.type == "person" and _is_a_name(text, span)
    recogniser = _recognisers().get(span.by)
    return recogniser is None or _is_known_by(recogniser, text, span)


def _is_known_by(recogniser: Recogniser, text: str, span: Span) -> bool:
    """Whether what has the form of a kind is of it: a word says so, or letters among its digits."""
    if recogniser.role is not Role.DIRECT or span.type in FOUND_BY_FIELD:
        return False
    value = text[span.start : span.end]
    if value.startswith("+"):
        return True
    if _goes_on(text, span):
        return False
    if _is_labelled(text, span, recogniser):
        return True
    mixed = value.isalnum() and not (value.isalpha() or value.isdigit())
    return mixed and span.type != "phone" and span.score >= CHECKED


@cache
def _recognisers() -> dict[str, Recogniser]:
    return {one.key: one for one in default_recognisers()}


def _is_a_name(text: str, span: Span) -> bool:
    """Two plain words or more, of which one is a listed name and none is an everyday word."""
    if span.score < NAMED or _goes_on(text, span):
        return False
    said = text[span.start : span.end].split()
    if not all(_PLAIN.fullmatch(word) for word in said):
        return False
    introduced = _OF_PEOPLE.search(text, max(0, span.start - NEAR), span.start) is not None
    if span.score < QUOTED and not introduced and not _is_in_a_sentence(text, span):
        return False
    kinds = [lexicon().kinds(word) for word in said if len(word) >= SHORTEST_NAME]
    if any(kind & LexiconKind.COMMON and not kind & LexiconKind.GIVEN for kind in kinds):
        return False
    return len(kinds) > 1 and (any if introduced else all)(kind & NAME for kind in kinds)


def _is_in_a_sentence(text: str, span: Span) -> bool:
    """Whether a small word stands beside it, and no more capitals or numbers behind; or quotes, brackets around it."""
    if text[span.start - 1 : span.start] + text[span.end : span.end + 1] in ('""', "''", "()"):
        return True
    if _RUNS_ON.match(text, span.end):
        return False
    before = text[max(0, span.start - NEAR) : span.start].rpartition("\n")[2]
    return _SPEAKS_BEHIND.match(text, span.end) is not None or _SPEAKS_BEFORE.search(before) is not None


def _goes_on(text: str, span: Span) -> bool:
    """Whether it is a piece of a longer identifier."""
    before, behind = text[span.start - 1 : span.start], text[span.end : span.end + 1]
    return bool((before and before in _PART_OF_A_NAME + "-.") or (behind and behind in _PART_OF_A_NAME + "(-")) or (
        behind in (".", ":") and text[span.end + 1 : span.end + 2].isalnum()
    )


def _is_counted_up(text: str, span: Span) -> bool:
    """Whether what looks like an address is part of a longer number or name: an object identifier, ``Login::106``."""
    before, behind = text[max(0, span.start - 2) : span.start], text[span.end : span.end + 2]
    if before[-1:].isalnum() or before[-1:] in ("~", "+") or (before[-1:] == "." and before[:1].isalnum()):
        return True
    if before[-1:] == "-" and before[:1].isalpha():
        return True
    if span.type == "ipv6" and (not text[span.start : span.end].strip("0:") or _is_among_bytes(text, span)):
        return True
    return span.type == "ipv4" and (is_a_version(text, span.start, span.end) or bool(_LONGER.match(behind)))


def _is_among_bytes(text: str, span: Span) -> bool:
    """Whether more pairs of digits stand before it or behind it than an address has."""
    return bool(_PAIR_BEHIND.match(text, span.end) or _PAIR_BEFORE.search(text, max(0, span.start - 3), span.start))


def _is_of_the_system(text: str, span: Span) -> bool:
    """A unit, a cipher, a longer row of bytes; a secret that lets nobody in."""
    if span.type == "email":
        before = text[max(0, span.start - NEAR) : span.start]
        return bool(_UNIT.fullmatch(text, span.start, span.end) or _OF_A_CIPHER.search(before))
    if span.type == "mac":
        return _is_among_bytes(text, span)
    return span.type == "secret" and _lets_nobody_in(text, span)


def _lets_nobody_in(text: str, span: Span) -> bool:
    """A handle, an object, the next key; ``PWD=/srv/shop`` tells where somebody works, not by what they are let in."""
    value, before = text[span.start : span.end], text[max(0, span.start - NEAR) : span.start]
    if value.startswith("/") and before.endswith(("PWD=", "pwd=")):
        return True
    if _NO_SECRET_BEFORE.search(before) or _HANDLE.match(value) or _LINE_BEGINS.search(before):
        return True
    if span.length < SHORTEST_KEY and not _OF_A_PASSWORD.search(before):
        return value.isalpha() or (value.isdigit() and "session" in before.lower())
    return False


def _is_labelled(text: str, span: Span, recogniser: Recogniser) -> bool:
    """Whether a word in its line says what it is: near it, or right beside it if it is an everyday or a short one."""
    before = _WORD.findall(text[max(0, span.start - NEAR) : span.start].rpartition("\n")[2].lower())
    behind = _WORD.findall(text[span.end : span.end + NEAR // 2].partition("\n")[0].lower())
    near = f" {' '.join(before + behind)} "
    said = [label for label in _labels()[recogniser.key] if f" {label} " in near and label not in _OF_A_MACHINE]
    if any(map(_says_enough, said)):
        return True
    clause = _CLAUSE.split(text[max(0, span.start - NEAR) : span.start].rpartition("\n")[2].lower())[-1]
    told = _WORD.findall(clause)
    while told and told[-1] in _BETWEEN and told[-1] not in said:
        told.pop()
    beside = f" {' '.join(told)}", f"{' '.join(behind)} "
    return any(beside[0].endswith(f" {label}") or beside[1].startswith(f"{label} ") for label in said)


def _says_enough(label: str) -> bool:
    return " " in label or (len(label) > _NEAREST_LABEL and not lexicon().kinds(label) & LexiconKind.COMMON)


@cache
def _labels() -> dict[str, frozenset[str]]:
    """What the values of each recogniser are called, by its key."""
    labels = {}
    for one in default_recognisers():
        in_text = one.text.after + one.text.context if one.text else ()
        called = (" ".join(_WORD.findall(word.lower())) for word in (*one.names, *one.called, *in_text))
        labels[one.key] = frozenset(filter(None, called))
    return labels


def _is_everyday(name: str) -> bool:
    return name not in ACCOUNTS and bool(lexicon().kinds(name) & LexiconKind.COMMON)


def _again(text: str, told: Sequence[Span]) -> Iterator[Span]:
    """A user's name where it stands in its line again."""
    for span in told:
        if span.by != USERS or span.length < SHORTEST_AGAIN:
            continue
        name = text[span.start : span.end]
        first, last = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
        line = text[first : last if last >= 0 else len(text)]
        if line.count(name) > 1 and name.isidentifier() and not _is_everyday(name):
            for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line):
                yield Span(first + match.start(), first + match.end(), "username", CHECKED, USERS)
