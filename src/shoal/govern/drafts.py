"""Drafts from recorded evidence: data-protection impact assessment, expert determination, notification of a loss.

What is recorded is told with its link; what is not is shown as a gap, never filled with words.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import yaml

from shoal.govern.checklist import EvidenceQuery
from shoal.govern.evidence_base import EvidenceBase, values_at
from shoal.govern.jurisdictions import jurisdiction_named
from shoal.govern.kinds.incident import IncidentState
from shoal.report.plain_document import DocumentSection, PlainDocument
from shoal.schema.parameters import Parameters

GAP: Final = "GAP"
_COLUMNS: Final = ("question", "what is recorded", "evidence")


class DraftLine(Parameters):
    asks: str
    evidence: EvidenceQuery
    gap: str
    """What would fill it."""


class DraftSection(Parameters):
    title: str
    lines: tuple[DraftLine, ...]


class DraftForm(Parameters):
    title: str
    source: str
    sections: tuple[DraftSection, ...]


@cache
def draft_forms() -> Mapping[str, DraftForm]:
    text = files("shoal.govern").joinpath("draft_forms.yaml").read_text(encoding="utf-8")
    return {name: DraftForm.model_validate(told) for name, told in yaml.safe_load(text).items()}


def drafted(form: DraftForm, base: EvidenceBase, created: str) -> PlainDocument:
    sections = [DocumentSection(one.title, (), _COLUMNS, tuple(_rows(one, base))) for one in form.sections]
    gaps = sum(row[1].startswith(GAP) for section in sections for row in section.rows)
    asked = sum(len(section.rows) for section in sections)
    told = f"{asked - gaps} of {asked} questions have evidence, {gaps} are gaps."
    warned = "It is no assessment until somebody who is qualified has judged and signed it."
    first = DocumentSection("About this draft", (f"{form.source}.", f"A draft from what is recorded: {told}", warned))
    return PlainDocument(f"{form.title}: {base.project}", "draft", created, (first, *sections))


def _rows(section: DraftSection, base: EvidenceBase) -> Iterator[tuple[str, ...]]:
    for line in section.lines:
        found = line.evidence.found_in(base)
        if not found:
            yield (line.asks, f"{GAP}: {line.gap}", "")
            continue
        fields = [(one, path) for one in found for path in line.evidence.fields]
        said = "; ".join(f"{path.replace('_', ' ')}: {_words(values_at(one.content, path))}" for one, path in fields)
        yield (line.asks, said, "; ".join(f"{one.where} (entry {one.entry})" for one in found))


def _words(values: Iterable[object]) -> str:
    told = (", ".join(map(str, one)) if isinstance(one, list | dict) else str(one) for one in values)
    return ", ".join(dict.fromkeys(word for word in told if word))


def notification(identifier: str, incident: IncidentState, created: datetime.datetime) -> tuple[PlainDocument, ...]:
    """To the authority, and to the people affected: what is recorded, and blanks for what is not."""
    rule, law = incident.rule, jurisdiction_named(incident.jurisdiction)
    facts = (
        ("what happened", incident.title),
        ("noticed", f"{incident.noticed_at:%Y-%m-%d %H:%M} UTC"),
        ("what was lost", ", ".join(incident.lost)),
        ("releases concerned", ", ".join(incident.releases) or f"{GAP}: which"),
        ("severity", "" if incident.severity is None else str(incident.severity)),
        ("what follows from that", rule.consequence),
        ("done so far", "; ".join(task.what for task in incident.tasks) or f"{GAP}: nothing yet"),
        ("still to be done", "; ".join(incident.open_tasks) or "nothing"),
        ("root cause", incident.root_cause or f"{GAP}: not known yet"),
        ("people affected", f"{GAP}: how many, of which kind"),
        ("whom to ask", f"{GAP}: name and address of the privacy officer"),
    )
    by = "not required" if incident.notify_by is None else f"{incident.notify_by:%Y-%m-%d %H:%M} UTC"
    to_authority = DocumentSection(
        f"To {rule.authority}", (f"To be told by: {by} ({rule.source}).",), ("what", "is"),
        tuple((what, said or f"{GAP}: not judged yet") for what, said in facts),
    )  # fmt: skip
    to_people = DocumentSection(
        "To the people affected",
        (
            f"To be told: {law.people_told} ({law.source}).",
            f"On {incident.noticed_at:%d %B %Y} we noticed a loss of data that may be about you: {incident.title}.",
            f"What this can mean for you: {GAP}: in plain words.",
            "What we have done: " + ("; ".join(task.what for task in incident.tasks) or f"{GAP}: nothing yet") + ".",
            f"What you can do: {GAP}. Whom you can ask: {GAP}.",
        ),
    )
    day = created.date().isoformat()
    return tuple(
        PlainDocument(f"Notification of incident {identifier}", "draft", day, (section,))
        for section in (to_authority, to_people)
    )
