"""Scrubbing (ISO/IEC 20889, C.4): what a text says of people is replaced by labels, masks or stand-ins; the rest stays.

The text is annotated and what was found is replaced; then the outcome is annotated again, until nothing more is found.
A replacement can bring something to light that was hidden by what stood there, and this way that goes too. So what is
returned holds nothing that the same annotator still recognises, save what the scrubber wrote itself, and scrubbing it
again changes nothing. Each round leaves fewer characters of the original, so there is an end.

What no recogniser knows stays: a nickname, an occupation that only one person has, a story everybody has heard. A
scrubbed text is not anonymous by that alone, and formal privacy models don't speak of texts (C.1).

>>> from shoal.text import Annotator
>>> Scrubber(Annotator()).scrub("Write to asha@clinic.in today.").text
'Write to [EMAIL] today.'
>>> Scrubber(Annotator(), replace="mask").scrub("Write to asha@clinic.in today.").text
'Write to ************** today.'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass, field, replace
from typing import Protocol, get_args

from shoal.crypto import Key
from shoal.errors import InputError
from shoal.pseudonyms import Secrets
from shoal.pseudonyms.for_this_run import ForThisRun
from shoal.randomness import Randomness
from shoal.text.ages import generalised_age
from shoal.text.annotating import Annotator
from shoal.text.choices import AGES, DATES, OTHER, UNCHECKED, Ages, Dates, Replace, known_types
from shoal.text.dates import days_for, shifted_date
from shoal.text.ours import Ours, not_ours
from shoal.text.outcome import Action, Scrubbed
from shoal.text.people import people_in
from shoal.text.pieces import Piece, Replacement, Taken, joined, replaced_ranges, with_replacements
from shoal.text.spans import Span
from shoal.text.stand_ins import LOCALE, MARK, PEOPLE, StandIns

PURPOSE = "text"
DOMAIN = "text"
FIXED_LENGTH = 5
_BREAKS = re.compile(r"[\r\n]")
_SURROGATES = re.compile("[\ud800-\udfff]")


class Annotates(Protocol):
    def annotate(self, text: str) -> Sequence[Span]: ...


@dataclass(frozen=True)
class Scrubber:
    """``secrets`` and ``domain`` give the key of stand-ins and of shifted dates; without secrets one is drawn."""

    annotator: Annotates
    replace: Replace = "label"
    secrets: InitVar[Secrets | None] = None
    domain: str = DOMAIN
    char: str = "*"
    keep_length: bool = True
    """Of masks; otherwise every mask has five characters."""
    types: frozenset[str] | None = None
    """Only these kinds; None for all."""
    dates: Dates | None = None
    """If nothing is said, shifted where stand-ins are written, else treated like everything else."""
    ages: Ages | None = None
    """If nothing is said, generalised where stand-ins are written, else treated like everything else."""
    weekdays: bool = False
    """Shifted dates keep their day of the week."""
    locale: str = LOCALE
    """Of made-up names."""
    mark: str = MARK
    """Behind made-up names, numbers and dates. Without one they read smoothly, and a second scrubbing alters them."""
    key: Key = field(init=False, repr=False)
    labels: frozenset[str] = field(init=False, repr=False)
    """Types that labels may name."""
    _ours: Ours = field(init=False, repr=False, compare=False)
    stand_ins: StandIns = field(init=False, repr=False, compare=False)

    def __post_init__(self, secrets: Secrets | None) -> None:
        self._check()
        labels = known_types() | _own_types(self.annotator)
        key = (secrets or ForThisRun(Randomness())).key(self.domain, PURPOSE)
        annotator = self.annotator
        if self.types is not None and isinstance(annotator, Annotator):
            annotator = replace(annotator, types=self.types | {UNCHECKED})
        for name, value in {
            "annotator": annotator,
            "key": key,
            "stand_ins": StandIns(key, self.locale, self.mark),
            "labels": labels,
            "_ours": Ours(labels, self.char if self.replace == "mask" else None, self.mark, self.locale),
        }.items():
            object.__setattr__(self, name, value)

    def _check(self) -> None:
        for name, value, choices in (
            ("replace", self.replace, get_args(Replace)),
            ("dates", self.dates, (None, *get_args(Dates))),
            ("ages", self.ages, (None, *get_args(Ages))),
        ):
            if value not in choices:
                raise InputError(f"{name}: is one of {', '.join(filter(None, choices))}")
        if len(self.char) != 1 or not self.char.isprintable() or self.char.isspace():
            raise InputError("char: has to be one printable character")
        if self.mark and (self.mark.isalnum() or any(one.isspace() for one in self.mark)):
            raise InputError("mark: has to be a sign, neither a letter nor a digit nor a space")

    def scrub(self, text: str, person: str = "") -> Scrubbed:
        """``person`` is whose dates they are, or which document's: those of one are shifted alike."""
        text = _SURROGATES.sub("\ufffd", text)
        pieces = [Piece(text, 0, len(text))]
        document = _Document(self, person)
        while replacements := self._round(pieces, document):
            pieces = with_replacements(pieces, replacements)
        return Scrubbed(joined(pieces), tuple(_actions(pieces)))

    def _round(self, pieces: Sequence[Piece], document: _Document) -> list[Replacement]:
        text = joined(pieces)
        found = [span for span in self.annotator.annotate(text) if self._wants(span.type)]
        if not found:
            return []
        taken = Taken((*replaced_ranges(pieces), *self._ours.find(text)))
        parts = [(span, part) for span in found for part in not_ours(text, span, taken)]
        document.meet(text[start:end] for span, (start, end) in parts if span.type in PEOPLE)
        made = [
            Replacement(start, end, span.type, document.instead(span.type, text[start:end]))
            for span, (start, end) in parts
        ]
        return sorted(made, key=lambda one: one.start)

    def _wants(self, kind: str) -> bool:
        if (kind in DATES and self.dates == "keep") or (kind in AGES and self.ages == "keep"):
            return False
        return self.types is None or kind in self.types or kind == UNCHECKED


@dataclass
class _Document:
    """One text: who is who in it, and by how much its dates are moved."""

    scrubber: Scrubber
    person: str
    names: dict[str, None] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)

    def meet(self, names: Iterable[str]) -> None:
        new = [name for name in names if name not in self.names]
        if new:
            self.names |= dict.fromkeys(new)
            self.people = {**people_in(self.names), **self.people}

    def instead(self, kind: str, value: str) -> str:
        """What stands in the place of a value. Its line breaks stay, so that lines are counted as before."""
        scrubber = self.scrubber
        made = self._special(kind, value)
        if made is not None:
            return made
        if scrubber.replace == "mask" and not _asked_for_label(scrubber, kind):
            return self._mask(value)
        breaks = "".join(_BREAKS.findall(value))
        kind = kind if kind in scrubber.labels else OTHER
        if scrubber.replace == "pseudonym" and kind not in DATES | AGES | {"title"}:
            return scrubber.stand_ins.of(kind, value, self.people.get(value, "")) + breaks
        return f"[{kind.upper()}]{breaks}"

    def _mask(self, value: str) -> str:
        char = self.scrubber.char
        if self.scrubber.keep_length:
            return "".join(one if one in "\r\n" else char for one in value)
        return char * FIXED_LENGTH + "".join(_BREAKS.findall(value))

    def _special(self, kind: str, value: str) -> str | None:
        """A date that is moved or an age that is made coarser; None where a label or a mask is to stand."""
        scrubber = self.scrubber
        smooth = scrubber.replace == "pseudonym"
        if kind in AGES and (scrubber.ages == "generalise" or (scrubber.ages is None and smooth)):
            return generalised_age(value)
        if kind in DATES and (scrubber.dates == "shift" or (scrubber.dates is None and smooth)):
            moved = shifted_date(value, days_for(scrubber.key, self.person, weeks=scrubber.weekdays))
            return None if moved is None else f"{moved[0]}{scrubber.mark}{moved[1]}"
        return None


def standard_annotator(model: str = "none") -> Annotator:
    """All finders that Shoal comes with; ``model`` says whether a learned one is asked too."""
    return Annotator.standard(model)


def _own_types(annotator: Annotates) -> frozenset[str]:
    """Types of recognisers that a user has added."""
    recognisers = (one for finder in getattr(annotator, "finders", ()) for one in getattr(finder, "recognisers", ()))
    return frozenset(recogniser.type for recogniser in recognisers)


def _asked_for_label(scrubber: Scrubber, kind: str) -> bool:
    return (kind in DATES and scrubber.dates == "label") or (kind in AGES and scrubber.ages == "label")


def _actions(pieces: Iterable[Piece]) -> Iterable[Action]:
    at = 0
    for piece in pieces:
        if piece.type is not None:
            yield Action(piece.start, piece.end, at, at + len(piece.text), piece.type)
        at += len(piece.text)
