"""Datasets: questions with a budget."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from shoal.server.access.sessions import Principal
from shoal.server.datasets.dataset_desk import DatasetDesk, DatasetQuestion, DatasetRequest
from shoal.server.web.answers import tagged
from shoal.server.web.once import OnceRoute
from shoal.server.web.paging import Before, Limit, latest
from shoal.server.web.permits import Permit, parts_of

ROUTER = APIRouter(prefix="/api/v1/datasets", tags=["questions with a budget"], route_class=OnceRoute)
Owner = Annotated[Principal, Depends(Permit("dataset.keep"))]
Analyst = Annotated[Principal, Depends(Permit("dataset.ask"))]


@ROUTER.post("", status_code=201)
def make_dataset(request: Request, wanted: DatasetRequest, who: Owner) -> dict[str, str]:
    """A source as a dataset with a budget. Its description names no place; analysts are names of accounts."""
    return DatasetDesk(parts_of(request)).make(who, wanted)


@ROUTER.get("")
def list_datasets(request: Request, who: Analyst, limit: Limit = 50, before: Before = None) -> Response:
    return latest(request, DatasetDesk(parts_of(request)).of(who, most=limit, before=before), limit)


@ROUTER.get("/{dataset}")
def get_dataset(request: Request, dataset: str, who: Analyst) -> Response:
    """Its columns, which are public, and what is left of the budgets."""
    return tagged(request, DatasetDesk(parts_of(request)).get(who, dataset))


@ROUTER.post("/{dataset}/price")
def price_question(request: Request, dataset: str, asked: DatasetQuestion, who: Analyst) -> dict[str, Any]:
    """What a question would cost and how far off it would be; nothing is read or spent."""
    return DatasetDesk(parts_of(request)).price(who, dataset, asked)


@ROUTER.post("/{dataset}/questions", status_code=202)
def ask_dataset(request: Request, dataset: str, asked: DatasetQuestion, who: Analyst) -> dict[str, str]:
    """A job whose result is the answer, with noise; it is paid from the budgets of the dataset and of who asks."""
    return DatasetDesk(parts_of(request)).ask(who, dataset, asked)
