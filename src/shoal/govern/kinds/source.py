"""The inventory: which sources hold personal data, who has access, what is not anonymised and why (MeitY 1.8; G-12)."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from pydantic import Field

from shoal.govern.record_kinds import ActContext, ActInput, DueDate, RecordKind, RecordState, declared

REVIEW_EVERY = datetime.timedelta(days=365)


class SourceState(RecordState):
    owner: str = ""
    access: tuple[str, ...] = ()
    legal_basis: str = ""
    kinds: tuple[str, ...] = ()
    """Of personal data that were found in it, never a value."""
    scanned_on: datetime.date | None = None
    exception: str = ""
    """Why it is not anonymised, where it is not."""
    reviewed_on: datetime.date | None = None

    def due(self) -> Iterable[DueDate]:
        if self.status != "gone" and self.reviewed_on is not None:
            yield DueDate(self.reviewed_on + REVIEW_EVERY, "look at this source again", self.owner)


SOURCE = declared(RecordKind("source", "The inventory of sources that hold personal data.", SourceState))


class SourceEntry(ActInput):
    title: str = Field(min_length=1, description="What it is.")
    owner: str = Field(min_length=1, description="Who answers for it.")
    access: tuple[str, ...] = Field(default=(), description="Who has access.")
    legal_basis: str = Field(default="", description="Why it may be kept.")
    kinds: tuple[str, ...] = Field(default=(), description="Kinds of personal data in it.")


class Scan(ActInput):
    kinds: tuple[str, ...] = Field(default=(), description="Kinds of personal data that were found.")


class Exempting(ActInput):
    reason: str = Field(min_length=1, description="Why it stays as it is.")


class SourceNote(ActInput):
    note: str = Field(default="", description="What is to be remembered.")


@SOURCE.act()
def add(context: ActContext, _: None, given: SourceEntry) -> SourceState:
    """Put a source into the inventory."""
    told = {name: getattr(given, name) for name in ("title", "owner", "access", "legal_basis", "kinds")}
    return SourceState(status="open", reviewed_on=context.today, **told)


@SOURCE.act("open", "anonymised", "exempt")
def scanned(context: ActContext, before: SourceState, given: Scan) -> SourceState:
    """Record which kinds of personal data a scan found."""
    return before.model_copy(update={"kinds": given.kinds, "scanned_on": context.today, "reviewed_on": context.today})


@SOURCE.act("open", "exempt")
def anonymised(context: ActContext, before: SourceState, given: SourceNote) -> SourceState:
    """Say that it holds anonymised data only now."""
    return before.model_copy(update={"status": "anonymised", "exception": "", "reviewed_on": context.today})


@SOURCE.act("open", "anonymised")
def exempt(context: ActContext, before: SourceState, given: Exempting) -> SourceState:
    """Record why it is not anonymised."""
    return before.model_copy(update={"status": "exempt", "exception": given.reason, "reviewed_on": context.today})


@SOURCE.act("open", "anonymised", "exempt")
def remove(_: ActContext, before: SourceState, given: SourceNote) -> SourceState:
    """Say that it is gone."""
    return before.model_copy(update={"status": "gone"})
