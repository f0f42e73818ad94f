"""What people ask about data of their own: who they are comes from a file or a pipe, and is not kept."""

from __future__ import annotations

from typing import Annotated

import typer

from shoal.cli.governance.opt_outs import People, identifiers_in
from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.vault.connection import NO_VAULT, VaultFlags
from shoal.errors import InputError


def identify(people: People, door: VaultFlags = NO_VAULT, json: Json = False) -> None:  # noqa: FBT002
    """Make the keyed digest by which the registry knows somebody.

    Example: shoal register identify person.txt --vault keys.vault
    """
    from shoal.govern.opt_outs import opt_out_key
    from shoal.io.withdrawn_people import identity_digest

    with door.connection().open() as vault:
        key = opt_out_key(vault, new=True)
    made = [identity_digest(key, one) for one in identifiers_in(people)]
    if json:
        print_json({"identities": made})
        return
    for one in made:
        typer.echo(one)


def find(
    request: Annotated[str, typer.Argument(metavar="ID", help="The request of the person.")],
    people: People,
    places: Annotated[
        list[str],
        typer.Option("--in", help="source/ID=FILE:COLUMN, or release/ID=FOLDER:COLUMN@DOMAIN. May be repeated."),
    ],
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Look a person up in registered sources and releases, and record how many records there are of them.

    Example: shoal register find P-1 person.txt --in source/wards=wards.csv:id --by bela
    """
    from shoal.govern.opt_outs import opt_out_key
    from shoal.govern.principal_search import SearchPlace, record_search

    identifiers = identifiers_in(people)
    if len(identifiers) != 1:
        raise InputError("one person is looked up at a time", field="people")
    with registry.opened() as opened, door.connection().open() as vault:
        found = record_search(
            opened,
            request,
            [SearchPlace.read(one) for one in places],
            identifier=identifiers[0],
            key=opt_out_key(vault),
            vault=lambda: vault,
            by=actor.name,
        )
    if json:
        print_json({"searched": [one.model_dump() for one in found]})
        return
    print_table(f"principal {request}", ("where", "by", "records"), [(one.place, one.by, one.records) for one in found])
