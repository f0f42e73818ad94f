"""``shoal tide``: whether ships can come in."""

from __future__ import annotations

import typer

from shoal.cli.discovery import CommandEntry


def tide() -> None:
    """Tell the tide."""
    typer.echo("High water.")


COMMAND = CommandEntry(tide)
