"""Where a person is found: in sources by the identifier, in releases by the pseudonyms that the vault has for it.

Records are counted, never shown: what is shown to the person is for who answers to look up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

import polars as pl

from shoal.crypto import Key
from shoal.errors import InputError
from shoal.govern.kinds.principal import PlaceSearched, PrincipalState
from shoal.govern.registry import GovernanceRegistry
from shoal.io import Source, explained
from shoal.io.frames import source_at
from shoal.io.withdrawn_people import WithdrawnPeople, identity_digest
from shoal.results.release_folder import ReleaseFolder

NOT_LOOKED = "not looked into"


class PseudonymLookup(Protocol):
    """A vault, as far as it is needed here."""

    def lookup(self, domain: str, values: Sequence[str]) -> list[str | None]: ...


@dataclass(frozen=True)
class SearchPlace:
    """A registered source or release, where it lies, which column says whose a record is."""

    record: str
    path: str
    column: str
    domain: str = ""
    """Of the vault, where the column holds pseudonyms."""

    @classmethod
    def read(cls, text: str) -> Self:
        """
        >>> SearchPlace.read("release/2026-q1=out/data.csv:id@patients").domain
        'patients'
        """
        record, told, rest = text.partition("=")
        path, colon, column = rest.rpartition(":")
        column, _, domain = column.partition("@")
        if not (told and colon and path and column and record.startswith(("source/", "release/"))):
            raise InputError("a place is written as source/ID=FILE:COLUMN or release/ID=FOLDER:COLUMN@DOMAIN")
        return cls(record, path, column, domain)

    def opened(self) -> Source:
        folder = Path(self.path)
        if self.record.startswith("release/") and (folder / "release.json").is_file():
            found = ReleaseFolder.at(str(folder))
            if not found.proven or found.manifest is None:
                raise InputError(f"{self.path}: the data is not what was released")
            return source_at(str(folder / found.manifest.data.path))
        return source_at(self.path)


def find_person(
    places: Iterable[SearchPlace], identifier: str, key: Key, vault: Callable[[], PseudonymLookup]
) -> tuple[PlaceSearched, ...]:
    return tuple(_searched(place, identifier, key, vault) for place in places)


def _searched(place: SearchPlace, identifier: str, key: Key, vault: Callable[[], PseudonymLookup]) -> PlaceSearched:
    source = place.opened()
    sought, how = [identifier], "identifier"
    if place.domain:
        sought = [one for one in vault().lookup(place.domain, [identifier]) if one is not None]
        how = f"pseudonyms of {place.domain}"
    wanted = WithdrawnPeople(key, frozenset(identity_digest(key, one) for one in sought))
    with explained(source):
        frame = source.scan()
        everything = frame.select(pl.len()).collect(engine="streaming").item()
        others = wanted.remaining(frame, place.column).select(pl.len()).collect(engine="streaming").item()
    return PlaceSearched(place=place.record, by=how, records=everything - others)


def record_search(  # noqa: PLR0913  # who asks, where, by what
    registry: GovernanceRegistry,
    request: str,
    places: Collection[SearchPlace],
    *,
    identifier: str,
    key: Key,
    vault: Callable[[], PseudonymLookup],
    by: str,
) -> tuple[PlaceSearched, ...]:
    """Look a person up and record what was found. Registered places that were not looked into are recorded as such."""
    asked = registry.state("principal", request)
    if not isinstance(asked, PrincipalState) or asked.identity != identity_digest(key, identifier):
        raise InputError("that is not the person who asked", field="person")
    known = [f"{kind}/{name}" for kind in ("source", "release") for name in _registered(registry, kind, asked.project)]
    for place in places:
        if place.record not in known:
            raise InputError(f"'{place.record}' is not registered", field="in")
    found = find_person(places, identifier, key, vault)
    left = set(known) - {place.record for place in places}
    searched = (*found, *(PlaceSearched(place=one, by=NOT_LOOKED, records=0) for one in sorted(left)))
    registry.perform("principal", "search", request, {"searched": searched}, by=by)
    return searched


def _registered(registry: GovernanceRegistry, kind: str, project: str) -> list[str]:
    found = registry.states(kind).items()
    present = [(name, state) for name, state in found if state.status != "gone"]
    return [name for name, state in present if _concerns(state.project, project)]


def _concerns(one: str, project: str) -> bool:
    return not project or one in {"", project}
