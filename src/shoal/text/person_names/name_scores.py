"""How sure it is that words are a person's name: by lists, by what names look like, by the words around."""

from __future__ import annotations

import re

from shoal.text.lexicon.capitalised_runs import PARTICLES, CapitalisedRun, RunWord
from shoal.text.lexicon.gazetteers import NAME, PLACE, LexiconKind, lexicon, sections_in
from shoal.text.lexicon.word_shapes import (
    NAME_LIKE,
    is_called_after_a_person,
    is_double_surname,
    likelihood,
    looks_coined,
    looks_like_a_name,
)
from shoal.text.organisation_names.business_context import of_a_person, owns_as_a_firm

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
LONGEST_NAME = 13
"""Letters of a single word on no list that is taken for a name."""

LINKS = frozenset(PARTICLES) - {"y", "e", "i", "und", "et", "och", "og"}
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
_EPONYM = re.compile(
    r"(?:['’]s)? (?:disease|syndrome|laws?|theorem|principle|cube|equations?|scale|constant|effect|paradox|method|test"
    r"|number|oedema|edema|lymphoma|sign|palsy|curve|distribution|process|engine|edition)\b"
)
"""A thing that is called after somebody."""
_NAMED = frozenset(sections_in("context")["before a person"])
_NAMING = tuple(
    (word,) for word in ("ask", "tell", "named", "called", "dear", "hi", "hello", "surname", "nicknamed", "née", "name")
)
_ARTICLES = (("a",), ("an",))
SAINTS = frozenset(("saint", "sainte", "san", "santa", "santo"))
"""What the names of towns and churches begin with."""
_NO_PERSON = frozenset(sections_in("context")["no initials"])
_EDGES = ".,:;!?()\"'“”’"


def score_of(run: CapitalisedRun, words: list[RunWord]) -> float:
    if len(words) == 1 and not words[0].is_initial and words[0].key not in LINKS:
        return _single(run, words[0])
    names = [word for word in words if not word.is_initial and word.key not in LINKS]
    if not names and len(words) == 1 and len(words[0].text) in (4, 5) and words[0].key not in _NO_PERSON:
        return LOOKS_LIKE
    if not names or len(words) > MOST_WORDS + 2:
        return 0
    initials = sum(word.is_initial for word in words)
    sure = [word for word in names if word.kinds & NAME and not word.kinds & LexiconKind.COMMON]
    if len(names) == 1 and not initials:
        return _single(run, names[0])
    if initials and _initials_fit(words, names):
        return _with_initials(words, names, sure)
    return _single(run, names[0]) if len(names) == 1 else _several(run, names, sure)


def _with_initials(words: list[RunWord], names: list[RunWord], sure: list[RunWord]) -> float:
    if names[0].kinds & LexiconKind.GIVEN and names[0] is words[0] and len(names) > 1:
        return FULL
    return INITIALS if sure or not names[0].kinds & (PLACE | LexiconKind.COMMON) else LOOKS_LIKE


def _several(run: CapitalisedRun, names: list[RunWord], sure: list[RunWord]) -> float:
    if not names[-1].kinds and looks_coined(names[-1].key):
        return UNSURE
    given = [word for word in sure if word.kinds & LexiconKind.GIVEN]
    if names[0].key in SAINTS and not _speaks_of_a_person(run, names[0]):
        return UNSURE
    if len(sure) >= 2 and given:
        return FULL
    if lexicon().kinds(" ".join(word.text for word in names)) & PLACE:
        return UNSURE
    if sure:
        return FULL if sure[0] is names[0] and given and not names[-1].kinds & PLACE else HALF_KNOWN
    return UNSURE if any(word.kinds & LexiconKind.COMMON for word in names) else _unlisted(run, names)


def _unlisted(run: CapitalisedRun, names: list[RunWord]) -> float:
    """Several words on no list of names."""
    if any(_ENDINGS.search(word.key) for word in names):
        return HALF_KNOWN - 0.1
    if len(names) > 3 or any(word.kinds or _is_acronym(word) for word in names):
        return 0
    alike = likelihood(names[0].key) + likelihood(names[-1].key) >= 2 * NAME_LIKE
    spoken_of = _speaks_of_a_person(run, names[0]) or _speaks_of_a_person(run, names[-1])
    return LOOKS_LIKE if alike or run.alone or not run.opens or spoken_of else 0


def _single(run: CapitalisedRun, word: RunWord) -> float:
    if _is_acronym(word) or len(word.key) < 3:
        return 0
    if _EPONYM.match(run.after) and word is run.words[-1]:
        return 0
    made = is_double_surname(word.key) or (not word.kinds and looks_coined(word.key))
    if not word.kinds and not made and run.after.startswith(": ") and run.opens and len(run.words) == 1:
        return LOOKS_LIKE
    score = _by_list_or_ending(run, word)
    if run.before[-1:] in _ARTICLES and word is run.words[0] and not of_a_person(run.after):
        score -= DOUBT
    if word.kinds & (
        LexiconKind.COMMON | LexiconKind.COUNTRY | LexiconKind.METROPOLIS | LexiconKind.PEOPLE | LexiconKind.OCCUPATION
    ):
        score -= DOUBT
    elif word.kinds & LexiconKind.CITY:
        score -= 0.05
    made = made or (not word.kinds and owns_as_a_firm(run.after))
    if not made and _speaks_of_a_person(run, word) and not word.kinds & (LexiconKind.COUNTRY | LexiconKind.COMMON):
        score = max(score, 0.3) + 0.25
    elif word.kinds & NAME and word.kinds & LexiconKind.COMMON and run.before[-1:] in _NAMING:
        score += DOUBT
    return score


def _by_list_or_ending(run: CapitalisedRun, word: RunWord) -> float:
    if word.kinds & LexiconKind.GIVEN:
        return GIVEN_ALONE
    if word.kinds & LexiconKind.FAMILY:
        return FAMILY_ALONE
    if word.kinds or is_called_after_a_person(word.key):
        return 0.0
    return LOOKS_LIKE if _ENDINGS.search(word.key) or _is_a_family(run, word) else 0.0


def _is_a_family(run: CapitalisedRun, word: RunWord) -> bool:
    """ "the Watsons"."""
    if word.key[-1] != "s" or run.before[-1:] != ("the",):
        return False
    kinds = lexicon().entries.get(word.key[:-1], 0)
    return bool(kinds & LexiconKind.FAMILY) and not kinds & (LexiconKind.COMMON | PLACE)


def _speaks_of_a_person(run: CapitalisedRun, word: RunWord) -> bool:
    first, last = word is run.words[0], word is run.words[-1]
    return bool(first and run.before and run.before[-1].strip(":,.") in _NAMED) or bool(
        last and _SPEECH.match(run.after)
    )


def _initials_fit(words: list[RunWord], names: list[RunWord]) -> bool:
    """An initial with its full stop anywhere, or a bare one between names: "A. Rao", "Asha K Rao", not "Vitamin C"."""
    dotted = any(word.is_initial and "." in word.text for word in words)
    bare = any(word.is_initial for word in words[1:-1]) and len(names) > 1
    return (dotted and not words[-1].kinds & LexiconKind.COMMON) or bare


def stands_as_a_name(run: CapitalisedRun, word: RunWord) -> bool:
    """A word on no list that looks like a name, in a sentence whose other words are English: "Has Monjeau replied?"."""
    if word.kinds or len(run.words) > 1 or not 3 < len(word.text) <= LONGEST_NAME or word.text.isupper():
        return False
    if run.before[-1:] in (("the",), *_ARTICLES) and not of_a_person(run.after):
        return False
    if is_called_after_a_person(word.key):
        return False
    if not word.key.isalpha() or run.after[:1] == ")" or not looks_like_a_name(word.key):
        return False
    entries = lexicon().entries
    following = [part.strip(_EDGES) for part in run.after.split(None, 2)[:2]]
    if run.after[:2] == ", " and following and entries.get(following[0], 0) & NAME:
        return True
    beside = following if run.opens else [*(part.strip(_EDGES) for part in run.before[-1:]), *following[:1]]
    return len(beside) == 2 and all(entries.get(other, 0) & LexiconKind.COMMON for other in beside)


def _is_acronym(word: RunWord) -> bool:
    return word.text.isupper() and len(word.text) < 5
