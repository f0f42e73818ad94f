"""What the studio does with its registry beside the acts that forms are made for."""

from __future__ import annotations

from typing import Any

from shoal.errors import IntegrityError
from shoal.results.release_folder import ReleaseFolder
from shoal.server.access.sessions import Principal
from shoal.server.governance.registry_desk import RegistryVisit, told_state
from shoal.server.jobs.job_queue import JobKind
from shoal.server.store.tables import RELEASES
from shoal.server.web.parts import StudioParts


def enter_release(parts: StudioParts, who: Principal, release: str, project: str, entry: str) -> dict[str, Any]:
    """A release of theirs; its figures are taken from its folder, and the data has to be what was released."""
    folder = parts.home.release(parts.own(RELEASES, who, release)["id"])
    manifest = ReleaseFolder.at(str(folder)).manifest
    title = "" if manifest is None else manifest.name
    with parts.desk.visit(who.account.name) as visit:
        visit.project(project)
        visit.registry.require("release", "enter", entry, by=visit.name)
        given = {"project": project, "folder": str(folder), "title": title}
        return {"id": entry, **told_state(visit.registry.perform("release", "enter", entry, given, by=visit.name))}


def ask_composition(parts: StudioParts, who: Principal, entry: str) -> dict[str, str]:
    with parts.desk.visit(who.account.name) as visit:
        visit.state("release", entry)
        visit.registry.require("release", "compose", entry, by=visit.name)
    told = {"entry": entry, "by": who.account.name}
    with parts.home.database.transaction() as connection:
        return {"job": parts.queue.add(connection, who.account.id, JobKind.COMPOSE, "", told)}


def verified(visit: RegistryVisit) -> dict[str, Any]:
    """That it holds, with how much was looked at; or the number at which it does not."""
    try:
        facts = visit.registry.verify()
    except IntegrityError as error:
        return {"intact": False, "problem": str(error)}
    head = facts.ledger.head
    told = {"entries": facts.entries, "records": facts.records, "purged": facts.purged}
    return {"intact": True, **told, "head": head.hash.hex(), "checkpoints": facts.ledger.checkpoints}
