"""Persons' names: titles, initials, lists of given and family names, endings that family names have, introducing words.

Scores, from the sure to the doubtful: a title before (0.95); "my name is", "signed" before (0.9); a listed given name
with a family name (0.88); initials with a name (0.82); two capitalised words of which one is listed (0.78); one listed
given name alone (0.62), which a place or an everyday word of the same spelling takes below the threshold; a family name
alone, or words that only look like names, stay near 0.5. After words that introduce somebody a name is found in any
case: "my name is asha rao", "Regards, Asha", "@Asha".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.lazy_patterns import lazy_pattern
from shoal.text.lexicon.capitalised_runs import JOINS, UPPER, CapitalisedRun, RunWord
from shoal.text.lexicon.caseless_text import caseless_runs
from shoal.text.lexicon.gazetteers import (
    NAME,
    PLACE,
    SIZES,
    LexiconKind,
    folded,
    in_small_letters,
    lexicon,
    sections_in,
)
from shoal.text.lexicon.word_shapes import is_adverb, is_double_surname, is_no_name, looks_coined, looks_like_a_name
from shoal.text.person_names.name_scores import LINKS, LOOKS_LIKE, SAINTS, UNSURE, score_of, stands_as_a_name
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

BY = "names"
TITLE_SCORE = 0.95
MOST_READ = 16
"""Words of a run that are looked at behind its beginning: more than a name has."""
_STREETS = frozenset(sections_in("context")["streets"])
_FIRST_WORDS = frozenset({"A", "I", *(word.capitalize() for word in sections_in("context")["openers"])})
_GREETINGS = frozenset(sections_in("trade")["greetings"])
"""Words before a name that are never part of one."""


def persons(text: str, runs: Sequence[CapitalisedRun]) -> Iterator[Span]:
    """Names with their titles, each as a span of its own."""
    cased = not text.islower()
    for run in caseless_runs(text, runs):
        yield from _in_run(run, cased=cased)
    yield from introduced(text)
    yield from born_to(text)
    yield from told_of(text)
    if "@" in text:
        yield from called_upon(text)


def _in_run(run: CapitalisedRun, *, cased: bool) -> Iterator[Span]:
    for words, titled in _stretches(run) if len(run.words) > 1 else _alone(run.words[0]):
        around = run if not words or words[0] is run.words[0] else _behind(run, words[0])
        title = words[0] if titled else None
        rest = words[1:] if titled else words
        if title is not None and rest:
            yield Span(title.start, title.end, "title", TITLE_SCORE, BY)
            yield Span(rest[0].start, rest[-1].end, "person", TITLE_SCORE, BY)
        elif not titled:
            rest = _without_opener(around, rest)
            score = score_of(around, rest)
            if not cased and not _known_in_small_letters(rest):
                score = 0
            elif not score and len(rest) == 1 and stands_as_a_name(around, rest[0]):
                score = LOOKS_LIKE
            if score == UNSURE and rest[0].key in SAINTS:
                yield Span(rest[0].start, rest[-1].end, "place", LOOKS_LIKE, BY)
            elif score > 0:
                yield Span(rest[0].start, rest[-1].end, "person", score, BY)


def _behind(run: CapitalisedRun, first: RunWord) -> CapitalisedRun:
    """The run from a word on, with the words before it as what stands before: "Thanks | Monjeau"."""
    place = bisect_left(run.words, first.start, key=lambda word: word.start)
    before = (*run.before, *(word.key for word in run.words[max(0, place - 3) : place]))[-3:]
    return run._replace(words=run.words[place : place + MOST_READ], start=first.start, opens=False, before=before)


def _known_in_small_letters(words: list[RunWord]) -> bool:
    """Where no capital tells a name, one word has to be listed and the others have to look like names."""
    return (any(word.kinds & NAME for word in words) or len(words) == 2) and all(
        word.kinds & NAME or word.is_initial or word.key in LINKS or looks_like_a_name(word.key) for word in words
    )


def _without_opener(run: CapitalisedRun, words: list[RunWord]) -> list[RunWord]:
    """Without a word on no list that begins the sentence before a full name, as in a language that is not ours."""
    if not (run.opens and words and words[0] is run.words[0]):
        return words
    if len(words) > 1 and (words[0].text in _FIRST_WORDS or (not words[0].kinds & NAME and is_adverb(words[0].key))):
        return words[1:]
    full = len(words) > 2 and words[1].kinds & LexiconKind.GIVEN and words[2].kinds & NAME
    return words[1:] if full and not words[0].kinds and not words[0].is_initial else words


def _stretches(run: CapitalisedRun) -> Iterator[tuple[list[RunWord], bool]]:
    """The parts of a run that could be one person each; a title opens one."""
    stretch: list[RunWord] = []
    titled = False
    for place, word in enumerate(run.words):
        title = (
            word.kinds & LexiconKind.TITLE and not word.is_initial and _titles(word, run.words[place + 1 : place + 2])
        )
        first = titled and len(stretch) == 1
        if title or not (_nameable(word, titled=first) or (stretch and word.key in LINKS)):
            if stretch:
                yield _trimmed(stretch), titled
            stretch, titled = ([word], True) if title else ([], False)
        else:
            stretch.append(word)
    if stretch:
        yield _trimmed(stretch), titled


def _alone(word: RunWord) -> Sequence[tuple[list[RunWord], bool]]:
    """The same of one word, which is no title, since no name follows it."""
    return [([word], False)] if _nameable(word, titled=False) and word.key not in LINKS else ()


def _titles(word: RunWord, following: tuple[RunWord, ...]) -> bool:
    """A title that is not also an ordinary word or name, or is written with its full stop; a name has to follow."""
    plain = following and following[0].kinds & LexiconKind.COMMON and not following[0].kinds & NAME
    if not following or (plain and word.kinds & LexiconKind.COMMON):
        return False
    return word.text[-1] == "." or not word.kinds & (NAME | LexiconKind.FORM) or word.key in _SURE_TITLES


_SURE_TITLES = frozenset(sections_in("context")["sure titles"])


def _nameable(word: RunWord, *, titled: bool) -> bool:
    if word.is_initial:
        return True
    if is_no_name(word.key):
        return False
    if not word.is_cased or word.key in JOINS or word.key in _GREETINGS or (word.key in _STREETS and not titled):
        return False
    if titled or word.kinds & NAME:
        return not word.kinds & LexiconKind.FORM or bool(word.kinds & NAME)
    return not word.kinds & ~LexiconKind.CITY & ~SIZES


def _trimmed(words: list[RunWord]) -> list[RunWord]:
    while words and (
        words[-1].key in LINKS
        or (words[-1].text == "I" and len(words) > 1)
        or (words[-1].kinds & LexiconKind.COUNTRY and len(words) > 1)
    ):
        words = words[:-1]
    return words


INTRODUCED = 0.9
CALLED_UPON = 0.62
TOLD_OF = 0.7
"""Surer than that a word on no list is a firm."""
_INTRODUCTIONS = (
    "my name is,name is,name's,i am,i'm,this is,call me,calls me,name:,patient:,customer:,contact:,attn,attn:,signed,"
    "je m'appelle,mon nom est,ich heiße,mein name ist,me llamo,mi nombre es,mi chiamo,meu nome é,nama saya,mera naam,"
    "en peyar,regards,,sincerely,,dear,hi,hello,hey,next of kin:,next of kin is,guardian:,nominee:,spouse:,"
    "father's name:,mother's name:,husband's name:,wife's name:,son of,daughter of,s/o,d/o,w/o,surname:,"
    "vorname:,nachname:,familienname:,nom:,prénom:,nom de famille:,nombre:,apellido:,apellidos:,nome:,cognome:,"
    "sobrenome:,apelido:,naam:,voornaam:,achternaam:,navn:,fornavn:,efternavn:,etternavn:,namn:,förnamn:,efternamn:,"
    "imię:,nazwisko:,etunimi:,sukunimi:,nama:"
)
_SMALL = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CHILD_OF = lazy_pattern(r"/(?:(?<= (?i:[sdw])/)(?i:o)\.?|(?<= (?i:a)/)(?i:[lp])) (?=\w)")
"""What stands behind the first letter of "s/o": a rare sign comes first, so that others are skipped quickly."""
SHORTEST_CHILD = 3
_AT_NAME = re.compile(r"@(?<![\w@.]@)([^\W\d_]{3,})(?![\w@-]|\.\w)")


def introduced(text: str) -> Iterator[Span]:
    """Names after words that introduce them, in any case: "my name is asha rao"."""
    entries = lexicon().entries
    small = in_small_letters(text)
    for _, begin, past in _introductions().find_matches_as_indexes(small):
        start = _after_a_gap(text, past)
        if start == past or (begin and (small[begin - 1].isalnum() or small[begin - 1] in "'’-")):
            continue
        end = read = start
        count = 0
        signed = small[begin:past] in ("regards", "sincerely", "signed")
        while count < 4:
            word = _SMALL.match(text, read + (1 if read > start else 0))
            if word is None or (read > start and text[read] != " "):
                break
            key = folded(word.group())
            kinds = entries.get(key, 0)
            if key in LINKS and word.group().islower():
                read = word.end()
                continue
            known = kinds & NAME and not kinds & (LexiconKind.COMMON | LexiconKind.PEOPLE)
            capital = word.group()[0].isupper() and text[word.end() : word.end() + 1] != ":"
            if not known and not (capital and not kinds & ~PLACE & ~NAME & ~SIZES):
                break
            if signed and ((not kinds and looks_coined(key)) or (not count and is_double_surname(key))):
                yield Span(word.start(), word.end(), "organisation", INTRODUCED, BY)
                count = 0
                break
            end = read = word.end()
            count += 1
        if count:
            yield Span(start, end, "person", INTRODUCED, BY)


def born_to(text: str) -> Iterator[Span]:
    """ "muthu s/o Ramasamy": who is somebody's child or wife is called by name, in any case."""
    for child in _CHILD_OF.finditer(text):
        start = end = child.start() - 2
        while start and _is_letter(text[start - 1]):
            start -= 1
        word = text[start:end]
        if len(word) < SHORTEST_CHILD or (start and _goes_on_before(text[start - 1])) or not word.islower():
            continue
        if not lexicon().kinds(word) & (LexiconKind.COMMON | LexiconKind.FORM):
            yield Span(start, end, "person", INTRODUCED, BY)


def _is_letter(sign: str) -> bool:
    return sign.isalnum() and not sign.isdecimal()


def _goes_on_before(sign: str) -> bool:
    """Whether the word does not begin behind it."""
    return sign.isalnum() or sign in "_'’/-"


def _after_a_gap(text: str, place: int) -> int:
    """Past spaces, a comma and line ends; the same place if none is there."""
    if place < len(text) and text[place] == ",":
        place += 1
    while place < len(text) and text[place] in " \t\n":
        place += 1
    return place


@cache
def _introductions() -> AhoCorasick:
    from ahocorasick_rs import AhoCorasick, Implementation, MatchKind

    return AhoCorasick(
        [phrase for phrase in _INTRODUCTIONS.split(",") if phrase],
        matchkind=MatchKind.LeftmostLongest,
        implementation=Implementation.DFA,
    )


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


_BEFORE_WHO = lazy_pattern(rf"(?<=[a-z,;:] )[{UPPER}][^\W\d_]{{2,}}(?: [{UPPER}][^\W\d_]{{2,}}){{0,2}}$")
_WHO = re.compile(r", who(?:se|m)?\b")


def called_upon(text: str) -> Iterator[Span]:
    """ "@Asha can you look": a given name, not an address or an account."""
    for match in _AT_NAME.finditer(text):
        if lexicon().kinds(match.group(1)) & LexiconKind.GIVEN or looks_like_a_name(folded(match.group(1))):
            yield Span(match.start(1), match.end(1), "person", CALLED_UPON, BY)
