"""What is known by list, in any case and any script: peoples, beliefs, occupations, illnesses, how people live, what is
counted of them. One Aho-Corasick pass (Aho, Corasick 1975) over the text in small letters finds the words; the sentence
around each decides whether it is said of somebody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from shoal.text.dates_numbers import quantities, reference_numbers
from shoal.text.lexicon.caseless_scripts import find_in_caseless_scripts
from shoal.text.lexicon.gazetteers import LexiconKind, in_small_letters, lexicon, sections_in, words_in
from shoal.text.lexicon.kept_tables import kept_json
from shoal.text.lexicon.sentence_context import PhraseHit, ends_apart, stands_apart
from shoal.text.personal_facts import groups_and_beliefs, health, occupations, personal_status
from shoal.text.spans import Span

if TYPE_CHECKING:
    from ahocorasick_rs import AhoCorasick

__all__ = ["find_listed", "stands_apart"]

BY = "lists"
SHORTEST = 3
_PERHAPS_A_WORD = LexiconKind.COMMON | LexiconKind.GENERIC

_OF_ILLNESS = frozenset((health.after_a_trigger, health.adjective, health.in_capitals, health.in_context, health.named))
"""The judges that find illnesses, and nothing else."""
PhraseJudge = Callable[[PhraseHit], Span | list[Span] | None]
"""What a listed phrase makes where it stands, if anything."""


def find_listed(text: str) -> Iterator[Span]:
    found, ill = _by_phrases(text)
    yield from found
    yield from _with_company(ill)
    if not text.isascii():
        yield from find_in_caseless_scripts(text)


def tells_of_illness(text: str) -> bool:
    """Whether there is an illness in it, be it one that is only reported where a text tells of several."""
    automaton, judges = _automaton()
    small = in_small_letters(text)
    for index, start, end in automaton.find_matches_as_indexes(small):
        judge, inside = judges[index]
        if judge not in _OF_ILLNESS or not (ends_apart(small, end) if inside else stands_apart(small, start, end)):
            continue
        if judge(PhraseHit(text, small, start, end)) is not None:
            return True
    return False


def _by_phrases(text: str) -> tuple[list[Span], list[Span]]:
    """What the listed phrases make where they stand, and the illnesses among it apart."""
    automaton, judges = _automaton()
    small = in_small_letters(text)
    others: list[Span] = []
    ill: list[Span] = []
    for index, start, end in automaton.find_matches_as_indexes(small):
        judge, inside = judges[index]
        if not (ends_apart(small, end) if inside else stands_apart(small, start, end)):
            continue
        found = judge(PhraseHit(text, small, start, end))
        if isinstance(found, list):
            others += found
        elif found is not None:
            (ill if found.type == "health" else others).append(found)
    return others, ill


def _with_company(ill: list[Span]) -> Iterator[Span]:
    """Illnesses; those that nobody is said to have only if the text tells of several."""
    for span in ill:
        if span.score > health.ALONE:
            yield span
        elif len(ill) >= health.MANY:
            yield Span(span.start, span.end, span.type, health.IN_COMPANY, span.by)


@cache
def _automaton() -> tuple[AhoCorasick, list[tuple[PhraseJudge, bool]]]:
    """The phrases, and for each its judge and whether it may be the end of a longer word."""
    from ahocorasick_rs import AhoCorasick, MatchKind

    numbers: dict[str, int] = kept_json("listed_phrases", _numbered)
    judges = [(judge, inside) for judge, inside, _ in _judged()]
    automaton = AhoCorasick(list(numbers), matchkind=MatchKind.LeftmostLongest)
    return automaton, [judges[number] for number in numbers.values()]


def _numbered() -> dict[str, int]:
    """The phrases, each with the number of who judges it."""
    numbers: dict[str, int] = {}
    for number, (_, _, words) in enumerate(_judged()):
        for phrase in words:
            numbers.setdefault(phrase.lower(), number)
    return numbers


def _judged() -> Iterator[tuple[PhraseJudge, bool, Iterable[str]]]:
    """What first claims a phrase has it. Words that have to be worked out are, when they are gone through."""
    ill, living, counted, working = map(sections_in, ("health", "standing", "quantities", "occupations"))
    yield groups_and_beliefs.nobodys, False, sections_in("peoples")["of all of them"]
    yield groups_and_beliefs.people, False, words_in("peoples")
    yield groups_and_beliefs.party, False, sections_in("beliefs")["parties"]
    yield groups_and_beliefs.belief, False, words_in("beliefs")
    yield groups_and_beliefs.people, False, _of_kind(LexiconKind.PEOPLE)
    yield groups_and_beliefs.belief, False, _of_kind(LexiconKind.BELIEF)
    yield groups_and_beliefs.people, False, living["peoples"]
    yield occupations.after_a_trigger, False, working["before a role"]
    yield health.after_a_trigger, False, ill["before an illness"]
    yield health.adjective, False, ill["said of somebody"]
    yield health.in_capitals, False, ill["in capitals"]
    yield health.in_context, False, ill["in context"]
    yield health.named, True, ill["names"] + ill["endings"]
    yield personal_status.labelled, False, living["label"]
    yield personal_status.believed_by_label, False, living["label of a belief"]
    yield personal_status.citizen, False, living["citizens"]
    yield personal_status.of_a_nation, False, living["of a nation"]
    yield personal_status.looks, False, living["looks"]
    yield personal_status.education, False, living["education"]
    yield personal_status.anywhere, False, living["anywhere"]
    yield personal_status.person, False, living["a person"]
    yield personal_status.adjective, False, living["said of somebody"]
    yield personal_status.parent, False, living["parents"]
    yield personal_status.believing, False, living["beliefs of somebody"]
    yield personal_status.children, False, living["children"]
    yield quantities.length_of_time, False, counted["time"]
    yield quantities.for_life, False, counted["for life"]
    yield quantities.sum_in_words, False, counted["coins"]
    yield quantities.others, False, counted["others"]
    yield occupations.ending, True, working["endings"]
    yield reference_numbers.after_a_label, False, reference_numbers.LABELS
    yield occupations.said, False, _occupations()
    yield occupations.said, False, _several_of(_occupations())
    yield groups_and_beliefs.people, False, groups_and_beliefs.plurals_of("peoples")
    yield groups_and_beliefs.belief, False, groups_and_beliefs.plurals_of("beliefs")
    yield groups_and_beliefs.people, False, groups_and_beliefs.named_after_countries()


def _of_kind(kind: int) -> Iterator[str]:
    yield from (phrase for phrase in lexicon().of_kind(kind) if len(phrase) >= SHORTEST)


def _several_of(phrases: Iterable[str]) -> Iterator[str]:
    return (f"{phrase}s" for phrase in phrases if phrase.isascii() and phrase[-1] not in "sy")


def _occupations() -> Iterator[str]:
    """Of those that others list, what is one word and an everyday one as well is left out."""
    yield from words_in("occupations")
    yield from sections_in("occupations")["roles"]
    entries = lexicon().entries
    for phrase in _of_kind(LexiconKind.OCCUPATION):
        if " " in phrase or not entries[phrase] & _PERHAPS_A_WORD:
            yield phrase
