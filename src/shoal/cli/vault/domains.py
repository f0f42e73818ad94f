"""A vault made, its domains, and the pseudonyms of people whom one knows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import note, print_json, print_table
from shoal.cli.vault.connection import VaultConnection
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.vault.domains import Domain

DomainName = Annotated[str, typer.Argument(metavar="DOMAIN", help="The domain's name.")]


def init(door: VaultConnection, json: Json = False) -> None:  # noqa: FBT002
    """Make a vault; you are its first person and may do everything.

    A key file that --key-file names is made if it isn't there.

    Example: shoal vault init --vault hospital.vault
    """
    from shoal.vault import Vault

    if door.path is not None and door.path.exists():
        raise InputError(f"{door.place}: exists already")
    with Vault.create(door.place, door.way_in(new=True)) as vault:
        if json:
            print_json({"vault": vault.name, "person": door.person})
            return
        typer.echo(f"made; {door.person} may do everything. Next: shoal vault add DOMAIN")


def add(
    door: VaultConnection,
    domain: DomainName,
    approvals: Annotated[int, typer.Option(help="Other persons who must approve before a person is named.")] = 0,
    validity_days: Annotated[int | None, typer.Option(help="Days after which a pseudonym ends.")] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Add a domain, in which each person has one pseudonym.

    Between domains nothing tells that two pseudonyms are of the same person.

    Example: shoal vault add patients --approvals 2
    """
    with door.open() as vault:
        made = vault.add_domain(domain, approvals=approvals, validity_days=validity_days)
    if json:
        print_json(_domain(made))
        return
    typer.echo(f"domain '{made.name}' added: {_approvals(made)}")


def domains(door: VaultConnection, json: Json = False) -> None:  # noqa: FBT002
    """List the domains and how much each holds.

    Example: shoal vault domains
    """
    with door.open() as vault:
        found = vault.domains()
    if json:
        print_json({"domains": [_domain(one) for one in found]})
        return
    rows = [
        (one.name, f"{one.entries:,}", one.kind or "", one.approvals, one.validity_days or "", one.shredded or "")
        for one in found
    ]
    print_table("Domains", ("domain", "entries", "kind", "approvals", "valid for days", "shredded"), rows)


def lookup(
    door: VaultConnection,
    domain: DomainName,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="VALUE", help="Left out, they are read from stdin, one a line.")
    ] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Find the pseudonyms of people whom you know; none is made.

    One line for each value, in their order; empty for who has no pseudonym. Values on the command line stand in the
    shell's history and in the list of processes: stdin keeps them out of both.

    Example: shoal vault lookup patients < identifiers.txt
    """
    if not values and sys.stdin.isatty():
        note("one value a line, then Ctrl-D")
    wanted = values or [line.rstrip("\r\n") for line in sys.stdin]
    if not wanted:
        raise InputError("name the values to look up, or give them on stdin, one a line")
    with door.open() as vault:
        found = vault.lookup(domain, wanted)
    if json:
        print_json({"domain": domain, "pseudonyms": found})
        return
    for pseudonym in found:
        typer.echo(pseudonym or "")


def _domain(one: Domain) -> dict[str, Any]:
    return {
        "domain": one.name,
        "kind": one.kind,
        "format": None if one.format is None else one.format.key,
        "approvals": one.approvals,
        "validity_days": one.validity_days,
        "entries": one.entries,
        "made": one.made,
        "shredded": one.shredded,
    }


def _approvals(one: Domain) -> str:
    if not one.approvals:
        return "whoever may reveal needs nobody else"
    return f"to reveal takes the approval of {one.approvals} other{'s' if one.approvals > 1 else ''}"
