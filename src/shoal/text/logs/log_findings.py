"""What of a log is about somebody: what stands in its fields, and of what was found as in prose that which holds here.

Names of classes, loggers and states look like names of people, firms and places, and numbers of blocks like those of
phones. So in a log words are believed only where they are plain words that lists know as names, and bare numbers only
behind a word that says what they are. Dates and times are those of the machine.
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
from shoal.text.logs.network_fields import find_connections
from shoal.text.logs.path_names import find_names_in_paths
from shoal.text.logs.user_fields import BY as USERS
from shoal.text.logs.user_fields import find_users
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


def log_findings(text: str, found: Iterable[Span]) -> list[Span]:
    """What is to be believed of a log: of what finders found there, and what its fields tell."""
    fields = list(fields_in(text))
    kept = [held for span in found if _holds(text, held := _within_field(text, span, fields))]
    told = [*find_users(text), *find_connections(text), *find_labelled(text, fields), *find_names_in_paths(text)]
    return [*kept, *told, *_again(text, told)]


def _within_field(text: str, span: Span, fields: Sequence[LogField]) -> Span:
    """The span up to the end of the field that it begins in, or to the next key: ``phone=98… 200``, ``00 mac=00:…``."""
    place = bisect_right(fields, span.start, key=lambda field: field.key_start)
    end = span.end
    if place and fields[place - 1].start <= span.start < fields[place - 1].end:
        end = min(end, fields[place - 1].end)
    following = fields[place].key_start if place < len(fields) else end
    if following < end and text[following - 1].isspace():
        end = following - 1
    return span if end == span.end else span._replace(end=end)


def _holds(text: str, span: Span) -> bool:
    if span.type in ADDRESSES:
        return not _is_counted_up(text, span)
    if span.type in BY_FORM:
        return not (span.type == "secret" and _is_a_path(text, span))
    if span.by in WORD_FINDERS or span.by in MODELS:
        return span.type == "person" and _is_a_name(text, span)
    recogniser = _recognisers().get(span.by)
    return recogniser is None or _is_known_by(recogniser, text, span)


def _is_known_by(recogniser: Recogniser, text: str, span: Span) -> bool:
    """Whether what has the form of a kind is of it: a word says so, or letters among its digits."""
    if recogniser.role is not Role.DIRECT or span.type in FOUND_BY_FIELD or _goes_on(text, span):
        return False
    value = text[span.start : span.end]
    if value.startswith("+") or _is_labelled(text, span, recogniser):
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
    kinds = [lexicon().kinds(word) for word in said if len(word) >= SHORTEST_NAME]
    if any(kind & LexiconKind.COMMON and not kind & LexiconKind.GIVEN for kind in kinds):
        return False
    return len(kinds) > 1 and all(kind & NAME for kind in kinds)


def _goes_on(text: str, span: Span) -> bool:
    """Whether it is a piece of a longer identifier."""
    before, behind = text[span.start - 1 : span.start], text[span.end : span.end + 1]
    return bool((before and before in _PART_OF_A_NAME + "-.") or (behind and behind in _PART_OF_A_NAME + "(-")) or (
        behind in (".", ":") and text[span.end + 1 : span.end + 2].isalnum()
    )


def _is_counted_up(text: str, span: Span) -> bool:
    """Whether what looks like an address is part of a longer number or name: an object identifier, ``Login::106``."""
    before = text[max(0, span.start - 2) : span.start]
    return before[-1:].isalnum() or (before[-1:] == "." and before[:1].isalnum())


def _is_a_path(text: str, span: Span) -> bool:
    """``PWD=/srv/shop`` tells where somebody works, not by what they are let in."""
    return text[span.start] == "/" and text[: span.start].endswith(("PWD=", "pwd="))


def _is_labelled(text: str, span: Span, recogniser: Recogniser) -> bool:
    """Whether a word beside it, in its line, says what it is."""
    before = text[max(0, span.start - NEAR) : span.start].rpartition("\n")[2]
    behind = text[span.end : span.end + NEAR // 2].partition("\n")[0]
    near = f" {' '.join(_WORD.findall(f'{before} {behind}'.lower()))} "
    return any(f" {word} " in near for word in _labels()[recogniser.key])


@cache
def _labels() -> dict[str, frozenset[str]]:
    """What the values of each recogniser are called, by its key."""
    labels = {}
    for one in default_recognisers():
        in_text = one.text.after + one.text.context if one.text else ()
        called = (" ".join(_WORD.findall(word.lower())) for word in (*one.names, *one.called, *in_text))
        labels[one.key] = frozenset(filter(None, called))
    return labels


def _again(text: str, told: Sequence[Span]) -> Iterator[Span]:
    """A user's name where it stands in its line again."""
    for span in told:
        if span.by != USERS or span.length < SHORTEST_AGAIN:
            continue
        name = text[span.start : span.end]
        first, last = text.rfind("\n", 0, span.start) + 1, text.find("\n", span.end)
        line = text[first : last if last >= 0 else len(text)]
        if line.count(name) > 1 and name.isidentifier() and not lexicon().kinds(name) & LexiconKind.COMMON:
            for match in re.finditer(rf"(?<![\w-]){re.escape(name)}(?![\w-])", line):
                yield Span(first + match.start(), first + match.end(), "username", CHECKED, USERS)
