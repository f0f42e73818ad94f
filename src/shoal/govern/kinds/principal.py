"""Requests of data principals: see, correct, delete, stop (MeitY 3.2.2.4, privacy rights; G-10).

Who asks is not named: a record has the keyed digest of an identifier, as those of people who withdrew.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from enum import StrEnum

from pydantic import Field

from shoal.errors import InputError
from shoal.govern.jurisdictions import incident_law, jurisdiction_named
from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared
from shoal.schema.parameters import Parameters


class PrincipalWish(StrEnum):
    SEE = "see"
    CORRECT = "correct"
    DELETE = "delete"
    STOP = "stop"


class PlaceSearched(Parameters):
    """Where a person was looked for, and what was found: figures, no value."""

    place: str
    """``source/ID`` or ``release/ID``."""
    by: str
    """How: the identifier itself, or pseudonyms from the vault."""
    records: int


class PrincipalState(RecordState):
    wish: PrincipalWish = PrincipalWish.SEE
    identity: str = ""
    """The keyed digest of the identifier."""
    jurisdiction: str = ""
    received_on: datetime.date | None = None
    verified_by: str = ""
    """Who made sure that it is the person who asks."""
    searched: tuple[PlaceSearched, ...] = ()
    answer: str = ""
    answered_on: datetime.date | None = None

    @property
    def answer_by(self) -> datetime.date | None:
        if self.received_on is None:
            return None
        days = incident_law().jurisdictions[self.jurisdiction].answer_people_within_days
        return self.received_on + datetime.timedelta(days=days)

    def due(self) -> Iterable[DueDate]:
        if self.status in {"received", "verified"} and self.answer_by is not None:
            yield DueDate(self.answer_by, f"answer a person who asks to {self.wish}")


PRINCIPAL = declared(RecordKind("principal", "What people ask about data of their own.", PrincipalState))


class PrincipalRequest(ActInput):
    wish: PrincipalWish = Field(description="What they ask for.")
    jurisdiction: str = Field(description="Whose law: india, singapore, european-union.")
    identity: str = Field(pattern="^[0-9a-f]{32}$", description="The keyed digest, as `shoal register find` makes it.")
    received_on: datetime.date | None = Field(default=None, description="When it came; today without.")
    project: str = Field(default="", description="Which project it is about.")


class IdentityCheck(ActInput):
    how: str = Field(min_length=1, description="How it was made sure; no personal data.")


class SearchResult(ActInput):
    searched: tuple[PlaceSearched, ...] = Field(min_length=1, description="The places, with what was found in each.")


class PrincipalAnswer(ActInput):
    answer: str = Field(min_length=1, description="What was answered and done; no personal data.")


class Refusal(ActInput):
    reason: str = Field(min_length=1, description="Why, by which rule; no personal data.")


@PRINCIPAL.act()
def receive(context: ActContext, _: None, given: PrincipalRequest) -> PrincipalState:
    """Enter what somebody asks; the deadline of the law that holds begins to run."""
    jurisdiction_named(given.jurisdiction)
    received = given.received_on or context.today
    if received > context.today:
        raise InputError("a day that is still to come", field="received_on")
    if given.project:
        context.view.state("project", given.project)
    told = {name: getattr(given, name) for name in ("wish", "jurisdiction", "identity", "project")}
    return PrincipalState(status="received", received_on=received, **told)


@PRINCIPAL.act("received")
def verify(context: ActContext, before: PrincipalState, given: IdentityCheck) -> PrincipalState:
    """Say that it is the person who asks: nobody else learns what is kept of them."""
    return before.model_copy(update={"status": "verified", "verified_by": context.by})


@PRINCIPAL.act("verified")
def search(_: ActContext, before: PrincipalState, given: SearchResult) -> PrincipalState:
    """Record where they were found. `shoal register find` does it."""
    return before.model_copy(update={"searched": (*before.searched, *given.searched)})


@PRINCIPAL.act("verified")
def answer(context: ActContext, before: PrincipalState, given: PrincipalAnswer) -> PrincipalState:
    """Record what was answered and done. Who asks to stop has to be among those who withdrew."""
    if not before.searched:
        raise InputError("they were not looked for yet", advice="shoal register find")
    if before.wish is PrincipalWish.STOP and not _withdrew(context, before.identity):
        raise InputError("they asked to stop and did not withdraw yet", advice="shoal register withdraw")
    return before.model_copy(update={"status": "answered", "answer": given.answer, "answered_on": context.today})


@PRINCIPAL.act("received", "verified")
def refuse(context: ActContext, before: PrincipalState, given: Refusal) -> PrincipalState:
    """Refuse it, and say why."""
    return before.model_copy(update={"status": "refused", "answer": given.reason, "answered_on": context.today})


def _withdrew(context: ActContext, identity: str) -> bool:
    found = context.view.states("opt-out").get(identity)
    return found is not None and found.status == "withdrawn"
