"""For operators and readers: health, readiness, figures, the description of the API."""

from __future__ import annotations

import os
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from shoal.errors import ShoalError
from shoal.server.access.sessions import Principal
from shoal.server.jobs.job_queue import JobState
from shoal.server.web.permits import OpenDoor, Permit, parts_of

ROUTER = APIRouter(tags=["service"])
SHARED_FIGURES: Final = "PROMETHEUS_MULTIPROC_DIR"
"""Where the processes of one studio count; prometheus_client reads the variable."""


@ROUTER.get("/healthz", dependencies=[Depends(OpenDoor())])
def healthz() -> PlainTextResponse:
    """The process answers."""
    return PlainTextResponse("ok")


@ROUTER.get("/readyz", dependencies=[Depends(OpenDoor())])
def readyz(request: Request) -> PlainTextResponse:
    """The database answers, and there are workers where there should be."""
    parts, supervisor = parts_of(request), request.app.state.supervisor
    try:
        parts.queue.counts()
    except ShoalError:
        return PlainTextResponse("the database does not answer", 503)
    if supervisor.alive < min(1, parts.home.settings.workers):
        return PlainTextResponse("no worker is there", 503)
    return PlainTextResponse("ready")


@ROUTER.get("/metrics")
def metrics(request: Request, who: Annotated[Principal, Depends(Permit("service.metrics"))]) -> Response:
    """For Prometheus, with a token whose scope is service.metrics."""
    counts = parts_of(request).queue.counts()
    lines = [f'shoal_jobs{{state="{state}"}} {counts[state]}' for state in JobState]
    told = "\n".join(["# HELP shoal_jobs Jobs by state", "# TYPE shoal_jobs gauge", *lines, ""])
    return Response(generate_latest(_figures(request)) + told.encode(), media_type=CONTENT_TYPE_LATEST)


def _figures(request: Request) -> CollectorRegistry:
    """Of several processes, what all of them have counted."""
    own: CollectorRegistry = request.app.state.registry
    if SHARED_FIGURES not in os.environ:
        return own
    everybody = CollectorRegistry()
    MultiProcessCollector(everybody)  # type: ignore[no-untyped-call]
    return everybody


@ROUTER.get("/api/v1/openapi.json", include_in_schema=False)
def openapi(request: Request, who: Annotated[Principal, Depends(Permit("own.read"))]) -> JSONResponse:
    described: dict[str, Any] = request.app.openapi()
    return JSONResponse(described)
