"""The application: routes, what every request passes, what starts and ends with it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path
from typing import Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from prometheus_client import CollectorRegistry
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException as PlainHTTPException
from starlette.staticfiles import StaticFiles

from shoal import __version__
from shoal.errors import ShoalError
from shoal.server.api import access, callers, datasets, governance, jobs, releases, service, sources, texts
from shoal.server.governance.registry_desk import NoRecordError, NoRegistryError
from shoal.server.home import StudioHome
from shoal.server.jobs.supervisor import WorkerSupervisor
from shoal.server.settings import HOME, SETTINGS, ServerSettings
from shoal.server.studio import (
    account_pages,
    caller_pages,
    dataset_pages,
    governance_pages,
    job_pages,
    level_pages,
    sign_in_pages,
    single_sign_on_pages,
    source_pages,
    text_pages,
    vault_pages,
)
from shoal.server.studio.page_rendering import error_page
from shoal.server.web.answers import problem, status_of
from shoal.server.web.headers import BodyTooLargeError, EveryRequest, RequestFigures
from shoal.server.web.logs import log_to_stderr
from shoal.server.web.parts import StudioParts
from shoal.server.web.permits import SignInNeededError, guarded_routes

_ROUTERS: Final = (
    service.ROUTER,
    sources.ROUTER,
    jobs.ROUTER,
    releases.ROUTER,
    access.ROUTER,
    governance.ROUTER,
    texts.ROUTER,
    callers.ROUTER,
    datasets.ROUTER,
    sign_in_pages.ROUTER,
    single_sign_on_pages.ROUTER,
    source_pages.ROUTER,
    job_pages.ROUTER,
    level_pages.ROUTER,
    account_pages.ROUTER,
    governance_pages.ROUTER,
    text_pages.ROUTER,
    caller_pages.ROUTER,
    dataset_pages.ROUTER,
    vault_pages.ROUTER,
)


def create_app(home: Path | str, settings: ServerSettings | None = None) -> FastAPI:
    """The studio of a home folder, which is made where it is missing. Its workers live as long as it does."""
    place = StudioHome.at(Path(home), settings)
    app = FastAPI(
        title="Shoal",
        version=__version__,
        summary="Makes personal data safe to share, and proves it.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
    )
    app.state.parts = StudioParts(place)
    app.state.supervisor = WorkerSupervisor(place)
    app.state.registry = CollectorRegistry()
    app.router.routes.extend(route for router in _ROUTERS for route in router.routes)
    app.mount("/static", StaticFiles(directory=str(files("shoal.server") / "static")), name="static")
    _answer_errors(app)
    figures = RequestFigures(app.state.registry)
    app.add_middleware(EveryRequest, settings=place.settings, figures=figures, mishap=_our_mistake)
    guarded_routes(app)
    return app


def studio_process() -> FastAPI:
    """One of several processes that answer requests, as `shoal serve --processes` starts them."""
    log_to_stderr()
    return create_app(os.environ[HOME], ServerSettings.model_validate_json(os.environ[SETTINGS]))


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    supervisor: WorkerSupervisor = app.state.supervisor
    if not app.state.parts.home.settings.alone:
        yield
        return
    await run_in_threadpool(app.state.parts.home.sweep_uploads)
    await run_in_threadpool(supervisor.start)
    try:
        yield
    finally:
        await run_in_threadpool(supervisor.stop)


def _answer_errors(app: FastAPI) -> None:
    app.add_exception_handler(SignInNeededError, _to_sign_in)
    app.add_exception_handler(ShoalError, _told_plainly)
    app.add_exception_handler(NoRegistryError, _no_registry)
    app.add_exception_handler(NoRecordError, _no_record)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(PlainHTTPException, _http_error)
    app.add_exception_handler(BodyTooLargeError, _too_large)


def _answer(request: Request, status: int, detail: str, code: str | None = None) -> Response:
    if request.url.path.startswith("/api/"):
        return problem(status, detail, code)
    return error_page(request, status, detail)


def _to_sign_in(request: Request, _: Exception) -> Response:
    return RedirectResponse(sign_in_pages.address(request), 303)


def _told_plainly(request: Request, error: Exception) -> Response:
    if not isinstance(error, ShoalError):
        raise error
    return _answer(request, status_of(error), str(error), error.code)


def _no_registry(request: Request, _: Exception) -> Response:
    return _answer(request, 409, "there is no registry yet: an administrator begins it")


def _no_record(request: Request, _: Exception) -> Response:
    return _answer(request, 404, "there is nothing here")


def _not_valid(request: Request, error: Exception) -> Response:
    """Which fields, and what is asked of them; what was given is not repeated."""
    if not isinstance(error, RequestValidationError):
        raise error
    told = (f"{'.'.join(str(part) for part in one['loc'][1:])}: {one['msg']}" for one in error.errors())
    return _answer(request, 422, "; ".join(told))


def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, PlainHTTPException):
        raise error
    answer = _answer(request, error.status_code, str(error.detail))
    if isinstance(error, HTTPException) and error.headers:
        answer.headers.update(error.headers)
    return answer


def _too_large(request: Request, _: Exception) -> Response:
    return _answer(request, 413, "that is more than may be sent here")


def _our_mistake(request: Request, _: Exception) -> Response:
    return _answer(request, 500, "that is our mistake, and it is in the log", "SHOAL-900")
