"""The registry: records, what may be done with them, what is due, checklists, the chain."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from shoal.server.access.sessions import Principal
from shoal.server.governance.overview import checklists, overview, project_facts, project_steps
from shoal.server.governance.registry_acts import ask_composition, enter_release, verified
from shoal.server.governance.registry_desk import told_state
from shoal.server.web.answers import tagged
from shoal.server.web.once import OnceRoute
from shoal.server.web.paging import After, Limit, by_name
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/api/v1/govern", tags=["registry"], route_class=OnceRoute)
Reader = Annotated[Principal, Depends(Permit("govern.read"))]
Actor = Annotated[Principal, Depends(Permit("govern.act"))]


class ReleaseEntering(BaseModel):
    model_config = ConfigDict(extra="forbid")

    release: str
    """A release of yours."""
    project: str = Field(max_length=64)
    entry: str = Field(max_length=64)
    """What the registry is to call it."""


class CompositionWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    entry: str = Field(max_length=64)


@ROUTER.get("")
def get_overview(request: Request, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        return tagged(request, overview(visit))


@ROUTER.post("", status_code=201)
def begin_registry(request: Request, who: Annotated[Principal, Depends(Permit("govern.begin"))]) -> dict[str, str]:
    """Whoever begins it administers it, and admits others."""
    parts_of(request).desk.begin(who.account.name)
    return {"administrator": who.account.name}


@ROUTER.get("/due")
def list_due(request: Request, who: Reader, days: Annotated[int, Query(ge=0, le=3660)] = 90) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        return tagged(request, {"items": [row._asdict() for row in visit.due(days)]})


@ROUTER.get("/records/{kind}")
def list_records(  # noqa: PLR0913, PLR0917  # which, and which page of them
    request: Request,
    kind: str,
    who: Reader,
    project: Annotated[str, Query(max_length=64)] = "",
    limit: Limit = 50,
    after: After = "",
) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        found = visit.states(kind, project)
        return by_name(request, ({"id": name, **told_state(state)} for name, state in found.items()), limit, after)


@ROUTER.get("/records/{kind}/{identifier}")
def get_record(request: Request, kind: str, identifier: str, who: Reader) -> Response:
    """What is true of it, what happened, and what the caller may do with it now."""
    with parts_of(request).desk.visit(who.account.name) as visit:
        state = visit.state(kind, identifier)
        history = [
            {"number": one.number, "at": one.at, "act": one.act, "by": one.by}
            for one in visit.history(kind, identifier)
        ]
        acts = [asdict(form) for form in visit.forms(kind, state)]
        return tagged(request, {"id": identifier, "state": told_state(state), "history": history, "acts": acts})


@ROUTER.post("/records/{kind}/{identifier}/{act}")
def act_on_record(  # noqa: PLR0913, PLR0917  # one argument for each part of the request
    request: Request, kind: str, identifier: str, act: str, given: dict[str, Any], who: Actor
) -> dict[str, Any]:
    """As `shoal register KIND ACT IDENTIFIER` does it; paths of files are not taken."""
    with parts_of(request).desk.visit(who.account.name) as visit:
        return {"id": identifier, **told_state(visit.perform(kind, act, identifier, given))}


@ROUTER.get("/projects/{identifier}/steps")
def get_steps(request: Request, identifier: str, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        state = visit.project(identifier)
        return tagged(request, {**project_facts(identifier, state), "steps": project_steps(state)})


@ROUTER.get("/projects/{identifier}/checklists")
def get_checklists(request: Request, identifier: str, who: Reader) -> Response:
    with parts_of(request).desk.visit(who.account.name) as visit:
        return tagged(request, {"items": checklists(visit, identifier)})


@ROUTER.post("/releases", status_code=201)
def enter_studio_release(request: Request, wanted: ReleaseEntering, who: Actor) -> dict[str, Any]:
    """Put a release of this studio into the registry, with the figures of its folder."""
    return enter_release(parts_of(request), who, wanted.release, wanted.project, wanted.entry)


@ROUTER.post("/compositions", status_code=202)
def check_composition(request: Request, wanted: CompositionWish, who: Actor) -> dict[str, str]:
    """A job that looks at an entered release together with all others of the same people, and records the result."""
    return ask_composition(parts_of(request), who, wanted.entry)


@ROUTER.post("/verify")
def verify_chain(request: Request, who: Reader) -> dict[str, Any]:
    """Whether the chain of the registry is as it was written."""
    with parts_of(request).desk.visit(who.account.name) as visit:
        return verified(visit)
