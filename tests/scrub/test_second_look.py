"""From the third round on a long text is read only near what has changed: what is found there is all there is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.scrub.own_replacements import needing_replacement
from shoal.scrub.piece_table import TextReplacement, replaced_places
from shoal.scrub.scrubber import Scrubber
from shoal.scrub.second_look import REACH, found_near, judges_by_surroundings
from shoal.text.annotator import Annotator
from shoal.text.lexicon import sentence_context
from shoal.text.matching import context_words, patterns, prefilter
from shoal.text.organisation_names import formal_names
from shoal.text.street_addresses import candidate_windows

pytestmark = pytest.mark.requirement("X-02")

ANNOTATOR = Annotator.standard("none", kind="prose")
SCRUBBER = Scrubber(ANNOTATOR)
SENTENCES = (
    "The meeting was moved to the next week, since nobody had read the paper.",
    "Two of them were late; [PERSON] of [ORGANISATION] came with a list of 14 questions.",
    "It rained, and the quimber at the door was wet.",
    "He moved there in June and works as a clerk with the same firm.",
    "The number of her passport, which was lost on the way to the airport, is",
    "He has lived for a long time, as far as anybody can tell, in",
    "Please send it to [ADDRESS], or call [PHONE] between nine and five.",
)
CLEAN = SCRUBBER.scrub("\n".join(SENTENCES[place % len(SENTENCES)] for place in range(400))).text
ENDS = [place for place, sign in enumerate(CLEAN) if sign == "\n"]
PIECES = [
    "Dr. Quimber", "my name is quimber", "Asha Rao", "Rao", "+91 98450 12345", "12 High Street, London", "lives in",
    "of Nordwind GmbH", "asha@clinic.in", "born on 5 March 1971", ", 34 years old,", "[PERSON]", "Bank of", "\n\n", " ",
    "4111 1111 1111 1111", "passport no", "K1234567", "Larvik", "GB", "Ltd", "Mr", "the court in Leeds", "asthma",
    "Die Straße, das Haus, der Hof",
]  # fmt: skip


def left(text: str, spans) -> list[tuple[int, int, str]]:
    return needing_replacement(text, spans, SCRUBBER.ours(text))


def as_by_reading_all(inserted: str, places: list[int]) -> bool:
    changes = [TextReplacement(place, place, "person", f" {inserted} ") for place in places]
    text = CLEAN
    for change in reversed(changes):
        text = text[: change.start] + change.text + text[change.start :]
    near = found_near(replaced_places(changes), text, ANNOTATOR, "prose")
    return left(text, near) == left(text, ANNOTATOR.annotate(text))


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map(" ".join),
    st.lists(st.integers(0, len(CLEAN)) | st.sampled_from(ENDS), min_size=1, max_size=3, unique=True).map(sorted),
)
@settings(max_examples=30, deadline=None)
def test_what_a_change_brings_to_light_is_found_near_it(inserted, places):
    assert as_by_reading_all(inserted, places)


@pytest.mark.parametrize("inserted", ["K1234567", "Larvik", "Quimber"])
def test_words_before_a_change_count(inserted):
    assert all(as_by_reading_all(inserted, [end]) for end in ENDS[: len(SENTENCES)])


@pytest.mark.parametrize(
    "farthest",
    [
        sentence_context.BEFORE,
        sentence_context.AFTER,
        context_words.REACH,
        patterns.FARTHEST,
        patterns.LONGEST_CHECKED,
        prefilter.LONGEST_SIDE,
        formal_names.LONGEST_BODY,
        candidate_windows.BEFORE,
        candidate_windows.AFTER,
    ],
)
def test_nothing_is_judged_by_what_stands_farther_off(farthest):
    """Twice as much is read, for what is judged by something that is itself judged so."""
    assert farthest <= REACH


@dataclass(frozen=True)
class ReadLengths:
    """A finder that finds nothing, and notes how much it was given."""

    lengths: list[int] = field(default_factory=list)

    def find(self, text: str):
        self.lengths.append(len(text))
        return ()


@pytest.mark.parametrize(
    ("inserted", "all_of_it"),
    [
        ("Asha Rao", False),
        ("das Haus, der Hof, die Uhr. " * 40, True),
        ("a case of asthma", True),
        ("x " * 15_000, True),
    ],
)
def test_only_stretches_are_read_unless_the_whole_text_decides(inserted, all_of_it):
    """By the stretch alone every noun would have a capital, it would tell of one illness, or be half the text."""
    middle = len(CLEAN) // 2
    text = f"{CLEAN[:middle]} {inserted} {CLEAN[middle:]}"
    reader = ReadLengths()
    found_near([(middle, middle + len(inserted) + 2)], text, Annotator((*ANNOTATOR.finders, reader)), "prose")
    assert reader.lengths == [len(text)] if all_of_it else max(reader.lengths) < 8 * REACH


def test_a_name_is_looked_for_again_in_all_of_the_text():
    text = f"{CLEAN}\nDr. Quimber came.\n"
    near = found_near([(len(CLEAN), len(text))], text, ANNOTATOR, "prose")
    assert len([span for span in near if span.end < len(CLEAN) - 2 * REACH]) == 0
    text = text.replace("the quimber at", "the Quimber at")
    near = found_near([(len(CLEAN), len(text))], text, ANNOTATOR, "prose")
    assert len([span for span in near if span.end < len(CLEAN) - 2 * REACH]) > 10


@dataclass(frozen=True)
class EachRoundInFull:
    """The same annotator as somebody else's, of which nothing is known."""

    annotator: Annotator = ANNOTATOR

    def annotate(self, text: str):
        return self.annotator.annotate(text)


@pytest.mark.slow
@pytest.mark.parametrize("source", ["wikigold.jsonl", "wnut17_dev.jsonl"])
def test_letters_are_scrubbed_as_by_rounds_in_full(shared, source):
    lines = (shared / "data" / "text_dev" / source).read_text(encoding="utf-8").splitlines()
    text = "\n".join(json.loads(line)["text"] for line in lines)
    assert SCRUBBER.scrub(text) == Scrubber(EachRoundInFull()).scrub(text)


def test_a_learned_model_reads_all_of_the_text():
    assert judges_by_surroundings(ANNOTATOR)
    assert not judges_by_surroundings(Annotator((*ANNOTATOR.finders, ReadLengths())))
