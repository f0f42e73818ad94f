"""What the first page of the registry shows: projects and how far they are, what is due, what waits for somebody."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from shoal.govern.checklist import fill
from shoal.govern.evidence_base import gather
from shoal.govern.kinds.incident import IncidentState
from shoal.govern.kinds.project import ProjectState, StepState
from shoal.govern.kinds.release import ReleaseState
from shoal.govern.procedure import procedure
from shoal.randomness import now
from shoal.server.governance.registry_desk import RegistryVisit

DUE_DAYS: Final = 90
MINE_DAYS: Final = 30
_WAITING: Final = {"submitted": "to be reviewed", "reviewed": "to be approved", "approved": "to be agreed",
                   "agreed": "to be delivered", "expunged": "to be confirmed"}  # fmt: skip


def overview(visit: RegistryVisit) -> dict[str, Any]:
    today = now().date()
    due = [{**row._asdict(), "late": row.on < today, "mine": row.who == visit.name} for row in visit.due(DUE_DAYS)]
    requests = [
        {"id": name, "waits": _WAITING[state.status], "project": state.project, "seeker": getattr(state, "seeker", "")}
        for name, state in visit.states("request").items()
        if state.status in _WAITING
    ]
    incidents = visit.states("incident") if "incident" in visit.kinds else {}
    clocks = {name: incident_clock(state) for name, state in incidents.items()}
    return {
        "incidents": {name: clock for name, clock in clocks.items() if clock is not None},
        "me": {"name": visit.name, "roles": list(visit.roles)},
        "projects": [project_facts(name, state) for name, state in visit.states("project").items()],
        "due": due,
        "requests": requests,
        "releases": [release_facts(name, state) for name, state in visit.states("release").items()],
        "kinds": {kind: len(visit.states(kind)) for kind in visit.kinds},
    }


_NEXT: Final = {"submitted": "review", "reviewed": "approve", "approved": "agree", "agreed": "deliver",
                "expunged": "confirm"}  # fmt: skip


def waiting_for(visit: RegistryVisit) -> list[dict[str, Any]]:
    """Requests whose next act this person may do, and what is due of them: the most urgent first."""
    today = now().date()
    requests = [
        {"kind": "request", "id": name, "what": _WAITING[state.status], "on": None, "late": False}
        for name, state in visit.states("request").items()
        if state.status in _NEXT and visit.may("request", _NEXT[state.status])
    ] if "request" in visit.kinds else []  # fmt: skip
    due = [
        {"kind": row.kind, "id": row.identifier, "what": row.what, "on": row.on.isoformat(), "late": row.on < today}
        for row in sorted(visit.due(MINE_DAYS), key=lambda row: row.on)
        if row.who == visit.name or row.kind == "incident"
    ]
    return [*due, *requests]


def incident_clock(state: Any) -> dict[str, Any] | None:
    """Whom the law wants told until when, while that is open; and what else is to be done."""
    if not isinstance(state, IncidentState) or state.status == "closed":
        return None
    until = state.notify_by
    running = until is not None and state.notified_at is None
    left = None if until is None else (until - now()).total_seconds()
    return {
        "authority": state.rule.authority,
        "until": until.timestamp() if until is not None and running else None,
        "hours_left": None if left is None or not running else round(left / 3600, 1),
        "tasks": list(state.open_tasks),
    }


def project_facts(name: str, state: Any) -> dict[str, Any]:
    if not isinstance(state, ProjectState):
        return {"id": name}
    needed = state.needed
    done = sum(state.step(number).done for number in needed)
    told = {"id": name, "title": state.title, "status": state.status, "use_case": str(state.use_case), "k": state.k}
    return {**told, "release_model": str(state.release_model), "owner": state.owner, "done": done, "of": len(needed)}


def project_steps(state: ProjectState) -> list[dict[str, Any]]:
    """The fifteen, in order."""
    needed = set(state.needed)
    return [
        {"number": number, "title": step.title, "needed": number in needed, **_step(state.step(number))}
        for number, step in procedure().steps.items()
    ]


def _step(state: StepState) -> dict[str, Any]:
    return state.model_dump(mode="json")


def release_facts(name: str, state: Any) -> dict[str, Any]:
    if not isinstance(state, ReleaseState):
        return {"id": name}
    seen = state.composition
    told = {one: getattr(state, one) for one in ("title", "project", "status", "kind", "rows", "k", "epsilon", "out")}
    composed = (
        None if seen is None else seen.model_dump(mode="json", include={"outcome", "effective_k", "on", "earlier"})
    )
    return {"id": name, **told, "recipients": list(state.recipients), "composition": composed, "tested": state.tested}


def checklists(visit: RegistryVisit, project: str) -> list[dict[str, Any]]:
    """Filled from what is recorded, and from manifests of releases that this studio made."""
    base = gather(visit.registry, project, visit.release_folders(project))
    filled = fill(base, visit.project(project).use_case)
    return [{**asdict(one), "answered": one.answered, "needed": one.needed} for one in filled]
