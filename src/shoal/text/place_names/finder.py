"""Places by list, by their form and by the words around them.

A country is believed wherever it stands (0.85), a large city nearly so (0.7); a small town, and a word on no list, need
words before them that speak of a place: "in", "from", more so "lives in", "moved to", "City:". What follows helps too:
a country or a state after a comma. A name that is also a person's is a place after "lives in", and after "in" mostly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shoal.text.lexicon.capitalised_runs import JOINS, PARTICLES, CapitalisedRun, RunWord, phrases_in
from shoal.text.lexicon.gazetteers import NAME, PLACE, LexiconKind, lexicon, sections_in
from shoal.text.lexicon.word_shapes import is_double_surname
from shoal.text.place_names.place_context import (
    NONE,
    STRONG,
    SURE,
    WEAK,
    LastPlace,
    after_in,
    all_nouns_have_capitals,
    at_a_branch,
    beside_a_name,
    cue_before,
    dateline,
    said_in,
    to_somebody,
)
from shoal.text.spans import Span
from shoal.text.street_addresses.address_parts import STATES

BY = "places"
COUNTRY = 0.85
LARGE_CITY = 0.7
TOWN = 0.52
AFTER_A_PREPOSITION = 0.2
BEFORE_A_COUNTRY = 0.7
PERHAPS = 0.51
UNKNOWN = 0.55
"""A word on no list after a word that speaks of a place."""
LIVED_IN = 0.72
A_NAME_LIVED_IN = 0.89
"""More than a full name has."""
A_COUNTRY_IN_WORDS = 0.96
"""More than a title with a name has: "Sri Lanka"."""
A_NAME_IN = 0.64
"""More than a given name alone has."""
BY_ITS_ENDING = 0.58
_AGAINST = (" v. ", " v ", " vs ")
"""After the first of two parties: "in Hornby v. Brown"."""
COMPOUND = 0.75
LEAST_LETTERS = 7
MOST_WORDS = 6
MOST_IN_CAPITALS = 3

_LISTS = sections_in("places")
_FIRST, _SURELY_FIRST = frozenset(_LISTS["opening a name"]), frozenset(_LISTS["opening for sure"])
_LAST = frozenset(_LISTS["ending a name"])
_LINKS = frozenset(_LISTS["links"])
_DIRECTIONS = frozenset(_LISTS["directions"])
_STATES = frozenset(STATES.split())
_AFTER = tuple(f" {word}" for word in _LISTS["after a place"])
_OF_TOWNS = (" residents", " area", " region", " suburb", " airport", " district")
_ENDING = re.compile(
    r"(?:burgh?|ville|stadt?|hausen|heim|kirchen|ingen|furt|minster|chester|shire|mouth|haven|town|port|borough|bury|stead"
    r"|thorpe|wick|pur|pura|abad|nagar|palli|pally|patnam|puram|grad|gorod|polis|owice|ovice|hagen|havn|köping|borg|sund"
    r"|fjord|side|land|kylä|joki|niemi|halom|falva|hely|brück|brücken|bach|kot)$"
)


def places(runs: Sequence[CapitalisedRun]) -> Iterator[Span]:
    seen = LastPlace(-1, NONE)
    nouns = all_nouns_have_capitals(runs)
    for number, run in enumerate(runs):
        if len(run.words) == 1 and run.words[0].kinds & ~_OWN and not run.words[0].kinds & PLACE:
            continue
        following = runs[number + 1] if number + 1 < len(runs) else None
        beside = bool(number) and beside_a_name(run, runs[number - 1])
        for first, past, score, last in _in_run(run, following, seen, nouns=nouns, beside=beside):
            seen = last
            start, end = run.words[first].start, run.words[past - 1].end
            if not first and run.words[0].kinds & LexiconKind.COUNTRY and run.before and run.before[-1] in _DIRECTIONS:
                start -= len(run.before[-1]) + 1
            if following is not None and past == len(run.words) and _linked(run, following):
                end = following.words[0].end
            yield Span(start, end, "place", score, BY)


def _in_run(
    run: CapitalisedRun, following: CapitalisedRun | None, seen: LastPlace, *, nouns: bool, beside: bool
) -> Iterator[tuple[int, int, float, LastPlace]]:
    """First word, past the last, and score of each place; with what the next one has to know of it."""
    listed = _listed(run.words)
    place = 0
    while place < len(run.words):
        word = run.words[place]
        if place not in listed and word.kinds & ~_OWN and word.key not in _FIRST:
            place += 1
            continue
        cue = cue_before(run, place, seen)
        if not place and cue >= STRONG and _in_capitals(run):
            yield 0, len(run.words), A_NAME_LIVED_IN, LastPlace(run.end, STRONG)
            return
        past, score = _compound(run, place, cue, listed)
        kinds = 0
        if not score and place in listed:
            past, kinds = listed[place]
            doubtful = nouns and cue < STRONG and not kinds & (LexiconKind.LARGE | LexiconKind.COUNTRY)
            score = 0.0 if doubtful else _score(run, place, past, kinds, cue)
            while cue >= STRONG and past < len(run.words) and _goes_with(run.words[past]):
                past += 1
        elif not score:
            past, score = _unknown(run, place, cue, following, nouns=nouns)
            if beside and not word.kinds and len(word.text) > MOST_IN_CAPITALS:
                score = max(score, PERHAPS + 0.02)
        if score > 0:
            if past == len(run.words) - 1 and _QUARTER.match(run.words[past].text):
                past += 1
            sure = cue >= STRONG or (kinds and not kinds & (NAME | LexiconKind.COMMON))
            seen = LastPlace(run.words[past - 1].end, STRONG if sure else NONE)
            yield place, past, score, seen
        place = past


def _listed(words: tuple[RunWord, ...]) -> dict[int, tuple[int, int]]:
    """Where listed places are in a run: past the last word, and kinds."""
    if len(words) == 1:
        return {0: (1, words[0].kinds)} if words[0].kinds & PLACE else {}
    return {first: (past, kinds) for first, past, kinds in phrases_in(words) if kinds & PLACE}


_QUARTER = re.compile(r"[B-HJ-ZØ]$")
""" "København V"."""


def _in_capitals(run: CapitalisedRun) -> bool:
    """The name of a town in postal capitals: "in MOUNT HOPE"."""
    return 1 < len(run.words) <= MOST_IN_CAPITALS and all(
        word.text.isupper() and len(word.text) > 1 and not word.kinds & LexiconKind.FORM for word in run.words
    )


def _goes_with(word: RunWord) -> bool:
    """A word on no list after the name of a town: "Bremen Ohlenhof"."""
    return word.is_cased and not word.kinds and not word.is_initial and not word.text.isupper()


_OWN = NAME | PLACE | LexiconKind.LARGE | LexiconKind.METROPOLIS


def _compound(run: CapitalisedRun, first: int, cue: int, listed: dict[int, tuple[int, int]]) -> tuple[int, float]:
    """ "South Gerald", "Lake Leon", "Taşova District": past the last word, and the score; 0 if it is none."""
    words = run.words
    past = first + 1
    if past < len(words) and words[first].key in _FIRST and words[first].is_cased:
        while past < len(words) and past < first + 5 and (_ownname(words[past]) or words[past].key in PARTICLES):
            past += 1
        while words[past - 1].key in PARTICLES and not words[past - 1].is_cased:
            past -= 1
        sure = words[first].key in _SURELY_FIRST
        single = first not in listed or listed[first][0] == first + 1
        if past > first + 1 and (cue >= STRONG or sure) and single and (past == len(words) or words[past].key in JOINS):
            return past, A_NAME_LIVED_IN if cue >= STRONG else COMPOUND
        if past == first + 2 and single and not words[past - 1].kinds and not run.opens:
            return past, BY_ITS_ENDING + 0.05
        past = first + 1
    last = listed[first][0] if first in listed else past
    ends = last < len(words) and words[last].key in _LAST and words[last].is_cased
    own = first in listed or _ownname(words[first])
    if ends and own and (last + 1 == len(words) or words[last + 1].key in JOINS):
        return last + 1, COMPOUND
    return past, 0.0


def _ownname(word: RunWord) -> bool:
    return word.is_cased and not word.is_initial and not word.kinds & ~_OWN


def _score(run: CapitalisedRun, first: int, past: int, kinds: int, cue: int) -> float:
    words = run.words[first:past]
    located = cue >= STRONG or (cue == WEAK and not kinds & NAME)
    if past == len(run.words) and run.after.startswith(_AFTER):
        located = True
    if kinds & LexiconKind.COUNTRY:
        score = COUNTRY if not kinds & NAME or located else LARGE_CITY - 0.1
        return A_COUNTRY_IN_WORDS if len(words) > 1 and not kinds & NAME else score
    if (len(words) == 1 and _short(words[0], cue)) or (past == len(run.words) and run.after.startswith(_AGAINST)):
        return 0
    if len(words) == 1 and to_somebody(run, first, kinds):
        return 0
    score = LARGE_CITY if kinds & LexiconKind.LARGE else TOWN
    if located:
        score += AFTER_A_PREPOSITION
    if kinds & LexiconKind.COMMON:
        score -= 0.25 if located and not run.opens else 0.45
    if kinds & NAME and not located and not kinds & LexiconKind.METROPOLIS:
        score -= 0.2
    if len(words) > 1 and located and not kinds & LexiconKind.COMMON:
        score = max(score, A_NAME_LIVED_IN)
    return score


def _unknown(
    run: CapitalisedRun, first: int, cue: int, following: CapitalisedRun | None, *, nouns: bool
) -> tuple[int, float]:
    """Capitalised words on no list: after "in" or "village of", before a country, by an ending, in postal capitals."""
    words: list[RunWord] = []
    for word in run.words[first : first + MOST_WORDS]:
        linked = bool(words) and cue >= STRONG and word.key in PARTICLES and not word.is_cased
        if not linked and (word.key in JOINS or not _ownname(word)):
            break
        if words and cue < STRONG and word.kinds:
            break
        words.append(word)
    while words and not words[-1].is_cased:
        words.pop()
    past = first + max(1, len(words))
    if not words or (len(words) == 1 and _short(words[0], cue)) or (cue < SURE and _a_plural(words[0])):
        return past, 0.0
    if past < len(run.words) and run.words[past].kinds & (LexiconKind.BODY | LexiconKind.FORM):
        return past, 0.0
    whole = past == len(run.words)
    if whole and run.after.startswith(_OF_TOWNS):
        cue = max(cue, STRONG)
    if whole and (_names_a_country(run.after) or _is_a_state(run, following)):
        return past, BEFORE_A_COUNTRY if not words[0].kinds else A_NAME_IN
    return past, _unknown_score(run, words, cue, first, nouns=nouns)


def _short(word: RunWord, cue: int) -> bool:
    """Too short for a place, or an abbreviation; in capitals four letters are enough after "born in"."""
    least = 4 if cue == SURE or not word.text.isascii() else 5
    return len(word.text) < 3 or (word.text.isupper() and len(word.text) < least)


def _unknown_score(run: CapitalisedRun, words: list[RunWord], cue: int, first: int, *, nouns: bool) -> float:
    if (cue < SURE and run.after.startswith((*_AGAINST, " and others", "'s", "’s"))) or is_double_surname(words[0].key):
        return 0.0
    if any(word.kinds & NAME for word in words):
        return _score_of_names(run, words, cue, first)
    if cue == SURE:
        return A_NAME_LIVED_IN if at_a_branch(run, first) else LIVED_IN
    if not nouns and (cue or not run.opens) and _ends_like_one(words):
        return BY_ITS_ENDING
    if (cue == STRONG and not (nouns and len(words) == 1)) or (not first and dateline(run)):
        return UNKNOWN + 0.05
    perhaps = (cue == WEAK and run.before[-1:] == ("to",)) or words[0].text.isupper()
    return PERHAPS if perhaps and not first and not run.opens else 0.0


_JOINED = re.compile(
    r"-(?:sur|sous|en|la|les|le|lès|aux|de|du|des|am|an|upon|on|by|in|under|op|aan|auf|bei|ob|nad|next)-"
)
""" "Leclerc-sur-Mahe": so towns are called, hardly ever persons."""


def _score_of_names(run: CapitalisedRun, words: list[RunWord], cue: int, first: int) -> float:
    """Words that are persons' names: after "lives in", or one of them after "in"."""
    if _JOINED.search(words[0].text):
        return A_NAME_LIVED_IN
    if len(words) == 1 and to_somebody(run, first, words[0].kinds):
        return 0.0
    if cue == SURE:
        return A_NAME_LIVED_IN if (len(words) > 1 and said_in(run, first)) or at_a_branch(run, first) else LIVED_IN
    if cue < STRONG or run.opens or not after_in(run, first):
        return 0.0
    if len(words) == 1:
        return A_NAME_IN
    return 0.0 if words[0].kinds & LexiconKind.GIVEN else A_NAME_LIVED_IN


def _ends_like_one(words: list[RunWord]) -> bool:
    return len(words) == 1 and len(words[0].key) >= LEAST_LETTERS and bool(_ENDING.search(words[0].key))


def _a_plural(word: RunWord) -> bool:
    """A word that is everyday but for its "s"."""
    entries = lexicon().entries
    return word.key[-1] == "s" and bool(
        (entries.get(word.key[:-1], 0) | entries.get(word.key[:-2], 0)) & LexiconKind.COMMON
    )


def _linked(run: CapitalisedRun, following: CapitalisedRun) -> bool:
    """ "Ostrov nad Ohří": one name, with a small word in it that no run goes over."""
    link = following.before[-1] if following.before else ""
    return link in _LINKS and following.start - run.end == len(link) + 2 and not following.words[0].kinds & ~NAME


_PARTS = re.compile(r"[^\W\d_][\w'’-]*")


def _is_a_state(run: CapitalisedRun, following: CapitalisedRun | None) -> bool:
    """What follows is a comma and a state's letters: ", TX"."""
    return following is not None and following.start - run.end == 2 and following.words[0].text in _STATES


def _names_a_country(after: str) -> bool:
    """What follows is a comma and a country: ", new zealand"."""
    parts = _PARTS.findall(after[2:] if after[0] == "," else after[5:])[:3] if after.startswith((", ", " and ")) else []
    entries = lexicon().entries
    return any(entries.get(" ".join(parts[:count]), 0) & LexiconKind.COUNTRY for count in range(1, len(parts) + 1))
