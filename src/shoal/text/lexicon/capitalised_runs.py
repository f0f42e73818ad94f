"""A text read once for all word finders: runs of capitalised words, what the lists say about each, what stands around.

A run is a stretch like "Dr. Asha Rao of the Bank of India": capitalised words with particles and joining words between
them, on one line, up to the end of the sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.gazetteers import LONGEST_PHRASE, LexiconKind, folded, lexicon, sections_in, words_in
from shoal.text.lexicon.kept_tables import kept_words
from shoal.text.scoped_cache import cached_in_scope


def _ranges(letters: list[int]) -> str:
    """Code points as the inside of a character class."""
    spans: list[list[int]] = []
    for letter in letters:
        if spans and letter == spans[-1][1] + 1:
            spans[-1][1] = letter
        else:
            spans.append([letter, letter])
    return "".join(chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in spans)


UPPER = _ranges([ord(letter) for letter in filter(str.isupper, map(chr, range(0xFFFF)))])
"""All capitals of the first plane, as the inside of a character class."""
LETTER = r"[^\W\d_]"
PARTICLES = sections_in("context")["particles"]
JOINS = ("of", "and", "&", "for", "the", "on", "at")
_ABBREVIATED = sorted(
    {re.escape(title) for title in words_in("titles") if title.isascii() and len(title) < 6}, key=len
)[::-1]
_WORD = (
    rf"(?:[{UPPER}]\.(?:[ -]?[{UPPER}]\.)*|(?:{'|'.join(_ABBREVIATED)}|St|Ste|No|Ltd|Inc|Corp|Co|Pvt|Pte|Jr|Sr)\."
    rf"|(?:[dDlL]['’]|al-|el-)?[{UPPER}](?:{LETTER}|[\u0300-\u036f])*(?:['’\-‑](?!(?:s|S|m|d|t|ll|re|ve)\b){LETTER}+)*"
    rf"(?![\d_])(?:(?<=s)['’](?= [{UPPER}]))?(?!{LETTER}))"
)
_BETWEEN = rf"[ \u00a0]{{1,2}}(?:(?:{'|'.join(map(re.escape, [*PARTICLES, *JOINS]))})[ \u00a0]){{0,3}}"
_STARTS = "".join(sorted({abbreviated[0] for abbreviated in _ABBREVIATED if not abbreviated[0].isupper()}))
_START = (
    rf"[{UPPER}dlae{_STARTS}](?<![\w@][\s\S])"
    rf"(?:(?<=[{UPPER}{_STARTS}])|(?<=[dl])(?=['’][{UPPER}])|(?<=[ae])(?=l-[{UPPER}]))"
)
"""Where a run can begin: one set of letters to skip to, which is much quicker than to try the whole form everywhere."""
_RUN = rf"{_WORD}(?:{_BETWEEN}{_WORD})*"
_WORDS = rf"{_WORD}|[^\s]+"
_LAST_WORDS = re.compile(r"[^\s,;()\"“”?]+")
OPENERS = frozenset('.!?:;\n\r\t"“”„«»()[]{}•*–—|>…‘')


class RunForms(NamedTuple):
    """What runs are found by."""

    start: re.Pattern[str]
    run: re.Pattern[str]
    words: re.Pattern[str]


@cache
def _forms(*, plain: bool) -> RunForms:
    """``plain`` for texts in ASCII."""
    return RunForms(*(lazy_pattern(plain_form(form) if plain else form) for form in (_START, _RUN, _WORDS)))


def plain_form(pattern: str) -> str:
    """The same expression for texts in ASCII, which have few capitals: it is ready sooner, and quicker."""
    return pattern.replace(UPPER, "A-Z")


class RunWord(NamedTuple):
    start: int
    end: int
    text: str
    key: str
    kinds: int
    is_initial: bool
    is_cased: bool
    """Written with a capital, unlike the particles and joining words between."""


class CapitalisedRun(NamedTuple):
    words: tuple[RunWord, ...]
    start: int
    end: int
    opens: bool
    """It begins a sentence, a line or a quotation, where every word has a capital."""
    before: tuple[str, ...]
    """Up to three words before it on the line, in small letters."""
    after: str
    """What follows it on the line, in small letters."""
    alone: bool
    """Nothing else stands on its line."""


def with_capitals(text: str) -> str:
    """A text that has no capitals, with every word capitalised; any other as it is. Places stay."""
    if not text.islower():
        return text
    return _FIRST_LETTERS.sub(_upper, text)


def _upper(match: re.Match[str]) -> str:
    upper = match.group().upper()
    return upper if len(upper) == 1 else match.group()


_FIRST_LETTERS = re.compile(r"(?<![\w'’@./])[^\W\d_]")


def runs_in(text: str) -> Iterator[CapitalisedRun]:
    """All runs but those of one everyday word, which begin a sentence mostly."""
    for start, end in _spans(text):
        read = _read(text[start:end])
        if len(read) == 1 and read[0][2][2] == LexiconKind.COMMON and not text.endswith(_PERHAPS_A_FIRM, 0, start):
            continue
        words = tuple([_word((start + first, start + past, *known)) for first, past, known in read])
        after = text[end : end + 40].split("\n", 1)[0].lower()
        before = _before(text, start)
        alone = not before and (start == 0 or text[start - 1] in "\n\t ") and not after.strip(" ,.")
        yield _run((words, start, end, _opens(text, start), before, after, alone))


_PERHAPS_A_FIRM = (" at ", " from ", " by ", " for ", " with ", " joined ", " join ")
"""After one of these an everyday word with a capital can be a firm."""
_word: Callable[[tuple[int, int, str, str, int, bool, bool]], RunWord] = partial(tuple.__new__, RunWord)
_run: Callable[[tuple[object, ...]], CapitalisedRun] = partial(tuple.__new__, CapitalisedRun)
"""Words and runs are made by the ten thousand: this is the shortest way."""


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Where runs begin and end."""
    forms = _forms(plain=text.isascii())
    begins, run = forms.start.search, forms.run.match
    begin = begins(text)
    while begin is not None:
        found = run(text, begin.start())
        if found is None:
            begin = begins(text, begin.end())
        else:
            yield found.span()
            begin = begins(text, found.end())


Known = tuple[str, str, int, bool, bool]


@cached_in_scope(most=1 << 15)
def _read(run: str) -> tuple[tuple[int, int, Known], ...]:
    """The words of a run: start and end in it, the word with what is known of it."""
    if " " not in run and "\u00a0" not in run:
        return ((0, len(run), (run, *_known(run))),)
    words = _forms(plain=run.isascii()).words
    return tuple((part.start(), part.end(), (part[0], *_known(part[0]))) for part in words.finditer(run))


@cached_in_scope(most=1 << 15)
def _known(text: str) -> tuple[str, int, bool, bool]:
    """Key, kinds, whether it is an initial, whether it has a capital."""
    entries = lexicon().entries
    key = folded(text)
    kinds = entries.get(key, 0)
    if key[-1] == ".":
        kinds |= entries.get(key[:-1], 0)
    elif not kinds and "-" in key:
        for part in key.split("-"):
            kinds |= entries.get(part, 0) & (LexiconKind.GIVEN | LexiconKind.FAMILY)
    upper = text[0].isupper()
    initial = upper and (len(text) == 1 or (text[1] == "." and not kinds & LexiconKind.TITLE))
    return key, kinds, initial, upper or (len(text) > 2 and (text[1] in "'’" or text[2] == "-"))


def _opens(text: str, start: int) -> bool:
    place = start - 1
    while place >= 0 and text[place] == " ":
        place -= 1
    return place < 0 or text[place] in OPENERS


def words_of(text: str) -> list[str]:
    """Words as runs are told those before them."""
    return _LAST_WORDS.findall(text.lower())


def _before(text: str, start: int) -> tuple[str, ...]:
    first = start - 36 if start > 36 else 0
    first = max(first, text.rfind("\n", first, start) + 1)
    stop = text.rfind(". ", first, start)
    found = _LAST_WORDS.findall(text[first if stop < 0 else stop + 2 : start].lower())
    return tuple([word for word in found[-4:] if word[0].isalnum() or word[-1].isalnum()][-3:]) if found else ()


def phrases_in(words: tuple[RunWord, ...]) -> Iterator[tuple[int, int, int]]:
    """The longest listed phrases of a run: first word, past the last word, kinds. No word is in two."""
    entries, openers = lexicon().entries, _openers()
    first = 0
    while first < len(words):
        past, kinds = first + 1, words[first].kinds
        if words[first].key in openers:
            for longer in range(min(len(words), first + LONGEST_PHRASE), past, -1):
                found = entries.get(" ".join([word.key for word in words[first:longer]]).removesuffix("."), 0)
                if found:
                    past, kinds = longer, found
                    break
        if kinds:
            yield first, past, kinds
        first = past


@cache
def _openers() -> frozenset[str]:
    """The first words of all phrases of several words."""
    return frozenset(
        kept_words("openers", lambda: {phrase.split(" ", 1)[0] for phrase in lexicon().entries if " " in phrase})
    )
