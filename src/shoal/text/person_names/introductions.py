"""Persons' names after words that introduce them, in any case: "my name is asha rao", "Regards, Asha", "@Asha"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.lexicon.capitalised_runs import UPPER
from shoal.text.lexicon.gazetteers import NAME, PLACE, SIZES, LexiconKind, folded, in_small_letters, lexicon
from shoal.text.lexicon.word_shapes import is_double_surname, looks_coined, looks_like_a_name
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

BY = "names"
INTRODUCED = 0.9
CALLED_UPON = 0.62
TOLD_OF = 0.7
"""Surer than that a word on no list is a firm."""
_INTRODUCTIONS = (
    "my name is,name is,name's,i am,i'm,this is,call me,calls me,name:,patient:,customer:,contact:,attn,attn:,signed,"
    "je m'appelle,mon nom est,ich heiße,mein name ist,me llamo,mi nombre es,mi chiamo,meu nome é,nama saya,mera naam,"
    "en peyar,regards,,sincerely,,dear,hi,hello,hey,next of kin:,next of kin is,guardian:,nominee:,spouse:,"
    "father's name:,mother's name:,husband's name:,wife's name:,son of,daughter of,s/o,d/o,w/o"
)
_SMALL = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_AT_NAME = re.compile(r"(?<![\w@.])@([^\W\d_]{3,})(?![\w@-]|\.\w)")


def introduced(text: str) -> Iterator[Span]:
    """Names after words that introduce them, in any case: "my name is asha rao"."""
    entries = lexicon().entries
    small = in_small_letters(text)
    for _, begin, past in _introductions().find_matches_as_indexes(small):
        start = _after_a_gap(text, past)
        if start == past or (begin and (small[begin - 1].isalnum() or small[begin - 1] in "'’-")):
            continue
        end = start
        count = 0
        signed = small[begin:past] in ("regards", "sincerely", "signed")
        while count < 4:
            word = _SMALL.match(text, end + (1 if count else 0))
            if word is None or (count and text[end] != " "):
                break
            key = folded(word.group())
            kinds = entries.get(key, 0)
            known = kinds & NAME and not kinds & (LexiconKind.COMMON | LexiconKind.PEOPLE)
            if not known and not (word.group()[0].isupper() and not kinds & ~PLACE & ~NAME & ~SIZES):
                break
            if signed and ((not kinds and looks_coined(key)) or (not count and is_double_surname(key))):
                yield Span(word.start(), word.end(), "organisation", INTRODUCED, BY)
                count = 0
                break
            end = word.end()
            count += 1
        if count:
            yield Span(start, end, "person", INTRODUCED, BY)


def _after_a_gap(text: str, place: int) -> int:
    """Past spaces, a comma and line ends; the same place if none is there."""
    if place < len(text) and text[place] == ",":
        place += 1
    while place < len(text) and text[place] in " \t\n":
        place += 1
    return place


@cache
def _introductions() -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, MatchKind

    return AhoCorasick([phrase for phrase in _INTRODUCTIONS.split(",") if phrase], matchkind=MatchKind.LeftmostLongest)


def told_of(text: str) -> Iterator[Span]:
    """ "brought in by Dattatray, who lives nearby": of firms one says "which"."""
    entries = lexicon().entries
    comma = text.find(", who")
    while comma >= 0:
        name = _BEFORE_WHO.search(text[max(0, comma - 48) : comma])
        if name is not None and _WHO.match(text, comma):
            words = [folded(word) for word in name.group().split(" ")]
            if not any(entries.get(word, 0) & ~NAME for word in words) and not any(map(looks_coined, words)):
                yield Span(comma - len(name.group()), comma, "person", TOLD_OF, BY)
        comma = text.find(", who", comma + 1)


_BEFORE_WHO = re.compile(rf"(?<=[a-z,;:] )[{UPPER}][^\W\d_]{{2,}}(?: [{UPPER}][^\W\d_]{{2,}}){{0,2}}$")
_WHO = re.compile(r", who(?:se|m)?\b")


def called_upon(text: str) -> Iterator[Span]:
    """ "@Asha can you look": a given name, not an address or an account."""
    for match in _AT_NAME.finditer(text):
        if lexicon().kinds(match.group(1)) & LexiconKind.GIVEN or looks_like_a_name(folded(match.group(1))):
            yield Span(match.start(1), match.end(1), "person", CALLED_UPON, BY)
