"""Jobs: ask, follow, cancel."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from shoal.errors import InputError
from shoal.server.access.sessions import Principal
from shoal.server.jobs.job_queue import OPEN_STATES, JobKind
from shoal.server.jobs.synthesis_choices import SynthesisChoices
from shoal.server.store.tables import JOBS, POLICIES
from shoal.server.studio_acts import ask
from shoal.server.web.answers import tagged
from shoal.server.web.once import IdempotencyKey, OnceRoute
from shoal.server.web.paging import Before, Limit, latest
from shoal.server.web.parts import StudioParts
from shoal.server.web.permits import Permit, parts_of, who_asks

ROUTER = APIRouter(prefix="/api/v1", tags=["jobs"], route_class=OnceRoute)
_TOLD = ("id", "kind", "source", "state", "error", "result", "created", "started", "finished")
POLL: Final = 0.4
LONGEST_LOOKS: Final = 1500
"""Ten minutes; then the browser comes again."""
UNTOLD: Final = ("examples", "distributions")
"""What the result page shows; it is no news of progress."""


class JobRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    kind: Literal["run", "explore", "synth"]
    source: str
    policy: str | None = None
    """Of a run: the policy to run; without one it is drafted from the source's choices."""
    seed: int | None = Field(None, ge=-(2**63), lt=2**63)
    """Makes a run repeatable: for tests only."""
    evidence: bool = False
    """Of a run: the release is attacked and compared with the source, even where the use case does not demand it."""
    synthesis: SynthesisChoices | None = None
    """Of a synthesis."""

    @property
    def told(self) -> dict[str, Any]:
        if (self.kind == "synth") != (self.synthesis is not None):
            raise InputError("goes with kind synth, and only with it", field="synthesis")
        if self.synthesis is not None:
            return {"seed": self.seed, "synthesis": self.synthesis.checked().model_dump()}
        return self.model_dump(include={"policy", "seed"} | ({"evidence"} if self.evidence else set()))


def told(row: dict[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in _TOLD}


@ROUTER.post("/jobs", status_code=202)
def start_job(
    request: Request,
    wanted: JobRequest,
    who: Annotated[Principal, Depends(Permit("job.start"))],
    key: IdempotencyKey = None,
) -> dict[str, str]:
    parts = parts_of(request)
    if wanted.policy is not None:
        wanted.source = parts.own(POLICIES, who, wanted.policy)["source"]
    return ask(parts, who, JobKind(wanted.kind), wanted.source, wanted.told, key=key)


@ROUTER.get("/jobs")
def list_jobs(
    request: Request,
    who: Annotated[Principal, Depends(Permit("job.list"))],
    limit: Limit = 50,
    before: Before = None,
) -> Response:
    rows = parts_of(request).all_own(JOBS, who, most=limit, before=before)
    return latest(request, rows, limit, _TOLD)


@ROUTER.get("/jobs/{job}")
def get_job(request: Request, job: str, who: Annotated[Principal, Depends(Permit("job.read"))]) -> Response:
    return tagged(request, told(parts_of(request).own(JOBS, who, job)))


@ROUTER.post("/jobs/{job}/cancel", status_code=202)
def cancel_job(request: Request, job: str, who: Annotated[Principal, Depends(Permit("job.cancel"))]) -> dict[str, str]:
    parts = parts_of(request)
    parts.own(JOBS, who, job)
    parts.queue.cancel(who.account.id, job)
    return {"job": job}


@ROUTER.get("/jobs/{job}/events")
async def follow_job(
    request: Request,
    job: str,
    who: Annotated[Principal, Depends(Permit("job.read"))],
    last: Annotated[str | None, Header(alias="Last-Event-ID", pattern="^[0-9]{1,15}$")] = None,
) -> StreamingResponse:
    """Server-sent events until the job has ended, for ten minutes at most; who comes again with the last number goes on
    from there.
    """
    parts = parts_of(request)
    await run_in_threadpool(parts.own, JOBS, who, job)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    stream = _events(parts, who, job, int(last or 0), request)
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def _events(parts: StudioParts, who: Principal, job: str, after: int, request: Request) -> AsyncIterator[str]:
    for _ in range(LONGEST_LOOKS):
        if await request.is_disconnected():
            return
        still = await who_asks(request)
        if still is None or not still.may("job.read"):
            return
        row = await run_in_threadpool(parts.own, JOBS, who, job)
        for event in await run_in_threadpool(parts.queue.events, job, after):
            after = event["number"]
            if event["kind"] not in UNTOLD:
                yield f"id: {after}\nevent: {event['kind']}\ndata: {json.dumps(event['body'])}\n\n"
        if row["state"] not in OPEN_STATES:
            yield f"event: ended\ndata: {json.dumps({'state': row['state'], 'error': row['error']})}\n\n"
            return
        await asyncio.sleep(POLL)
