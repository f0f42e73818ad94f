"""Kinds of record that a registry keeps: projects, requests, releases, incidents, people.

A kind is one file in ``kinds``, or one in another distribution (``shoal.record_kinds``). It declares what a record says
(its state) and what may be done with it (its acts). An act is a pure function from the state before and what somebody
gives to the state after; who may do it stands in ``rights.yaml``. Command line, forms and history are made from these
declarations, so a new kind or act needs nothing else.
"""

from __future__ import annotations

import datetime
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol, Self, TypeVar

from shoal.errors import AccessError, BugError, InputError
from shoal.schema.parameters import Parameters
from shoal.schema.registry import Registry, did_you_mean

_IDENTIFIER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, order=True)
class DueDate:
    """Something that somebody has to do by a day."""

    on: datetime.date
    what: str
    who: str = ""
    """A person's handle; empty where it is nobody's in particular."""


class RecordState(Parameters):
    """What is true of a record after its last act."""

    status: str
    title: str = ""
    project: str = ""

    FACTS: ClassVar[tuple[str, ...]] = ()
    """What ``facts`` tells."""

    def facts(self, today: datetime.date) -> Mapping[str, bool]:
        """What follows from it on a day, beside its fields, for queries on evidence."""
        return {}

    def due(self) -> Iterable[DueDate]:
        """What has to be done by when, as things stand."""
        return ()

    def kept_because(self, today: datetime.date) -> str:
        """Why it may not be purged; empty where it may."""
        return ""

    def still_needed(self, identifier: str, view: RegistryView) -> str:
        """The same by what other records say."""
        return ""


class ActInput(Parameters):
    """What somebody gives for an act. Its fields that have a description are flags of a command, fields of a form."""

    def gathered(self) -> Self:
        """With what is read from files that it names: checksums and figures, no value. Done before the transaction."""
        return self


class RegistryView(Protocol):
    """The registry as an act sees it: within its transaction."""

    def state(self, kind: str, identifier: str) -> RecordState:
        """Of another record; an InputError where there is none."""

    def states(self, kind: str, project: str = "") -> Mapping[str, RecordState]:
        """All records of a kind, or those of a project, by identifier."""


@dataclass(frozen=True)
class ActContext:
    """Who acts, when, on which record, and what else is known."""

    by: str
    roles: frozenset[str]
    at: datetime.datetime
    identifier: str
    view: RegistryView = field(repr=False)

    @property
    def today(self) -> datetime.date:
        return self.at.date()


State = TypeVar("State", bound=RecordState)
Given = TypeVar("Given", bound=ActInput)
Carry = Callable[[ActContext, Any, Any], RecordState]


@dataclass(frozen=True)
class RecordAct:
    name: str
    about: str
    given: type[ActInput]
    when: frozenset[str]
    """The statuses of a record in which it can be done; empty for an act that begins a record."""
    carry: Carry = field(repr=False)

    @property
    def begins(self) -> bool:
        return not self.when


@dataclass(frozen=True)
class RecordKind:
    """What a registry keeps, and what may be done with it."""

    name: str
    about: str
    state: type[RecordState]
    acts: dict[str, RecordAct] = field(default_factory=dict)

    def act(self, *when: str, name: str | None = None) -> Callable[[Callable[[ActContext, Any, Given], State]], Carry]:
        """Declare what a function does with a record of one of these statuses; without any, it begins one."""

        def declare(carry: Callable[[ActContext, Any, Given], State]) -> Carry:
            given = list(inspect.signature(carry, eval_str=True).parameters.values())[2].annotation
            called = name or carry.__name__.replace("_", "-")
            if called in self.acts:
                raise BugError(f"{self.name}: the act '{called}' is declared twice")
            self.acts[called] = RecordAct(called, inspect.getdoc(carry) or "", given, frozenset(when), carry)
            return carry

        return declare

    def known_act(self, name: str) -> RecordAct:
        if name not in self.acts:
            raise InputError(f"{self.name}: no such act as '{name}'{did_you_mean(name, tuple(self.acts))}")
        return self.acts[name]


record_kinds: Registry[RecordKind] = Registry("shoal.govern.kinds", "kind of record", "shoal.record_kinds")


def declared(kind: RecordKind) -> RecordKind:
    """Register a kind."""
    record_kinds.add(kind.name, kind)
    return kind


def record_kind(name: str) -> RecordKind:
    found = record_kinds.get(name)
    if found is None:
        raise InputError(record_kinds.unknown(name))
    return found


def checked_identifier(identifier: str) -> str:
    if not _IDENTIFIER.fullmatch(identifier):
        raise InputError("an identifier has letters, digits, dots, dashes and underscores, 64 at most")
    return identifier


def refuse_own(context: ActContext, others: Iterable[str], what: str) -> None:
    """Four eyes: nobody judges what they did themselves."""
    if context.by in set(others):
        raise AccessError(f"{context.by} can't {what}: it takes somebody else")
