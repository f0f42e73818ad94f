"""What a word on no list looks like: a made-up name of a firm, or a person's name.

Firms join everyday words ("Brightwater") or end in a way that firms like ("Zanderly", "Novasoft"). Persons' names begin
and end as other names do: how much more often than everyday words, counted over the lists, is a naive Bayes estimate of
the first and the last three letters.

>>> looks_made("brightwater"), looks_made("monjeau")
(True, False)
>>> looks_like_a_name("monjeau"), looks_like_a_name("goodroot")
(True, False)
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache, lru_cache
from math import log

from shoal.text.gazetteers import NAME, Kind, lexicon, words_in

NAME_LIKE = 2.0
"""The logarithm of how much likelier a name is than an everyday word."""
SHORTEST_PART = 3
_MADE = re.compile(
    r"(?:^(?:analytics|semantics|robotics|genomics|bionics)|..(?:ly|ify|ofy|ix|ex|iq|ium|soft|tech|tek|tec|ware|net|pay|bank|corp|com|hub|labs?|data|cloud|link|works|trak|sphere"
    r"|sys|tron|onics?|logic|logix|graph|media|mart|shop|airlines?|fund|pharma|scope|networks?|analytics|lytics|metrics|semantics|solutions|systems|dynamics|robotics|genomics|ventures"
    r"|osity|stack|wave|grid|forge|wallet|fax))$"
)


@lru_cache(maxsize=1 << 14)
def looks_made(key: str) -> bool:
    """Whether a folded word is made of two everyday words, or ends as names of firms do."""
    plain = _plain()
    parts = range(SHORTEST_PART, len(key) - SHORTEST_PART + 1)
    return _MADE.search(key) is not None or any(key[:cut] in plain and key[cut:] in plain for cut in parts)


@lru_cache(maxsize=1 << 14)
def is_double_surname(key: str) -> bool:
    """Two surnames with a hyphen, as firms are called after their founders; not "jean-pierre"."""
    first, hyphen, second = key.partition("-")
    entries = lexicon().entries
    kinds = entries.get(first, 0), entries.get(second, 0)
    return bool(hyphen) and all(kind & Kind.FAMILY for kind in kinds) and not all(kind & Kind.GIVEN for kind in kinds)


@lru_cache(maxsize=1 << 14)
def looks_like_a_name(key: str) -> bool:
    return not looks_made(key) and likelihood(key) >= NAME_LIKE


def likelihood(key: str) -> float:
    total = 0.0
    for (names, plain, share), part in zip(_edges(), (key[:3], key[-3:]), strict=True):
        total += log((names[part] + 0.5) / (plain[part] + 0.5)) + share
    return total


@cache
def _plain() -> frozenset[str]:
    return frozenset(word for word in words_in("everyday") + words_in("common") if len(word) >= SHORTEST_PART)


@cache
def _edges() -> tuple[tuple[Counter[str], Counter[str], float], ...]:
    """How often three letters begin and end names and everyday words, and the share of these."""
    entries = lexicon().entries
    names = [word for word, kinds in entries.items() if kinds & NAME and not kinds & Kind.COMMON and len(word) > 3]
    plain = [word for word, kinds in entries.items() if kinds == Kind.COMMON and len(word) > 3]
    share = log((len(plain) + 1) / (len(names) + 1))
    return tuple(
        (Counter([word[part] for word in names]), Counter([word[part] for word in plain]), share)
        for part in (slice(None, 3), slice(-3, None))
    )
