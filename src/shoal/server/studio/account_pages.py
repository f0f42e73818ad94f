"""Pages about people: one's own account, and everybody's for those who look after accounts; the API's description."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import RedirectResponse, Response
from pyotp.totp import TOTP

from shoal.errors import InputError, ShoalError
from shoal.server.access.accounts import SECRET, new_secret
from shoal.server.access.rights import studio_roles
from shoal.server.access.sessions import Principal
from shoal.server.studio.page_rendering import page
from shoal.server.web.languages import said
from shoal.server.web.permits import Permit, parts_of, session_of

ABOUT: Final = {
    "administrator": said("looks after accounts and begins the registry; sees no data"),
    "chief-investigator": said("opens projects, reviews and approves requests; opens the vault"),
    "co-director": said("approves requests as a second person"),
    "data-manager": said("works with tables, texts and releases; sees first records; opens the vault"),
    "statistician": said("works with tables and asks questions, without seeing a record"),
    "manager": said("enters requests, agreements and what becomes of them"),
    "caller-desk": said("answers callers with yes or no, and sees nothing else"),
    "tester": said("looks at their releases and measures them"),
    "validator": said("says whether steps were done well"),
    "auditor": said("sees that rules are kept, and confirms that data was expunged"),
    "privacy-officer": said("answers for privacy: incidents, requests of people about themselves; opens the vault"),
}
"""What each role is for, as somebody who gives it wants to know."""
ROUTER = APIRouter(include_in_schema=False)
Text = Annotated[str, Form(max_length=300)]


@ROUTER.get("/account")
def own_account(request: Request, who: Annotated[Principal, Depends(Permit("own.read"))]) -> Response:
    return _account(request, who)


def _account(request: Request, who: Principal, *, status: int = 200, **values: Any) -> Response:
    parts = parts_of(request)
    account, secret = parts.accounts.get(who.account.id), new_secret()
    single = parts.single_sign_on
    linked = single.linked(account.id) if single.offered else None
    shown = {"problem": None, "issued": None, "changed": False, "secret": secret} | values
    address = TOTP(shown["secret"]).provisioning_uri(name=account.name, issuer_name="Shoal")
    scopes = sorted({act for role in account.roles for act in studio_roles()[role].acts if act != "account.*"})
    tokens = parts.tokens.of(account.id)
    return page(
        request,
        "account.html",
        status=status,
        account=account,
        tokens=tokens,
        address=address,
        scopes=scopes,
        linked=linked,
        **shown,
    )


@ROUTER.post("/account/second-factor")
def second_factor(
    request: Request,
    code: Text,
    who: Annotated[Principal, Depends(Permit("own.second-factor", in_person=True))],
    secret: Text = "",
) -> Response:
    """With a secret it is set up, without one it is taken away; either needs a code."""
    try:
        parts_of(request).accounts.set_second_factor(who.account.id, secret or None, code)
    except ShoalError as error:
        kept = {"secret": secret} if SECRET.fullmatch(secret) else {}
        return _account(request, who, status=422, problem=str(error), **kept)
    return RedirectResponse("/account", 303)


@ROUTER.post("/account/password")
def change_password(
    request: Request,
    old: Text,
    new: Text,
    again: Text,
    who: Annotated[Principal, Depends(Permit("own.password", in_person=True))],
) -> Response:
    try:
        if new != again:
            raise InputError("are not the same", field="the two new passwords")
        parts_of(request).accounts.change_password(who.account.id, old, new, session=session_of(request))
    except ShoalError as error:
        return _account(request, who, status=422, problem=str(error))
    return _account(request, who, changed=True)


@ROUTER.post("/account/tokens")
def make_token(
    request: Request,
    name: Text,
    scope: Text,
    days: Annotated[int, Form(ge=1, le=366)],
    who: Annotated[Principal, Depends(Permit("own.tokens", in_person=True))],
) -> Response:
    try:
        _, token = parts_of(request).tokens.issue(who, name, [scope], days)
    except InputError as error:
        return _account(request, who, status=422, problem=str(error))
    return _account(request, who, issued=token)


@ROUTER.post("/account/tokens/{token}/revoke")
def revoke_token(
    request: Request, token: str, who: Annotated[Principal, Depends(Permit("own.tokens", in_person=True))]
) -> Response:
    if not parts_of(request).tokens.revoke(who.account.id, token):
        raise HTTPException(404, "there is no such token")
    return RedirectResponse("/account", 303)


@ROUTER.get("/accounts")
def accounts(request: Request, who: Annotated[Principal, Depends(Permit("account.list"))]) -> Response:
    return _accounts(request, problem=None)


def _accounts(request: Request, *, problem: str | None, status: int = 200) -> Response:
    accounts = parts_of(request).accounts
    told = {
        "accounts": accounts.all(),
        "seen": accounts.last_signed_in(),
        "roles": studio_roles(),
        "about": ABOUT,
        "problem": problem,
    }
    return page(request, "accounts.html", status=status, **told)


@ROUTER.post("/accounts")
def make_account(
    request: Request,
    name: Text,
    password: Text,
    roles: Annotated[list[str], Form(max_length=20)],
    who: Annotated[Principal, Depends(Permit("account.create"))],
) -> Response:
    try:
        parts_of(request).accounts.create(name.strip().lower(), password, roles)
    except ShoalError as error:
        return _accounts(request, problem=str(error), status=422)
    return RedirectResponse("/accounts", 303)


@ROUTER.post("/accounts/{account}/roles")
def change_roles(
    request: Request,
    account: str,
    who: Annotated[Principal, Depends(Permit("account.roles"))],
    roles: Annotated[list[str], Form(max_length=20)] = [],  # noqa: B006  # a form without a tick sends none
) -> Response:
    if account == who.account.id:
        raise HTTPException(422, "nobody changes the roles of the account that they use")
    try:
        known = parts_of(request).accounts.set_roles(account, roles)
    except InputError as error:
        return _accounts(request, problem=str(error), status=422)
    if not known:
        raise HTTPException(404, "there is no such account")
    return RedirectResponse("/accounts", 303)


@ROUTER.post("/accounts/{account}/{change}")
def change_account(
    request: Request, account: str, change: str, who: Annotated[Principal, Depends(Permit("account.disable"))]
) -> Response:
    if change not in ("disable", "enable") or account == who.account.id:
        raise HTTPException(422, "nobody disables the account that they use")
    if not parts_of(request).accounts.set_disabled(account, disabled=change == "disable"):
        raise HTTPException(404, "there is no such account")
    return RedirectResponse("/accounts", 303)


@ROUTER.get("/api/v1/docs")
def describe_api(request: Request, who: Annotated[Principal, Depends(Permit("own.read"))]) -> Response:
    described = request.app.openapi()
    routes = [
        {"method": method.upper(), "path": path, **told}
        for path, methods in described["paths"].items()
        for method, told in methods.items()
    ]
    return page(request, "api.html", routes=routes, version=described["openapi"])
