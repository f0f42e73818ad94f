"""Whatever the text, nothing breaks: finders, annotator, and scrubbing by every way of replacing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from tests.text.hostile import HALVES, hostile, whole

from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.scrub.scrubber import Scrubber
from shoal.text import Annotator
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.matching.patterns import PatternFinder
from shoal.text.spans import Finder

pytestmark = pytest.mark.requirement("D-03", "X-01")

FINDERS = {"patterns": PatternFinder(), "words": LexiconFinder()}
ANNOTATOR = Annotator()
CHOICES = {
    "label": {"replace": "label"},
    "mask": {"replace": "mask"},
    "mask of one length": {"replace": "mask", "keep_length": False},
    "pseudonym": {"replace": "pseudonym"},
    "dates moved, ages by the decade": {"replace": "label", "dates": "shift", "ages": "generalise"},
}
SCRUBBERS = {
    name: Scrubber(ANNOTATOR, secrets=RunSecrets(Randomness(1)), **choices)  # type: ignore[arg-type]
    for name, choices in CHOICES.items()
}


def without_halves(text: str) -> str:
    return "".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text)


@pytest.mark.parametrize("finder", FINDERS.values(), ids=FINDERS)
@settings(max_examples=150)
@given(text=whole)
def test_a_finder_gives_places_inside_the_text(finder: Finder, text: str) -> None:
    for span in finder.find(text):
        assert 0 <= span.start < span.end <= len(text)
        assert 0 <= span.score <= 1


@pytest.mark.parametrize("half", HALVES)
def test_halves_of_characters_are_read_over(half: str) -> None:
    text = f"{half} Asha Rao {half}"
    assert [text[span.start : span.end] for span in ANNOTATOR.annotate(text)] == ["Asha Rao"]


@settings(max_examples=150)
@given(text=whole)
def test_an_annotator_gives_spans_in_order_that_hold_something(text: str) -> None:
    spans = ANNOTATOR.annotate(text)
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert all(any(letter.isalnum() for letter in text[span.start : span.end]) for span in spans)


@pytest.mark.requirement("X-02")
@pytest.mark.parametrize("scrubber", SCRUBBERS.values(), ids=SCRUBBERS)
@settings(max_examples=60)
@given(text=hostile)
def test_a_scrubber_ends_and_a_second_time_changes_nothing(scrubber: Scrubber, text: str) -> None:
    once = scrubber.scrub(text)
    assert scrubber.scrub(once.text).text == once.text
    before = after = 0
    for action in once.actions:
        assert without_halves(text)[before : action.start] == once.text[after : action.new_start]
        before, after = action.end, action.new_end
    assert without_halves(text)[before:] == once.text[after:]


@pytest.mark.requirement("X-02")
@pytest.mark.parametrize("text", ["said, 34 years old", "to ravi.lim@shop.in王 and"])
def test_our_own_marks_are_known_again(text: str) -> None:
    once = SCRUBBERS["pseudonym"].scrub(text).text
    assert SCRUBBERS["pseudonym"].scrub(once).text == once


@pytest.mark.requirement("X-02")
@pytest.mark.parametrize("name", ["label", "mask"])
@settings(max_examples=60)
@given(text=hostile)
def test_what_was_recognised_is_not_recognised_after(name: str, text: str) -> None:
    done = SCRUBBERS[name].scrub(text)
    rest = list(done.text)
    for action in done.actions:
        rest[action.new_start : action.new_end] = "_" * (action.new_end - action.new_start)
    ours = [range(action.new_start, action.new_end) for action in done.actions]
    for span in ANNOTATOR.annotate(done.text):
        left = "".join(rest[span.start : span.end])
        assert not any(letter.isalnum() for letter in left) or any(span.start in one for one in ours)
    assert name != "mask" or len(done.text) == len(text)
