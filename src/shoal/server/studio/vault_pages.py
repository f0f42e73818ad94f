"""Vault: who is behind a pseudonym. One person asks and gives the reason, others approve, then who asked reads it once.

Everybody opens the vault by a passphrase of their own, with each act: the server keeps none, and the vault's own rights
and approvals decide. What is revealed stands on the answer's page alone.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, HTTPException, Request
from fastapi.responses import Response

from shoal.errors import AccessError, ShoalError
from shoal.server.access.sessions import Principal
from shoal.server.studio.page_rendering import page
from shoal.server.web.answers import status_of
from shoal.server.web.permits import Permit, parts_of
from shoal.vault import Passphrase, Vault

ROUTER = APIRouter(prefix="/vault", include_in_schema=False)
Keeper = Annotated[Principal, Depends(Permit("vault.open", in_person=True))]
Secret = Annotated[str, Form(max_length=300)]
Line = Annotated[str, Form(max_length=300)]


@ROUTER.get("")
def show_vault(request: Request, who: Keeper) -> Response:
    return _page(request, who)


def _page(request: Request, who: Principal, *, status: int = 200, **more: Any) -> Response:
    shown: dict[str, Any] = {"problem": None, "domains": None, "requests": None, "revealed": None, "done": None} | more
    return page(request, "vault.html", status=status, there=parts_of(request).home.settings.vault is not None, **shown)


def _opened(request: Request, who: Principal, passphrase: str) -> Vault:
    """As the person whose account it is. A passphrase that is wrong counts as a sign-in that failed."""
    parts = parts_of(request)
    place = parts.home.settings.vault
    if place is None:
        raise HTTPException(404, "this studio has no vault")
    origin = f"vault of {who.account.id}"
    parts.accounts.slow_down(origin)
    try:
        return Vault.open(place, Passphrase(who.account.name, passphrase), state=parts.home.vault_state)
    except AccessError:
        parts.accounts.fail_from(origin)
        raise


def _acted(request: Request, who: Principal, passphrase: str, act: Any) -> Response:
    """The act, then the vault as it stands."""
    try:
        with _opened(request, who, passphrase) as vault:
            told = act(vault)
            return _page(request, who, domains=vault.domains(), requests=vault.requests(), **told)
    except ShoalError as error:
        return _page(request, who, status=status_of(error), problem=str(error))


@ROUTER.post("/look")
def look(request: Request, who: Keeper, passphrase: Secret) -> Response:
    return _acted(request, who, passphrase, lambda _: {})


@ROUTER.post("/ask")
def ask(  # noqa: PLR0913, PLR0917  # one argument for each field of the form
    request: Request,
    who: Keeper,
    passphrase: Secret,
    domain: Line,
    reason: Annotated[str, Form(max_length=2000)],
    pseudonyms: Annotated[str, Form(max_length=10_000)],
    hours: Annotated[int, Form(ge=1, le=720)] = 24,
) -> Response:
    wanted = [one.strip() for one in pseudonyms.splitlines() if one.strip()]

    def act(vault: Vault) -> dict[str, Any]:
        made = vault.ask(domain.strip(), wanted, reason, hours=hours)
        return {"done": f"{made.id}: {len(made.approved_by)} / {made.needed}"}

    return _acted(request, who, passphrase, act)


@ROUTER.post("/approve")
def approve(request: Request, who: Keeper, passphrase: Secret, number: Annotated[int, Form(ge=1)]) -> Response:
    def act(vault: Vault) -> dict[str, Any]:
        found = vault.approve(number)
        return {"done": f"{found.id}: {len(found.approved_by)} / {found.needed}"}

    return _acted(request, who, passphrase, act)


@ROUTER.post("/reveal")
def reveal(request: Request, who: Keeper, passphrase: Secret, number: Annotated[int, Form(ge=1)]) -> Response:
    return _acted(request, who, passphrase, lambda vault: {"revealed": vault.reveal(number)})
