"""Persons' names: titles, initials, lists of given and family names, endings that family names have, introducing words.

Scores, from the sure to the doubtful: a title before (0.95); "my name is", "signed" before (0.9); a listed given name
with a family name (0.88); initials with a name (0.82); two capitalised words of which one is listed (0.78); one listed
given name alone (0.62), which a place or an everyday word of the same spelling takes below the threshold; a family name
alone, or words that only look like names, stay near 0.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.gazetteers import NAME, PLACE, SIZES, Kind, folded, in_small_letters, lexicon, sections_in
from shoal.text.reading import JOINS, PARTICLES, Run, Word
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

BY = "names"
TITLE_SCORE = 0.95
INTRODUCED = 0.9
FULL = 0.88
INITIALS = 0.82
HALF_KNOWN = 0.78
GIVEN_ALONE = 0.62
FAMILY_ALONE = 0.56
LOOKS_LIKE = 0.52
UNSURE = 0.4
DOUBT = 0.3
"""Taken from a single name that is an everyday word or a place as well."""
MOST_WORDS = 5

_LINKS = frozenset(PARTICLES) - {"y", "e", "i", "und", "et", "och", "og"}
_ENDINGS = re.compile(
    r"(?:ov|ova|ev|eva|ski|ska|sky|skaya|ska|cki|cka|wicz|vic|vich|vitch|ovna|evna|enko|chuk|yuk"
    r"|ssen|sson|sdottir|dottir"
    r"|berg|stein|mann|feld|oglu|yan|ian|shvili|dze|escu|eanu|idis|adis|akis|poulos|poulou|opoulos"
    r"|ez|inho|elli|etti|ini"
    r"|swamy|samy|appa|amma|nathan|murthy|wala|jee|kar|gowda|quist|strom|lund|gren|aite|iene|auskas"
    r"|ovic|evic|ic|inen|nen"
    r"|ffy|ossy|osy|ovsky|uddin|ullah|zadeh|nejad|pour|vala|singh|kumar|raj|janen|mann|maier|meyer"
    r"|bauer|huber|hoff|dorf)$"
)
_SPEECH = re.compile(
    r"^(?:['’]s\b|,? ?(?:said|says|told|asked|replied|wrote|writes|thinks|lives|lived|was born|is from|died|has been"
    r"|married|called|agreed|can you|could you|please|complained|stated|testified|submitted|alleged))"
)
_NAMED = frozenset(sections_in("context")["before a person"])
_STREETS = frozenset(sections_in("context")["streets"])
_NAMING = tuple(
    (word,) for word in ("ask", "tell", "named", "called", "dear", "hi", "hello", "surname", "nicknamed", "née", "name")
)
_NO_PERSON = frozenset(sections_in("context")["no initials"])
_INTRODUCTIONS = (
    "my name is,name is,name's,i am,i'm,this is,call me,calls me,name:,patient:,customer:,contact:,attn,attn:,signed,"
    "je m'appelle,mon nom est,ich heiße,mein name ist,me llamo,mi nombre es,mi chiamo,meu nome é,nama saya,mera naam,"
    "en peyar,regards,,sincerely,,dear,hi,hello,hey"
)
_SMALL = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def persons(text: str, runs: Sequence[Run]) -> Iterator[Span]:
    """Names with their titles, each as a span of its own."""
    for run in runs:
        yield from _in_run(run)
    yield from _introduced(text)


def _in_run(run: Run) -> Iterator[Span]:
    for words, titled in _stretches(run):
        title = words[0] if titled else None
        rest = words[1:] if titled else words
        if title is not None and rest:
            yield Span(title.start, title.end, "title", TITLE_SCORE, BY)
            yield Span(rest[0].start, rest[-1].end, "person", TITLE_SCORE, BY)
        elif not titled:
            rest = _without_opener(run, rest)
            score = _score(run, rest)
            if score > 0:
                yield Span(rest[0].start, rest[-1].end, "person", score, BY)


def _without_opener(run: Run, words: list[Word]) -> list[Word]:
    """Without a word on no list that begins the sentence before a full name, as in a language that is not ours."""
    opener = run.opens and words and words[0] is run.words[0] and not words[0].kinds and not words[0].is_initial
    full = len(words) > 2 and words[1].kinds & Kind.GIVEN and words[2].kinds & NAME
    return words[1:] if opener and full else words


def _stretches(run: Run) -> Iterator[tuple[list[Word], bool]]:
    """The parts of a run that could be one person each; a title opens one."""
    stretch: list[Word] = []
    titled = False
    for place, word in enumerate(run.words):
        title = word.kinds & Kind.TITLE and not word.is_initial and _titles(word, run.words[place + 1 : place + 2])
        first = titled and len(stretch) == 1
        if title or not (_nameable(word, titled=first) or (stretch and word.key in _LINKS)):
            if stretch:
                yield _trimmed(stretch), titled
            stretch, titled = ([word], True) if title else ([], False)
        else:
            stretch.append(word)
    if stretch:
        yield _trimmed(stretch), titled


def _titles(word: Word, following: tuple[Word, ...]) -> bool:
    """A title that is not also an ordinary word or name, or is written with its full stop; a name has to follow."""
    if not following or (following[0].kinds & Kind.COMMON and word.kinds & Kind.COMMON):
        return False
    return word.text[-1] == "." or not word.kinds & (NAME | Kind.FORM) or word.key in _SURE_TITLES


_SURE_TITLES = frozenset(sections_in("context")["sure titles"])


def _nameable(word: Word, *, titled: bool) -> bool:
    if word.is_initial:
        return True
    if not word.is_cased or word.key in JOINS or word.key in _STREETS:
        return False
    if titled or word.kinds & NAME:
        return not word.kinds & Kind.FORM or bool(word.kinds & NAME)
    return not word.kinds & ~Kind.CITY & ~SIZES


def _trimmed(words: list[Word]) -> list[Word]:
    while words and (words[-1].key in _LINKS or (words[-1].kinds & Kind.COUNTRY and len(words) > 1)):
        words = words[:-1]
    return words


def _score(run: Run, words: list[Word]) -> float:
    names = [word for word in words if not word.is_initial and word.key not in _LINKS]
    if not names and len(words) == 1 and len(words[0].text) in (4, 5) and words[0].key not in _NO_PERSON:
        return LOOKS_LIKE
    if not names or len(words) > MOST_WORDS + 2:
        return 0
    initials = sum(word.is_initial for word in words)
    sure = [word for word in names if word.kinds & NAME and not word.kinds & Kind.COMMON]
    if len(names) == 1 and not initials:
        return _single(run, names[0])
    if initials and _initials_fit(words, names):
        return INITIALS if sure or not names[0].kinds & (PLACE | Kind.COMMON) else LOOKS_LIKE
    if len(names) == 1:
        return _single(run, names[0])
    return _several(run, names, sure)


def _several(run: Run, names: list[Word], sure: list[Word]) -> float:
    given = [word for word in sure if word.kinds & Kind.GIVEN]
    if len(sure) >= 2 and given:
        return FULL
    if lexicon().kinds(" ".join(word.text for word in names)) & PLACE:
        return UNSURE
    if sure:
        return FULL if sure[0] is names[0] and given and not names[-1].kinds & PLACE else HALF_KNOWN
    return UNSURE if any(word.kinds & Kind.COMMON for word in names) else _unlisted(run, names)


def _unlisted(run: Run, names: list[Word]) -> float:
    """Several words on no list of names."""
    if any(_ENDINGS.search(word.key) for word in names):
        return HALF_KNOWN - 0.1
    bare = len(names) <= 3 and not any(word.kinds or _is_acronym(word) for word in names)
    return LOOKS_LIKE if bare and (run.alone or not run.opens or _speaks_of_a_person(run, names[-1])) else 0


def _single(run: Run, word: Word) -> float:
    if _is_acronym(word) or len(word.key) < 3:
        return 0
    if not word.kinds and run.after.startswith(": ") and run.opens and len(run.words) == 1:
        return LOOKS_LIKE
    score = 0.0
    if word.kinds & Kind.GIVEN:
        score = GIVEN_ALONE
    elif word.kinds & Kind.FAMILY:
        score = FAMILY_ALONE
    elif not word.kinds and _ENDINGS.search(word.key):
        score = LOOKS_LIKE
    if word.kinds & (Kind.COMMON | Kind.COUNTRY | Kind.METROPOLIS | Kind.PEOPLE | Kind.OCCUPATION):
        score -= DOUBT
    elif word.kinds & Kind.CITY:
        score -= 0.05
    if _speaks_of_a_person(run, word) and not word.kinds & (Kind.COUNTRY | Kind.COMMON):
        score = max(score, 0.3) + 0.25
    elif word.kinds & NAME and word.kinds & Kind.COMMON and run.before[-1:] in _NAMING:
        score += DOUBT
    return score


def _speaks_of_a_person(run: Run, word: Word) -> bool:
    first, last = word is run.words[0], word is run.words[-1]
    return bool(first and run.before and run.before[-1].strip(":,.") in _NAMED) or bool(
        last and _SPEECH.match(run.after)
    )


def _initials_fit(words: list[Word], names: list[Word]) -> bool:
    """An initial with its full stop anywhere, or a bare one between names: "A. Rao", "Asha K Rao", not "Vitamin C"."""
    dotted = any(word.is_initial and "." in word.text for word in words)
    bare = any(word.is_initial for word in words[1:-1]) and len(names) > 1
    return (dotted and not words[-1].kinds & Kind.COMMON) or bare


def _is_acronym(word: Word) -> bool:
    return word.text.isupper() and len(word.text) < 5


def _introduced(text: str) -> Iterator[Span]:
    """Names after words that introduce them, in any case: "my name is asha rao"."""
    entries = lexicon().entries
    small = in_small_letters(text)
    for _, begin, past in _introductions().find_matches_as_indexes(small):
        start = _after_a_gap(text, past)
        if start == past or (begin and (small[begin - 1].isalnum() or small[begin - 1] in "'’-")):
            continue
        end = start
        count = 0
        while count < 4:
            word = _SMALL.match(text, end + (1 if count else 0))
            if word is None or (count and text[end] != " "):
                break
            kinds = entries.get(folded(word.group()), 0)
            known = kinds & NAME and not kinds & (Kind.COMMON | Kind.PEOPLE)
            if not known and not (word.group()[0].isupper() and not kinds & ~PLACE & ~NAME & ~SIZES):
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
