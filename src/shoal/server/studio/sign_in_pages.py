"""Coming in and going out: the first account, signing in, signing out."""

from __future__ import annotations

import re
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response

from shoal.errors import AccessError, InputError, ShoalError
from shoal.server.access.accounts import Account
from shoal.server.access.sessions import Principal, random_text
from shoal.server.studio.page_rendering import is_secure, page
from shoal.server.web.languages import COOKIE, LANGUAGES
from shoal.server.web.permits import OpenDoor, Permit, parts_of

ROUTER = APIRouter(include_in_schema=False)
_LOCAL: Final = re.compile(r"/(?![/\\])[\w/.-]*")
FIRST_ROLES: Final = ["administrator", "data-manager"]
Text = Annotated[str, Form(max_length=300)]


def address(request: Request) -> str:
    """Where to sign in, and to come back from; before the first account, where to make it."""
    if not parts_of(request).accounts.exist:
        return "/setup"
    back = request.url.path if request.method == "GET" else "/"
    return "/sign-in" if back == "/" else f"/sign-in?next={quote(back)}"


def local(target: str) -> str:
    """
    >>> local("/jobs/1"), local("//evil.example"), local("https://evil.example"), local("/\\\\evil.example")
    ('/jobs/1', '/', '/', '/')
    """
    return target if _LOCAL.fullmatch(target) else "/"


@ROUTER.get("/setup", dependencies=[Depends(OpenDoor())])
def setup(request: Request) -> Response:
    if parts_of(request).accounts.exist:
        return RedirectResponse("/sign-in", 303)
    return _form(request, "setup.html", name="", problem=None)


@ROUTER.post("/setup", dependencies=[Depends(OpenDoor())])
def make_first_account(request: Request, token: Text, name: Text, password: Text, again: Text) -> Response:
    parts, origin = parts_of(request), _origin(request)
    try:
        parts.accounts.slow_down(origin)
        if password != again:
            raise InputError("are not the same", field="the two passwords")
        made = parts.accounts.create(name.strip().lower(), password, FIRST_ROLES, setup_token=token)
    except ShoalError as error:
        parts.accounts.fail_from(origin)
        return _form(request, "setup.html", status=422, name=name, problem=str(error))
    return let_account_in(request, made, RedirectResponse("/", 303))


@ROUTER.get("/sign-in", dependencies=[Depends(OpenDoor())])
def sign_in(request: Request, next: str = "/") -> Response:  # noqa: A002  # the field is called so
    if not parts_of(request).accounts.exist:
        return RedirectResponse("/setup", 303)
    return sign_in_form(request, back=local(next))


@ROUTER.post("/sign-in", dependencies=[Depends(OpenDoor())])
def let_in(request: Request, name: Text, password: Text, code: Text = "", back: Text = "/") -> Response:
    try:
        account = parts_of(request).accounts.sign_in(name.strip().lower(), password, code, _origin(request))
    except AccessError as error:
        return sign_in_form(request, status=403, name=name, problem=str(error), back=local(back))
    return let_account_in(request, account, RedirectResponse(local(back), 303))


@ROUTER.post("/sign-out")
def sign_out(request: Request, who: Annotated[Principal, Depends(Permit("own.read"))]) -> Response:
    parts = parts_of(request)
    secret = request.cookies.get(parts.session_cookie)
    if secret:
        parts.sessions.close(secret)
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(parts.session_cookie, secure=is_secure(request), httponly=True, samesite="strict")
    answer.headers["Clear-Site-Data"] = '"cache", "storage"'
    return answer


def _origin(request: Request) -> str:
    return request.client.host if request.client else "unknown"


def sign_in_form(
    request: Request, *, status: int = 200, name: str = "", problem: str | None = None, back: str = "/"
) -> Response:
    offered = parts_of(request).single_sign_on.offered
    return _form(request, "sign_in.html", status=status, name=name, problem=problem, back=back, single=offered)


def let_account_in(request: Request, account: Account, answer: Response) -> Response:
    """With a session of its own, that begins now."""
    parts = parts_of(request)
    secret = parts.sessions.open(account, request.cookies.get(parts.session_cookie))
    _set_cookie(request, answer, parts.session_cookie, secret)
    answer.delete_cookie(parts.visit_cookie, secure=is_secure(request), httponly=True, samesite="strict")
    return answer


def _form(request: Request, template: str, /, *, status: int = 200, **values: object) -> Response:
    parts = parts_of(request)
    visit = request.cookies.get(parts.visit_cookie) or random_text()
    answer = page(request, template, status=status, visit=visit, **values)
    _set_cookie(request, answer, parts.visit_cookie, visit)
    return answer


def _set_cookie(request: Request, answer: Response, name: str, value: str) -> None:
    answer.set_cookie(name, value, httponly=True, samesite="strict", secure=is_secure(request), path="/")


@ROUTER.post("/language")
def choose_language(
    request: Request, to: Text, who: Annotated[Principal, Depends(Permit("own.read"))], back: Text = "/"
) -> Response:
    answer = RedirectResponse(local(back), 303)
    if to in LANGUAGES:
        answer.set_cookie(
            COOKIE, to, samesite="lax", httponly=True, secure=is_secure(request), path="/", max_age=31_536_000
        )
    return answer
