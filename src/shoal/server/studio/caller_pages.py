"""Callers: desks that say yes or no to what somebody says of themselves."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from shoal.errors import InputError
from shoal.server.access.sessions import Principal
from shoal.server.callers.desks import CallerDesks, CallerQuestion, DeskRequest
from shoal.server.store.tables import SOURCES
from shoal.server.studio.page_rendering import page
from shoal.server.web.paging import SHOWN, Before, following
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/callers", include_in_schema=False)
Owner = Annotated[Principal, Depends(Permit("desk.keep"))]
Answerer = Annotated[Principal, Depends(Permit("desk.ask"))]
Line = Annotated[str, Form(max_length=1000)]


async def said_by_caller(request: Request) -> dict[str, str]:
    """Fields are numbered as the desk's columns are: the name of a column could be any text."""
    form = await request.form()
    return {name: said for name, said in form.items() if isinstance(said, str)}


@ROUTER.get("")
def desks(request: Request, who: Answerer, before: Before = None) -> Response:
    found = CallerDesks(parts_of(request)).of(who, most=SHOWN, before=before)
    return page(request, "callers/desks.html", desks=found, more=following(found))


@ROUTER.get("/new/{source}")
def new_desk(request: Request, source: str, who: Owner) -> Response:
    return _new(request, source, who)


def _new(request: Request, source: str, who: Principal, *, status: int = 200, problem: str | None = None) -> Response:
    parts = parts_of(request)
    row, profile = parts.own(SOURCES, who, source), parts.found_in(source, "profile")
    if profile is None:
        raise HTTPException(404, "the source is not looked at yet")
    return page(request, "callers/new.html", status=status, source=row, profile=profile, problem=problem)


@ROUTER.post("/new/{source}")
def make_desk(  # noqa: PLR0913, PLR0917  # one argument for each field of the form
    request: Request,
    source: str,
    who: Owner,
    name: Line,
    person: Line,
    answered_by: Line,
    columns: Annotated[list[str] | None, Form(max_length=50)] = None,
    at_least: Annotated[int, Form()] = 2,
    per_hour: Annotated[int, Form()] = 60,
) -> Response:
    given = {"source": source, "name": name, "person": person, "columns": columns or [], "at_least": at_least}
    try:
        wanted = DeskRequest.model_validate({**given, "answered_by": answered_by.split(), "per_hour": per_hour})
        made = CallerDesks(parts_of(request)).make(who, wanted)
    except ValidationError:
        wrong = "choose at least one column, name at least one account, and keep the numbers within their limits"
        return _new(request, source, who, status=422, problem=wrong)
    except InputError as error:
        return _new(request, source, who, status=422, problem=str(error))
    return RedirectResponse(f"/callers/{made['desk']}", 303)


@ROUTER.get("/{desk}")
def show_desk(request: Request, desk: str, who: Answerer) -> Response:
    return _desk(request, desk, who)


def _desk(request: Request, desk: str, who: Principal, *, status: int = 200, **more: Any) -> Response:
    kept = CallerDesks(parts_of(request))
    told = kept.get(who, desk)
    log = kept.log(who, desk) if told["yours"] else []
    shown = {"answer": None, "problem": None} | more
    return page(request, "callers/desk.html", status=status, desk=told, log=log, **shown)


@ROUTER.post("/{desk}")
def ask_desk(
    request: Request, desk: str, who: Answerer, said: Annotated[dict[str, str], Depends(said_by_caller)]
) -> Response:
    """The answer is on the page alone: nothing of what was said comes back with it."""
    kept = CallerDesks(parts_of(request))
    columns = kept.get(who, desk)["columns"]
    claims = {name: said.get(f"claim-{number}", "") for number, name in enumerate(columns)}
    try:
        asked = CallerQuestion(person=said.get("person", ""), claims=claims)
        return _desk(request, desk, who, answer=kept.answer(who, desk, asked))
    except ValidationError:
        return _desk(request, desk, who, status=422, problem="what the caller says is too long")
    except InputError as error:
        return _desk(request, desk, who, status=422, problem=str(error))
    except HTTPException as refused:
        return _desk(request, desk, who, status=refused.status_code, problem=refused.detail)


@ROUTER.post("/{desk}/close")
def close_desk(request: Request, desk: str, who: Owner) -> Response:
    CallerDesks(parts_of(request)).close(who, desk)
    return RedirectResponse("/callers", 303)
