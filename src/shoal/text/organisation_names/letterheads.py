"""Firms on cards and letter heads: below a person's name, above the street, in brackets after a person."""

from __future__ import annotations

import re

from shoal.text.lexicon.capitalised_runs import CapitalisedRun
from shoal.text.lexicon.gazetteers import NAME, LexiconKind
from shoal.text.lexicon.word_shapes import looks_like_a_town
from shoal.text.organisation_names.formal_names import CONTEXT, LONGEST_BODY, LOOKS_LIKE, span_of
from shoal.text.spans import Span

_PLAIN = LexiconKind.COMMON | NAME | LexiconKind.CITY


def below_a_name(run: CapitalisedRun, card: CapitalisedRun | None, text: str) -> list[Span]:
    """In a block of lines as on a card: an unlisted name alone on a line, below a person or the person's occupation."""
    if not run.alone or len(run.words) > 4:
        return []
    if _ABOVE_A_NUMBER.match(text, run.end) and not any(word.kinds & ~LexiconKind.COMMON for word in run.words):
        return [span_of(run.words, LOOKS_LIKE)]
    if card is None or run.start - card.end > LONGEST_BODY:
        return []
    between = text[card.end : run.start]
    near = between.count("\n") <= 2 and not any(letter.isdigit() for letter in between)
    unlisted = not any(word.kinds & ~LexiconKind.COMMON for word in run.words)
    return [span_of(run.words, LOOKS_LIKE + 0.02)] if unlisted and near else []


_ABOVE_A_NUMBER = re.compile(r",? *\r?\n[ \t]*(?:\d{1,5} [^\W\d_]|(?:Flat|Unit|Suite|Apt|Studio|P\.?O\.? Box|PSC)\b)")
"""The first line of an address."""


def after_a_name(run: CapitalisedRun, previous: CapitalisedRun | None, text: str) -> list[Span]:
    """ "Asha Rao (Brightwater)": a word on no list in brackets after a person."""
    if text[run.start - 1 : run.start] != "(":
        return []
    if previous is None or len(run.words) > 3 or len(run.words[0].text) < 4:
        return []
    if any(
        word.kinds & ~(_PLAIN if len(run.words) > 1 else LexiconKind.COMMON) and "-" not in word.text
        for word in run.words
    ):
        return []
    if len(run.words) > 1 and any(word.kinds & NAME and not word.kinds & LexiconKind.COMMON for word in run.words):
        return []
    if looks_like_a_town(run.words[0].key):
        return []
    bracketed = text.startswith(" (", previous.end) and run.start == previous.end + 2 and text.startswith(")", run.end)
    person = len(previous.words) > 1 and (previous.words[0].kinds | previous.words[1].kinds) & LexiconKind.GIVEN
    score = CONTEXT + 0.05 if len(run.words) == 1 else LOOKS_LIKE
    return [span_of(run.words, score)] if bracketed and person else []


def opens_a_card(run: CapitalisedRun) -> bool:
    """A person's name alone on its line."""
    if not run.alone:
        return False
    if len(run.words) == 1:
        return bool(run.words[0].kinds & LexiconKind.GIVEN) and not run.words[0].kinds & LexiconKind.COMMON
    return any(word.kinds & NAME or word.is_initial for word in run.words)
