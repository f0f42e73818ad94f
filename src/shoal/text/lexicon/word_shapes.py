"""What a word on no list looks like: a made-up name of a firm, or a person's name.

Firms join everyday words ("Brightwater") or end in a way that firms like ("Zanderly", "Novasoft"). Persons' names begin
and end as other names do: how much more often than everyday words, counted over the lists, is a naive Bayes estimate of
the first and the last three letters.

>>> looks_coined("brightwater"), looks_coined("monjeau")
(True, False)
>>> looks_like_a_name("monjeau"), looks_like_a_name("goodroot")
(True, False)
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from math import log

from shoal.text.lexicon.gazetteers import NAME, LexiconKind, lexicon, words_in
from shoal.text.lexicon.kept_tables import kept_json, kept_words
from shoal.text.scoped_cache import cached_in_scope

NAME_LIKE = 2.0
"""The logarithm of how much likelier a name is than an everyday word."""
SHORTEST_PART = 3
_MADE = re.compile(
    r"(?:^(?:analytics|semantics|robotics|genomics|bionics)|..(?:ly|ify|ofy|ix|ex|iq|ium|soft|tech|tek|tec|ware|net|pay|bank|corp|com|hub|labs?|data|cloud|link|works|trak|sphere"
    r"|sys|tron|onics?|logic|logix|graph|media|mart|shop|airlines?|fund|pharma|scope|networks?|analytics|lytics|metrics|semantics|solutions|systems|dynamics|robotics|genomics|ventures"
    r"|osity|stack|wave|grid|forge|wallet|fax))$"
)


@cached_in_scope(most=1 << 14)
def looks_coined(key: str) -> bool:
    """Whether a folded word is made of two everyday words, or ends as names of firms do."""
    plain, longest = _plain()
    parts = range(max(SHORTEST_PART, len(key) - longest), min(longest, len(key) - SHORTEST_PART) + 1)
    return _MADE.search(key) is not None or any(key[:cut] in plain and key[cut:] in plain for cut in parts)


@cached_in_scope(most=1 << 14)
def is_double_surname(key: str) -> bool:
    """Two surnames with a hyphen, as firms are called after their founders; not "jean-pierre"."""
    first, hyphen, second = key.partition("-")
    if not hyphen:
        return False
    entries = lexicon().entries
    kinds = entries.get(first, 0), entries.get(second, 0)
    given = all(kind & LexiconKind.GIVEN for kind in kinds) and (
        first in _first_of_two() or entries.get(key, 0) & LexiconKind.GIVEN
    )
    return all(kind & LexiconKind.FAMILY for kind in kinds) and not given


@cache
def _first_of_two() -> frozenset[str]:
    """What given names of two parts begin with: "jean", "hans"."""
    names = (name for name in lexicon().of_kind(LexiconKind.GIVEN) if "-" in name)
    return frozenset(kept_words("double_given", lambda: {name.partition("-")[0] for name in names}))


@cached_in_scope(most=1 << 14)
def looks_like_a_name(key: str) -> bool:
    return not looks_coined(key) and likelihood(key) >= NAME_LIKE


_NO_NAME = re.compile(
    r"-(?:based|born|style|area|owned|led|run|bound|backed|listed|made|type|like|wide|only|related|speaking|era|educated)$"
)


def is_no_name(key: str) -> bool:
    """ "london-based", "danish-born": a name is in it, but it says something of what follows."""
    return "-" in key and _NO_NAME.search(key) is not None


@cached_in_scope(most=1 << 12)
def is_adverb(key: str) -> bool:
    """ "luckily", "honestly": an everyday word with an ending, as sentences begin."""
    if key[-2:] != "ly" or len(key) < 6:
        return False
    entries = lexicon().entries
    kinds = entries.get(key, 0)
    stems = (key[:-2], f"{key[:-3]}y", f"{key[:-1]}e", key[:-3])
    return kinds == LexiconKind.COMMON or (
        not kinds and any(entries.get(stem, 0) & LexiconKind.COMMON for stem in stems)
    )


_PREFIX = re.compile(r"(?:re|un|over|under|mis|dis|pre|out|non|anti|inter|super|sub|up)-?(?=\w{3})")
_SUFFIX = re.compile(
    r"(?<=\w{3})(?:ness|ments?|able|ible|less|ful|ity|ities|ations?|ions?|i[sz]e[drs]?|i[sz]ing|ers?|ors?|ists?|ing|ed|ish|ism|ways?)$"
)


@cached_in_scope(most=1 << 13)
def is_derived(key: str) -> bool:
    """ "remind", "approver": on no list, but an everyday word with what English puts before or after it."""
    entries = lexicon().entries
    prefix, suffix = _PREFIX.match(key), _SUFFIX.search(key)
    stems = [] if prefix is None else [key[prefix.end() :]]
    if suffix is not None:
        stem = key[: suffix.start()]
        stems += [stem, f"{stem}e", f"{stem}y", stem[:-1]]
    return is_adverb(key) or any(len(stem) > 2 and entries.get(stem, 0) & LexiconKind.COMMON for stem in stems)


_TOWN = re.compile(
    r"(?<=\w{3})(?:burgh?|ville|stadt?|hausen|heim|kirchen|furt|minster|chester|shire|mouth|haven|town|port|borough|bury|stead"
    r"|thorpe|wick|abad|nagar|puram|grad|polis|hagen|fort|view|land|side|berg|ton|dorf|bach|brück|köping|borg)$"
)
_LEAST_LETTERS = 8


@cached_in_scope(most=1 << 13)
def looks_like_a_town(key: str) -> bool:
    """ "catherinefurt", "wrightshire": ends as towns do, above all behind a person's name."""
    ending = _TOWN.search(key)
    if ending is None:
        return False
    kinds = lexicon().entries.get(key[: ending.start()], 0)
    return bool(kinds & NAME) or (len(key) >= _LEAST_LETTERS and not kinds & LexiconKind.COMMON)


@cached_in_scope(most=1 << 13)
def is_called_after_a_person(key: str) -> bool:
    """A town with a person's name in it: "adrianmouth"."""
    ending = _TOWN.search(key)
    return ending is not None and bool(lexicon().entries.get(key[: ending.start()], 0) & NAME)


def likelihood(key: str) -> float:
    total = 0.0
    for (names, plain, share), part in zip(_edges(), (key[:3], key[-3:]), strict=True):
        total += log((names[part] + 0.5) / (plain[part] + 0.5)) + share
    return total


@cache
def _plain() -> tuple[frozenset[str], int]:
    """Everyday words, and the letters of the longest."""
    words = frozenset(word for word in words_in("everyday") + words_in("common") if len(word) >= SHORTEST_PART)
    return words, max(map(len, words))


NameEdges = tuple[Counter[str], Counter[str], float]


@cache
def _edges() -> tuple[NameEdges, ...]:
    """How often three letters begin and end names and everyday words, and the share of these."""
    return tuple((Counter(names), Counter(plain), share) for names, plain, share in kept_json("edges", _counted_edges))


def _counted_edges() -> tuple[NameEdges, ...]:
    entries = lexicon().entries
    names = [
        word for word, kinds in entries.items() if kinds & NAME and not kinds & LexiconKind.COMMON and len(word) > 3
    ]
    plain = [word for word, kinds in entries.items() if kinds == LexiconKind.COMMON and len(word) > 3]
    share = log((len(plain) + 1) / (len(names) + 1))
    return tuple(
        (Counter([word[part] for word in names]), Counter([word[part] for word in plain]), share)
        for part in (slice(None, 3), slice(-3, None))
    )
