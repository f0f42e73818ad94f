"""What is known by list alone, in any case and any script: peoples, beliefs, occupations; names and places of scripts
without capitals. One Aho-Corasick pass (Aho, Corasick 1975) over the text in small letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.gazetteers import NAME, PLACE, Kind, in_small_letters, lexicon, sections_in, words_in
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

BY = "lists"
SCORES = {"group": 0.8, "belief": 0.85, "occupation": 0.6, "place": 0.75, "person": 0.7}
ALONE = 0.55
"""For a name of a script without spaces, which could be part of another word."""
SHORTEST = 3
TITLED = 0.9
_PERHAPS_A_WORD = Kind.COMMON | Kind.GENERIC


def listed(text: str) -> Iterator[Span]:
    automaton, types = _automaton()
    small = in_small_letters(text)
    for index, start, end in automaton.find_matches_as_indexes(small):
        if stands_apart(small, start, end):
            type_ = types[index]
            member = _MEMBER.match(small, end) if type_ == "group" else None
            if type_ != "occupation" or _held(small, start):
                yield Span(start, end if member is None else member.end(), type_, SCORES[type_], BY)
    if not text.isascii():
        yield from _in_scripts(text)


def _held(small: str, start: int) -> bool:
    """Whether an occupation is said of somebody: not where "the doctor" or "his lawyer" only acts in the story."""
    before = small[max(0, start - 24) : start].split()
    return not before or before[-1] not in _ACTS


_MEMBER = re.compile(r" (?:nationals?|citizens?|nationality|citizenship|origin|descent)\b")
_ACTS = frozenset(sections_in("context")["before a role"])


@cache
def _automaton() -> tuple[AhoCorasick, list[str]]:
    from ahocorasick_rs import AhoCorasick, MatchKind

    phrases: dict[str, str] = {}
    for file, type_ in (("occupations", "occupation"), ("beliefs", "belief"), ("peoples", "group")):
        for phrase in words_in(file):
            phrases[phrase.lower()] = type_
    for phrase in lexicon().of_kind(Kind.PEOPLE | Kind.BELIEF | Kind.OCCUPATION):
        kinds = lexicon().entries[phrase]
        one_word = " " not in phrase
        if len(phrase) >= SHORTEST and not (
            one_word and kinds & _PERHAPS_A_WORD and not kinds & (Kind.PEOPLE | Kind.BELIEF)
        ):
            type_ = "group" if kinds & Kind.PEOPLE else "belief" if kinds & Kind.BELIEF else "occupation"
            phrases.setdefault(phrase, type_)
    automaton = AhoCorasick(list(phrases), matchkind=MatchKind.LeftmostLongest)
    return automaton, list(phrases.values())


def stands_apart(text: str, start: int, end: int) -> bool:
    """No letter, mark or digit touches it."""
    return not (start and _joins(text[start - 1])) and not (end < len(text) and _joins(text[end]))


def _joins(letter: str) -> bool:
    return letter.isalnum() or letter == "_" or (letter > "\u02ff" and unicodedata.category(letter)[0] == "M")


# --- scripts without capitals -----------------------------------------------------------------------------------------


def _in_scripts(text: str) -> Iterator[Span]:
    """Names and places in scripts that have no capitals; a name next to a name, or next to a title, is one person."""
    automaton, kinds_of = _scripts()
    found: list[list[int]] = []
    for index, start, end in automaton.find_matches_as_indexes(text):
        if not (_spaceless(text[start]) or stands_apart(text, start, end)):
            continue
        kinds = kinds_of[index]
        last = found[-1] if found else None
        if last and not kinds & PLACE and not last[2] & PLACE and text[last[1] : start] in ("", " ", "·", "・"):
            last[1], last[2], last[3] = end, last[2] | kinds, last[3] + 1
        else:
            found.append([start, end, kinds, 1])
    for start, end, kinds, parts in found:
        yield from _judged(text, start, end, kinds, parts)
    for match in _honoured().finditer(text):
        if lexicon().kinds(match.group(1)[0]) & Kind.FAMILY or lexicon().kinds(match.group(1)[:2]) & Kind.FAMILY:
            yield Span(match.start(1), match.end(1), "person", TITLED, BY)


_NEXT_WORDS = re.compile(r"\.? (?:[^\W\d_]|[\u0900-\u0dff]){2,}")


@cache
def _honoured() -> re.Pattern[str]:
    """A name in Han characters or Hangul before a word of respect: a family name has to open it."""
    respect = "|".join(word for word in words_in("honorifics") if _spaceless(word[0]))
    return re.compile(rf"([\u4e00-\u9fff]{{2,4}}|[가-힣]{{2,4}}) ?(?:{respect})")


def _judged(text: str, start: int, end: int, kinds: int, parts: int) -> Iterator[Span]:
    if kinds & PLACE and not kinds & NAME:
        yield Span(start, end, "place", SCORES["place"], BY)
        return
    honoured = text.startswith(words_in("honorifics"), end) or text.startswith(words_in("honorifics"), end + 1)
    if kinds & Kind.TITLE:
        following = None if parts > 1 or _spaceless(text[start]) else _NEXT_WORDS.match(text, end)
        if parts > 1 or following is not None:
            yield Span(start, end if following is None else following.end(), "person", TITLED, BY)
        return
    if _spaceless(text[start]):
        if end - start > 1 or honoured:
            yield Span(start, end, "person", TITLED if honoured else ALONE + 0.1 * (parts - 1), BY)
        return
    score = 0.85 if parts > 1 or honoured else SCORES["person"] if end - start > 3 else ALONE
    yield Span(start, end, "person", score, BY)


def _spaceless(letter: str) -> bool:
    """Scripts that put no space between words: Han, kana, Thai; and Hangul, which joins its particles to a name."""
    return (
        "\u3040" <= letter <= "\u30ff"
        or "\u3400" <= letter <= "\u9fff"
        or "\u0e00" <= letter <= "\u0e7f"
        or "가" <= letter <= "힣"
    )


@cache
def _scripts() -> tuple[AhoCorasick, list[int]]:
    from ahocorasick_rs import AhoCorasick, MatchKind

    chosen = {
        phrase: kinds
        for phrase, kinds in lexicon().entries.items()
        if kinds & (NAME | PLACE | Kind.TITLE) and not phrase[0].isascii() and phrase[0].upper() == phrase[0]
    }
    chosen = {
        phrase: kinds
        for phrase, kinds in chosen.items()
        if len(phrase) > 1 or (_spaceless(phrase[0]) and kinds & Kind.FAMILY)
    }
    return AhoCorasick(list(chosen), matchkind=MatchKind.LeftmostLongest), list(chosen.values())
