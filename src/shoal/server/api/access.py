"""Accounts and tokens."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from shoal.server.access.sessions import Principal
from shoal.server.web.answers import tagged
from shoal.server.web.once import OnceRoute
from shoal.server.web.paging import After, Limit, by_name
from shoal.server.web.permits import Permit, parts_of, session_of

ROUTER = APIRouter(prefix="/api/v1", tags=["accounts and tokens"], route_class=OnceRoute)


class AccountRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=63)
    password: SecretStr = Field(max_length=256)
    roles: list[str] = Field(max_length=20)


class RolesRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    roles: list[str] = Field(max_length=20)


class PasswordRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    old: SecretStr = Field(max_length=256)
    new: SecretStr = Field(max_length=256)


class TokenRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(max_length=100)
    scopes: list[str] = Field(max_length=50)
    days: int = 30


@ROUTER.get("/me")
def get_me(request: Request, who: Annotated[Principal, Depends(Permit("own.read"))]) -> Response:
    return tagged(request, asdict(who.account))


@ROUTER.put("/me/password", status_code=204)
def change_password(
    request: Request,
    wanted: PasswordRequest,
    who: Annotated[Principal, Depends(Permit("own.password", in_person=True))],
) -> None:
    """Every other session of the account ends."""
    parts = parts_of(request)
    old, new = wanted.old.get_secret_value(), wanted.new.get_secret_value()
    parts.accounts.change_password(who.account.id, old, new, session=session_of(request))


@ROUTER.get("/accounts")
def list_accounts(
    request: Request,
    who: Annotated[Principal, Depends(Permit("account.list"))],
    limit: Limit = 50,
    after: After = "",
) -> Response:
    return by_name(request, map(asdict, parts_of(request).accounts.all()), limit, after, "name")


@ROUTER.post("/accounts", status_code=201)
def create_account(
    request: Request, wanted: AccountRequest, who: Annotated[Principal, Depends(Permit("account.create"))]
) -> dict[str, Any]:
    made = parts_of(request).accounts.create(wanted.name, wanted.password.get_secret_value(), wanted.roles)
    return asdict(made)


@ROUTER.post("/accounts/{account}/disable", status_code=204)
def disable_account(
    request: Request, account: str, who: Annotated[Principal, Depends(Permit("account.disable"))]
) -> None:
    """It is signed out at once, and its tokens end."""
    _set(request, account, who, disabled=True)


@ROUTER.post("/accounts/{account}/enable", status_code=204)
def enable_account(
    request: Request, account: str, who: Annotated[Principal, Depends(Permit("account.disable"))]
) -> None:
    _set(request, account, who, disabled=False)


def _set(request: Request, account: str, who: Principal, *, disabled: bool) -> None:
    if account == who.account.id:
        raise HTTPException(422, "nobody disables the account that they use")
    if not parts_of(request).accounts.set_disabled(account, disabled=disabled):
        raise HTTPException(404, "there is nothing here")


@ROUTER.put("/accounts/{account}/roles", status_code=204)
def set_roles(
    request: Request, account: str, wanted: RolesRequest, who: Annotated[Principal, Depends(Permit("account.roles"))]
) -> None:
    """They count from the next request of the account on."""
    if account == who.account.id:
        raise HTTPException(422, "nobody changes the roles of the account that they use")
    if not parts_of(request).accounts.set_roles(account, wanted.roles):
        raise HTTPException(404, "there is nothing here")


@ROUTER.get("/tokens")
def list_tokens(
    request: Request,
    who: Annotated[Principal, Depends(Permit("own.tokens", in_person=True))],
    limit: Limit = 50,
    after: After = "",
) -> Response:
    return by_name(request, parts_of(request).tokens.of(who.account.id), limit, after)


@ROUTER.post("/tokens", status_code=201)
def create_token(
    request: Request,
    response: Response,
    wanted: TokenRequest,
    who: Annotated[Principal, Depends(Permit("own.tokens", in_person=True))],
) -> dict[str, str]:
    """The token is in the answer, and nowhere else."""
    response.headers["Cache-Control"] = "no-store"
    identifier, token = parts_of(request).tokens.issue(who, wanted.name, wanted.scopes, wanted.days)
    return {"id": identifier, "token": token}


@ROUTER.delete("/tokens/{token}", status_code=204)
def revoke_token(
    request: Request, token: str, who: Annotated[Principal, Depends(Permit("own.tokens", in_person=True))]
) -> None:
    if not parts_of(request).tokens.revoke(who.account.id, token):
        raise HTTPException(404, "there is nothing here")
