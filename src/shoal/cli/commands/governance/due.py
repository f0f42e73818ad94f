"""``shoal due``: what has to be done, and by when."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.registry_place import NO_REGISTRY, RegistryOption
from shoal.cli.terminal.help import GOVERN
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json, print_table
from shoal.errors import InputError

MOST_DAYS: Final = 36_600
"""A century."""


def due(
    within: Annotated[int, typer.Option(help="Show what is due within so many days.")] = 30,
    calendar: Annotated[Path | None, typer.Option(help="Write it as a calendar too (iCalendar).")] = None,
    registry: RegistryOption = NO_REGISTRY,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Show what is due or overdue; exit code 1 where something is overdue, for cron.

    Example: shoal due --within 14 --calendar due.ics
    """
    import datetime

    from shoal.randomness import now

    if not 0 <= within <= MOST_DAYS:
        raise InputError(f"between 0 and {MOST_DAYS}", field="within")
    today = now().date()
    with registry.opened() as opened:
        found = opened.due(today + datetime.timedelta(days=within))
    if calendar is not None:
        from shoal.govern.calendar_file import calendar_text
        from shoal.io import write_atomic

        write_atomic(calendar, calendar_text(found, now()))
    overdue = [one for one in found if one.on < today]
    if json:
        rows = [
            {"on": one.on.isoformat(), "kind": one.kind, "id": one.identifier, "what": one.what, "who": one.who}
            for one in found
        ]
        print_json({"due": rows, "overdue": len(overdue)})
    elif found:
        told = [
            (one.on, f"{one.kind} {one.identifier}", one.what, one.who, "overdue" if one.on < today else "")
            for one in found
        ]
        print_table("due", ("by", "record", "what", "who", ""), told)
    else:
        typer.echo(f"nothing is due within {within} days")
    if overdue:
        raise typer.Exit(1)


COMMAND = CommandEntry(due, place=106, task=GOVERN)
