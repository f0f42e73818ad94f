"""The inventory from what a scan finds, and accounts with their last use."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table


def scan(
    source: Annotated[str, typer.Argument(metavar="ID", help="The source in the inventory.")],
    places: Annotated[list[str], typer.Argument(metavar="PLACE…", help="Files, folders, databases that it is.")],
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Scan a source for personal data, and record in the inventory which kinds are in it; never a value.

    Example: shoal register scan wards wards.csv --by bela
    """
    from shoal.discover.recognisers import default_recognisers
    from shoal.errors import DataError
    from shoal.scan import scan_places
    from shoal.scan.annotators import annotate_by

    with registry.opened() as opened:
        opened.require("source", "scanned", source, by=actor.name)
        known = default_recognisers()
        found = scan_places(places, annotate_by(SURE, known), recognisers=known)
        if found.unread:
            raise DataError(f"{len(found.unread)} of what is there can't be read: look at it with `shoal scan`")
        kinds = tuple(sorted({finding.type for finding in found.findings}))
        opened.perform("source", "scanned", source, {"kinds": kinds}, by=actor.name)
    if json:
        print_json({"source": source, "kinds": list(kinds)})
        return
    typer.echo(f"source {source}: {', '.join(kinds) or 'nothing personal was found'}")


def accounts(registry: RegistryOption = NO_REGISTRY, json: Json = False) -> None:  # noqa: FBT002
    """List people with their roles, last use, last review and training, for the review of accounts.

    Example: shoal register accounts
    """
    from shoal.govern.account_review import account_rows

    with registry.opened() as opened:
        rows = account_rows(opened)
    if json:
        print_json({"accounts": [dict(zip(_COLUMNS, row, strict=True)) for row in rows]})
        return
    print_table("accounts", _COLUMNS, rows)


SURE: Final = 0.6
"""How sure a finding in text has to be."""
_COLUMNS: Final = ("person", "status", "roles", "last use", "reviewed", "trained until")
