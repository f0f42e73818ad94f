"""What the tests of the word finders share: a text in, kinds and values out."""

from __future__ import annotations

from shoal.scrub.choices import known_types
from shoal.text import Annotator
from shoal.text.lexicon_finder import LexiconFinder

ANNOTATOR = Annotator((LexiconFinder(),), types=known_types())


def found(text: str, *types: str) -> list[tuple[str, str]]:
    """Kind and value of what the word finders see, merged; only these kinds, if any are named."""
    spans = ANNOTATOR.annotate(text)
    return [(span.type, text[span.start : span.end]) for span in spans if not types or span.type in types]


def values(text: str, kind: str) -> list[str]:
    return [value for _, value in found(text, kind)]
