"""``shoal studio``: what keeps a studio safe beside its pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import RELEASE
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.errors import InputError, install_advice

studio = typer.Typer(
    name="studio",
    add_completion=False,
    help="Back up a studio, and restore it.\n\nExample: shoal studio backup studio/ studio-monday.tar",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Home = Annotated[Path, typer.Argument(metavar="HOME", help="The home folder of the studio.")]
BackupFile = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.")]
DATABASE = "SHOAL_STUDIO_DATABASE"
"""The variable that may hold the address instead of the option, so that no list of processes shows it."""
Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL", envvar=DATABASE, help="PostgreSQL, where the studio keeps its accounts and jobs there."
    ),
]


@studio.command()
def backup(home: Home, file: BackupFile, database: Database = None, json: Json = False) -> None:  # noqa: FBT002
    """Write all of a studio into one file, while it works. It holds original data: keep it as you keep that.

    Example: shoal studio backup studio/ studio-monday.tar
    """
    _need_server()
    from shoal.server.backup import back_up

    facts = back_up(home, file, database)
    told = {"file": str(file), "files": facts.files, "bytes": facts.bytes, "taken": facts.taken}
    print_json(told) if json else typer.echo(f"{file}: {facts.files} files, {facts.bytes:,} bytes")


@studio.command()
def restore(file: BackupFile, home: Home, database: Database = None, json: Json = False) -> None:  # noqa: FBT002
    """Make a studio of a backup, in a folder that is new or empty. Every file is checked; everybody signs in anew.

    Example: shoal studio restore studio-monday.tar studio/
    """
    _need_server()
    from shoal.server.backup import restore as restored

    facts = restored(file, home, database)
    told = {"home": str(home), "files": facts.files, "bytes": facts.bytes, "taken": facts.taken}
    print_json(told) if json else typer.echo(f"{home}: {facts.files} files, as of {facts.taken}")


def _need_server() -> None:
    try:
        import fastapi as _  # noqa: F401
    except ModuleNotFoundError:
        raise InputError("the studio needs parts that are not installed", advice=install_advice("server")) from None


COMMAND = CommandEntry(studio, place=16, task=RELEASE)
