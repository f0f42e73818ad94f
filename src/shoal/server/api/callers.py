"""Verification without looking: a question, and yes or no."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response

from shoal.server.access.sessions import Principal
from shoal.server.callers.desks import CallerDesks, CallerQuestion, DeskRequest
from shoal.server.web.answers import tagged
from shoal.server.web.once import OnceRoute
from shoal.server.web.paging import Before, Limit, latest
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/api/v1/desks", tags=["verification of callers"], route_class=OnceRoute)
Owner = Annotated[Principal, Depends(Permit("desk.keep"))]
Answerer = Annotated[Principal, Depends(Permit("desk.ask"))]


@ROUTER.post("", status_code=201)
def make_desk(request: Request, wanted: DeskRequest, who: Owner) -> dict[str, str]:
    """A job reads the table once and leaves keyed digests; who answers callers never sees a value."""
    return CallerDesks(parts_of(request)).make(who, wanted)


@ROUTER.get("")
def list_desks(request: Request, who: Answerer, limit: Limit = 50, before: Before = None) -> Response:
    return latest(request, CallerDesks(parts_of(request)).of(who, most=limit, before=before), limit)


@ROUTER.get("/{desk}")
def get_desk(request: Request, desk: str, who: Answerer) -> Response:
    return tagged(request, CallerDesks(parts_of(request)).get(who, desk))


@ROUTER.post("/{desk}/questions")
def ask_desk(request: Request, desk: str, asked: CallerQuestion, who: Answerer) -> dict[str, bool]:
    """Whether all that a caller says is so. Which part of it was not is told to nobody."""
    return {"matches": CallerDesks(parts_of(request)).answer(who, desk, asked)}


@ROUTER.get("/{desk}/questions")
def list_questions(
    request: Request, desk: str, who: Owner, limit: Limit = 50, before: Annotated[int | None, Query()] = None
) -> Response:
    """Who asked when, about which columns, and the answer: no value, and nobody by name."""
    rows = CallerDesks(parts_of(request)).log(who, desk, most=limit, before=before)
    return tagged(request, {"items": rows, "next": rows[-1]["number"] if len(rows) == limit else None})


@ROUTER.delete("/{desk}", status_code=204)
def close_desk(request: Request, desk: str, who: Owner) -> None:
    CallerDesks(parts_of(request)).close(who, desk)
