"""Who may open the vault, and what for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.cli.vault.connection import VaultConnection
from shoal.errors import InputError

Name = Annotated[str, typer.Argument(metavar="NAME", help="The person's name in the vault.")]


def people(door: VaultConnection, json: Json = False) -> None:  # noqa: FBT002
    """List who may open the vault, how, and what for.

    Example: shoal vault people
    """
    with door.open() as vault:
        found = vault.people()
    if json:
        print_json({"people": [{"person": one.name, "way": one.way, "rights": sorted(one.rights)} for one in found]})
        return
    print_table("People", ("person", "way in", "rights"), [(p.name, p.way, ", ".join(sorted(p.rights))) for p in found])


def admit(  # noqa: PLR0913, PLR0917  # one parameter for each option
    door: VaultConnection,
    name: Name,
    right: Annotated[list[str], typer.Option(help="use, reveal, approve or manage; may be given several times.")],
    with_key_file: Annotated[Path | None, typer.Option(help="Their key file; made if it isn't there.")] = None,
    with_service: Annotated[str | None, typer.Option(help="The key service they use.")] = None,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Admit a person, who then types a passphrase of their own twice.

    Example: shoal vault admit meera --right approve --right reveal
    """
    from shoal.vault import Right

    unknown = [word for word in right if word not in tuple(Right)]
    if unknown:
        raise InputError(f"--right: there is no right '{unknown[0]}'", advice=", ".join(Right))
    with door.open() as vault:
        vault.admit(door.way_in_for(name, with_key_file, with_service), [Right(word) for word in right])
    if json:
        print_json({"person": name, "rights": sorted(set(right))})
        return
    typer.echo(f"{name} is admitted: {', '.join(sorted(set(right)))}")


def dismiss(door: VaultConnection, name: Name, json: Json = False) -> None:  # noqa: FBT002
    """Dismiss a person; all others get a new master key by it.

    Nobody else has to do anything: their passphrases and key files stay.

    Example: shoal vault dismiss ravi
    """
    with door.open() as vault:
        vault.dismiss(name)
    if json:
        print_json({"dismissed": name})
        return
    typer.echo(f"{name} is dismissed, and the master key is a new one")
