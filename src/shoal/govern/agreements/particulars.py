"""What the registry knows of a request, as the values of placeholders, each with the entry that it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shoal.errors import InputError, printable
from shoal.govern.agreements.templates import placeholders
from shoal.govern.kinds.feed import FeedState
from shoal.govern.kinds.person import PersonState
from shoal.govern.kinds.release import ReleaseState
from shoal.govern.kinds.request import CONFIRM_WITHIN, RequestState
from shoal.govern.record_kinds import RecordState
from shoal.govern.registry import GovernanceRegistry

REGISTRY: Final = "registry"
_OFFICER: Final = "privacy-officer"


@dataclass(frozen=True)
class Particular:
    """The value of a placeholder."""

    value: str
    where: str
    """The record and its last entry in the ledger; empty where it was given with the command."""


@dataclass(frozen=True)
class _KnownRecord:
    where: str
    content: Mapping[str, Any]


def particulars(
    registry: GovernanceRegistry, identifier: str, *, release: str = "", channel: str = ""
) -> dict[str, Particular]:
    """By placeholder; what is not known is not there."""
    known = dict(_records(registry, identifier, release))
    found = {}
    for name, one in placeholders().items():
        record = known.get(one.record)
        value = "" if record is None else _plain(record.content.get(one.field))
        if record is not None and value:
            found[name] = Particular(value, record.where)
    if channel:
        found["channel"] = Particular(_plain(channel), "")
    return found


def known_request(registry: GovernanceRegistry, identifier: str) -> RequestState:
    found = registry.state("request", identifier)
    if not isinstance(found, RequestState):
        raise InputError(f"'{identifier}' is no request")
    return found


def _records(registry: GovernanceRegistry, identifier: str, release: str) -> Iterator[tuple[str, _KnownRecord]]:
    request = known_request(registry, identifier)
    confirm_by = None if request.until is None else request.until + CONFIRM_WITHIN
    yield "request", _known(registry, "request", identifier, request, confirm_by=confirm_by)
    project = registry.state("project", request.project)
    name = f"{request.project} ({project.title})" if project.title else request.project
    yield "project", _known(registry, "project", request.project, project, name=name)
    chosen = release or request.release
    if chosen:
        yield "release", _release(registry, request, chosen)
    feeds = {
        name: feed
        for name, feed in registry.states("feed", request.project).items()
        if isinstance(feed, FeedState) and feed.request == identifier and feed.status == "open"
    }
    if len(feeds) == 1:
        name, feed = next(iter(feeds.items()))
        yield "feed", _known(registry, "feed", name, feed)
    officers = _officers(registry)
    where = ", ".join(f"person/{name} (entry {entry})" for name, entry in officers.items())
    yield REGISTRY, _KnownRecord(where, {"privacy_officers": ", ".join(officers)})


def _release(registry: GovernanceRegistry, request: RequestState, name: str) -> _KnownRecord:
    found = registry.state("release", name)
    if not isinstance(found, ReleaseState) or found.project != request.project:
        raise InputError("it belongs to another project", field="release")
    if found.status != "entered":
        raise InputError(f"that release is {found.status}", field="release")
    figures = (("k", found.k), ("ε", found.epsilon))
    measured = ", ".join(f"{figure} {value:g}" for figure, value in figures if value is not None)
    return _known(registry, "release", name, found, measured=measured)


def _known(
    registry: GovernanceRegistry, kind: str, identifier: str, state: RecordState, /, **more: object
) -> _KnownRecord:
    where = f"{kind}/{identifier} (entry {registry.last_entries(kind)[identifier]})"
    return _KnownRecord(where, {**state.model_dump(mode="json"), "id": identifier, **more})


def _officers(registry: GovernanceRegistry) -> dict[str, int]:
    entries = registry.last_entries("person")
    return {
        name: entries[name]
        for name, one in registry.states("person").items()
        if isinstance(one, PersonState) and one.status == "active" and _OFFICER in one.roles
    }


def _plain(value: object) -> str:
    """On one line and visible, so that no value can pass for a clause of its own."""
    return "" if value is None else printable(" ".join(str(value).split()))
