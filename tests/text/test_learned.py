"""What a learned model says is taken with care: names without what stands around them, English only."""

from __future__ import annotations

import pytest

from shoal.text import Annotator
from shoal.text.spacy_finder import LABELS, SpacyFinder, available

pytestmark = [
    pytest.mark.requirement("D-03", "X-01"),
    pytest.mark.skipif(available() is None, reason="no language model is installed"),
]


def _found(text: str) -> list[tuple[str, str]]:
    return [(span.type, text[span.start : span.end]) for span in SpacyFinder(available() or "").find(text)]


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Yesterday the verses from Samuel Yefremova's book were read aloud in the hall.", "'s"),
        ("The Garmin Orchestra was founded in the town and has grown since then.", "The "),
        ("Name: Victoria Bruun\nPhone: unknown, please call her friend about the house.", "\n"),
    ],
)
def test_a_name_comes_without_what_stands_around_it(text: str, part: str) -> None:
    assert [value for kind, value in _found(text) if kind in ("person", "organisation") and part in value] == []


@pytest.mark.parametrize(
    "text",
    ["Ho comprato la macchina da Celestica.", "Laut dem Bericht war das Auto rot.", "he ranked the song at #15."],
)
def test_what_the_model_can_not_know_is_left(text: str) -> None:
    assert _found(text) == []


def test_the_model_only_fills_gaps() -> None:
    """Whatever a list or a context says of a name counts more."""
    assert max(score for kind, score in LABELS.values() if kind in ("person", "place", "organisation")) < 0.51


def test_with_the_model_nothing_is_lost() -> None:
    text = "Dr. Asha Rao of Infosys Ltd lives in Singapore and told Monjeau about it."
    without, with_it = Annotator.standard("none").annotate(text), Annotator.standard(available() or "").annotate(text)
    assert set(without) <= set(with_it)
