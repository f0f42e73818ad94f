"""Names that are nobody's: planets, products, laws of nature, labels of forms, identifiers of programs.

They look like names of people and places, and often are some as well: Venus is a given name, Toyota a city. So they
are let go only where nothing but the word itself spoke for somebody: a title, a second name or an address around it
still counts.
"""

from __future__ import annotations

import re
from functools import cache

from shoal.text.lexicon.gazetteers import NAME, lexicon, sections_in
from shoal.text.spans import Span

NAMING = frozenset({"person", "place", "organisation"})
BY = frozenset({"names", "places", "organisations"})
SURE = 0.75
"""From this score on more than the word speaks for somebody."""
_LAW = re.compile(
    r"['’]s? (?:(?:first|second|third|last|famous) )?"
    r"(?:laws?|theorem|equations?|constant|principle|method|theory|formula|paradox|syndrome|disease)\b"
)
_IDENTIFIER = re.compile(
    r"(?!(?:Mc|Mac|De|Di|La|Le|Van|Fitz|Du|Al|El|O['’])[A-Z])\w*(?:[a-z]{2,}[A-Z]|[A-Z]{2,}[a-z]{2,})\w*"
)
_HUMP = re.compile(r"[A-Z][a-z]{2,}")
_MEASURED = re.compile(r"[\d.,]+ ?[x×] ?[\d.,]+(?: ?[x×] ?[\d.,]+)?")
_ORDINALS = "ºª"
"""They make a word an abbreviation for a number: ``NºCol``."""


def is_impersonal(text: str, span: Span) -> bool:
    if span.type == "address":
        return _MEASURED.fullmatch(text, span.start, span.end) is not None
    if span.type not in NAMING or span.by not in BY:
        return False
    word = text[span.start : span.end]
    if _LAW.match(text, span.end):
        return True
    if span.score >= SURE or " " in word:
        return False
    if span.type != "organisation" and _is_identifier(text, span, word):
        return True
    return word in _things() or any(sign in word for sign in _ORDINALS)


def _is_identifier(text: str, span: Span, word: str) -> bool:
    """Whether words are written together as programs do; names that people write together are of accounts."""
    if _IDENTIFIER.fullmatch(word) is None or text[span.start - 1 : span.start] in ("@", "#"):
        return False
    return not any(lexicon().kinds(part) & NAME for part in _HUMP.findall(word))


@cache
def _things() -> frozenset[str]:
    return frozenset(word for words in sections_in("things").values() for word in words)
