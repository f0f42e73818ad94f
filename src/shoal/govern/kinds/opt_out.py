"""People who withdrew: left out of every later run, synthesis and answer (MeitY 1.2; G-13).

A record is called by the keyed digest of the person's identifier. Neither the identifier nor the key is in the
registry, so who has the registry can't tell who withdrew.
"""

from __future__ import annotations

import datetime
import re
from typing import Final

from pydantic import Field

from shoal.errors import InputError
from shoal.govern.record_kinds import ActContext, ActInput, RecordKind, RecordState, declared

_DIGEST: Final = re.compile(r"[0-9a-f]{32}")


class OptOutState(RecordState):
    key_fingerprint: str = ""
    """Of the key that the digest was made with: with another one it would fit nobody."""
    projects: tuple[str, ...] = ()
    """From which they withdrew; none for all of them."""

    def kept_because(self, today: datetime.date) -> str:
        return "they withdrew, and would be let in again" if self.status == "withdrawn" else ""

    def holds_for(self, project: str) -> bool:
        return self.status == "withdrawn" and (not self.projects or project in self.projects)


OPT_OUT = declared(RecordKind("opt-out", "People who withdrew, by keyed digests.", OptOutState))


class Withdrawal(ActInput):
    key_fingerprint: str = Field(pattern="^[0-9a-f]{16}$", description="Of the key that the digest was made with.")
    projects: tuple[str, ...] = Field(default=(), description="From which projects; from all of them without.")


class Return(ActInput):
    """Nothing more."""


@OPT_OUT.act()
def withdraw(context: ActContext, _: None, given: Withdrawal) -> OptOutState:
    """Leave somebody out from now on. `shoal register withdraw` makes the digest from an identifier."""
    return _withdrawn(context, given)


def _withdrawn(context: ActContext, given: Withdrawal) -> OptOutState:
    if not _DIGEST.fullmatch(context.identifier):
        raise InputError("is called by a digest, so that nobody is named", advice="shoal register withdraw")
    _known_projects(context, given)
    return OptOutState(
        status="withdrawn", key_fingerprint=given.key_fingerprint, projects=tuple(dict.fromkeys(given.projects))
    )


@OPT_OUT.act("returned", name="again")
def withdraw_again(context: ActContext, _: OptOutState, given: Withdrawal) -> OptOutState:
    """Leave somebody out again who had come back."""
    return _withdrawn(context, given)


@OPT_OUT.act("withdrawn")
def widen(context: ActContext, before: OptOutState, given: Withdrawal) -> OptOutState:
    """Leave somebody out of further projects too, or of all."""
    _known_projects(context, given)
    projects = tuple(dict.fromkeys((*before.projects, *given.projects))) if given.projects and before.projects else ()
    return before.model_copy(update={"projects": projects})


@OPT_OUT.act("withdrawn", name="return")
def come_back(_: ActContext, before: OptOutState, __: Return) -> OptOutState:
    """Take somebody in again who asked for it."""
    return before.model_copy(update={"status": "returned"})


def _known_projects(context: ActContext, given: Withdrawal) -> None:
    for project in given.projects:
        context.view.state("project", project)
