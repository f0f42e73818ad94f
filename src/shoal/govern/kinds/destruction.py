"""Destruction of data whose time is over: what was destroyed, and the proof that stays (PDPC step 5; G-11, R-09).

It is planned before anything is touched, and refused before the minimum retention is over or while a hold stands. One
that was cut short stays planned, and due.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from pydantic import Field

from shoal.errors import InputError
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared
from shoal.schema.parameters import Parameters


class DestroyedFile(Parameters):
    name: str
    sha256: str


class DestructionState(RecordState):
    release: str = ""
    reason: str = ""
    files: tuple[DestroyedFile, ...] = ()
    domain: str = ""
    """Of the vault, whose keys are shredded."""
    planned_on: datetime.date | None = None
    keys: tuple[str, ...] = ()
    """Fingerprints of keys that were destroyed."""
    mappings: int = 0
    """How many entries nobody can read any more."""
    done_on: datetime.date | None = None

    def kept_because(self, today: datetime.date) -> str:
        return "it is the proof of what was destroyed" if self.status == "done" else ""

    def due(self) -> Iterable[DueDate]:
        if self.status == "planned" and self.planned_on is not None:
            yield DueDate(self.planned_on, f"finish destroying release {self.release}")


DESTRUCTION = declared(RecordKind("destruction", "Data that was destroyed, and the proof.", DestructionState))


class DestructionPlan(ActInput):
    release: str = Field(description="Which release.")
    reason: str = Field(min_length=1, description="Why its time is over.")
    files: tuple[DestroyedFile, ...] = ()
    domain: str = Field(default="", description="A domain of the vault, whose mappings go too.")


class DestructionProof(ActInput):
    keys: tuple[str, ...] = ()
    mappings: int = Field(default=0, ge=0)


@DESTRUCTION.act()
def plan(context: ActContext, _: None, given: DestructionPlan) -> DestructionState:
    """Say what is to be destroyed. `shoal register destroy` does it all."""
    release = context.view.state("release", given.release)
    if why := release.kept_because(context.today):
        raise InputError(f"release '{given.release}' can't be destroyed: {why}")
    told = {name: getattr(given, name) for name in ("release", "reason", "files", "domain")}
    return DestructionState(status="planned", project=release.project, planned_on=context.today, **told)


@DESTRUCTION.act("planned")
def prove(context: ActContext, before: DestructionState, given: DestructionProof) -> DestructionState:
    """Say that it is gone."""
    if before.domain and not given.keys:
        raise InputError("no key of the domain was destroyed")
    told = {"keys": given.keys, "mappings": given.mappings, "done_on": context.today}
    return before.model_copy(update={"status": "done", **told})
