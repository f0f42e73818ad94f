"""Sources: files that were uploaded, what was found in them, what was decided about them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Query, Request
from fastapi.responses import Response

from shoal.server.access.sessions import Principal
from shoal.server.jobs.drafting import PolicyChoices
from shoal.server.store.tables import SOURCES
from shoal.server.studio_acts import choose, demo_blocks, forget_source, take_in
from shoal.server.web.answers import tagged
from shoal.server.web.once import IdempotencyKey, OnceRoute
from shoal.server.web.paging import Before, Limit, latest
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/api/v1", tags=["sources"], route_class=OnceRoute)
_TOLD = ("id", "name", "size", "sha256", "choices", "inspection", "created")


def told(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _TOLD}


@ROUTER.post(
    "/sources",
    status_code=201,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def upload_source(
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=300)],
    who: Annotated[Principal, Depends(Permit("source.upload"))],
    key: IdempotencyKey = None,
) -> dict[str, str]:
    """A table as the body of the request, with its file name; a job looks at it."""
    return await take_in(parts_of(request), who, name, request.stream(), key)


@ROUTER.post("/demo", status_code=201)
async def load_demo(
    request: Request, who: Annotated[Principal, Depends(Permit("source.upload"))], key: IdempotencyKey = None
) -> dict[str, str]:
    """The made-up hospital as a source."""
    return await take_in(parts_of(request), who, "hospital.csv", demo_blocks(), key)


@ROUTER.get("/sources")
def list_sources(
    request: Request,
    who: Annotated[Principal, Depends(Permit("source.list"))],
    limit: Limit = 50,
    before: Before = None,
) -> Response:
    rows = parts_of(request).all_own(SOURCES, who, most=limit, before=before)
    return latest(request, rows, limit, _TOLD)


@ROUTER.get("/sources/{source}")
def get_source(request: Request, source: str, who: Annotated[Principal, Depends(Permit("source.read"))]) -> Response:
    return tagged(request, told(parts_of(request).own(SOURCES, who, source)))


@ROUTER.get("/sources/{source}/profile")
def get_profile(request: Request, source: str, who: Annotated[Principal, Depends(Permit("source.read"))]) -> Response:
    """What `shoal profile --json` says: no value of the table."""
    return _found(request, source, who, "profile")


@ROUTER.get("/sources/{source}/preview")
def get_preview(
    request: Request, source: str, who: Annotated[Principal, Depends(Permit("source.preview"))]
) -> Response:
    """The first rows, for those who may see them."""
    return _found(request, source, who, "preview")


def _found(request: Request, source: str, who: Principal, name: str) -> Response:
    parts = parts_of(request)
    found = parts.found_in(parts.own(SOURCES, who, source)["id"], name)
    if found is None:
        raise HTTPException(409, "the source is not looked at yet: see its job")
    return tagged(request, found)


@ROUTER.put("/sources/{source}/choices")
def set_choices(
    request: Request,
    source: str,
    choices: PolicyChoices,
    who: Annotated[Principal, Depends(Permit("source.choose"))],
) -> Response:
    parts = parts_of(request)
    parts.own(SOURCES, who, source)
    choose(parts, who, source, choices)
    return tagged(request, told(parts.own(SOURCES, who, source)))


@ROUTER.delete("/sources/{source}", status_code=204)
def delete_source(request: Request, source: str, who: Annotated[Principal, Depends(Permit("source.delete"))]) -> None:
    """The upload, its profile and first rows; releases stay."""
    forget_source(parts_of(request), who, source)
