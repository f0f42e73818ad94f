"""``shoal examples``: files to practise with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.terminal.help import LEARN
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json


def examples(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write them.")] = Path("practice"),
    force: Annotated[bool, typer.Option("--force", help="Replace files of the same name.")] = False,  # noqa: FBT002
    json: Json = False,  # noqa: FBT002
) -> None:
    """Write made-up tables, a database, logs, mails and documents to practise with: the files that the guides name.

    Example: shoal examples practice/
    """
    from shoal.examples import practice

    written = practice.write(folder, force=force)
    if json:
        print_json({"folder": str(folder), "files": written})
    else:
        typer.echo(f"{len(written)} files of people who don't exist are in {folder}: {', '.join(written)}")


COMMAND = CommandEntry(examples, place=115, task=LEARN)
