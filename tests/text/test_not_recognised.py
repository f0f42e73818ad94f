"""What the page says is not recognised is not: whoever teaches a finder one of these puts the page right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shoal.text import Annotator

pytestmark = pytest.mark.requirement("X-01")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "recognition.md"
ROW = re.compile(r"^\|[^|`]*\| `([^`]+)` \| ([^|]+) \|$", re.MULTILINE)
CASES = [(text, re.findall(r"`([^`]+)`", stays) or [text]) for text, stays in ROW.findall(PAGE.read_text("utf-8"))]


def test_the_page_has_its_examples() -> None:
    assert len(CASES) >= 12
    assert all(part in text for text, parts in CASES for part in parts)


@pytest.mark.parametrize(("text", "parts"), CASES)
def test_it_is_as_the_page_says(text: str, parts: list[str]) -> None:
    found = Annotator().annotate(text)
    for part in parts:
        start, end = text.index(part), text.index(part) + len(part)
        assert not [span for span in found if span.start < end and start < span.end]


def test_an_example_that_is_recognised_would_be_noticed() -> None:
    with pytest.raises(AssertionError):
        test_it_is_as_the_page_says("Dr. Asha Rao came.", ["Asha Rao"])
