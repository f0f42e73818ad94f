"""Destroying a release: its folder, and what leads back to people by shredding keys. The proof stays."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from shoal.errors import InputError
from shoal.govern.kinds.destruction import DestructionState
from shoal.govern.record_kinds import RecordState
from shoal.govern.registry import GovernanceRegistry
from shoal.govern.release_entry import release_figures
from shoal.io import sha256_of


class ShredProof(Protocol):
    @property
    def keys(self) -> tuple[str, ...]: ...
    @property
    def entries(self) -> int: ...


class Shredder(Protocol):
    """A vault, as far as it is needed here."""

    def shred(self, domain: str, reason: str) -> ShredProof: ...


def destroy_release(  # noqa: PLR0913  # what is destroyed, where, why, by whom
    registry: GovernanceRegistry,
    identifier: str,
    *,
    release: str,
    folder: Path,
    reason: str,
    by: str,
    domain: str = "",
    vault: Callable[[], Shredder] | None = None,
) -> DestructionState:
    """Planned, done, proven, in this order; one that was cut short is taken up again under the same identifier."""
    known = registry.states("destruction").get(identifier)
    if known is None or known.status != "planned":
        known = _planned(registry, identifier, release=release, folder=folder, reason=reason, by=by, domain=domain)
    if not isinstance(known, DestructionState) or known.release != release or known.domain != domain:
        raise InputError(f"destruction '{identifier}' is about something else")
    if folder.exists():
        _require_same(registry, release, folder)
        shutil.rmtree(folder)
    proof = {}
    if domain:
        if vault is None:
            raise InputError("which vault has the domain?", field="vault")
        shredded = vault().shred(domain, f"{reason} (destruction {identifier})")
        proof = {"keys": shredded.keys, "mappings": shredded.entries}
    done = registry.perform("destruction", "prove", identifier, proof, by=by)
    if not isinstance(done, DestructionState):
        raise InputError(f"'{identifier}' is no destruction")
    return done


def _planned(registry: GovernanceRegistry, identifier: str, *, by: str, folder: Path, **given: str) -> RecordState:
    _require_same(registry, given["release"], folder)
    files = [
        {"name": path.relative_to(folder).as_posix(), "sha256": sha256_of(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]
    return registry.perform("destruction", "plan", identifier, {**given, "files": files}, by=by)


def _require_same(registry: GovernanceRegistry, release: str, folder: Path) -> None:
    """Nothing but this very release is destroyed."""
    entered = getattr(registry.state("release", release), "data_sha256", "")
    if release_figures(folder)["data_sha256"] != entered:
        raise InputError(f"{folder}: holds another release", field="folder")
