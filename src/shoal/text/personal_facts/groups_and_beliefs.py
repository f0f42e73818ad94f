"""Peoples, nationalities, beliefs and political groups, as somebody is said to be of them.

The lists hold what is usual. Of a country that they don't know the people are called after it by an ending: whoever is
from Belize is "Belizean" or, by a slip, "belizian". Whose dish, coin or language it is says nothing of anybody.
"""

from __future__ import annotations

from collections.abc import Iterator

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.gazetteers import NAME, PLACE, LexiconKind, folded, lexicon, sections_in, words_in
from shoal.text.lexicon.sentence_context import PhraseHit, either
from shoal.text.spans import Span

BY = "lists"
GROUP, BELIEF = 0.8, 0.85
SHORTEST = 3
SHORTEST_STEM = 4

_LISTS = sections_in("peoples")
_MEMBER = lazy_pattern(r" (?:nationals?|citizens?|nationality|citizenship|origin|descent)\b")
_NOBODY = lazy_pattern(rf"[ -](?:{either(_LISTS['of nobody'])})(?!\w)")
_OF_ALL = lazy_pattern(r"(?:[‑-]era)? (?:church|regime|era)\b")
_OF_A_TONGUE = lazy_pattern(rf"\b(?:{either(_LISTS['before a tongue'])}) $")
_SPOKEN = lazy_pattern(rf"\b(?:{either(_LISTS['before a tongue for sure'])})(?: in| into)? $")
_NO_PEOPLE_AFTER = lazy_pattern(rf" (?:{either(_LISTS['after what is done'])})(?!\w)")
_NO_PEOPLE_BEFORE = lazy_pattern(rf"\b(?:{either(_LISTS['before what is done'])}) $")
_WITH_A_CAPITAL = frozenset(_LISTS["never in small letters"])
_WORDS_TOO = frozenset(_LISTS["in small letters too"])
_IN_A_NAME = lazy_pattern(r"[^\W\d_]-$")
_TO_SOMEBODY = lazy_pattern(rf"(?:^|\b(?:{either(_LISTS['before somebody'])}) )$")
_OF_A_COUNTRY = lazy_pattern(r"([^\W\d_]+) \($")
_ENDS = lazy_pattern(r"[,.;:!?]|\s*(?:$|\n)| (?:and|or|who|is|was|has|had|yesterday|today|will|said|says)\b")


def people(hit: PhraseHit) -> Span | None:
    """A people, unless its name only says whose dish it is; whose Government it is tells where somebody is from."""
    if _NOBODY.match(hit.small, hit.end) or _is_other_word(hit) or _is_name(hit) or _is_variety(hit):
        return None
    before = hit.small[max(0, hit.start - 24) : hit.start]
    if (
        _SPOKEN.search(before)
        or _TONGUE.match(hit.small, hit.end)
        or (_OF_A_TONGUE.search(before) and _ENDS.match(hit.small, hit.end))
    ):
        return None
    member = _MEMBER.match(hit.small, hit.end)
    return hit.span("group", GROUP, BY, end=member.end() if member else None)


def belief(hit: PhraseHit) -> Span | None:
    return None if _OF_ALL.match(hit.small, hit.end) or _is_name(hit) else hit.span("belief", BELIEF, BY)


_TONGUE = lazy_pattern(
    r" (?:is|was) (?:hard|easy|difficult|spoken|taught|not spoken|a language|my (?:first|second|native|mother))\b"
)


def nobodys(_: PhraseHit) -> None:
    """A name that begins like a people's and says nothing of anybody: "European Union"."""


def party(hit: PhraseHit) -> Span | None:
    """A party by its name: with a capital, as "the green party dress" is no party's."""
    return hit.span("belief", BELIEF, BY) if hit.text[hit.start].isupper() else None


def _is_other_word(hit: PhraseHit) -> bool:
    """ "Polish the table", "ten poles": a people's name in small letters, where it is another word."""
    if hit.text[hit.start].isupper():
        return False
    if hit.phrase not in _WORDS_TOO:
        return hit.phrase in _WITH_A_CAPITAL
    before = hit.small[max(0, hit.start - 16) : hit.start]
    return bool(not before.strip() or _NO_PEOPLE_AFTER.match(hit.small, hit.end) or _NO_PEOPLE_BEFORE.search(before))


def _is_variety(hit: PhraseHit) -> bool:
    """ "Switzerland (French)": one of a country's languages, as forms list them."""
    country = _OF_A_COUNTRY.search(hit.small[max(0, hit.start - 24) : hit.start])
    if country is None or hit.small[hit.end : hit.end + 1] != ")":
        return False
    return bool(lexicon().entries.get(country[1], 0) & LexiconKind.COUNTRY)


def _is_name(hit: PhraseHit) -> bool:
    """ "Myers-Christian", "ask Finn", "Dawn French": a name, as the word before says."""
    text, start, end = hit.text, hit.start, hit.end
    if not text[start].isupper():
        return False
    before = text[max(0, start - 16) : start]
    if _after_a_given_name(before) and _ENDS.match(hit.small, end):
        return True
    if not lexicon().entries.get(folded(hit.phrase), 0) & NAME:
        return False
    if _IN_A_NAME.search(before):
        return before[:-1].split()[-1][0].isupper()
    line = before.rsplit("\n", 1)[-1]
    if not line.strip():
        return "\n" in text and text[end : end + 1] in ("", "\n", "\r")
    return _TO_SOMEBODY.search(line.lower()) is not None and _ENDS.match(hit.small, end) is not None


def _after_a_given_name(before: str) -> bool:
    words = before.split()
    if not words or before[-1] != " " or not words[-1][0].isupper():
        return False
    return (
        lexicon().entries.get(folded(words[-1]), 0)
        & (LexiconKind.GIVEN | LexiconKind.COMMON | PLACE | LexiconKind.PEOPLE)
        == LexiconKind.GIVEN
    )


def named_after_countries() -> Iterator[str]:
    """What the people of a country may be called, by the endings that English has for it."""
    entries = lexicon().entries
    for country in lexicon().of_kind(LexiconKind.COUNTRY):
        stem = country.rstrip("aeiouy")
        if len(stem) < SHORTEST_STEM or not country.isascii() or not country.replace(" ", "").isalpha():
            continue
        for ending in _LISTS["endings"]:
            if (made := f"{stem}{ending}") not in entries:
                yield made


def plurals_of(file: str) -> Iterator[str]:
    """More than one of a people or a belief."""
    for word in words_in(file):
        if word.isascii() and not word.endswith(("s", "sh", "ch", "ese", "ic", "y", "man", "x", "ism")):
            yield f"{word}s"
