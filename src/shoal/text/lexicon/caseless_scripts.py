"""Names and places in scripts that have no capitals, by list: one Aho-Corasick pass over the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING
from unicodedata import category

from shoal.text.lexicon.gazetteers import NAME, PLACE, LexiconKind, lexicon, words_in
from shoal.text.lexicon.kept_tables import kept_json
from shoal.text.lexicon.sentence_context import stands_apart
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

BY = "lists"
PLACED = 0.75
NAMED = 0.7
ALONE = 0.55
"""For a name of a script without spaces, which could be part of another word."""
TITLED = 0.9


def find_in_caseless_scripts(text: str) -> Iterator[Span]:
    """Names and places in scripts that have no capitals; a name next to a name, or next to a title, is one person."""
    signs = set(text)
    if not any(map(has_no_case, signs)):
        return
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
    for match in _honoured().finditer(text) if any(map(_may_be_honoured, signs)) else ():
        if (
            lexicon().kinds(match.group(1)[0]) & LexiconKind.FAMILY
            or lexicon().kinds(match.group(1)[:2]) & LexiconKind.FAMILY
        ):
            yield Span(match.start(1), match.end(1), "person", TITLED, BY)


def has_no_case(sign: str) -> bool:
    """With such a sign every name and every place begins that is looked for here."""
    return sign > "\u02ba" and sign.upper() == sign and (sign.isalpha() or sign == "‘" or category(sign)[0] == "M")


_NEXT_WORDS = re.compile(r"\.? (?:[^\W\d_]|[\u0900-\u0dff]){2,}")


@cache
def _honoured() -> re.Pattern[str]:
    """A name in Han characters or Hangul before a word of respect: a family name has to open it."""
    respect = "|".join(word for word in words_in("honorifics") if _spaceless(word[0]))
    return re.compile(rf"([\u4e00-\u9fff]{{2,4}}|[가-힣]{{2,4}}) ?(?:{respect})")


def _may_be_honoured(sign: str) -> bool:
    """Whether a name can begin with it that a word of respect follows."""
    return "\u4e00" <= sign <= "\u9fff" or "가" <= sign <= "힣"


def _judged(text: str, start: int, end: int, kinds: int, parts: int) -> Iterator[Span]:
    if kinds & PLACE and not kinds & NAME:
        yield Span(start, end, "place", PLACED, BY)
        return
    honoured = text.startswith(words_in("honorifics"), end) or text.startswith(words_in("honorifics"), end + 1)
    if kinds & LexiconKind.TITLE:
        following = None if parts > 1 or _spaceless(text[start]) else _NEXT_WORDS.match(text, end)
        if parts > 1 or following is not None:
            yield Span(start, end if following is None else following.end(), "person", TITLED, BY)
        return
    if _spaceless(text[start]):
        if end - start > 1 or honoured:
            yield Span(start, end, "person", TITLED if honoured else min(TITLED, ALONE + 0.1 * (parts - 1)), BY)
        return
    score = 0.85 if parts > 1 or honoured else NAMED if end - start > 3 else ALONE
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

    chosen = kept_json("caseless_scripts", _in_caseless_scripts)
    return AhoCorasick(list(chosen), matchkind=MatchKind.LeftmostLongest), list(chosen.values())


def _in_caseless_scripts() -> dict[str, int]:
    chosen = {
        phrase: kinds
        for phrase, kinds in lexicon().entries.items()
        if kinds & (NAME | PLACE | LexiconKind.TITLE) and not phrase[0].isascii() and phrase[0].upper() == phrase[0]
    }
    return {
        phrase: kinds
        for phrase, kinds in chosen.items()
        if len(phrase) > 1 or (_spaceless(phrase[0]) and kinds & LexiconKind.FAMILY)
    }
