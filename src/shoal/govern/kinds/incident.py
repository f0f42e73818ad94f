"""Incidents: what was lost, what follows, by when whom to tell (MeitY 3.4; PDPC incident management; G-06)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from shoal.errors import InputError
from shoal.govern.jurisdictions import IncidentRule, incident_law, incident_rule
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared
from shoal.schema.parameters import Parameters


class LostThing(StrEnum):
    MAPPING = "mapping"
    """What leads from pseudonyms back to people."""
    DEIDENTIFIED = "de-identified"
    ANONYMISED = "anonymised"
    RAW = "raw"


class Severity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class TaskDone(Parameters):
    what: str
    by: str
    on: datetime.date
    evidence: str = ""
    """What shows it, such as the entry of the vault's history."""


class IncidentState(RecordState):
    jurisdiction: str
    lost: tuple[LostThing, ...] = ()
    noticed_at: datetime.datetime
    severity: Severity | None = None
    reported_by: str = ""
    from_outside: bool = False
    """Whether somebody outside told it."""
    releases: tuple[str, ...] = ()
    tasks: tuple[TaskDone, ...] = ()
    notified_at: datetime.datetime | None = None
    root_cause: str = ""

    @property
    def rule(self) -> IncidentRule:
        return incident_rule(self.jurisdiction, frozenset(self.lost))

    @property
    def notify_by(self) -> datetime.datetime | None:
        hours = self.rule.notify_within_hours
        return None if hours is None else self.noticed_at + datetime.timedelta(hours=hours)

    FACTS: ClassVar[tuple[str, ...]] = ("told_in_time",)

    def facts(self, today: datetime.date) -> Mapping[str, bool]:
        by, at = self.notify_by, self.notified_at
        return {"told_in_time": by is not None and at is not None and at <= by}

    @property
    def open_tasks(self) -> tuple[str, ...]:
        done = {task.what for task in self.tasks}
        return tuple(what for what in self.rule.actions if what not in done)

    def due(self) -> Iterable[DueDate]:
        if self.status == "closed":
            return
        if self.notify_by is not None and self.notified_at is None:
            yield DueDate(self.notify_by.date(), f"tell {self.rule.authority} by {self.notify_by:%H:%M} UTC")
        for what in self.open_tasks:
            yield DueDate(self._act_by(what), what)
        yield DueDate(*self._next)

    def _act_by(self, what: str) -> datetime.date:
        by = self.noticed_at.date() + datetime.timedelta(days=self.rule.act_within_days)
        if self.notify_by is None or what not in self.rule.before_telling:
            return by
        return min(by, self.notify_by.date())

    @property
    def _next(self) -> tuple[datetime.date, str]:
        law, noticed = incident_law(), self.noticed_at.date()
        if self.severity is None:
            return noticed + datetime.timedelta(
                days=law.acknowledge_within_days
            ), "acknowledge it and say how bad it is"
        days = law.resolve_within_days[str(self.severity)]
        return noticed + datetime.timedelta(days=days), "resolve it: the cause, and who answers"


INCIDENT = declared(RecordKind("incident", "Incidents, with a clock.", IncidentState))


class IncidentReport(ActInput):
    title: str = Field(min_length=1, description="What happened, in a few words; no personal data.")
    lost: tuple[LostThing, ...] = Field(min_length=1, description="What was lost or seen by others.")
    jurisdiction: str = Field(description="Whose law: india, singapore.")
    noticed_at: datetime.datetime | None = Field(default=None, description="When it was noticed; now without.")
    releases: tuple[str, ...] = Field(default=(), description="Which releases it is about.")
    project: str = Field(default="", description="Which project it is about.")
    outside: str = Field(default="", description="Who outside told it and how to reach them, where it was not you.")


class Judgement(ActInput):
    severity: Severity = Field(description="How bad.")


class Task(ActInput):
    what: str = Field(description="The task as it stands in the list.")


class Reissue(ActInput):
    domain: str = Field(min_length=1, description="Of the vault.")
    pseudonyms: int = Field(ge=0, description="How many were issued anew.")


class Notification(ActInput):
    note: str = Field(default="", description="Who was told what; no personal data.")


class RootCause(ActInput):
    root_cause: str = Field(min_length=1, description="Why it could happen.")


@INCIDENT.act()
def report(context: ActContext, _: None, given: IncidentReport) -> IncidentState:
    """Report that something was lost; the clock of the law that holds begins to run."""
    noticed = given.noticed_at or context.at
    noticed = noticed if noticed.tzinfo else noticed.replace(tzinfo=datetime.UTC)
    if noticed > context.at:
        raise InputError("a moment that is still to come", field="noticed_at")
    incident_rule(given.jurisdiction, frozenset(given.lost))
    for identifier in given.releases:
        context.view.state("release", identifier)
    return IncidentState(
        status="reported",
        title=given.title,
        project=given.project,
        jurisdiction=given.jurisdiction,
        lost=tuple(dict.fromkeys(given.lost)),
        noticed_at=noticed,
        reported_by=context.by,
        from_outside=bool(given.outside),
        releases=given.releases,
    )


@INCIDENT.act("reported", "assessed")
def assess(_: ActContext, before: IncidentState, given: Judgement) -> IncidentState:
    """Say how bad it is."""
    return before.model_copy(update={"status": "assessed", "severity": given.severity})


@INCIDENT.act("assessed")
def do(context: ActContext, before: IncidentState, given: Task) -> IncidentState:
    """Say that a task of the list is done."""
    if given.what not in before.open_tasks:
        raise InputError("no such task is open", field="what", advice="; ".join(before.open_tasks) or "none is")
    done = TaskDone(what=given.what, by=context.by, on=context.today)
    return before.model_copy(update={"tasks": (*before.tasks, done)})


@INCIDENT.act("reported", "assessed")
def reissue(context: ActContext, before: IncidentState, given: Reissue) -> IncidentState:
    """Record that the vault issued new pseudonyms (V-03). `shoal register reissue` does both."""
    what = incident_law().tasks["reissue"]
    evidence = f"vault domain {given.domain}: {given.pseudonyms} issued anew"
    done = TaskDone(what=what, by=context.by, on=context.today, evidence=evidence)
    return before.model_copy(update={"tasks": (*before.tasks, done)})


@INCIDENT.act("reported", "assessed")
def notify(context: ActContext, before: IncidentState, given: Notification) -> IncidentState:
    """Say that the authority was told."""
    return before.model_copy(update={"notified_at": context.at})


@INCIDENT.act("assessed")
def close(_: ActContext, before: IncidentState, given: RootCause) -> IncidentState:
    """End it: every task done, who has to be told was told, the cause is known."""
    if before.open_tasks:
        raise InputError(f"a task is open: {before.open_tasks[0]}")
    if before.notify_by is not None and before.notified_at is None:
        raise InputError(f"{before.rule.authority} was not told yet")
    return before.model_copy(update={"status": "closed", "root_cause": given.root_cause})
