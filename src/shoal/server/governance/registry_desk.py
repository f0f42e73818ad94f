"""Where people of the studio look into its registry and act in it.

Who acts is who is signed in: the account's name is the person's handle in the registry. What they may do there is the
registry's word (roles, training, four eyes), not the studio's. Who was not admitted sees nothing of it.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shoal.errors import AccessError, InputError
from shoal.govern.kinds.project import ProjectState
from shoal.govern.record_kinds import RecordAct, RecordState, record_kind, record_kinds
from shoal.govern.registry import DueRow, GovernanceRegistry, HistoryEntry
from shoal.govern.rights import is_allowed
from shoal.randomness import now
from shoal.server.governance.act_forms import ActForm, act_form

AUDITOR: Final = "auditor"
CONFIDENTIAL: Final = frozenset({"principal", "opt-out"})
"""About people who ask of themselves: for those whose work it is, and for auditors."""
_UNTOLD: Final = frozenset({"place", "announced_for"})
"""Paths of the server."""


class NoRegistryError(Exception):
    """Nobody has begun one yet."""


class NoRecordError(Exception):
    """There is no such record, or not for this reader."""


class RegistryDesk:
    def __init__(self, place: Path, releases: Path) -> None:
        self._place, self._releases = place, releases

    @property
    def place(self) -> str:
        return str(self._place)

    @property
    def begun(self) -> bool:
        return self._place.exists()

    def begin(self, name: str) -> None:
        if self.begun:
            raise InputError("there is a registry already")
        with GovernanceRegistry.create(self.place, name):
            pass

    @contextmanager
    def visit(self, name: str) -> Iterator[RegistryVisit]:
        if not self.begun:
            raise NoRegistryError
        with GovernanceRegistry.open(self.place) as registry:
            person = registry.states("person").get(name)
            if person is None or person.status != "active":
                raise AccessError("you were not admitted to the registry", advice="its administrator admits people")
            yield RegistryVisit(registry, name, tuple(getattr(person, "roles", ())), self._releases)


@dataclass(frozen=True)
class RegistryVisit:
    """The registry as one person sees it, for the time of one request."""

    registry: GovernanceRegistry
    name: str
    roles: tuple[str, ...]
    releases: Path

    def may(self, kind: str, act: str) -> bool:
        return is_allowed(self.roles, f"{kind}.{act}")

    def may_read(self, kind: str) -> bool:
        if kind not in CONFIDENTIAL or AUDITOR in self.roles:
            return True
        return any(self.may(kind, act) for act in record_kind(kind).acts)

    @property
    def kinds(self) -> list[str]:
        return sorted(name for name, _ in record_kinds if self.may_read(name))

    def _checked(self, kind: str) -> str:
        if kind not in self.kinds:
            raise NoRecordError
        return kind

    def states(self, kind: str, project: str = "") -> Mapping[str, RecordState]:
        return self.registry.states(self._checked(kind), project)

    def state(self, kind: str, identifier: str) -> RecordState:
        found = self.states(kind).get(identifier)
        if found is None:
            raise NoRecordError
        return found

    def project(self, identifier: str) -> ProjectState:
        found = self.state("project", identifier)
        if not isinstance(found, ProjectState):
            raise NoRecordError
        return found

    def history(self, kind: str, identifier: str) -> list[HistoryEntry]:
        self.state(kind, identifier)
        return self.registry.history(kind, identifier)

    def due(self, days: int) -> list[DueRow]:
        until = now().date() + datetime.timedelta(days=days)
        return [row for row in self.registry.due(until) if self.may_read(row.kind)]

    def forms(self, kind: str, state: RecordState | None) -> list[ActForm]:
        """What this person may do with a record as it stands; without one, how they may begin one."""
        acts = record_kind(self._checked(kind)).acts.values()
        fitting = [act for act in acts if (act.begins if state is None else state.status in act.when)]
        made = [act_form(kind, act) for act in fitting if self.may(kind, act.name)]
        return [form for form in made if form is not None]

    def form(self, kind: str, act: str) -> ActForm:
        known: Mapping[str, RecordAct] = record_kind(self._checked(kind)).acts
        form = act_form(kind, known[act]) if act in known else None
        if form is None:
            raise NoRecordError
        return form

    def perform(self, kind: str, act: str, identifier: str, told: Mapping[str, Any]) -> RecordState:
        """As `shoal register` does it: right, training, status and the act's own rules are the registry's to check."""
        given = self.form(kind, act).given(told)
        return self.registry.perform(kind, act, identifier, given, by=self.name)

    def release_folders(self, project: str) -> list[Path]:
        """Folders of the project's releases that this studio made itself; another path in a record is not followed."""
        found = []
        for state in self.states("release", project).values():
            place = Path(str(getattr(state, "place", "")))
            if state.status == "entered" and place.parent == self.releases.resolve() and place.is_dir():
                found.append(place)
        return found


def told_state(state: RecordState) -> dict[str, Any]:
    told = state.model_dump(mode="json", exclude_defaults=True)
    return {name: value for name, value in told.items() if name not in _UNTOLD}
