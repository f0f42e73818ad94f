"""Policies that were drafted, and releases that were made by them."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, ConfigDict

from shoal.server.access.sessions import Principal
from shoal.server.jobs.job_queue import JobKind
from shoal.server.store.tables import POLICIES, RELEASES
from shoal.server.studio_acts import ask, policy_text, release_folder
from shoal.server.web.answers import attachment, file_to_keep, tagged
from shoal.server.web.headers import REPORT_POLICY
from shoal.server.web.once import IdempotencyKey, OnceRoute
from shoal.server.web.paging import Before, Limit, latest
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/api/v1", tags=["policies and releases"], route_class=OnceRoute)


class PolicyRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: str


@ROUTER.post("/policies", status_code=202)
def draft_policy(
    request: Request,
    wanted: PolicyRequest,
    who: Annotated[Principal, Depends(Permit("policy.draft"))],
    key: IdempotencyKey = None,
) -> dict[str, str]:
    """A job that drafts a policy from the source's choices, as `shoal suggest` does; the policy has the job's id."""
    return ask(parts_of(request), who, JobKind.SUGGEST, wanted.source, {}, key=key)


@ROUTER.get("/policies/{policy}")
def get_policy(request: Request, policy: str, who: Annotated[Principal, Depends(Permit("policy.read"))]) -> Response:
    row = parts_of(request).own(POLICIES, who, policy)
    return tagged(request, {name: row[name] for name in ("id", "source", "name", "text", "created")})


@ROUTER.get("/policies/{policy}/file")
def get_policy_file(
    request: Request, policy: str, who: Annotated[Principal, Depends(Permit("policy.read"))]
) -> Response:
    """For `shoal run`."""
    text = policy_text(parts_of(request), who, policy)
    return Response(text, media_type="application/yaml", headers=attachment("policy.yaml"))


@ROUTER.post("/policies/{policy}/check", status_code=202)
def check_policy(
    request: Request,
    policy: str,
    who: Annotated[Principal, Depends(Permit("policy.check"))],
    key: IdempotencyKey = None,
) -> dict[str, str]:
    """A job that checks it against its source, as `shoal check --input` does."""
    parts = parts_of(request)
    source = parts.own(POLICIES, who, policy)["source"]
    return ask(parts, who, JobKind.CHECK, source, {"policy": policy}, key=key)


@ROUTER.get("/releases")
def list_releases(
    request: Request,
    who: Annotated[Principal, Depends(Permit("release.list"))],
    limit: Limit = 50,
    before: Before = None,
) -> Response:
    rows = parts_of(request).all_own(RELEASES, who, most=limit, before=before)
    return latest(request, rows, limit, ("id", "source", "policy", "created"))


@ROUTER.get("/releases/{release}")
def get_manifest(
    request: Request, release: str, who: Annotated[Principal, Depends(Permit("release.read"))]
) -> Response:
    """`release.json`."""
    path = release_folder(parts_of(request), who, release) / "release.json"
    return tagged(request, json.loads(path.read_text(encoding="utf-8")))


@ROUTER.get("/releases/{release}/report")
def get_report(
    request: Request, release: str, who: Annotated[Principal, Depends(Permit("release.read"))]
) -> FileResponse:
    """The owner's report, to look at."""
    path = release_folder(parts_of(request), who, release) / "report.html"
    return FileResponse(path, media_type="text/html", headers={"Content-Security-Policy": REPORT_POLICY})


@ROUTER.get("/releases/{release}/files/{name:path}")
def download_file(
    request: Request, release: str, name: str, who: Annotated[Principal, Depends(Permit("release.download"))]
) -> FileResponse:
    """A file of the release folder; nothing beside it can be named."""
    folder = release_folder(parts_of(request), who, release)
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    if name not in files:
        raise HTTPException(404, "there is nothing here")
    return file_to_keep(files[name])


@ROUTER.post("/releases/{release}/measure", status_code=202)
def measure_release(
    request: Request,
    release: str,
    who: Annotated[Principal, Depends(Permit("release.measure"))],
    key: IdempotencyKey = None,
) -> dict[str, str]:
    """A job that measures it anew against its source, as `shoal measure RELEASE --original DATA` does."""
    parts = parts_of(request)
    source = parts.own(RELEASES, who, release)["source"]
    return ask(parts, who, JobKind.MEASURE, source, {"release": release}, key=key)
