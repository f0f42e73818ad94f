"""Who asks, and whether they may: the one dependency that every route has. A route without it stops the start.

A browser comes with a session, and whatever changes something has to carry what only a page of ours can know (CSRF). A
program comes with a token in ``Authorization: Bearer``.
"""

from __future__ import annotations

from typing import Final

from fastapi import FastAPI, HTTPException, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.routing import Mount

from shoal.crypto.mac import same
from shoal.errors import BugError
from shoal.server.access.sessions import Principal, digest
from shoal.server.web.parts import StudioParts

SAFE: Final = ("GET", "HEAD", "OPTIONS")
FORM: Final = "application/x-www-form-urlencoded"


class SignInNeededError(Exception):
    """A page for somebody who is known, asked for by somebody who is not."""


class Permit:
    """A route for those who may do the act; ``in_person`` for who signed in, not for a token: what keeps an account."""

    def __init__(self, act: str, *, in_person: bool = False) -> None:
        self.act, self.in_person = act, in_person

    async def __call__(self, request: Request) -> Principal:
        principal = await who_asks(request)
        if principal is None:
            if request.url.path.startswith("/api/"):
                raise HTTPException(401, "sign in, or send a token", {"WWW-Authenticate": "Bearer"})
            raise SignInNeededError
        request.state.account = principal.account.id
        request.state.principal = principal
        if principal.csrf is not None and request.method not in SAFE:
            await _refuse_forged(request, principal.csrf)
        if self.in_person and principal.csrf is None:
            raise HTTPException(403, "no token may do this: sign in")
        if not principal.may(self.act):
            raise HTTPException(403, f"your roles do not allow {self.act}")
        return principal


class OpenDoor:
    """A route for everybody, said so on purpose. Forms on it are bound to a cookie of the browser that got them."""

    act = "open"

    async def __call__(self, request: Request) -> None:
        if request.method in SAFE:
            return
        cookie = request.cookies.get(parts_of(request).visit_cookie, "")
        if not cookie:
            raise HTTPException(403, "the form is too old: load the page again")
        await _refuse_forged(request, cookie)


def parts_of(request: Request) -> StudioParts:
    parts: StudioParts = request.app.state.parts
    return parts


def session_of(request: Request) -> str | None:
    """The digest by which the session of this request is kept."""
    secret = request.cookies.get(parts_of(request).session_cookie)
    return None if secret is None else digest(secret)


async def who_asks(request: Request) -> Principal | None:
    """As it stands now: None where the session or token is over, or the account disabled."""
    parts = parts_of(request)
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind:
        return await run_in_threadpool(parts.tokens.who, token) if kind.lower() == "bearer" and token else None
    secret = request.cookies.get(parts.session_cookie)
    return await run_in_threadpool(parts.sessions.who, secret) if secret else None


async def _refuse_forged(request: Request, expected: str) -> None:
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise HTTPException(403, "the request came from another site")
    given: object = request.headers.get("x-csrf-token", "")
    if not given and request.headers.get("content-type", "").partition(";")[0] == FORM:
        given = (await request.form()).get("csrf", "")
    if not isinstance(given, str) or not same(given.encode(), expected.encode()):
        raise HTTPException(403, "the form is too old: load the page again")


def permit_of(route: APIRoute) -> Permit | OpenDoor:
    """What guards a route."""
    found = [one for one in _calls(route.dependant) if isinstance(one, Permit | OpenDoor)]
    if len(found) != 1:
        raise BugError(f"{route.path}: has to have one permit, and has {len(found)}")
    return found[0]


def _calls(dependant: Dependant) -> list[object]:
    return [dependant.call, *(call for below in dependant.dependencies for call in _calls(below))]


def guarded_routes(app: FastAPI) -> list[tuple[APIRoute, Permit | OpenDoor]]:
    """Every route with what guards it. What is neither a route nor the folder of styles and scripts is refused."""
    found = []
    for route in app.routes:
        if isinstance(route, APIRoute):
            found.append((route, permit_of(route)))
        elif not (isinstance(route, Mount) and route.path == "/static"):
            raise BugError("there is a route that nothing guards")
    return found
