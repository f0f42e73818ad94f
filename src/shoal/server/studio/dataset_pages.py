"""Query: ask a dataset within a budget, and see how far off an answer may be."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ValidationError

from shoal.errors import ShoalError
from shoal.server.access.sessions import Principal
from shoal.server.datasets.dataset_desk import (
    DatasetDesk,
    DatasetQuestion,
    DatasetRequest,
    as_bars,
    drafted_description,
)
from shoal.server.store.tables import SOURCES
from shoal.server.studio.page_rendering import page
from shoal.server.web.paging import SHOWN, Before, following
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/query", include_in_schema=False)
Owner = Annotated[Principal, Depends(Permit("dataset.keep"))]
Analyst = Annotated[Principal, Depends(Permit("dataset.ask"))]


@ROUTER.get("")
def datasets(request: Request, who: Analyst, before: Before = None) -> Response:
    found = DatasetDesk(parts_of(request)).of(who, most=SHOWN, before=before)
    return page(request, "datasets/list.html", datasets=found, more=following(found))


@ROUTER.get("/new/{source}")
def new_dataset(request: Request, source: str, who: Owner) -> Response:
    return _new(request, source, who)


def _new(
    request: Request, source: str, who: Principal, text: str | None = None, problem: str | None = None
) -> Response:
    parts = parts_of(request)
    row, profile = parts.own(SOURCES, who, source), parts.found_in(source, "profile")
    if profile is None:
        raise HTTPException(404, "the source is not looked at yet")
    name = "".join(one if one.isalnum() else "_" for one in row["name"].rsplit(".", 1)[0])
    shown = text if text is not None else drafted_description(name, profile, who.account.name)
    status = 200 if problem is None else 422
    return page(request, "datasets/new.html", status=status, source=row, description=shown, problem=problem)


@ROUTER.post("/new/{source}")
def make_dataset(
    request: Request, source: str, who: Owner, description: Annotated[str, Form(max_length=200_000)] = ""
) -> Response:
    parts_of(request).own(SOURCES, who, source)
    try:
        wanted = DatasetRequest(source=source, description=description)
        made = DatasetDesk(parts_of(request)).make(who, wanted)
    except ShoalError as error:
        return _new(request, source, who, description, str(error))
    return RedirectResponse(f"/query/{made['dataset']}", 303)


@ROUTER.get("/{dataset}")
def show_dataset(request: Request, dataset: str, who: Analyst) -> Response:
    return _dataset(request, dataset, who)


def _dataset(request: Request, dataset: str, who: Principal, *, status: int = 200, **more: Any) -> Response:
    desk = DatasetDesk(parts_of(request))
    answers = [{**row, "bars": as_bars(row["result"])} for row in desk.answers(who, dataset)]
    shown: dict[str, Any] = {"problem": None, "price": None, "sql": "", "epsilon": "0.1"} | more
    return page(
        request, "datasets/dataset.html", status=status, dataset=desk.get(who, dataset), answers=answers, **shown
    )


@ROUTER.post("/{dataset}")
def ask(  # noqa: PLR0913, PLR0917  # one argument for each field of the form
    request: Request,
    dataset: str,
    who: Analyst,
    sql: Annotated[str, Form(max_length=10_000)] = "",
    epsilon: Annotated[str, Form(max_length=30)] = "",
    act: Annotated[str, Form(pattern="^(ask|price)$")] = "price",
) -> Response:
    desk = DatasetDesk(parts_of(request))
    entered: dict[str, Any] = {"sql": sql, "epsilon": epsilon}
    desk.row(who, dataset)
    try:
        asked = DatasetQuestion(sql=sql, epsilon=epsilon)
        if act == "price":
            return _dataset(request, dataset, who, **entered, price=desk.price(who, dataset, asked))
        made = desk.ask(who, dataset, asked)
    except ValidationError:
        return _dataset(request, dataset, who, **entered, status=422, problem="ask something, and say what it may cost")
    except ShoalError as error:
        return _dataset(request, dataset, who, **entered, status=422, problem=str(error))
    return RedirectResponse(f"/jobs/{made['job']}", 303)
