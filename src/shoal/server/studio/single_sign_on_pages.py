"""Coming in by an organisation's own provider, and linking an account to it.

The provider sends the browser back from another site, and cookies that are for this site alone do not come along: a
flow has a cookie of its own for that moment, and the page after it leads on from here.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import RedirectResponse, Response

from shoal.errors import AccessError
from shoal.server.access.sessions import Principal
from shoal.server.access.single_sign_on import SingleSignOn
from shoal.server.studio.page_rendering import is_secure, page
from shoal.server.studio.sign_in_pages import let_account_in, sign_in_form
from shoal.server.web.permits import OpenDoor, Permit, parts_of

ROUTER = APIRouter(include_in_schema=False)
Owner = Annotated[Principal, Depends(Permit("own.password", in_person=True))]


def _offered(request: Request) -> SingleSignOn:
    found = parts_of(request).single_sign_on
    if not found.offered:
        raise HTTPException(404, "there is nothing here")
    return found


def _callback(request: Request) -> str:
    scheme = "https" if is_secure(request) else "http"
    return f"{scheme}://{request.headers['host']}/single-sign-on/return"


def _flow_cookie(request: Request) -> str:
    return "__Host-shoal-flow" if is_secure(request) else "shoal-flow"


def _keep_flow(request: Request, answer: Response, secret: str) -> Response:
    answer.set_cookie(
        _flow_cookie(request), secret, samesite="lax", httponly=True, secure=is_secure(request), path="/", max_age=600
    )
    return answer


@ROUTER.get("/single-sign-on", dependencies=[Depends(OpenDoor())])
def begin(request: Request) -> Response:
    try:
        flow = _offered(request).begin(_callback(request))
    except AccessError as error:
        return sign_in_form(request, status=403, problem=str(error))
    return _keep_flow(request, RedirectResponse(flow.address, 303), flow.secret)


@ROUTER.get("/single-sign-on/return", dependencies=[Depends(OpenDoor())])
def come_back(request: Request, state: str = "", code: str = "") -> Response:
    provider, secret = _offered(request), request.cookies.get(_flow_cookie(request), "")
    try:
        account, linked = provider.end(_callback(request), secret, state, code)
    except AccessError as error:
        return sign_in_form(request, status=403, problem=str(error))
    answer = let_account_in(request, account, page(request, "leads_on.html", target="/account" if linked else "/"))
    answer.delete_cookie(_flow_cookie(request), secure=is_secure(request), httponly=True, samesite="lax")
    return answer


@ROUTER.post("/account/single-sign-on")
def link(request: Request, who: Owner) -> Response:
    """A page that leads to the provider: a form of ours is not sent on to another site."""
    flow = _offered(request).begin(_callback(request), who.account.id)
    return _keep_flow(request, page(request, "leads_on.html", target=flow.address), flow.secret)


@ROUTER.post("/account/single-sign-on/forget")
def forget(request: Request, who: Owner) -> Response:
    _offered(request).unlink(who.account.id)
    return RedirectResponse("/account", 303)
