"""Audits: planned every year, inside and by others, findings followed until closed (MeitY 3.3.1; G-14)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from enum import StrEnum
from typing import Self

from pydantic import Field

from shoal.errors import InputError
from shoal.govern.evidence_files import file_evidence
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared, refuse_own
from shoal.schema.parameters import Parameters

EVERY = datetime.timedelta(days=365)


class AuditKind(StrEnum):
    INTERNAL = "internal"
    THIRD_PARTY = "third-party"
    CIPHERS = "ciphers"
    """A review of ciphers and key lengths (PDPC, technical controls)."""


class FindingSeverity(StrEnum):
    MINOR = "minor"
    MAJOR = "major"


class AuditNonconformance(Parameters):
    number: int
    text: str
    severity: FindingSeverity
    found_by: str
    correct_by: datetime.date
    owner: str = ""
    root_cause: str = ""
    action: str = ""
    """What was done so that it does not happen again."""
    corrected_by: str = ""
    closed_by: str = ""
    """Who saw that the action works."""

    @property
    def is_open(self) -> bool:
        return not self.closed_by


class AuditState(RecordState):
    kind: AuditKind = AuditKind.INTERNAL
    auditor: str = ""
    on: datetime.date | None = None
    scope: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    """Vendors and their subcontractors who have access to the data."""
    planned_by: str = ""
    report_sha256: str = ""
    findings: tuple[AuditNonconformance, ...] = ()
    held_on: datetime.date | None = None

    @property
    def open_findings(self) -> tuple[AuditNonconformance, ...]:
        return tuple(one for one in self.findings if one.is_open)

    def finding(self, number: int) -> AuditNonconformance:
        if not 1 <= number <= len(self.findings):
            raise InputError(f"there is no finding {number}", field="finding")
        return self.findings[number - 1]

    def with_finding(self, changed: AuditNonconformance) -> AuditState:
        findings = tuple(changed if one.number == changed.number else one for one in self.findings)
        return self.model_copy(update={"findings": findings})

    def due(self) -> Iterable[DueDate]:
        if self.status == "planned" and self.on is not None:
            yield DueDate(self.on, f"{self.kind} audit", self.auditor)
        if self.held_on is not None:
            yield DueDate(self.held_on + EVERY, f"plan the next {self.kind} audit")
        for one in self.open_findings:
            yield DueDate(one.correct_by, f"finding {one.number}: correct it and show that it works", one.owner)


AUDIT = declared(RecordKind("audit", "Audits and their findings.", AuditState))


class AuditPlan(ActInput):
    kind: AuditKind = Field(description="By whom, or of what.")
    on: datetime.date = Field(description="When.")
    auditor: str = Field(min_length=1, description="Who audits.")
    title: str = Field(default="", description="In a few words.")
    project: str = Field(default="", description="Only of one project.")
    scope: tuple[str, ...] = Field(default=(), description="What is looked at.")
    vendors: tuple[str, ...] = Field(default=(), description="Vendors and subcontractors who are looked at too.")


class AuditReport(ActInput):
    file: str = Field(default="", description="The auditor's report: its checksum is kept.")
    sha256: str = Field(default="", pattern="^([0-9a-f]{64})?$")

    def gathered(self) -> Self:
        return self.model_copy(update=file_evidence(self.file)) if self.file and not self.sha256 else self


class NewFinding(ActInput):
    text: str = Field(min_length=1, description="What is not as it should be; no personal data.")
    severity: FindingSeverity = Field(description="How bad.")
    correct_by: datetime.date = Field(description="By when it has to be corrected.")
    owner: str = Field(default="", description="Who is to correct it.")


class Correction(ActInput):
    finding: int = Field(ge=1, description="Its number.")
    root_cause: str = Field(min_length=1, description="Why it could happen.")
    action: str = Field(min_length=1, description="What was done so that it does not happen again.")


class FindingClosure(ActInput):
    finding: int = Field(ge=1, description="Its number.")


class AuditEnd(ActInput):
    """Nothing more."""


@AUDIT.act()
def plan(context: ActContext, _: None, given: AuditPlan) -> AuditState:
    """Plan an audit: by whom, when, of what, which vendors."""
    if given.project:
        context.view.state("project", given.project)
    if given.on < context.today:
        raise InputError("a day that is over", field="on")
    told = {name: getattr(given, name) for name in ("kind", "on", "auditor", "title", "project", "scope", "vendors")}
    return AuditState(status="planned", planned_by=context.by, **told)


@AUDIT.act("planned")
def hold(context: ActContext, before: AuditState, given: AuditReport) -> AuditState:
    """Say that it took place, with the auditor's report. Who planned it does not hold it."""
    refuse_own(context, [before.planned_by], "hold an audit that they planned")
    if not given.sha256:
        raise InputError("which report came of it?", field="file")
    return before.model_copy(update={"status": "held", "held_on": context.today, "report_sha256": given.sha256})


@AUDIT.act("held")
def find(context: ActContext, before: AuditState, given: NewFinding) -> AuditState:
    """Enter a finding."""
    finding = AuditNonconformance(
        number=len(before.findings) + 1,
        text=given.text,
        severity=given.severity,
        found_by=context.by,
        correct_by=given.correct_by,
        owner=given.owner,
    )
    return before.model_copy(update={"findings": (*before.findings, finding)})


@AUDIT.act("held")
def correct(context: ActContext, before: AuditState, given: Correction) -> AuditState:
    """Say why a finding could happen, and what was done about it."""
    known = before.finding(given.finding)
    if not known.is_open:
        raise InputError(f"finding {given.finding} is closed", field="finding")
    told = {"root_cause": given.root_cause, "action": given.action, "corrected_by": context.by}
    return before.with_finding(known.model_copy(update=told))


@AUDIT.act("held")
def accept(context: ActContext, before: AuditState, given: FindingClosure) -> AuditState:
    """Close a finding whose correction works. Nobody accepts their own correction."""
    known = before.finding(given.finding)
    if not known.action:
        raise InputError(f"finding {given.finding} was not corrected yet", field="finding")
    refuse_own(context, [known.corrected_by], "accept their own correction")
    return before.with_finding(known.model_copy(update={"closed_by": context.by}))


@AUDIT.act("held")
def close(_: ActContext, before: AuditState, given: AuditEnd) -> AuditState:
    """End an audit whose findings are all closed."""
    if before.open_findings:
        raise InputError(f"finding {before.open_findings[0].number} is open")
    return before.model_copy(update={"status": "closed"})
