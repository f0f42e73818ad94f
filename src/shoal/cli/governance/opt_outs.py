"""Who withdraws and who comes back: identifiers come from a file or a pipe, as options stand in lists of processes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.vault.connection import NO_VAULT, VaultFlags
from shoal.errors import InputError

People = Annotated[
    Path, typer.Argument(metavar="FILE", help="One identifier in a line, as the person column has it; - for a pipe.")
]


def withdraw(
    people: People,
    project: Annotated[
        list[str] | None, typer.Option("--project", help="From this project only. May be repeated.")
    ] = None,
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Leave people who withdrew out of every later run, synthesis and answer; only keyed digests are kept.

    Example: shoal register withdraw people.txt --vault keys.vault --by bela
    """
    from shoal.govern.opt_outs import opt_out_key, withdraw_people

    identifiers = identifiers_in(people)
    with registry.opened() as opened, door.connection().open() as vault:
        new = withdraw_people(
            opened, opt_out_key(vault, new=True), identifiers, by=actor.name, projects=tuple(project or ())
        )
    if json:
        print_json({"withdrawn": new})
        return
    typer.echo(f"{new} withdrew; they are left out from now on. Destroy {people}: the registry needs it no more")


def return_(
    people: People,
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Take people in again who had withdrawn and asked for it.

    Example: shoal register return people.txt --vault keys.vault --by bela
    """
    from shoal.govern.opt_outs import opt_out_key, people_who_come_back

    identifiers = identifiers_in(people)
    with registry.opened() as opened, door.connection().open() as vault:
        back = people_who_come_back(opened, opt_out_key(vault), identifiers, by=actor.name)
    if json:
        print_json({"returned": back})
        return
    typer.echo(f"{back} came back")


def identifiers_in(path: Path) -> list[str]:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{path}: can't be read as text", field="people") from None
    return [line.strip() for line in text.splitlines() if line.strip()]
