"""Spans by form: every recogniser that says how it looks in text, in one pass.

The scan gives candidates. A candidate stays if it is not what the recogniser avoids and passes the check, where there
is one; words of its context nearby make it surer. A check that fails by itself, or would be given more than it can
bear, proves nothing: such a candidate is kept as UNCHECKED, and counted, so that what can't be judged gets masked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from shoal.discover.recognisers import RECOGNISERS, InText, Recogniser
from shoal.discover.recognisers.expressions import LOW_LINE, is_whole, linear, within_edges
from shoal.text.plain_forms import as_read
from shoal.text.scanning import EngineName, Scanner
from shoal.text.spans import Span

NEAR = 48
"""Characters before and after a candidate in which context words count."""
JUST_BEFORE = 24
"""Characters before a candidate in which words count that rule it out."""
CONTEXT_STRENGTH = 0.5
"""A context word takes away this share of the doubt."""
LEAST = 0.5
SURE = 0.9
"""From this score on no context is looked for."""
LONGEST_CHECKED = 512
"""Checks are given no more characters than this."""
FARTHEST = 256
"""Characters in which a label and its value stand."""
SHORT = 4
UNCHECKED = "unchecked"
_GAPS = re.compile("[ -]+")

Verdict = tuple[str, float, int]
"""Type, score, and how many of the characters belong to it."""
Verdicts = dict[tuple[int, str], Verdict | None]
"""None if a value is ruled out. One that comes again is judged once."""


@dataclass(frozen=True)
class Patterns:
    recognisers: Sequence[Recogniser] = RECOGNISERS
    engine: EngineName = "re2"
    least: float = LEAST
    """What can't get a score as high as this is not looked into any further."""
    failures: Counter[str] = field(default_factory=Counter, init=False, repr=False, compare=False)
    """How often a recogniser's check could not be carried through, by its key."""

    def find(self, text: str) -> Iterator[Span]:
        read = as_read(text)
        judges = self._judges
        verdicts: Verdicts = {}
        for place, start, end in self._scanner.candidates(read):
            span = judges[place].span(read, start, end, verdicts)
            if span is not None:
                yield span

    def __getstate__(self) -> dict[str, Any]:
        """What was compiled is made anew by whoever gets a copy."""
        kept = ("recognisers", "engine", "least", "failures")
        return {name: value for name, value in vars(self).items() if name in kept}

    @cached_property
    def _judges(self) -> list[Judge]:
        given = [(each, each.text) for each in self.recognisers if each.text]
        return [Judge(place, each, how, self.least, self.failures) for place, (each, how) in enumerate(given)]

    @cached_property
    def _scanner(self) -> Scanner:
        dense = {judge.place for judge in self._judges if judge.how.dense}
        return Scanner([judge.how.expression for judge in self._judges], self.engine, dense)


@dataclass
class Judge:
    """What decides on the candidates of one recogniser."""

    place: int
    recogniser: Recogniser
    how: InText
    least: float
    failures: Counter[str]

    def __post_init__(self) -> None:
        avoid = "|".join(f"(?:{avoided})" for avoided in self.how.avoid)
        self._avoid = linear(f"(?i:{avoid})") if avoid else None
        self._context = Words(self.how.context) if self.how.context else None
        self._labelled = linear(self.how.labelled) if self.how.after else None
        self._form = linear(within_edges(self.how.pattern, "none", exact_case=self.how.exact_case))
        self._doubtful = (self.how.checked if self.how.check else self.how.score) < self.least
        self._judged = bool(self._avoid or self.how.check)

    def span(self, text: str, start: int, end: int, verdicts: Verdicts) -> Span | None:
        """A candidate as a span, or None. The text is given as it is read."""
        how = self.how
        if self._labelled is not None:
            after = self._value(text, start)
            if after is None:
                return None
            start, end = after
        if self._doubtful and not self._has_context(text, start, end):
            return None
        kind, score = self.recogniser.type, how.score
        if self._judged:
            verdict = self._verdict(text[start:end], verdicts)
            if verdict is None:
                return None
            kind, score, length = verdict
            end = start + length
        if how.avoid_after and _ends_with_any(text[max(0, start - JUST_BEFORE) : start], how.avoid_after):
            return None
        if score < SURE and (self._doubtful or self._has_context(text, start, end)):
            score = 1 - (1 - score) * CONTEXT_STRENGTH
        return Span(start, end, kind, score, self.recogniser.key)

    def _has_context(self, text: str, start: int, end: int) -> bool:
        context = self._context
        return context is not None and context.near(text[max(0, start - NEAR) : end + NEAR].casefold())

    def _value(self, text: str, label: int) -> tuple[int, int] | None:
        """Where the value is that belongs to the label which starts there."""
        read = text[label : label + FARTHEST].replace("_", LOW_LINE)
        found = None if self._labelled is None else self._labelled.match(read)
        return None if found is None else (label + found.start(1), label + found.end(1))

    def _verdict(self, value: str, verdicts: Verdicts) -> Verdict | None:
        known = (self.place, value)
        if known not in verdicts:
            avoided = self._avoided(value)
            verdicts[known] = None if avoided else next(filter(None, map(self._judge, self._beginnings(value))), None)
        return verdicts[known]

    def _avoided(self, value: str) -> bool:
        return self._avoid is not None and is_whole(self._avoid, value.encode())

    def _beginnings(self, value: str) -> Iterator[str]:
        """The value, and what is left of it without its last parts: the longest match may hold the next number too."""
        yield value
        if self.how.check is not None and len(value) <= LONGEST_CHECKED:
            for part in reversed(list(_GAPS.finditer(value))):
                if is_whole(self._form, value[: part.start()].replace("_", LOW_LINE).encode()):
                    yield value[: part.start()]

    def _judge(self, value: str) -> Verdict | None:
        check = self.how.check
        if check is None:
            return self.recogniser.type, self.how.score, len(value)
        if len(value) > LONGEST_CHECKED:
            return self._failed(value)
        try:
            passed = check(value.upper())
        except Exception:  # noqa: BLE001  whatever a check stumbles over, what it was to judge gets masked
            return self._failed(value)
        return (self.recogniser.type, self.how.checked, len(value)) if passed else None

    def _failed(self, value: str) -> Verdict:
        self.failures[self.recogniser.key] += 1
        return UNCHECKED, 1.0, len(value)


@dataclass(frozen=True)
class Words:
    """Context words. Those of up to four letters have to stand alone: "car" is not in "card"."""

    given: tuple[str, ...]

    def __post_init__(self) -> None:
        short = tuple(word.strip() for word in self.given if len(word) <= SHORT and word.isascii())
        either = "|".join(re.escape(word) for word in short)
        object.__setattr__(self, "_short", short)
        object.__setattr__(self, "_long", tuple(word for word in self.given if word.strip() not in short))
        object.__setattr__(self, "_alone", re.compile(rf"(?<![a-z0-9])(?:{either})s?(?![a-z0-9])"))

    _short: tuple[str, ...] = field(init=False, repr=False)
    _long: tuple[str, ...] = field(init=False, repr=False)
    _alone: re.Pattern[str] = field(init=False, repr=False)

    def near(self, text: str) -> bool:
        if any(word in text for word in self._long):
            return True
        return any(word in text for word in self._short) and self._alone.search(text) is not None


def _ends_with_any(text: str, words: tuple[str, ...]) -> bool:
    before = text.rstrip(" \t:=#_-(\"'").casefold()
    if not before.endswith(words):
        return False
    return any(before.endswith(word) and not before[: -len(word)][-1:].isalnum() for word in words)
