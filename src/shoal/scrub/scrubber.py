"""Scrubbing (ISO/IEC 20889, C.4): what a text says of people is replaced by labels, masks or stand-ins; the rest stays.

The text is annotated and what was found is replaced; then the outcome is annotated again, until nothing more is found.
A replacement can bring something to light that was hidden by what stood there, and this way that goes too. So what is
returned holds nothing that the same annotator still recognises, save what the scrubber wrote itself, and scrubbing it
again changes nothing. Each round leaves fewer characters of the original, so there is an end. From the third round on,
a long text is read only where something has changed (``second_look``).

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
from functools import cached_property
from typing import TYPE_CHECKING, Protocol, get_args

from shoal.errors import InputError
from shoal.scrub.age_ranges import generalised_age
from shoal.scrub.choices import AGES, ALWAYS, DATES, OTHER, Ages, Dates, Replace, known_types
from shoal.scrub.coreference import resolve_people
from shoal.scrub.date_shift import shifted_date
from shoal.scrub.outcome import ScrubAction, ScrubOutcome
from shoal.scrub.own_replacements import OwnReplacements, needing_replacement
from shoal.scrub.phrase_list import ListedPhraseFinder, PhraseList
from shoal.scrub.piece_table import (
    PieceTableEntry,
    Range,
    TextReplacement,
    joined,
    replaced_places,
    replaced_ranges,
    with_replacements,
)
from shoal.scrub.second_look import found_near, judges_by_surroundings
from shoal.scrub.surrogate_form import LOCALE, MARK, PEOPLE
from shoal.text.annotator import Annotator
from shoal.text.logs.log_lines import TextKind, is_log
from shoal.text.matching.character_forms import without_halves
from shoal.text.matching.patterns import PatternFinder
from shoal.text.scoped_cache import ScopedCache
from shoal.text.spans import Span

if TYPE_CHECKING:
    from shoal.crypto import Key
    from shoal.discover.recognisers import Recogniser
    from shoal.pseudonyms import Secrets
    from shoal.scrub.surrogates import SurrogateMaker

PURPOSE = "text"
DOMAIN = "text"
FIXED_LENGTH = 5
FULL_ROUNDS = 2
MOST_ROUNDS = 10
"""Where there is still something to be found after so many, whole lines go. Two or three rounds are usual."""
_BREAKS = re.compile(r"[\r\n]")


class TextAnnotator(Protocol):
    def annotate(self, text: str) -> Sequence[Span]: ...


@dataclass(frozen=True)
class Scrubber:
    """``secrets`` and ``domain`` give the key of stand-ins and of shifted dates; without secrets one is drawn."""

    annotator: TextAnnotator
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
    allow: PhraseList | None = None
    """What stands in a phrase of this list stays, whatever it is taken for."""
    mark: str = MARK
    """Behind made-up names, numbers and dates. Without one they read smoothly, and a second scrubbing alters them."""
    labels: frozenset[str] = field(init=False, repr=False)
    """Types that labels may name."""
    _ours: OwnReplacements = field(init=False, repr=False, compare=False)
    _memory: ScopedCache = field(default_factory=ScopedCache, init=False, repr=False, compare=False)

    def __post_init__(self, secrets: Secrets | None) -> None:
        self._check()
        labels = known_types() | _own_types(self.annotator)
        annotator = self.annotator
        if self.types is not None and isinstance(annotator, Annotator):
            annotator = replace(annotator, types=self.types | ALWAYS)
        for name, value in {
            "annotator": annotator,
            "labels": labels,
            "_ours": OwnReplacements(labels, self.char if self.replace == "mask" else None, self.mark, self.locale),
        }.items():
            object.__setattr__(self, name, value)
        if secrets is not None or self.replace == "pseudonym" or self.dates == "shift":
            object.__setattr__(self, "key", _key(secrets, self.domain))

    @cached_property
    def key(self) -> Key:
        """Of stand-ins and shifted dates: there from the start where either is written, so copies have the same."""
        return _key(None, self.domain)

    @cached_property
    def stand_ins(self) -> SurrogateMaker:
        from shoal.scrub.surrogates import SurrogateMaker

        return SurrogateMaker(self.key, self.locale, self.mark)

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

    def scrub(self, text: str, person: str = "", kind: TextKind | None = None) -> ScrubOutcome:
        """``person`` is whose dates they are, or which document's: those of one are shifted alike.

        ``kind`` is what the text is read as, if that is known better than by the text itself.
        """
        return self.scrub_many([text], person, kind)[0]

    def scrub_many(self, texts: Iterable[str], person: str = "", kind: TextKind | None = None) -> list[ScrubOutcome]:
        """As ``scrub`` for each text, all as one document's, in rounds that read the texts together."""
        works = [_ScrubbingRounds(self, text, person) for text in texts]
        kinds = [self.kind_of(work.text) if kind is None else kind for work in works]
        for each in set(kinds):
            self._carry_out([work for work, its in zip(works, kinds, strict=True) if its == each], each)
        return [work.done() for work in works]

    def kind_of(self, text: str) -> TextKind:
        """What a text is read as, in all rounds: what was replaced in it does not make it another."""
        kind = self.kind
        return kind if kind != "auto" else "log" if is_log(text) else "prose"

    @property
    def kind(self) -> TextKind:
        return self.annotator.kind if isinstance(self.annotator, Annotator) else "prose"

    def _carry_out(self, works: list[_ScrubbingRounds], kind: TextKind) -> None:
        waiting, rounds = works, 0
        while waiting:
            found = self._found(waiting, kind, rounds)
            if rounds >= MOST_ROUNDS:
                found = [_whole_lines(work.text, spans) for work, spans in zip(waiting, found, strict=True)]
            waiting = [work for work, spans in zip(waiting, found, strict=True) if work.goes_on(spans)]
            rounds += 1

    def _found(self, works: Sequence[_ScrubbingRounds], kind: TextKind, rounds: int) -> Iterable[Sequence[Span]]:
        """From the third round on, long texts are read only where something has changed."""
        annotator = self.annotator
        if rounds < FULL_ROUNDS or kind == "log" or not self._looks_near or not isinstance(annotator, Annotator):
            return self._annotated([work.text for work in works], kind)
        return [found_near(work.changes, work.text, annotator, kind) for work in works]

    @cached_property
    def _looks_near(self) -> bool:
        """Whether all that is found is replaced, so that what is read again holds nothing from before."""
        annotator = self.annotator
        if not isinstance(annotator, Annotator) or annotator.types is not None:
            return False
        return self.wants_all and self.allow is None and judges_by_surroundings(annotator)

    def _annotated(self, texts: Sequence[str], kind: TextKind) -> Iterable[Sequence[Span]]:
        annotator = self.annotator
        if not isinstance(annotator, Annotator):
            return map(annotator.annotate, texts)
        return annotator.annotate_many(texts, kind) if len(texts) > 1 else [annotator.annotate(texts[0], kind)]

    def ours(self, text: str) -> list[Range]:
        """What a scrubber with the same settings wrote."""
        with self._memory.in_use():
            return self._ours.find(text)

    @property
    def wants_all(self) -> bool:
        return self.types is None and self.dates != "keep" and self.ages != "keep"

    def wants(self, kind: str) -> bool:
        """Whether this kind is to be replaced."""
        if (kind in DATES and self.dates == "keep") or (kind in AGES and self.ages == "keep"):
            return False
        return self.types is None or kind in self.types or kind in ALWAYS


class _ScrubbingRounds:
    """One text on its way through the rounds: what stands in it by now."""

    def __init__(self, scrubber: Scrubber, text: str, person: str) -> None:
        self.text = without_halves(text)
        self._scrubber = scrubber
        self._person = person
        self.changes: Sequence[Range] = ()
        """Where the text was changed by the last round."""
        self._pieces: Sequence[PieceTableEntry] = ()
        self._document: _DocumentReplacer | None = None

    def goes_on(self, spans: Sequence[Span]) -> bool:
        """Whether what was found changes the text."""
        replacements = self._replacements(spans) if spans else ()
        if not replacements:
            return False
        self._pieces = with_replacements(self._pieces or [PieceTableEntry(self.text, 0, len(self.text))], replacements)
        self.text = joined(self._pieces)
        self.changes = replaced_places(replacements)
        return True

    def done(self) -> ScrubOutcome:
        return ScrubOutcome(self.text, tuple(_actions(self._pieces)))

    def _replacements(self, spans: Sequence[Span]) -> list[TextReplacement]:
        text, scrubber = self.text, self._scrubber
        found = spans if scrubber.wants_all else [span for span in spans if scrubber.wants(span.type)]
        if found and scrubber.allow is not None:
            found = scrubber.allow.without(text, found)
        if not found:
            return []
        parts = needing_replacement(text, found, [*replaced_ranges(self._pieces), *scrubber.ours(text)])
        if not parts:
            return []
        document = self._document = self._document or _DocumentReplacer(scrubber, self._person)
        if scrubber.replace == "pseudonym":
            document.meet([text[start:end] for start, end, kind in parts if kind in PEOPLE])
        made = [
            TextReplacement(start, end, kind, document.instead(kind, text[start:end])) for start, end, kind in parts
        ]
        return sorted(made)


@dataclass
class _DocumentReplacer:
    """One text: who is who in it, and by how much its dates are moved."""

    scrubber: Scrubber
    person: str
    names: dict[str, None] = field(default_factory=dict)
    people: dict[str, str] = field(default_factory=dict)

    def meet(self, names: Iterable[str]) -> None:
        new = [name for name in names if name not in self.names]
        if new:
            self.names |= dict.fromkeys(new)
            self.people = {**resolve_people(self.names), **self.people}

    def instead(self, kind: str, value: str) -> str:
        """What stands in the place of a value. Its line breaks stay, so that lines are counted as before."""
        scrubber = self.scrubber
        made = self._special(kind, value) if kind in DATES or kind in AGES else None
        if made is not None:
            return made
        if scrubber.replace == "mask" and not _asked_for_label(scrubber, kind):
            return self._mask(value)
        breaks = "" if value.isprintable() else "".join(_BREAKS.findall(value))
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
            from shoal.pseudonyms.date_shifts import days_for

            moved = shifted_date(value, days_for(scrubber.key, self.person, weeks=scrubber.weekdays))
            return None if moved is None else f"{moved[0]}{scrubber.mark}{moved[1]}"
        return None


def _key(secrets: Secrets | None, domain: str) -> Key:
    """Drawn for this run where there are no secrets."""
    if secrets is None:
        from shoal.pseudonyms.run_secrets import RunSecrets
        from shoal.randomness import Randomness

        secrets = RunSecrets(Randomness())
    return secrets.key(domain, PURPOSE)


def standard_annotator(
    model: str = "none",
    *,
    kind: TextKind = "auto",
    recognisers: Sequence[Recogniser] | None = None,
    deny: PhraseList | None = None,
) -> Annotator:
    """All finders that Shoal comes with; ``model`` says whether a learned one is asked too.

    ``kind`` is what texts are read as: a log, prose, or what each of them is (``auto``). ``recognisers`` take the place
    of the installed ones; what is on the list ``deny`` is found wherever it stands.
    """
    standard = Annotator.standard(model, kind=kind)
    own = None if recognisers is None else PatternFinder(recognisers)
    finders = tuple(own if own is not None and isinstance(one, PatternFinder) else one for one in standard.finders)
    listed = () if deny is None else (ListedPhraseFinder(deny),)
    return replace(standard, finders=(*finders, *listed)) if own is not None or listed else standard


def _own_types(annotator: TextAnnotator) -> frozenset[str]:
    """Types of recognisers that a user has added."""
    recognisers = (one for finder in getattr(annotator, "finders", ()) for one in getattr(finder, "recognisers", ()))
    return frozenset(recogniser.type for recogniser in recognisers)


def _asked_for_label(scrubber: Scrubber, kind: str) -> bool:
    return (kind in DATES and scrubber.dates == "label") or (kind in AGES and scrubber.ages == "label")


def _whole_lines(text: str, spans: Iterable[Span]) -> list[Span]:
    """Spans widened to the lines they stand in."""
    lines: dict[int, Span] = {}
    for span in spans:
        start = text.rfind("\n", 0, span.start) + 1
        end = text.find("\n", span.end)
        lines.setdefault(start, span._replace(start=start, end=len(text) if end < 0 else end))
    return list(lines.values())


def _actions(pieces: Iterable[PieceTableEntry]) -> Iterable[ScrubAction]:
    at = 0
    for text, start, end, kind in pieces:
        past = at + len(text)
        if kind is not None:
            yield ScrubAction(start, end, at, past, kind)
        at = past
