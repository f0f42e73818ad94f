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
from shoal.govern.kinds.release import ReleaseState
from shoal.govern.record_kinds import ActContext, ActInput, RecordKind, RecordState, RegistryView, declared

_DIGEST: Final = re.compile(r"[0-9a-f]{32}")
_LONG_AGO: Final = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
"""Of records that were made before it was written down."""


class OptOutState(RecordState):
    key_fingerprint: str = ""
    """Of the key that the digest was made with: with another one it would fit nobody."""
    projects: tuple[str, ...] = ()
    """From which they withdrew; none for all of them."""
    since: datetime.datetime = _LONG_AGO
    """When they withdrew, or widened what they withdrew from."""

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
    projects = tuple(dict.fromkeys(given.projects))
    return OptOutState(status="withdrawn", key_fingerprint=given.key_fingerprint, projects=projects, since=context.at)


@OPT_OUT.act("returned", name="again")
def withdraw_again(context: ActContext, _: OptOutState, given: Withdrawal) -> OptOutState:
    """Leave somebody out again who had come back."""
    return _withdrawn(context, given)


@OPT_OUT.act("withdrawn")
def widen(context: ActContext, before: OptOutState, given: Withdrawal) -> OptOutState:
    """Leave somebody out of further projects too, or of all."""
    _known_projects(context, given)
    projects = tuple(dict.fromkeys((*before.projects, *given.projects))) if given.projects and before.projects else ()
    return before.model_copy(update={"projects": projects, "since": context.at})


@OPT_OUT.act("withdrawn", name="return")
def come_back(_: ActContext, before: OptOutState, __: Return) -> OptOutState:
    """Take somebody in again who asked for it."""
    return before.model_copy(update={"status": "returned"})


def require_left_out(view: RegistryView, release: ReleaseState) -> None:
    """Nothing goes to anybody that may have records of people who withdrew, whichever way it was made.

    Answers are left aside: they hold no records, and nobody can say afterwards whom they counted.
    """
    if release.kind == "answer":
        return
    gone = [one for one in view.states("opt-out").values() if isinstance(one, OptOutState)]
    since = [one.since for one in gone if one.holds_for(release.project)]
    if not since:
        return
    advice = "make it anew: shoal run … --project …"
    if release.left_out is None:
        raise InputError("people withdrew, and nothing shows that they were left out of that release", advice=advice)
    if not release.created or datetime.datetime.fromisoformat(release.created) < max(since).replace(microsecond=0):
        raise InputError("people withdrew after that release was made: they are in it", advice=advice)
    if release.left_out < len(since):
        raise InputError("more people withdrew than were left out of that release", advice=advice)


def _known_projects(context: ActContext, given: Withdrawal) -> None:
    for project in given.projects:
        context.view.state("project", project)
