"""Spans by form: every recogniser that says how it looks in text, in one pass.

The scan gives candidates. A candidate stays if it is not what the recogniser avoids and passes the check, where there
is one; words of its context nearby make it surer. A check that fails by itself, or would be given more than it can
bear, proves nothing: such a candidate is kept as UNCHECKED, and counted, so that what can't be judged gets masked.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from shoal.discover.recognisers import InText, Recogniser, default_recognisers
from shoal.discover.recognisers.expressions import LOW_LINE, first_group, is_whole, linear, within_edges
from shoal.text.matching.character_forms import as_read
from shoal.text.matching.context_words import ContextPositions, ContextWords
from shoal.text.matching.prefilter import ByteRange
from shoal.text.matching.scanner import EngineName, PatternScanner
from shoal.text.spans import Span

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
UNCHECKED = "unchecked"
VALUE = "(?P<value>"
"""What a pattern may name: the value itself, where words that show what it is belong to the form ("34 years old")."""
_BETWEEN = " \t:=#_-(\"'"
"""What may stand between such a word and the candidate."""
_GAPS = re.compile("[ -]+")
_FOURS = re.compile(r"\d{4}[ -]\d{4}$")
_FOUR_BEFORE = re.compile(r"(?<![\d+])(?!00)(?P<more>(?:\d{4}[ -])*)(?P<last>\d{4})[ -]$")
_YEAR = re.compile("19|20")

CheckVerdict = tuple[str, float, int]
"""Type, score, and how many of the characters belong to it."""
CheckVerdicts = dict[str, CheckVerdict | None]
"""None if a value is ruled out. One that comes again is judged once."""


@dataclass(frozen=True)
class PatternFinder:
    recognisers: Sequence[Recogniser] = field(default_factory=default_recognisers)
    engine: EngineName = "re2"
    least: float = LEAST
    """What can't get a score as high as this is not looked into any further."""
    failures: Counter[str] = field(default_factory=Counter, init=False, repr=False, compare=False)
    """How often a recogniser's check could not be carried through, by its key."""

    def find(self, text: str) -> Iterator[Span]:
        read = as_read(text)
        judges = self._judges
        near = self._surroundings.of(read)
        verdicts: defaultdict[int, CheckVerdicts] = defaultdict(dict)
        for place, found in self._scanner.matches(read, near):
            yield from judges[place].spans(read, found, near, verdicts[place])

    def __getstate__(self) -> dict[str, Any]:
        """What was compiled is made anew by whoever gets a copy."""
        kept = ("recognisers", "engine", "least", "failures")
        return {name: value for name, value in vars(self).items() if name in kept}

    @cached_property
    def _judges(self) -> list[CandidateJudge]:
        given = [(each, each.text) for each in self.recognisers if each.text]
        return [CandidateJudge(place, each, how, self.least, self.failures) for place, (each, how) in enumerate(given)]

    @cached_property
    def _scanner(self) -> PatternScanner:
        dense = {judge.place for judge in self._judges if judge.how.dense}
        doubtful = {judge.place for judge in self._judges if judge.doubtful and not judge.how.after}
        return PatternScanner([judge.how.expression for judge in self._judges], self.engine, dense, doubtful)

    @cached_property
    def _surroundings(self) -> ContextWords:
        return ContextWords([judge.how.context for judge in self._judges])


def _is_tail(text: str, start: int, end: int) -> bool:
    """Whether it ends a longer number in groups of four, as of cards; codes of countries and years are none of its."""
    if _FOURS.match(text, start, end) is None:
        return False
    before = _FOUR_BEFORE.search(text, max(0, start - JUST_BEFORE), start)
    return before is not None and (before["more"] != "" or _YEAR.match(before["last"]) is None)


@dataclass
class CandidateJudge:
    """What decides on the candidates of one recogniser."""

    place: int
    recogniser: Recogniser
    how: InText
    least: float
    failures: Counter[str]

    doubtful: bool = field(init=False)
    """Whether a candidate without context is worth nothing."""
    certain: bool = field(init=False, default=False)
    """Whether there is nothing to judge, but for the word before."""

    def __post_init__(self) -> None:
        how = self.how
        self._judged = bool(how.avoid or how.check)
        self._last_letters = frozenset(word[-1] for word in how.avoid_after)
        self.doubtful = (how.checked if how.check else how.score) < self.least
        swayed = self.doubtful or (how.score < SURE and how.context)
        self._names_value = VALUE in how.pattern and not how.after
        self.certain = not (how.after or self._judged or swayed or self._names_value)

    @cached_property
    def _avoid(self) -> Any:
        avoid = "|".join(f"(?:{avoided})" for avoided in self.how.avoid)
        return linear(f"(?i:{avoid})") if avoid else None

    @cached_property
    def _labelled(self) -> Any:
        return linear(self.how.labelled)

    @cached_property
    def _form(self) -> Any:
        return linear(within_edges(self.how.pattern, "none", exact_case=self.how.exact_case))

    def spans(
        self, text: str, candidates: Iterable[ByteRange], near: ContextPositions, verdicts: CheckVerdicts
    ) -> Iterable[Span]:
        """Of the candidates those that stay. The text is given as it is read."""
        if not self.certain:
            judged = (self._span(text, start, end, near, verdicts) for start, end in candidates)
            return [span for span in judged if span is not None]
        kind, score, key = self.recogniser.type, self.how.score, self.recogniser.key
        return [Span(start, end, kind, score, key) for start, end in candidates if not self._comes_after(text, start)]

    def _comes_after(self, text: str, start: int) -> bool:
        """Whether a word right before says that it is something else."""
        if not self._last_letters:
            return False
        before = text[start - JUST_BEFORE if start > JUST_BEFORE else 0 : start].rstrip(_BETWEEN)
        if before[-1:].casefold()[-1:] not in self._last_letters:
            return False
        before = before.casefold()
        words = self.how.avoid_after
        return any(before.endswith(word) and not before[: -len(word)][-1:].isalnum() for word in words)

    def _span(self, text: str, start: int, end: int, near: ContextPositions, verdicts: CheckVerdicts) -> Span | None:
        how = self.how
        if how.after:
            after = self._value(text, start)
            if after is None:
                return None
            start, end = after
        if self.doubtful and not near(self.place, start, end):
            return None
        kind, score = self.recogniser.type, how.score
        if self._judged:
            verdict = self._verdict(text[start:end], verdicts)
            if verdict is None:
                return None
            kind, score, length = verdict
            end = start + length
        if self._comes_after(text, start) or (kind == "phone" and _is_tail(text, start, end)):
            return None
        if score < SURE and how.context and (self.doubtful or near(self.place, start, end)):
            score = 1 - (1 - score) * CONTEXT_STRENGTH
        if self._names_value:
            start, end = self._part(text, start, end)
        return Span(start, end, kind, score, self.recogniser.key)

    def _part(self, text: str, start: int, end: int) -> ByteRange:
        """Where the value is that the pattern names; all of it where it names none."""
        read = text[start:end].replace("_", LOW_LINE).encode()
        found = first_group(self._form, read)
        if found is None or found[0] < 0:
            return start, end
        first, last = (len(read[:place].decode()) for place in found)
        return start + first, start + last

    def _value(self, text: str, label: int) -> tuple[int, int] | None:
        """Where the value is that belongs to the label which starts there."""
        read = text[label : label + FARTHEST].replace("_", LOW_LINE).encode()
        found = first_group(self._labelled, read)
        if found is None:
            return None
        start, end = found if text.isascii() else (len(read[:place].decode()) for place in found)
        return label + start, label + end

    def _verdict(self, value: str, verdicts: CheckVerdicts) -> CheckVerdict | None:
        if value not in verdicts:
            verdicts[value] = None if self._avoided(value) else self._judge(value) or self._judge_parts(value)
        return verdicts[value]

    def _avoided(self, value: str) -> bool:
        return self._avoid is not None and is_whole(self._avoid, value.encode())

    def _judge_parts(self, value: str) -> CheckVerdict | None:
        """What is left of it without its last parts: the longest match may hold the next number too."""
        for part in reversed(list(_GAPS.finditer(value))):
            beginning = value[: part.start()]
            if is_whole(self._form, beginning.replace("_", LOW_LINE).encode()):
                verdict = self._judge(beginning)
                if verdict is not None:
                    return verdict
        return None

    def _judge(self, value: str) -> CheckVerdict | None:
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

    def _failed(self, value: str) -> CheckVerdict:
        self.failures[self.recogniser.key] += 1
        return UNCHECKED, 1.0, len(value)
