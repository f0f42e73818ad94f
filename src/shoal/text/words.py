"""All finders that go by words and lists, over one reading of the text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shoal.text.addresses import addresses
from shoal.text.figures import figures
from shoal.text.listed import listed
from shoal.text.names import persons
from shoal.text.occupations import occupations
from shoal.text.organisations import organisations
from shoal.text.places import places
from shoal.text.reading import runs_in, with_capitals
from shoal.text.spans import Span


@dataclass(frozen=True)
class Words:
    """Names, places, organisations, addresses, peoples, beliefs and occupations, without a learned model."""

    def find(self, text: str) -> Iterator[Span]:
        runs = list(runs_in(with_capitals(text)))
        yield from persons(text, runs)
        yield from places(runs)
        yield from organisations(text, runs)
        yield from addresses(text)
        yield from occupations(text)
        yield from figures(text)
        yield from listed(text)
