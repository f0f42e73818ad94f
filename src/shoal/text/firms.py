"""What the words around a name say of a firm: "interview at Nordwind", "the Nordwind account", "Nordwind announced".

How much the context says is weighed against how much the name itself looks like a person's: a full name stays a person
but after "at", a surname becomes a firm where the context is clear, a word on no list where it only hints at one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cache

from shoal.text.gazetteers import LONGEST_PHRASE, NAME, Kind, folded, lexicon, sections_in, words_in
from shoal.text.reading import JOINS, Run, Word
from shoal.text.shapes import is_double_surname, looks_like_a_name, looks_like_a_town, looks_made

NONE, HINT, CLEAR, SURE = range(4)
"""What a context says."""
SCORES = {
    "person": (0.0, 0.0, 0.0, 0.9),
    "given": (0.0, 0.0, 0.0, 0.66),
    "surname": (0.0, 0.0, 0.84, 0.9),
    "double": (0.0, 0.88, 0.9, 0.9),
    "partners": (0.66, 0.88, 0.9, 0.9),
    "unlisted": (0.0, 0.51, 0.84, 0.84),
    "word": (0.0, 0.66, 0.84, 0.84),
    "phrase": (0.0, 0.52, 0.7, 0.7),
    "plain": (0.0, 0.0, 0.7, 0.7),
}
"""Scores by what the name looks like (see ``_look``) and what the context says. To compare: a person's full name has
0.88, a single one that is spoken of as a person 0.81, an unlisted place 0.6."""
KNOWN = 0.76
SINGLE_HINTED = 0.53
"""A single word on no list where a firm is hinted at: more than what a word looks like says of a person."""
_LISTS = {name: frozenset(words) for name, words in sections_in("trade").items() if name}
_EARLIER = {
    name: _LISTS[name] for name in ("at", "for", "with", "by", "from", "of", "in", "against", "between", "to", "became")
}
_DETERMINERS = _LISTS["determiners"]
OFFICERS = _LISTS["after, of firms alone"]
_OWNED = _LISTS["after"] | _LISTS["owned by firms"]
_SPOKEN_OF = frozenset().union(*_LISTS.values())
"""Words that stand beside names of firms: not one of them is itself a name."""
_OFFICES = Kind.GENERIC | Kind.BODY | Kind.TITLE | Kind.OCCUPATION | Kind.PEOPLE
_NO_FIRM = Kind.LARGE | Kind.PEOPLE | Kind.BELIEF | Kind.TITLE
_EDGES = ".,:;!?()\"'“”’"


def firm(run: Run, words: Sequence[Word], *, before: tuple[str, ...] | None = None) -> float:
    """How sure it is that these words of a run name a firm, by the words around; 0 for not at all."""
    own = [word for word in words if word.is_cased]
    look = _look(own)
    if not look:
        return 0.0
    if any(word.kinds & Kind.FIRM and not word.kinds & (NAME | Kind.COMMON | Kind.CITY) for word in own):
        return KNOWN
    said = context(run, words, before=before)
    if said and all(word.kinds & Kind.FIRM for word in own):
        return SCORES["word"][CLEAR]
    if len(own) == 1 and not own[0].kinds and looks_like_a_town(own[0].key):
        return SCORES["word"][said] if said == SURE else 0.0
    if look == "unlisted" and said == HINT and len(own) == 1:
        return SINGLE_HINTED
    return 0.0 if look == "plain" and _ends_an_office(run, words) else SCORES[look][said]


def _ends_an_office(run: Run, words: Sequence[Word]) -> bool:
    """ "Board of Directors"."""
    return words[0] is not run.words[0] and _inside(run, words)[-1:] in (("of",), ("for",))


def known(words: Sequence[Word]) -> tuple[int, int] | None:
    """Where a firm of several words stands that is known by name: first word and past the last."""
    entries, openers = lexicon().entries, _openers()
    for first, word in enumerate(words[:-1]):
        if word.key in openers:
            for past in range(min(len(words), first + LONGEST_PHRASE), first + 1, -1):
                if entries.get(" ".join([one.key for one in words[first:past]]), 0) & Kind.FIRM:
                    return first, past
    return None


@cache
def _openers() -> frozenset[str]:
    return frozenset(folded(name).split(" ", 1)[0] for name in words_in("firms") if " " in name)


def before_its_officer(words: Sequence[Word]) -> tuple[Sequence[Word], float] | None:
    """ "Nordwind CEO Asha Rao": the firm, and how sure it is."""
    for place in range(1, len(words)):
        if words[place].key in OFFICERS:
            look = _look(words[:place])
            return None if look in ("", "plain", "phrase") else (words[:place], SCORES[look][CLEAR])
    return None


def named_apart(words: Sequence[Word]) -> Iterator[Sequence[Word]]:
    """A run without a form or a kind, cut where one name ends: "CEO of | Nordwind", "Nordwind and | Zelvex"."""
    if len(words) == 1:
        yield words
        return
    first = 0
    for place, word in enumerate(words):
        if word.key in JOINS and word.key != "&":
            if place > first:
                yield words[first:place]
            first = place + 1
    if first < len(words):
        yield words[first:]


def is_a_thing(run: Run, word: Word) -> bool:
    """An unlisted word that names no firm: "a Vespa", "the Titanic", "the song Thunderstruck", "Cadillacs"."""
    first = word is run.words[0]
    before = run.before if first else _inside(run, (word,))
    last = before[-1] if before else ""
    if word.key in _SPOKEN_OF or looks_like_a_town(word.key):
        return True
    if last in ("a", "an", "the") or not _LISTS["works"].isdisjoint(before[-2:]):
        return True
    if run.after[:4] in _IS and word is run.words[-1] and not _LISTS["works"].isdisjoint(run.after.split()):
        return True
    return word.key[-1] == "s" and word.key[-2:] not in ("ss", "us", "is", "as", "os") and not looks_made(word.key)


def is_a_town(run: Run, words: Sequence[Word]) -> bool:
    """A word on no list that ends as towns do, inside a sentence or before everyday words."""
    unlisted = len(words) == 1 and not words[0].kinds and looks_like_a_town(words[0].key)
    return unlisted and (not run.opens or before_everyday_words(run.after))


def beside_a_firm(words: Sequence[Word]) -> float:
    """How sure it is that these words name a firm, if the one beside them in a row does."""
    own = [word for word in words if word.is_cased]
    look = _look(own)
    return SCORES[look][HINT] if look and not looks_like_a_town(own[-1].key) else 0.0


def context(run: Run, words: Sequence[Word], *, before: tuple[str, ...] | None = None) -> int:
    """What the words before and after say."""
    first, last = words[0] is run.words[0], words[-1] is run.words[-1]
    earlier = before if before is not None else run.before if first else _inside(run, words)
    said = _said_before(earlier)
    town = len(words) == 1 and words[0].kinds & Kind.CITY and not words[0].kinds & Kind.FIRM
    return max(said, _said_after(run.after, earlier)) if last and not town else said


def _inside(run: Run, words: Sequence[Word]) -> tuple[str, ...]:
    """The words of the run itself that stand before: "The CEO of | Nordwind"."""
    place = bisect_left(run.words, words[0].start, key=lambda word: word.start)
    return (*run.before, *(word.key for word in run.words[max(0, place - 3) : place]))[-3:]


def _said_before(before: tuple[str, ...]) -> int:
    if not before:
        return NONE
    last, earlier = before[-1], before[:-1]
    following = _EARLIER.get(last)
    if following is not None and not following.isdisjoint(earlier):
        return SURE if last == "at" else CLEAR
    nearest = earlier[-1] if earlier else ""
    if last in ("as", "like", "including") and any(_is_kind_of_firm(word) for word in earlier):
        return CLEAR
    named = last in ("called", "named", "is", "was", "the") and nearest in _LISTS["one"]
    if named or last in _LISTS["right before"] or (last[-1] == ":" and _labels(last)):
        return HINT if last in ("to:", "from:") else CLEAR
    return HINT if _hinted(last, nearest) else NONE


def _labels(last: str) -> bool:
    """ "Employer:", "Sponsors:"."""
    return last in _LISTS["labels"] or (last[-2:] == "s:" and f"{last[:-2]}:" in _LISTS["labels"])


def _is_kind_of_firm(word: str) -> bool:
    """ "companies", "suppliers"."""
    one = f"{word[:-3]}y" if word[-3:] == "ies" else word[:-1]
    return word[-1] == "s" and (one in _LISTS["one"] or one in _LISTS["right before"])


def _hinted(last: str, nearest: str) -> bool:
    if last in ("from", "of"):
        kinds = lexicon().entries.get(nearest, 0)
        return bool(kinds & NAME) and not kinds & Kind.COMMON
    if last == "at":
        return nearest not in _LISTS["no firm at"]
    if last == "through":
        return nearest not in _LISTS["no firm through"]
    return last in _LISTS["hints"] or (last == "with" and nearest in _LISTS["with, perhaps"]) or nearest == "according"


def _said_after(after: str, before: tuple[str, ...]) -> int:
    owned = after[:3] in ("'s ", "’s ")
    words = [word.strip(_EDGES) for word in after[2 if owned else 0 :].lstrip(" ,").split(None, 6)[:6]]
    if not words or not (owned or after[0] in " ,"):
        return NONE
    if (after[0] == "," or words[0] in ("is", "was")) and _is_one(words):
        return SURE
    if after[0] == ",":
        return CLEAR if words[0] in _LISTS["done"] else HINT if _AT_A_STREET.match(after) else NONE
    if words[0] in _LISTS["owned by firms"] or (not owned and words[0] in OFFICERS):
        return CLEAR
    if words[0] in _LISTS["after"] and words[1:2] != ["of"]:
        return CLEAR if not owned and before and before[-1] in _DETERMINERS else HINT
    return HINT if not owned and (_acts(words) or _in_brackets(after, words)) else NONE


_IS = (" is ", " was")
_AT_A_STREET = re.compile(r", \d{1,5} (?!years?|months?|and|of|in|who|was|is|but|said|has)(?:\d|[a-z])")
""" "Nordwind, 12 High Street"."""


def _in_brackets(after: str, words: list[str]) -> bool:
    """ "Nordwind (the Seller)"."""
    return after[:2] == " (" and words[min(1, len(words) - 1)] in _LISTS["in brackets"]


def _acts(words: list[str]) -> bool:
    """Does what firms do: "has announced", "was founded", "has offices", "said it"."""
    place = 0
    while place < len(words) - 1 and words[place] in _LISTS["auxiliaries"]:
        place += 1
    passive = place > 0 and words[place - 1] in ("is", "was", "were", "been", "are")
    if words[place] in _LISTS["done" if passive else "does"] or words[:2] in (["said", "it"], ["says", "it"]):
        return True
    return words[0] in ("has", "had", "have") and not _LISTS["had by firms"].isdisjoint(words[1:4])


def _is_one(words: list[str]) -> bool:
    """ "is a small company", ", an agency based in": not "is a bank manager"."""
    first = 1 if words[0] in ("is", "was") else 0
    if len(words) <= first or words[first] not in ("a", "an", "the", "our", "my", "one"):
        return False
    for place in range(first + 1, min(len(words), first + 5)):
        if words[place] in _LISTS["one"]:
            return place + 1 == len(words) or words[place + 1] in _LISTS["after one"]
    return False


def owns_as_a_firm(after: str) -> bool:
    """ "Nordwind's refund policy"."""
    following = after[3:].split(None, 1)[:1] if after[:3] in ("'s ", "’s ") else []
    return bool(following) and following[0].strip(_EDGES) in _OWNED


def before_everyday_words(after: str) -> bool:
    """Whether two everyday words follow, so that the sentence is English."""
    entries = lexicon().entries
    following = after.split(None, 2)[:2]
    return len(following) == 2 and all(
        entries.get(word.strip(_EDGES), 0) & Kind.COMMON or word[-3:] in ("n't", "n’t") for word in following
    )


def of_a_person(after: str) -> bool:
    """ "the Nolan family", "the Nolan children"."""
    following = after.split(None, 1)[:1]
    return bool(following) and following[0].strip(_EDGES) in _LISTS["of a person"]


def _look(own: Sequence[Word]) -> str:
    """What the name itself looks like, empty for what is no firm's name.

    ``person``: a full name. ``given``, ``surname``, ``double`` for two with a hyphen, ``partners`` if both
    are surnames. ``unlisted``: like a name, on no
    list. ``plain``: an everyday word; ``phrase``: several. ``word``: any other.
    """
    if not own or any(word.kinds & Kind.COUNTRY for word in own) or all(word.kinds & _OFFICES for word in own):
        return ""
    if len(own) == 1:
        return _look_of_one(own[0])
    if own[0].kinds & Kind.GIVEN and own[-1].kinds & Kind.FAMILY:
        return "person"
    if all(word.kinds & Kind.COMMON for word in own):
        return "phrase"
    if any(word.kinds & Kind.COMMON and not word.kinds & NAME for word in own) or _made(own):
        return "word"
    named = own[0].kinds & Kind.GIVEN or own[0].is_initial or all(word.kinds & NAME for word in own)
    return "person" if named else "unlisted"


def _made(own: Sequence[Word]) -> bool:
    return looks_made(own[0].key) or (not own[-1].kinds and looks_made(own[-1].key))


def _look_of_one(word: Word) -> str:
    if not word.kinds and word.key in _SPOKEN_OF:
        return ""
    if (word.kinds & _NO_FIRM and not word.kinds & Kind.FIRM) or word.is_initial or len(word.text) < 3:
        return ""
    if word.kinds & Kind.COMMON:
        return "" if word.text.isupper() or word.kinds & NAME else "plain"
    if word.kinds & NAME:
        if is_double_surname(word.key):
            return "partners"
        return "double" if "-" in word.text else "surname" if word.kinds & Kind.FAMILY else "given"
    return "unlisted" if looks_like_a_name(word.key) else "word"
