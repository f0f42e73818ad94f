"""Texts without case: all in small letters or in capitals. A run there is a whole sentence; everyday words cut it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from shoal.text.lexicon.capitalised_runs import JOINS, PARTICLES, CapitalisedRun, RunWord
from shoal.text.lexicon.gazetteers import NAME, LexiconKind

LONGEST_IN_CAPITALS = 4
"""A run of more words in capitals is a sentence or a heading, not a name."""
_PART_OF_A_BODY = LexiconKind.BODY | LexiconKind.FORM | LexiconKind.GENERIC


def caseless_runs(text: str, runs: Sequence[CapitalisedRun]) -> Sequence[CapitalisedRun]:
    """The runs, those without case cut into what could be names."""
    if text.islower():
        return [part for run in runs for part in _parts(text, run)]
    if any(len(run.words) >= LONGEST_IN_CAPITALS and _in_capitals(run) for run in runs):
        return [part for run in runs for part in (_parts(text, run) if _in_capitals(run) else (run,))]
    return runs


def _in_capitals(run: CapitalisedRun) -> bool:
    return len(run.words) >= LONGEST_IN_CAPITALS and all(
        word.text.isupper() or not word.text.isalpha() for word in run.words
    )


def _parts(text: str, run: CapitalisedRun) -> Iterator[CapitalisedRun]:
    words = run.words
    kept = [_kept(words, place) for place in range(len(words))]
    place = 0
    while place < len(words):
        if not kept[place]:
            place += 1
            continue
        first = place
        while place < len(words) and kept[place]:
            place += 1
        past = place
        while past < len(words) and words[past].kinds & _PART_OF_A_BODY:
            past += 1
        if first > 1 and words[first - 1].key in ("of", "at") and words[first - 2].kinds & LexiconKind.BODY:
            first -= 2
        yield _part(text, run, first, past)
        place = max(place, past)


def _kept(words: Sequence[RunWord], place: int) -> bool:
    """Not an everyday word, unless it is a name next to one that is nothing else."""
    word = words[place]
    if word.key in JOINS or word.key in PARTICLES or len(word.text) == 1:
        links = word.key in ("&", "and") or word.key in PARTICLES or word.is_initial
        return links and 0 < place < len(words) - 1 and all(map(_sure, (words[place - 1], words[place + 1])))
    if not word.kinds & LexiconKind.COMMON:
        return not word.kinds & LexiconKind.TITLE or place + 1 < len(words)
    if not word.kinds & NAME:
        return (
            bool(word.kinds & LexiconKind.TITLE)
            and place + 1 < len(words)
            and not words[place + 1].kinds & LexiconKind.COMMON
        )
    beside = words[place + 1 : place + 2] if word.kinds & LexiconKind.GIVEN else words[max(0, place - 1) : place]
    return bool(beside) and _sure(beside[0])


def _sure(word: RunWord) -> bool:
    return bool(word.kinds & NAME) and not word.kinds & LexiconKind.COMMON


def _part(text: str, run: CapitalisedRun, first: int, past: int) -> CapitalisedRun:
    if first == 0 and past == len(run.words):
        return run
    words = run.words[first:past]
    before = (*run.before, *(word.key for word in run.words[max(0, first - 3) : first]))[-3:]
    after = run.after
    if past < len(run.words):
        after = text[words[-1].end : words[-1].end + 40].split("\n", 1)[0].lower()
    opens = run.opens and first == 0
    return CapitalisedRun(words, words[0].start, words[-1].end, opens, before, after, alone=False)
