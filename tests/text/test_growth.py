"""No slow input: four times the text is about four times the work, whatever is repeated in it.

Where looks can be counted they are (``test_scanning``; here, the rounds of a scrubber). The word finders are Python, so
their processor time is compared with itself: a quadratic finder takes sixteen times as long, a linear one four times.
It has to look quadratic again and again, and to be slow as well, before it counts. What takes hundreds of times as long
as usual is stopped.
"""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.work import calls
from tests.text.hostile import PERIODS, repeated

from shoal.scrub.scrubber import Scrubber
from shoal.text import Annotator
from shoal.text.lexicon.word_shapes import looks_coined
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.matching.patterns import PatternFinder
from shoal.text.spans import Span

pytestmark = pytest.mark.requirement("D-03", "X-01")

SHORT, LONG = 1_500, 6_000
MOST = 9.0
"""Times as long for four times the text: between 4, linear, and 16, quadratic."""
BEARABLE = 0.15
"""Seconds of processor time for LONG characters: 40 kB a second, a twentieth of the usual. What is quicker may grow."""
ENDLESS = 1.5
TRIES = 3
ROUNDS = 12
MANY_ROUNDS = ("Mr ",)
"""Each round takes one title, and makes what follows look like a name to the title before it."""

Work = Callable[[str], object]
PATTERNS, WORDS, ANNOTATOR = PatternFinder(), LexiconFinder(), Annotator()
FINDERS: dict[str, Work] = {
    "patterns": lambda text: list(PATTERNS.find(text)),
    "words": lambda text: list(WORDS.find(text)),
    "annotator": ANNOTATOR.annotate,
}


class EndlessError(Exception):
    """It was stopped."""


def stop(*_: object) -> None:
    raise EndlessError


def seconds(work: Work, text: str) -> float:
    """Of processor time."""
    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, ENDLESS)
    start = time.process_time()
    try:
        work(text)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - start


def too_slow(work: Work, period: str) -> bool:
    try:
        for _ in range(TRIES):
            long = seconds(work, repeated(period, LONG))
            if long < BEARABLE or long < MOST * seconds(work, repeated(period, SHORT)):
                return False
    except EndlessError:
        return True
    return True


def test_what_is_quadratic_is_noticed() -> None:
    assert too_slow(lambda text: re.findall(r"(?:a+)+b", text), "a")
    assert too_slow(lambda text: sum(1 for _ in range(len(text) ** 2)), "a")
    assert not too_slow(lambda text: re.findall(r"[ab]", text), "a")


@pytest.mark.parametrize("finder", FINDERS)
def test_repeats_are_nothing_special(finder: str) -> None:
    FINDERS[finder]("Dr. Asha Rao lives at 12 High Street, Leeds; 王小明.")  # tables of all scripts are there then
    assert [period for period in PERIODS if too_slow(FINDERS[finder], period)] == []


@settings(max_examples=60)
@given(period=st.lists(st.sampled_from(PERIODS), min_size=2, max_size=4).map("".join))
def test_nor_are_repeats_of_several_things(period: str) -> None:
    assert not too_slow(ANNOTATOR.annotate, period)


def test_calls_that_grow_with_the_square_are_noticed() -> None:
    def quadratic(size: int) -> int:
        return sum(1 for _ in range(size**2))

    assert calls(partial(quadratic, 400)) > 15 * calls(partial(quadratic, 100))


@pytest.mark.parametrize("period", ["A", "O'", "Asha Rao ", "asha rao ", "A ", "12 High Street, ", "1 a "])
def test_one_line_without_an_end_is_nothing_special(period: str) -> None:
    """Words and runs as long as the text: four times the length is about four times the calls."""
    work, times = Scrubber(Annotator()).scrub, 3_000 // len(period)
    work(period * 2 * times)
    assert calls(partial(work, period * 4 * times)) < 5 * calls(partial(work, period * times)) + 1_000


def test_a_word_without_an_end_is_not_cut_at_every_letter() -> None:
    looks_coined("brightwater")
    assert calls(partial(looks_coined, "a" * 4_000)) <= calls(partial(looks_coined, "a" * 1_000))


class Counting:
    """An annotator that counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def annotate(self, text: str) -> Sequence[Span]:
        self.asked += 1
        return ANNOTATOR.annotate(text)


@pytest.mark.parametrize("replace", ["label", "mask", "pseudonym"])
def test_rounds_do_not_grow_with_the_text(replace: str) -> None:
    """What a replacement brings to light is replaced in a further round, and a few rounds are enough for any text."""
    periods = [period for period in PERIODS if period not in MANY_ROUNDS]
    assert {period: count for period in periods if (count := rounds(replace, period)) > ROUNDS} == {}


@pytest.mark.parametrize("period", MANY_ROUNDS)
def test_titles_in_a_row_are_nothing_special(period: str) -> None:
    assert rounds("label", period) <= ROUNDS


def rounds(replace: str, period: str) -> int:
    counting = Counting()
    Scrubber(counting, replace).scrub(repeated(period, 120))  # type: ignore[arg-type]
    return counting.asked
