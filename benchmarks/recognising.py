"""How much of what is personal in texts is found, and how much is taken that is not; with a model and without.

Generated sentences (presidio-research, ``synth_dataset_v2``): counted in words and in spans. A word is of a kind if a
span covers half of it. Typed: the kind has to be the right one by TYPES, whose groups put streets, towns and codes
together as one; kinds that the sentences are not marked for (money, health) are left out. Presidio's figures come from
its makers' notebook and are of spans of whatever kind, found if 0.7 of what both cover is shared; ``by_places`` counts
so. ``by_spans`` asks for the right kind too, which Presidio's figures don't. Half of the templates, those with odd
numbers, were set aside: their sentences were not read while the finders were made, but their figures by kind were, and
guided some of the later changes; so they flatter a little. Court texts (TAB, Pilán and others 2022): counted in
characters of direct and quasi-identifiers, spaces apart, of whatever kind. Half of these were read during development,
at first all: a figure for texts known, not for new ones. Presidio's figures are quoted, not measured here.
Sentences and court texts are marked for times of day and days of the week too, so all kinds are asked for.

Lines of logs (loghub, Zhu and others 2023; five systems of forty lines): what of the users, hosts and addresses in them
is covered, and what is touched of all the rest, in characters. Apache, Hadoop and the first half of Linux were read;
the second half of Linux, HealthApp and Mac were not, and their figures were looked at six times at most. Beside them
lines of other systems that were made up (``log_lines``): those in one file were in view when the rules were made, the
others were set aside, and their figures were looked at four times.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from benchmarks.cpu import cpu_seconds
from benchmarks.result import Result, paired, seconds
from shoal.scrub.choices import known_types
from shoal.text import Annotator
from shoal.text.lexicon_finder import LexiconFinder
from shoal.text.listed_phrases import find_listed
from shoal.text.spacy_finder import SpacyFinder, _loaded, available

TYPES = {
    "PERSON": ("person",),
    "TITLE": ("title", "occupation"),
    "LOCATION": ("address", "place", "postal_code", "pin_code", "gps", "us_zip"),
    "ORGANIZATION": ("organisation",),
    "NRP": ("group", "belief"),
    "DATE_TIME": ("date", "time", "birth_date", "datetime"),
    "AGE": ("age",),
    "PHONE_NUMBER": ("phone", "fax"),
    "EMAIL_ADDRESS": ("email",),
    "DOMAIN_NAME": ("url", "domain"),
    "CREDIT_CARD": ("card",),
    "IBAN_CODE": ("iban",),
    "US_SSN": ("ssn", "us_ssn", "itin"),
    "IP_ADDRESS": ("ip", "ipv4", "ipv6"),
    "US_DRIVER_LICENSE": ("driving_licence", "us_driver_licence", "licence"),
}
GROUPS = {ours: theirs for theirs, many in TYPES.items() for ours in many}
LOCATIONS = frozenset({"STREET_ADDRESS", "GPE", "ZIP_CODE"})
PRESIDIO = {"sentences": "P .685 R .603 F2 .618; tuned .870 .839 .845", "court": "P .80 R .62"}
GOAL_F2, GOAL_COVERED, GOAL_PRECISION = 0.90, 0.90, 0.60
LOGS_READ = (("Apache", 0, 40), ("Hadoop", 0, 40), ("Linux", 0, 20))
LOGS_UNSEEN = (("Linux", 20, 40), ("HealthApp", 0, 40), ("Mac", 0, 40))
"""Systems, and which lines of each."""
MADE_UP = Path(__file__).parent / "log_lines"
_MARKED = re.compile("[⟦⟧]")
GOAL_IN_LOGS, GOAL_TOUCHED = 0.98, 0.02
MODEL_RATIO = 1.3
ROUNDS = 3
HALF, MOST = 0.5, 0.7
ANY = "any"
_WORD = re.compile(r"\w+")

Marked = tuple[int, int, str]
"""Where a span starts and ends, and its kind."""


@dataclass
class Tally:
    """Right, taken and wanted, by kind."""

    right: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    wanted: Counter[str] = field(default_factory=Counter)

    def add(self, wanted: str | None, taken: str | None) -> None:
        if wanted:
            self.wanted[wanted] += 1
        if taken:
            self.taken[taken] += 1
        if wanted and wanted == taken:
            self.right[wanted] += 1

    def figures(self, kind: str | None = None) -> tuple[float, float, float]:
        """Precision, recall and F2, in which recall weighs twice (van Rijsbergen 1979)."""
        right, taken, wanted = (
            sum(counts.values()) if kind is None else counts[kind] for counts in (self.right, self.taken, self.wanted)
        )
        precision, recall = right / max(1, taken), right / max(1, wanted)
        return precision, recall, 5 * precision * recall / max(1e-9, 4 * precision + recall)


@dataclass(frozen=True)
class Sentence:
    text: str
    spans: tuple[tuple[int, int, str], ...]


def run(_folder: Path, _rows: int) -> list[Result]:
    shared = Path(os.environ.get("SHOAL_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
    model = available()
    results = []
    for name, annotator in _annotators(model):
        results += _sentences(shared, name, annotator)
        results += _court(shared, name, annotator)
        results += _logs(shared, name, annotator)
    return [*results, *_speed(shared, model)]


def _annotators(model: str | None) -> Iterator[tuple[str, Annotator]]:
    yield "words only", Annotator.standard("none", types=known_types())
    if model is not None:
        yield "with model", Annotator.standard(model, types=known_types())


def sentences(shared: Path, *, held_out: bool) -> list[Sentence]:
    file = shared / "presidio_research" / "synth_dataset_v2.json"
    if not file.is_file():
        return []
    return [
        Sentence(
            one["full_text"],
            tuple((span["start_position"], span["end_position"], _group(span["entity_type"])) for span in one["spans"]),
        )
        for one in json.loads(file.read_text(encoding="utf-8"))
        if one["template_id"] % 2 == held_out
    ]


def _group(entity_type: str) -> str:
    return "LOCATION" if entity_type in LOCATIONS else entity_type


def by_words(data: Sequence[Sentence], annotator: Annotator) -> tuple[Tally, Tally]:
    """Typed, and for whatever kind."""
    typed, blind = Tally(), Tally()
    for sentence, spans in zip(data, annotator.annotate_many(one.text for one in data), strict=True):
        ours = [(span.start, span.end, GROUPS.get(span.type, span.type)) for span in spans]
        for word in _WORD.finditer(sentence.text):
            wanted, taken = _kind(word, sentence.spans), _kind(word, ours)
            typed.add(wanted, taken if taken in TYPES else None)
            blind.add(ANY if wanted else None, ANY if taken else None)
    return typed, blind


def by_spans(data: Sequence[Sentence], annotator: Annotator) -> Tally:
    """A marked span is found if one of its kind shares half of what both cover; neighbours of a kind are one span."""
    tally = Tally()
    for sentence, spans in zip(data, annotator.annotate_many(one.text for one in data), strict=True):
        wanted = _joined(sentence.text, sentence.spans)
        ours = ((span.start, span.end, GROUPS.get(span.type, "")) for span in spans)
        left = _joined(sentence.text, [one for one in ours if one[2]])
        tally.taken.update(kind for _, _, kind in left)
        for one in wanted:
            tally.wanted[one[2]] += 1
            found = next((other for other in left if other[2] == one[2] and _shared(one, other) >= HALF), None)
            if found is not None:
                left.remove(found)
                tally.right[one[2]] += 1
    return tally


def by_places(data: Sequence[Sentence], annotator: Annotator) -> Tally:
    """Of whatever kind. All that overlaps a marked span counts as one try at it."""
    tally = Tally()
    for sentence, spans in zip(data, annotator.annotate_many(one.text for one in data), strict=True):
        wanted = _joined(sentence.text, [(start, end, ANY) for start, end, _ in sentence.spans])
        ours = _joined(sentence.text, [(span.start, span.end, ANY) for span in spans if span.type in GROUPS])
        beside = set(ours)
        for one in wanted:
            over = [other for other in ours if other[0] < one[1] and one[0] < other[1]]
            beside.difference_update(over)
            tally.add(ANY, ANY if over and _shared_by_all(one, over) >= MOST else None)
            tally.taken[ANY] += bool(over) and _shared_by_all(one, over) < MOST
        tally.taken[ANY] += len(beside)
    return tally


def _shared_by_all(one: Marked, others: Sequence[Marked]) -> float:
    both = sum(min(one[1], other[1]) - max(one[0], other[0]) for other in others)
    return both / (one[1] - one[0] + sum(other[1] - other[0] for other in others) - both)


def _joined(text: str, spans: Iterable[Marked]) -> list[Marked]:
    joined: list[Marked] = []
    for start, end, kind in sorted(spans):
        if joined and joined[-1][2] == kind and not _WORD.search(text, joined[-1][1], start):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]), kind)
        else:
            joined.append((start, end, kind))
    return joined


def _shared(one: Marked, other: Marked) -> float:
    return (min(one[1], other[1]) - max(one[0], other[0])) / (max(one[1], other[1]) - min(one[0], other[0]))


def _kind(word: re.Match[str], spans: Iterable[tuple[int, int, str]]) -> str | None:
    for start, end, kind in spans:
        if 2 * (min(end, word.end()) - max(start, word.start())) >= word.end() - word.start():
            return kind
    return None


def _sentences(shared: Path, name: str, annotator: Annotator) -> list[Result]:
    data = sentences(shared, held_out=True)
    if not data:
        return []
    typed, blind = by_words(data, annotator)
    places, spans = by_places(data, annotator), by_spans(data, annotator)
    rows = [
        _quality(f"sentences, {name}, spans", places.figures(), PRESIDIO["sentences"], GOAL_F2),
        _quality(f"sentences, {name}, spans of the right kind", spans.figures(), "", None),
        _quality(f"sentences, {name}, words", blind.figures(), "", None),
        _quality(f"sentences, {name}, words of the right kind", typed.figures(), "", GOAL_F2),
    ]
    rows += [
        _quality(f"sentences, {name}, {kind}", typed.figures(kind), "", None) for kind in TYPES if typed.wanted[kind]
    ]
    return rows


def _quality(name: str, figures: tuple[float, float, float], beside: str, goal: float | None) -> Result:
    precision, recall, f2 = figures
    return Result(
        name,
        f"P {precision:.3f} R {recall:.3f} F2 {f2:.3f}",
        beside,
        1 - f2,
        None if goal is None else round(1 - goal, 3),
        "missed",
    )


def court_texts(shared: Path) -> Iterator[tuple[str, list[tuple[int, int, str, str]]]]:
    file = shared / "tab_dev_113" / "tab_dev_113.jsonl"
    if file.is_file():
        for line in file.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            yield (
                one["text"],
                [(e["start_offset"], e["end_offset"], e["identifier_type"], e["entity_type"]) for e in one["entities"]],
            )


def by_characters(data: Sequence[tuple[str, list[tuple[int, int, str, str]]]], annotator: Annotator) -> Tally:
    """Characters that have to be covered, that are, and that are beside; by kind for those wanted."""
    tally = Tally()
    for (text, wanted), spans in zip(data, annotator.annotate_many(text for text, _ in data), strict=True):
        gold: dict[int, str] = {}
        for start, end, identifier, kind in wanted:
            if identifier != "NO_MASK":
                gold.update(dict.fromkeys(range(start, end), kind))
        ours = {place for span in spans for place in range(span.start, span.end) if not text[place].isspace()}
        for place, kind in gold.items():
            if not text[place].isspace():
                tally.wanted[kind] += 1
                tally.right[kind] += place in ours
        tally.taken["all"] += len(ours)
    return tally


def _court(shared: Path, name: str, annotator: Annotator) -> list[Result]:
    data = list(court_texts(shared))
    if not data:
        return []
    tally = by_characters(data, annotator)
    precision, covered, _ = tally.figures()
    shown = f"P {precision:.3f} R {covered:.3f}"
    rows = [
        Result(
            f"court texts, {name}, not covered",
            shown,
            PRESIDIO["court"],
            1 - covered,
            round(1 - GOAL_COVERED, 3),
            "missed",
        ),
        Result(f"court texts, {name}, taken beside", shown, "", 1 - precision, round(1 - GOAL_PRECISION, 3), "beside"),
    ]
    for kind, wanted in tally.wanted.most_common():
        share = tally.right[kind] / wanted
        rows.append(Result(f"court texts, {name}, {kind}", f"R {share:.3f} of {wanted}", "", 1 - share, None, "missed"))
    return rows


LogSlice = tuple[str, int, int]


def log_lines(shared: Path, slices: Iterable[LogSlice]) -> Iterator[tuple[str, list[Marked]]]:
    for system, first, last in slices:
        file = shared / "text_dev" / f"log_{system}.jsonl"
        lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
        for one in map(json.loads, lines[first:last]):
            yield one["text"], [(start, end, kind) for start, end, kind in one["gold"]]


def made_up_lines(which: Literal["tuned", "aside"]) -> Iterator[tuple[str, list[Marked]]]:
    """Lines with what has to go in double brackets; headings begin with two signs."""
    for line in (MADE_UP / f"{which}.txt").read_text(encoding="utf-8").splitlines()[1:]:
        if line.startswith("## "):
            continue
        text, marked = "", []
        for place, part in enumerate(_MARKED.split(line)):
            if place % 2:
                marked.append((len(text), len(text) + len(part), ANY))
            text += part
        yield text, marked


def by_touched_characters(data: Sequence[tuple[str, list[Marked]]], annotator: Annotator) -> tuple[float, float]:
    """The share of what has to go that is covered, and the share of all the rest that is touched."""
    covered = wanted = touched = others = 0
    for (text, marked), spans in zip(data, annotator.annotate_many(text for text, _ in data), strict=True):
        gold = {place for start, end, _ in marked for place in range(start, end)}
        ours = {place for span in spans for place in range(span.start, span.end)}
        covered, wanted = covered + len(gold & ours), wanted + len(gold)
        touched, others = touched + len(ours - gold), others + len(text) - len(gold)
    return covered / max(1, wanted), touched / max(1, others)


def _logs(shared: Path, name: str, annotator: Annotator) -> Iterator[Result]:
    sets = {
        "read": log_lines(shared, LOGS_READ),
        "unseen": log_lines(shared, LOGS_UNSEEN),
        "made up": made_up_lines("tuned"),
        "made up, set aside": made_up_lines("aside"),
    }
    for seen, lines in sets.items():
        data = list(lines)
        if not data:
            continue
        covered, touched = by_touched_characters(data, annotator)
        shown = f"covered {covered:.3f}, touched {touched:.3f}"
        whose = f"logs, {name}, {seen}"
        yield Result(f"{whose}, not covered", shown, "", 1 - covered, round(1 - GOAL_IN_LOGS, 3), "missed")
        yield Result(f"{whose}, touched beside", shown, "", touched, GOAL_TOUCHED, "beside")


def _find_all(find: Callable[[str], Iterable[object]], texts: Sequence[str]) -> None:
    for text in texts:
        list(find(text))


def _speed(shared: Path, model: str | None) -> list[Result]:
    """Lists alone in microseconds a kilobyte; with the model as a ratio to the model alone."""
    texts = [text for text, _ in court_texts(shared)]
    if not texts:
        return []
    kilobytes = sum(len(text.encode()) for text in texts) / 1e3
    words = LexiconFinder()
    list(words.find(texts[0]))
    results = []
    finders: dict[str, Callable[[str], Iterable[object]]] = {
        "scan for listed phrases": find_listed,
        "all word finders": words.find,
    }
    for name, find in finders.items():
        took = cpu_seconds(partial(_find_all, find, texts))
        results.append(Result(name, f"{kilobytes / took / 1e3:.1f} MB/s", "", 1e6 * took / kilobytes, None, "µs/kB"))
    if model is not None:
        some = texts[:30]
        annotator, pipeline = Annotator.standard(model), _loaded(model)
        list(SpacyFinder(model).find_many(some[:1]))
        ratio, mine, theirs = paired(
            lambda: seconds(lambda: list(annotator.annotate_many(some))),
            lambda: seconds(lambda: list(pipeline.pipe(some))),
            ROUNDS,
        )
        results.append(
            Result("with the learned model", f"{mine:.2f} s", f"spaCy alone {theirs:.2f} s", ratio, MODEL_RATIO)
        )
    return results
