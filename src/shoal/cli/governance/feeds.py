"""``shoal register token`` and ``collect``: what systems get again and again."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Final

import typer

from shoal.cli.governance.registry_place import NO_ACTOR, NO_REGISTRY, ActorOption, RegistryOption
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.errors import InputError

TOKEN: Final = "SHOAL_FEED_TOKEN"  # noqa: S105  # the name of a variable
Feed = Annotated[str, typer.Argument(metavar="FEED", help="The feed, as F-1.")]


def token(
    feed: Feed,
    days: Annotated[int, typer.Option(help="How many days it holds.")] = 90,
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Make a token for the system of a feed. It is shown once and kept nowhere; one that there was holds no more.

    Example: shoal register token F-1 --days 30 --by chan
    """
    from shoal.govern.feeds import issue_token

    with registry.opened() as opened:
        made, state = issue_token(opened, feed, days=days, by=actor.name)
    if json:
        print_json({"feed": feed, "token": made, "until": str(state.token_until)})
        return
    typer.echo(f"{made}\nfor {state.system}, until {state.token_until}: give it to them now, it is not shown again")


def collect(
    feed: Feed,
    output: Annotated[Path, typer.Option("--output", "-o", help="The package, as today.age.")],
    folder: Annotated[Path | None, typer.Option(help="Where the release lies, if it was moved.")] = None,
    registry: RegistryOption = NO_REGISTRY,
    actor: ActorOption = NO_ACTOR,
    json: Json = False,  # noqa: FBT002
) -> None:
    """As a system, take what was delivered last, in a package for the system's key. The token is in SHOAL_FEED_TOKEN.

    Example: shoal register collect F-1 -o today.age --by portal
    """
    from shoal.govern.feeds import collect_feed

    given = os.environ.get(TOKEN)
    if not given:
        raise InputError(f"the token of the feed is needed in {TOKEN}")
    with registry.opened() as opened:
        made = collect_feed(opened, feed, output, token=given, by=actor.name, folder=folder)
    if json:
        print_json({"package": str(made.path), "sha256": made.sha256})
        return
    typer.echo(f"{made.path}: for {made.recipient}, sha256 {made.sha256}")
