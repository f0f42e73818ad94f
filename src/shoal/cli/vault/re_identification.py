"""Controlled re-identification: asked for, approved by others, answered."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.vault.connection import VaultConnection
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.vault import Vault
    from shoal.vault.reidentification import RevealedIdentity, RevealRequest

Hours = Annotated[int, typer.Option(help="How long it is valid.")]
WAITING = 1
"""The exit code of a request that still lacks approvals."""


def reveal(  # noqa: PLR0913, PLR0917  # one parameter for each option
    door: VaultConnection,
    domain: Annotated[str | None, typer.Argument(metavar="DOMAIN", help="The domain's name.")] = None,
    pseudonyms: Annotated[list[str] | None, typer.Argument(metavar="PSEUDONYM", help="20 at most.")] = None,
    reason: Annotated[str | None, typer.Option(help="Why, in words; kept in the audit trail.")] = None,
    request: Annotated[int | None, typer.Option(help="Answer this request, which was approved meanwhile.")] = None,
    hours: Hours = 24,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Find who is behind a pseudonym: for a reason, with approvals.

    Where the domain asks for no approval the answer comes at once. Otherwise the request waits for others to approve
    it (exit code 1), and --request N answers it. The audit trail has it before you do.

    Example: shoal vault reveal patients 2f3k7q0a5m8r1t6w --reason "positive test, treatment to be offered"
    """
    with door.open() as vault:
        if request is None:
            if domain is None or not pseudonyms or reason is None:
                raise InputError("name a domain, pseudonyms and a --reason; or a --request that was made before")
            asked = vault.ask(domain, pseudonyms, reason, hours=hours)
        else:
            if domain is not None or reason is not None:
                raise InputError("--request: what was asked and why is settled; leave the rest out")
            asked = _request(vault, request)
        if asked.person == door.person and not asked.granted:
            _print_waiting(vault, asked, as_json=json)
            raise typer.Exit(WAITING)
        revealed = vault.reveal(asked.id)
    _print_revealed(asked, revealed, as_json=json)


def match(
    door: VaultConnection,
    domain: Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain of an identity table.")],
    values: Annotated[list[str], typer.Argument(metavar="VALUE", help="The quasi-identifiers, in the table's order.")],
    reason: Annotated[str, typer.Option(help="Why, in words; kept in the audit trail.")],
    json: Json = False,  # noqa: FBT002
) -> None:
    """Find records by what they were before they were generalised.

    For domains that `identity` filled. It names nobody: `shoal vault reveal` does.

    Example: shoal vault match patients 34 f 560001 --reason "a contact of the person is ill"
    """
    from shoal.techniques.pseudonymisation.identity import SEPARATOR

    with door.open() as vault:
        found = vault.matching(domain, SEPARATOR.join(values), reason)
    if json:
        print_json({"domain": domain, "pseudonyms": found})
        return
    for one in found:
        typer.echo(one)
    if not found:
        typer.echo("no record has these values", err=True)


def requests(door: VaultConnection, json: Json = False) -> None:  # noqa: FBT002
    """See who asks to reveal what, and why.

    Example: shoal vault requests
    """
    with door.open() as vault:
        found = vault.requests()
    if json:
        print_json({"requests": [_asked(one) for one in found]})
        return
    for one in found:
        _print_request(one)
    if not found:
        typer.echo("no request is open")


def approve(
    door: VaultConnection,
    request: Annotated[int, typer.Argument(metavar="REQUEST", help="Its number, as `shoal vault requests` says.")],
    hours: Hours = 24,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Approve what another person asks to reveal.

    Example: shoal vault approve 1 --hours 8
    """
    with door.open() as vault:
        asked = vault.approve(request, hours=hours)
    if json:
        print_json(_asked(asked))
        return
    _print_request(asked)


def _print_request(one: RevealRequest) -> None:
    typer.echo(f"request {one.id} by {one.person}, until {moment_of(one.until)}")
    typer.echo(f"  reason:     {one.reason}")
    typer.echo(f"  pseudonyms: {', '.join(one.pseudonyms)} (domain '{one.domain}')")
    typer.echo(f"  approvals:  {_given(one)}")


def _request(vault: Vault, number: int) -> RevealRequest:
    for one in vault.requests():
        if one.id == number:
            return one
    raise InputError(f"there is no open request {number}", advice="ask again, if it has expired")


def _print_waiting(vault: Vault, asked: RevealRequest, *, as_json: bool) -> None:
    from shoal.vault import Right

    others = [
        one.name
        for one in vault.people()
        if Right.APPROVE in one.rights and one.name not in (asked.person, *asked.approved_by)
    ]
    if as_json:
        print_json({"request": _asked(asked), "may_approve": others, "revealed": None})
        return
    typer.echo(f"request {asked.id} waits for approvals: {_given(asked)}, until {moment_of(asked.until)}")
    typer.echo(f"who can approve: {', '.join(others) or 'nobody yet; shoal vault admit NAME --right approve'}")
    typer.echo(f"then: shoal vault reveal --request {asked.id}")


def _print_revealed(asked: RevealRequest, revealed: list[RevealedIdentity], *, as_json: bool) -> None:
    if as_json:
        told = [{"pseudonym": one.pseudonym, "value": one.value, "state": one.state} for one in revealed]
        print_json({"request": _asked(asked), "revealed": told})
        return
    rows = [(one.pseudonym, one.value, one.state) for one in revealed]
    print_table(f"Request {asked.id}: {asked.reason}", ("pseudonym", "value", "state"), rows)


def _asked(one: RevealRequest) -> dict[str, Any]:
    return {
        "request": one.id,
        "domain": one.domain,
        "person": one.person,
        "reason": one.reason,
        "pseudonyms": list(one.pseudonyms),
        "until": moment_of(one.until),
        "approved_by": list(one.approved_by),
        "needed": one.needed,
        "granted": one.granted,
    }


def _given(one: RevealRequest) -> str:
    by = f" ({', '.join(one.approved_by)})" if one.approved_by else ""
    return f"{len(one.approved_by)} of {one.needed}{by}"


def moment_of(seconds: int) -> str:
    """
    >>> moment_of(1794938893)
    '2026-11-17T18:08+00:00'
    """
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).isoformat(timespec="minutes")
