"""What is known by list, in any case and any script: peoples, beliefs, occupations, illnesses, how people live, what is
counted of them. One Aho-Corasick pass (Aho, Corasick 1975) over the text in small letters finds the words; the sentence
around each decides whether it is said of somebody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from shoal.text import health, occupations, peoples, quantities, references, standing
from shoal.text.gazetteers import Kind, in_small_letters, lexicon, sections_in, words_in
from shoal.text.scripts import in_scripts
from shoal.text.sentences import Hit, ends_apart, stands_apart
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

__all__ = ["listed", "stands_apart"]

BY = "lists"
SHORTEST = 3
_PERHAPS_A_WORD = Kind.COMMON | Kind.GENERIC

Judge = Callable[[Hit], Span | list[Span] | None]
"""What a listed phrase makes where it stands, if anything."""


def listed(text: str) -> Iterator[Span]:
    automaton, judges = _automaton()
    small = in_small_letters(text)
    ill: list[Span] = []
    for index, start, end in automaton.find_matches_as_indexes(small):
        judge, inside = judges[index]
        if not (ends_apart(small, end) if inside else stands_apart(small, start, end)):
            continue
        found = judge(Hit(text, small, start, end))
        if isinstance(found, list):
            yield from found
        elif found is not None and found.type == "health":
            ill.append(found)
        elif found is not None:
            yield found
    yield from _with_company(ill)
    if not text.isascii():
        yield from in_scripts(text)


def _with_company(ill: list[Span]) -> Iterator[Span]:
    """Illnesses; those that nobody is said to have only if the text tells of several."""
    for span in ill:
        if span.score > health.ALONE:
            yield span
        elif len(ill) >= health.MANY:
            yield Span(span.start, span.end, span.type, health.IN_COMPANY, span.by)


@cache
def _automaton() -> tuple[AhoCorasick, list[tuple[Judge, bool]]]:
    """The phrases, and for each its judge and whether it may be the end of a longer word."""
    from ahocorasick_rs import AhoCorasick, MatchKind

    phrases: dict[str, tuple[Judge, bool]] = {}
    for judge, inside, words in _judged():
        for phrase in words:
            phrases.setdefault(phrase.lower(), (judge, inside))
    automaton = AhoCorasick(list(phrases), matchkind=MatchKind.LeftmostLongest)
    return automaton, list(phrases.values())


def _judged() -> Iterator[tuple[Judge, bool, Iterable[str]]]:
    """What first claims a phrase has it."""
    ill, living, counted, working = map(sections_in, ("health", "standing", "quantities", "occupations"))
    yield peoples.nobodys, False, sections_in("peoples")["of all of them"]
    yield peoples.people, False, words_in("peoples")
    yield peoples.party, False, sections_in("beliefs")["parties"]
    yield peoples.belief, False, words_in("beliefs")
    yield peoples.people, False, _of_kind(Kind.PEOPLE)
    yield peoples.belief, False, _of_kind(Kind.BELIEF)
    yield peoples.people, False, living["peoples"]
    yield occupations.after_a_trigger, False, working["before a role"]
    yield health.after_a_trigger, False, ill["before an illness"]
    yield health.adjective, False, ill["said of somebody"]
    yield health.in_capitals, False, ill["in capitals"]
    yield health.in_context, False, ill["in context"]
    yield health.named, True, ill["names"] + ill["endings"]
    yield standing.labelled, False, living["label"]
    yield standing.believed_by_label, False, living["label of a belief"]
    yield standing.citizen, False, living["citizens"]
    yield standing.of_a_nation, False, living["of a nation"]
    yield standing.looks, False, living["looks"]
    yield standing.education, False, living["education"]
    yield standing.anywhere, False, living["anywhere"]
    yield standing.person, False, living["a person"]
    yield standing.adjective, False, living["said of somebody"]
    yield standing.parent, False, living["parents"]
    yield standing.believing, False, living["beliefs of somebody"]
    yield standing.children, False, living["children"]
    yield quantities.length_of_time, False, counted["time"]
    yield quantities.for_life, False, counted["for life"]
    yield quantities.sum_in_words, False, counted["coins"]
    yield quantities.others, False, counted["others"]
    yield occupations.ending, True, working["endings"]
    yield references.after_a_label, False, references.LABELS
    known = [*words_in("occupations"), *working["roles"], *_occupations()]
    yield occupations.said, False, known
    yield occupations.said, False, [f"{phrase}s" for phrase in known if phrase.isascii() and phrase[-1] not in "sy"]
    yield peoples.people, False, peoples.plurals_of("peoples")
    yield peoples.belief, False, peoples.plurals_of("beliefs")
    yield peoples.people, False, peoples.named_after_countries()


def _of_kind(kind: int) -> Iterator[str]:
    return (phrase for phrase in lexicon().of_kind(kind) if len(phrase) >= SHORTEST)


def _occupations() -> Iterator[str]:
    """Those of one word that are everyday words as well are left out."""
    entries = lexicon().entries
    for phrase in _of_kind(Kind.OCCUPATION):
        if " " in phrase or not entries[phrase] & _PERHAPS_A_WORD:
            yield phrase
