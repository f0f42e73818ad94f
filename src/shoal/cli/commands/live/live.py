"""``shoal live``: each role sees its own version of a database; nothing that is stored changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import ASK
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table, say, warn
from shoal.cli.vault.connection import NO_VAULT, VaultFlags, secrets_for
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.live.operations import Live, LivePlan, LiveState

app = typer.Typer(
    name="live",
    help="Let each role of a database see its own version; what is stored stays as it is.\n\n"
    "Example: shoal live plan live.yaml, then shoal live apply live.yaml",
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)
File = Annotated[Path, typer.Argument(metavar="LIVE", help="The live file (YAML).")]


@app.command()
def plan(
    live: File,
    sql: Annotated[Path | None, typer.Option("--sql", help="Write the migration to this file.")] = None,
    undo: Annotated[Path | None, typer.Option("--undo", help="Write its inverse to this file.")] = None,
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Show what each role would see, and the SQL that would make it so; nothing is changed.

    Example: shoal live plan live.yaml --sql up.sql --undo down.sql
    """
    from shoal.io import write_atomic

    with _opened(live, door) as opened:
        made = opened.plan()
    for path, text in ((sql, made.sql), (undo, made.inverse)):
        if path is not None:
            write_atomic(path, text)
    if json:
        print_json(made.to_dict())
        return
    _show_plan(made, as_file=sql is not None)


@app.command()
def apply(live: File, door: VaultFlags = NO_VAULT, json: Json = False) -> None:  # noqa: FBT002
    """Make views and grants, all of them or none; what is there and right stays.

    Example: shoal live apply live.yaml
    """
    with _opened(live, door) as opened:
        state = opened.apply()
    if json:
        print_json({**state.to_dict(), "applied": bool(state.differences), "whole": True, "differences": []})
        return
    for one in state.differences:
        typer.echo(f"was {one}")
    typer.echo(f"{len(state.views)} view(s) for {len(state.roles)} role(s): as the live file says")


@app.command()
def diff(live: File, door: VaultFlags = NO_VAULT, json: Json = False) -> None:  # noqa: FBT002
    """Show where the server differs from the live file; exit code 1 where it does.

    Example: shoal live diff live.yaml
    """
    with _opened(live, door) as opened:
        state = opened.diff()
    _tell(state, as_json=json)


@app.command()
def check(
    live: Annotated[Path | None, typer.Argument(metavar="LIVE", help="The live file (YAML).")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of live files, for editors.")] = False,  # noqa: FBT002
    door: VaultFlags = NO_VAULT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Check that views still say what the policies say, and that no role reads around them; exit code 1 if not.

    Example: shoal live check live.yaml
    """
    if schema:
        from shoal.live.live_file import live_schema

        print_json(live_schema())
        return
    if live is None:
        raise InputError("which live file? (shoal live check LIVE, or shoal live check --schema)")
    with _opened(live, door) as opened:
        state = opened.check()
    _tell(state, as_json=json)


@app.command()
def remove(live: File, json: Json = False) -> None:  # noqa: FBT002
    """Take back everything that was applied for this live file.

    Example: shoal live remove live.yaml
    """
    from shoal.live.operations import Live

    removed = Live.unopened(live).remove()
    if json:
        print_json({"removed": removed})
        return
    typer.echo("removed" if removed else "there was nothing to remove")


@contextmanager
def _opened(path: Path, door: VaultFlags) -> Iterator[Live]:
    from shoal.live.operations import Live

    closed = Live.of(path)
    with secrets_for(closed.all_policies(), door) as vault:
        yield closed.with_secrets(vault)


def _tell(state: LiveState, *, as_json: bool) -> None:
    if as_json:
        print_json(state.to_dict())
    else:
        for one in (*state.problems, *state.ways_around, *state.differences):
            typer.echo(one)
        for role in state.expired:
            say(f"the time of role '{role}' is over: it sees no rows")
        if state.whole:
            typer.echo(f"{len(state.views)} view(s) for {len(state.roles)} role(s): as the live file says")
    if not state.whole:
        raise typer.Exit(1)


def _show_plan(made: LivePlan, *, as_file: bool) -> None:
    for view, columns in made.columns.items():
        print_table(view, ("column", "what is seen"), list(columns.items()))
    for one in made.state.ways_around:
        warn(one)
    if not as_file:
        typer.echo(made.sql, nl=False)
    if not made.changes:
        say("all of it stands on the server already")


COMMAND = CommandEntry(app, place=97, task=ASK)
