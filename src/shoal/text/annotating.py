"""Annotation (ISO/IEC 20889, C.2): what in a text is about a person, by patterns, dictionaries and learned models.

>>> [(span.type, span.start, span.end) for span in Annotator().annotate("Write to asha@example.org today.")]
[('email', 9, 25)]
>>> text = "Dr. Asha Rao called. Rao lives at 12 High Street, London."
>>> [(span.type, text[span.start : span.end]) for span in Annotator().annotate(text)]
[('title', 'Dr.'), ('person', 'Asha Rao'), ('person', 'Rao'), ('address', '12 High Street, London')]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from shoal.text.learned import Learned, available
from shoal.text.mentions import mentioned_again
from shoal.text.patterns import Patterns
from shoal.text.spans import Finder, Span, merged
from shoal.text.words import Words

THRESHOLD = 0.5
HELD: dict[str, frozenset[str]] = {
    "address": frozenset(
        {"place", "postal_code", "pin_code", "person", "organisation", "date", "phone", "age", "title"}
    ),
    "organisation": frozenset({"place", "person", "group", "occupation", "title"}),
    "money": frozenset({"group", "reference", "place"}),
    "email": frozenset({"person", "organisation", "domain", "url", "username", "place", "upi"}),
    "url": frozenset({"person", "organisation", "domain", "place", "username"}),
}
"""What each kind holds: a place inside an address is part of it, a name inside an e-mail address likewise."""


def _standard() -> tuple[Finder, ...]:
    return Patterns(), Words()


@dataclass(frozen=True)
class Annotator:
    """All finders together; their spans are merged, so that none overlap."""

    finders: Sequence[Finder] = field(default_factory=_standard)
    threshold: float = THRESHOLD
    types: frozenset[str] | None = None
    """Only these kinds; None for all."""

    @classmethod
    def standard(
        cls, model: str = "auto", *, threshold: float = THRESHOLD, types: frozenset[str] | None = None
    ) -> Self:
        """Patterns and word lists, with a learned model: ``auto`` for one that is installed, ``none``, or its name."""
        chosen = available() if model == "auto" else None if model == "none" else model
        learned = () if chosen is None else (Learned(chosen),)
        return cls((*_standard(), *learned), threshold, types)

    def annotate(self, text: str) -> list[Span]:
        return self._settled(text, [span for finder in self.finders for span in finder.find(text)])

    def annotate_many(self, texts: Iterable[str]) -> Iterator[list[Span]]:
        """As ``annotate`` for each text; a learned model reads several at once."""
        learned = [finder for finder in self.finders if isinstance(finder, Learned)]
        others = [finder for finder in self.finders if not isinstance(finder, Learned)]
        batch: list[str] = []
        for text in texts:
            batch.append(text)
            if len(batch) == BATCH:
                yield from self._batch(batch, learned, others)
                batch = []
        yield from self._batch(batch, learned, others)

    def _batch(self, batch: list[str], learned: list[Learned], others: list[Finder]) -> Iterator[list[Span]]:
        by_model = [list(finder.find_many(batch)) for finder in learned]
        for place, text in enumerate(batch):
            found = [span for finder in others for span in finder.find(text)]
            yield self._settled(text, found + [span for spans in by_model for span in spans[place]])

    def _settled(self, text: str, found: list[Span]) -> list[Span]:
        spans = merged(without_held(found, self.threshold), self.threshold)
        again = mentioned_again(text, spans)
        if again:
            spans = merged([*spans, *again], self.threshold)
        if self.types is not None:
            spans = [span for span in spans if span.type in self.types]
        return [trimmed for span in spans if (trimmed := _trimmed(text, span)) is not None]


BATCH = 256
MARGIN = 0.15


def without_held(spans: list[Span], threshold: float) -> list[Span]:
    """Without those that lie inside a span of a kind that holds theirs."""
    holders = sorted(span for span in spans if span.type in HELD and span.score >= threshold)
    if not holders:
        return spans
    kept = []
    waiting = iter(holders)
    following = next(waiting, None)
    open_: list[Span] = []
    for span in sorted(spans):
        while following is not None and following.start <= span.start:
            open_.append(following)
            following = next(waiting, None)
        open_ = [holder for holder in open_ if holder.end > span.start]
        if not any(_holds(holder, span) for holder in open_):
            kept.append(span)
    return kept


def _holds(holder: Span, span: Span) -> bool:
    """A holder that is much less sure than what it holds is not believed."""
    longer = len(holder) > len(span) and holder.holds(span)
    return longer and span.type in HELD[holder.type] and holder.score + MARGIN >= span.score


def _trimmed(text: str, span: Span) -> Span | None:
    """Without spaces and commas at its edges; None if no letter or digit is left."""
    start, end = span.start, span.end
    while start < end and not text[start].isalnum() and text[start] in " \t\n\r,;":
        start += 1
    while end > start and text[end - 1] in " \t\n\r,;":
        end -= 1
    if not any(letter.isalnum() for letter in text[start:end]):
        return None
    return span if (start, end) == (span.start, span.end) else Span(start, end, span.type, span.score, span.by)
