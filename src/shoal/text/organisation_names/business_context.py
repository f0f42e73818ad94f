"""What the words around a name say of a firm: "interview at Nordwind", "the Nordwind account", "Nordwind announced"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from shoal.text.lexicon.capitalised_runs import CapitalisedRun, RunWord
from shoal.text.lexicon.gazetteers import NAME, LexiconKind, lexicon, sections_in
from shoal.text.lexicon.word_shapes import looks_coined, looks_like_a_town

NONE, HINT, CLEAR, SURE = range(4)
"""What a context says."""
_LISTS = {name: frozenset(words) for name, words in sections_in("trade").items() if name}
_EARLIER = {
    name: _LISTS[name] for name in ("at", "for", "with", "by", "from", "of", "in", "against", "between", "to", "became")
}
_DETERMINERS = _LISTS["determiners"]
OFFICERS = _LISTS["after, of firms alone"]
_OWNED = _LISTS["after"] | _LISTS["owned by firms"]
SPOKEN_OF = frozenset().union(*_LISTS.values())
"""Words that stand beside names of firms: not one of them is itself a name."""
_EDGES = ".,:;!?()\"'“”’"


def context(run: CapitalisedRun, words: Sequence[RunWord], *, before: tuple[str, ...] | None = None) -> int:
    """What the words before and after say."""
    first, last = words[0] is run.words[0], words[-1] is run.words[-1]
    earlier = before if before is not None else run.before if first else inside(run, words)
    said = _said_before(earlier)
    town = len(words) == 1 and words[0].kinds & LexiconKind.CITY and not words[0].kinds & LexiconKind.FIRM
    return max(said, _said_after(run.after, earlier)) if last and not town else said


def inside(run: CapitalisedRun, words: Sequence[RunWord]) -> tuple[str, ...]:
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
        return bool(kinds & NAME) and not kinds & LexiconKind.COMMON
    if last == "at":
        return nearest not in _LISTS["no firm at"]
    if last == "through":
        return nearest not in _LISTS["no firm through"]
    return last in _LISTS["hints"] or (last == "with" and nearest in _LISTS["with, perhaps"]) or nearest == "according"


def _said_after(after: str, before: tuple[str, ...]) -> int:
    owned = after[:3] in ("'s ", "’s ")
    beside = after[2:] if owned else after if after.startswith((" ", ",")) else ""
    words = [word.strip(_EDGES) for word in beside.lstrip(" ,").split(None, 6)[:6]]
    if not words:
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


def is_a_thing(run: CapitalisedRun, word: RunWord) -> bool:
    """An unlisted word that names no firm: "a Vespa", "the Titanic", "the song Thunderstruck", "Cadillacs"."""
    first = word is run.words[0]
    before = run.before if first else inside(run, (word,))
    last = before[-1] if before else ""
    if word.key in SPOKEN_OF or looks_like_a_town(word.key):
        return True
    if last in ("a", "an", "the") or not _LISTS["works"].isdisjoint(before[-2:]):
        return True
    if run.after[:4] in _IS and word is run.words[-1] and not _LISTS["works"].isdisjoint(run.after.split()):
        return True
    return word.key[-1] == "s" and word.key[-2:] not in ("ss", "us", "is", "as", "os") and not looks_coined(word.key)


def owns_as_a_firm(after: str) -> bool:
    """ "Nordwind's refund policy"."""
    following = after[3:].split(None, 1)[:1] if after[:3] in ("'s ", "’s ") else []
    return bool(following) and following[0].strip(_EDGES) in _OWNED


def before_everyday_words(after: str) -> bool:
    """Whether two everyday words follow, so that the sentence is English."""
    entries = lexicon().entries
    following = after.split(None, 2)[:2]
    return len(following) == 2 and all(
        entries.get(word.strip(_EDGES), 0) & LexiconKind.COMMON or word[-3:] in ("n't", "n’t") for word in following
    )


def of_a_person(after: str) -> bool:
    """ "the Nolan family", "the Nolan children"."""
    following = after.split(None, 1)[:1]
    return bool(following) and following[0].strip(_EDGES) in _LISTS["of a person"]
