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
from functools import cached_property
from typing import Any, Protocol, Self

from shoal.text.dates_numbers.spoken_dates import is_weekday
from shoal.text.impersonal_names import is_impersonal, up_to_label
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.logs.log_findings import log_findings
from shoal.text.logs.log_lines import TextKind, is_log
from shoal.text.matching.batch import BatchedPatternFinder
from shoal.text.matching.character_forms import without_halves
from shoal.text.matching.patterns import PatternFinder
from shoal.text.person_names.repeated_mentions import find_repeated_mentions
from shoal.text.spacy_finder import MODELS, SpacyFinder, available, believable
from shoal.text.spans import Finder, Span, merged

THRESHOLD = 0.5
IF_ASKED = frozenset({"time"})
"""Kinds that are told of only where they are asked for."""
HELD: dict[str, frozenset[str]] = {
    "address": frozenset(
        {"place", "postal_code", "pin_code", "person", "organisation", "date", "phone", "age", "title"}
    ),
    "organisation": frozenset({"place", "person", "group", "occupation", "title", "health", "belief", "number"}),
    "money": frozenset({"group", "reference", "place", "number"}),
    "occupation": frozenset({"group", "place", "title", "organisation"}),
    "health": frozenset({"person", "place", "organisation", "number", "group", "standing"}),
    "group": frozenset({"number", "age", "occupation"}),
    "standing": frozenset({"number", "age", "occupation", "group"}),
    "reference": frozenset({"organisation", "place", "person"}),
    "email": frozenset({"person", "organisation", "domain", "url", "username", "place", "upi"}),
    "url": frozenset({"person", "organisation", "domain", "place", "username"}),
}
"""What each kind holds: a place inside an address is part of it, a name inside an e-mail address likewise."""


def _standard() -> tuple[Finder, ...]:
    return PatternFinder(), LexiconFinder()


class BatchFinder(Protocol):
    """What a finder finds in each of several texts."""

    def find_many(self, texts: Sequence[str]) -> Iterable[Iterable[Span]]: ...


@dataclass(frozen=True)
class _OneByOneFinder:
    finder: Finder

    def find_many(self, texts: Sequence[str]) -> Iterable[Iterable[Span]]:
        return map(self.finder.find, texts)


def _for_many(finder: Finder) -> BatchFinder:
    if isinstance(finder, PatternFinder):
        return BatchedPatternFinder(finder)
    return finder if isinstance(finder, SpacyFinder | LexiconFinder) else _OneByOneFinder(finder)


@dataclass(frozen=True)
class Annotator:
    """All finders together; their spans are merged, so that none overlap."""

    finders: Sequence[Finder] = field(default_factory=_standard)
    threshold: float = THRESHOLD
    types: frozenset[str] | None = None
    """Only these kinds; None for all but those in IF_ASKED, and days of the week."""
    kind: TextKind = "auto"
    """What texts are read as; ``auto`` finds out for each."""

    @classmethod
    def standard(
        cls,
        model: str = "auto",
        *,
        threshold: float = THRESHOLD,
        types: frozenset[str] | None = None,
        kind: TextKind = "auto",
    ) -> Self:
        """Patterns and word lists, with a learned model: ``auto`` for one that is installed, ``none``, or its name."""
        chosen = available() if model == "auto" else None if model == "none" else model
        learned = () if chosen is None else (SpacyFinder(chosen),)
        return cls((*_standard(), *learned), threshold, types, kind)

    def annotate(self, text: str, kind: TextKind | None = None) -> list[Span]:
        """``kind`` is what this text is read as, if that is known better than by the text itself."""
        text = without_halves(text)
        return self._settled(text, [span for finder in self.finders for span in finder.find(text)], kind or self.kind)

    def annotate_many(self, texts: Iterable[str], kind: TextKind | None = None) -> Iterator[list[Span]]:
        """As ``annotate`` for each text; patterns and a learned model read several at once."""
        kind = kind or self.kind
        batch: list[str] = []
        for text in texts:
            batch.append(without_halves(text))
            if len(batch) == BATCH:
                yield from self._batch(batch, kind)
                batch = []
        yield from self._batch(batch, kind)

    def _batch(self, batch: list[str], kind: TextKind) -> Iterator[list[Span]]:
        of_finders = [list(finder.find_many(batch)) for finder in self._for_many]
        for text, *found in zip(batch, *of_finders, strict=True):
            yield self._settled(text, [span for spans in found for span in spans], kind)

    @cached_property
    def _for_many(self) -> list[BatchFinder]:
        return [_for_many(finder) for finder in self.finders]

    def __getstate__(self) -> dict[str, Any]:
        """What was made ready for many texts is made anew by whoever gets a copy."""
        return {name: value for name, value in vars(self).items() if name != "_for_many"}

    def _wants(self, text: str, span: Span) -> bool:
        """Whether it is of a kind that is asked for; times and days of the week are everybody's unless they are."""
        if self.types is not None:
            return span.type in self.types
        return span.type not in IF_ASKED and not (span.type == "date" and is_weekday(text[span.start : span.end]))

    def _settled(self, text: str, found: list[Span], kind: TextKind) -> list[Span]:
        logged = kind == "log" or (kind == "auto" and is_log(text))
        if logged:
            found = log_findings(text, found)
        else:
            likely = (up_to_label(text, span) for span in found if span.score >= self.threshold)
            found = [span for span in likely if not is_impersonal(text, span)]
        spans = sorted([span for span in found if span.score >= self.threshold])
        if _overlap(spans):
            spans = merged(without_contained(found, self.threshold), self.threshold)
            spans = [
                span for span in spans if span.by not in MODELS or believable(text[span.start : span.end], span.type)
            ]
        return self.with_repeated_mentions(text, spans) if not logged else self._wanted(text, spans)

    def with_repeated_mentions(self, text: str, spans: list[Span]) -> list[Span]:
        """Spans that don't overlap, in order, with further places of the names among them."""
        again = find_repeated_mentions(text, spans)
        return self._wanted(text, merged([*spans, *again], self.threshold) if again else spans)

    def _wanted(self, text: str, spans: list[Span]) -> list[Span]:
        spans = [span for span in spans if self._wants(text, span)]
        return [trimmed for span in spans if (trimmed := _trimmed(text, span)) is not None]


BATCH = 256
MARGIN = 0.15


def _overlap(spans: list[Span]) -> bool:
    """Whether any of them, in order, touches the inside of the next: only then one can hold or outdo another."""
    end = 0
    for start, past, *_ in spans:
        if start < end or past <= start:
            return True
        end = past
    return False


def without_contained(spans: list[Span], threshold: float) -> list[Span]:
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
        if not any(_contains_type(holder, span) for holder in open_):
            kept.append(span)
    return kept


def _contains_type(holder: Span, span: Span) -> bool:
    """A holder that is much less sure than what it holds is not believed."""
    longer = holder.length > span.length and holder.holds(span)
    return longer and span.type in HELD[holder.type] and holder.score + MARGIN >= span.score


def _trimmed(text: str, span: Span) -> Span | None:
    """Without spaces and commas at its edges; None if no letter or digit is left."""
    start, end = span.start, span.end
    if text[start].isalnum() and text[end - 1].isalnum():
        return span
    while start < end and not text[start].isalnum() and text[start] in " \t\n\r,;":
        start += 1
    while end > start and text[end - 1] in " \t\n\r,;":
        end -= 1
    if not any(letter.isalnum() for letter in text[start:end]):
        return None
    return span if (start, end) == (span.start, span.end) else Span(start, end, span.type, span.score, span.by)
