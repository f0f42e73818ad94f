"""Checklists that fill themselves from what is recorded; what nothing shows stays open (G-05).

A line is data: what is asked and where, the query on evidence that answers it, and what would close it. An answer
always has links to what shows it: a record and its entry in the ledger, or a file and its checksum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml
from pydantic import Field

from shoal.govern.evidence_base import EvidenceBase, EvidenceDocument, values_at
from shoal.policy.presets import UseCase
from shoal.report.plain_document import DocumentSection, PlainDocument
from shoal.schema.parameters import Parameters

_COLUMNS: Final = ("clause", "what is asked", "answer", "evidence")


class LineStatus(StrEnum):
    ANSWERED = "answered"
    OPEN = "open"
    NOT_NEEDED = "not needed"


class EvidenceQuery(Parameters):
    """Which records, manifests or policies show something: all conditions have to hold of one of them."""

    kind: str
    status: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    """Fields that are not empty."""
    without: tuple[str, ...] = ()
    """Fields that are empty."""
    equal: dict[str, Any] = Field(default_factory=dict, alias="is")
    least: dict[str, float] = Field(default_factory=dict)
    most: dict[str, float] = Field(default_factory=dict)
    every: bool = False
    """Whether it has to hold of all of them."""
    where: dict[str, tuple[Any, ...]] = Field(default_factory=dict)
    """Which of them are looked at: those in which each field has one of its values."""

    @property
    def fields(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.has, *self.equal, *self.least, *self.most)))

    def met_by(self, document: EvidenceDocument) -> bool:
        told = document.content
        return (
            (not self.status or told.get("status") in self.status)
            and all(any(_filled(value) for value in values_at(told, path)) for path in self.has)
            and not any(_filled(value) for path in self.without for value in values_at(told, path))
            and all(wanted in values_at(told, path) for path, wanted in self.equal.items())
            and all(_figures(told, path, lambda v, b=bound: v >= b) for path, bound in self.least.items())
            and all(_figures(told, path, lambda v, b=bound: v <= b) for path, bound in self.most.items())
        )

    def _chosen(self, document: EvidenceDocument) -> bool:
        if not self.where:
            return not self.every or _alive(document, self.status)
        return all(set(values_at(document.content, path)) & set(able) for path, able in self.where.items())

    def found_in(self, base: EvidenceBase) -> tuple[EvidenceDocument, ...]:
        """What meets it; nothing where it has to hold of all of them and doesn't."""
        looked_at = [one for one in base.of(self.kind) if self._chosen(one)]
        met = tuple(one for one in looked_at if self.met_by(one))
        return () if self.every and len(met) < len(looked_at) else met


class ChecklistLine(Parameters):
    clause: str
    asks: str
    evidence: tuple[EvidenceQuery, ...] = Field(min_length=1)
    closes: str
    needed: tuple[UseCase, ...] = ()
    """By which use cases; none for all."""


class Checklist(Parameters):
    title: str
    source: str
    lines: tuple[ChecklistLine, ...]


@dataclass(frozen=True)
class EvidenceLink:
    where: str
    """``kind/ID`` of a record, or the name of a file."""
    entry: int | None
    """The number of the record's last entry in the ledger."""
    sha256: str
    says: str

    def in_words(self) -> str:
        marks = [f"entry {self.entry}"] if self.entry is not None else []
        marks += [f"sha256 {self.sha256[:12]}…"] if self.sha256 else []
        return f"{self.where} ({', '.join(marks)}): {self.says}" if marks else f"{self.where}: {self.says}"


@dataclass(frozen=True)
class AnsweredLine:
    clause: str
    asks: str
    status: LineStatus
    evidence: tuple[EvidenceLink, ...]
    closes: str
    """What would close it, where it is open."""


@dataclass(frozen=True)
class FilledChecklist:
    title: str
    source: str
    lines: tuple[AnsweredLine, ...]

    @property
    def answered(self) -> int:
        return sum(line.status is LineStatus.ANSWERED for line in self.lines)

    @property
    def needed(self) -> int:
        return sum(line.status is not LineStatus.NOT_NEEDED for line in self.lines)


@cache
def checklists() -> tuple[Checklist, ...]:
    folder = files("shoal.govern").joinpath("checklists")
    found = sorted((one for one in folder.iterdir() if one.name.endswith(".yaml")), key=lambda one: one.name)
    return tuple(Checklist.model_validate(yaml.safe_load(one.read_text(encoding="utf-8"))) for one in found)


def fill(base: EvidenceBase, use_case: UseCase) -> tuple[FilledChecklist, ...]:
    """All checklists, and the line of ISO's table for each technique that was used."""
    filled = [
        FilledChecklist(one.title, one.source, tuple(_answer(line, base, use_case) for line in one.lines))
        for one in checklists()
    ]
    return (*filled, FilledChecklist("Techniques", "ISO/IEC 20889, table A.1", tuple(_techniques(base))))


def _answer(line: ChecklistLine, base: EvidenceBase, use_case: UseCase) -> AnsweredLine:
    if line.needed and use_case not in line.needed:
        return AnsweredLine(line.clause, line.asks, LineStatus.NOT_NEEDED, (), "")
    found = [(query, query.found_in(base)) for query in line.evidence]
    if not all(documents for _, documents in found):
        return AnsweredLine(line.clause, line.asks, LineStatus.OPEN, (), line.closes)
    links = dict.fromkeys(_link(query, one) for query, documents in found for one in documents)
    return AnsweredLine(line.clause, line.asks, LineStatus.ANSWERED, tuple(links), "")


def _techniques(base: EvidenceBase) -> Iterator[AnsweredLine]:
    policies = base.of("policy")
    for policy in policies:
        for name, told in policy.content["techniques"].items():
            says = "; ".join(f"{what}: {value}" for what, value in told.items() if what != "clause")
            link = EvidenceLink(policy.where, policy.entry, policy.sha256, says)
            yield AnsweredLine(told["clause"], f"Properties of {name}", LineStatus.ANSWERED, (link,), "")
    if not policies:
        asks = "Properties of each technique that was used"
        yield AnsweredLine("table A.1", asks, LineStatus.OPEN, (), "the policy of the release, given here")


def _link(query: EvidenceQuery, found: EvidenceDocument) -> EvidenceLink:
    said = [f"{path}: {_brief(values_at(found.content, path))}" for path in query.fields]
    said += [f"{path}: none" for path in query.without]
    status = found.content.get("status")
    says = "; ".join(said) or f"status: {status}"
    return EvidenceLink(found.where, found.entry, found.sha256, says)


def _brief(values: Iterable[Any]) -> str:
    words = list(
        dict.fromkeys(", ".join(map(str, one)) if isinstance(one, list | dict) else str(one) for one in values)
    )
    told = ", ".join(word for word in words if word)
    return told if len(told) <= 120 else f"{told[:117]}…"


def _filled(value: Any) -> bool:
    return value not in (None, "", [], {}, ())


def _figures(told: Mapping[str, Any], path: str, holds: Any) -> bool:
    values = [value for value in values_at(told, path) if value is not None]
    return bool(values) and all(holds(value) for value in values)


def _alive(one: EvidenceDocument, status: tuple[str, ...]) -> bool:
    return not status or one.content.get("status") in status


def checklist_document(project: str, filled: Iterable[FilledChecklist], created: str) -> PlainDocument:
    sections = []
    for one in filled:
        said = f"{one.source}. {one.answered} of {one.needed} lines are answered by evidence."
        rows = tuple((line.clause, line.asks, *_words(line)) for line in one.lines)
        sections.append(DocumentSection(one.title, (said,), _COLUMNS, rows))
    return PlainDocument(f"Checklists of {project}", "filled from recorded evidence", created, tuple(sections))


def _words(line: AnsweredLine) -> tuple[str, str]:
    if line.status is LineStatus.OPEN:
        return "open", f"would close it: {line.closes}"
    return str(line.status), "; ".join(link.in_words() for link in line.evidence)
