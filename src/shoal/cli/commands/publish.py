"""``shoal publish``: a periodic report from one budget."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.discovery import CommandEntry
from shoal.cli.governance.project_options import NO_PROJECT, ProjectFlags
from shoal.cli.terminal.help import ASK
from shoal.cli.terminal.options import Json
from shoal.cli.terminal.output import print_json
from shoal.cli.terminal.progress_view import progress
from shoal.cli.vault.connection import NO_VAULT, VaultFlags
from shoal.errors import InputError


def publish(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="The description of the report (YAML).")],
    until: Annotated[
        str | None, typer.Option(help="Publish periods that ended before this day, as 2026-04-01; today without.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Where to write the table (CSV).")] = None,
    door: VaultFlags = NO_VAULT,
    registered: ProjectFlags = NO_PROJECT,
    json: Json = False,  # noqa: FBT002
) -> None:
    """Publish a table by area and period with noise, from one budget for all periods.

    Example: shoal publish water.yaml --until 2026-04-01 -o water.csv
    """
    import datetime

    from shoal.curator.publishing import publish as published
    from shoal.curator.publishing import write_report
    from shoal.dp.report_description import ReportDescription
    from shoal.randomness import now

    try:
        day = now().date() if until is None else datetime.date.fromisoformat(until)
    except ValueError:
        raise InputError("a day is written as 2026-04-01", field="until") from None
    described = ReportDescription.of(report)
    with (
        registered.answering(f"report {described.name}", float(described.epsilon)) as entered,
        progress(silent=json) as monitor,
        monitor.phase("publish"),
    ):
        made = published(described, until=day, withdrawn=registered.withdrawn(door))
        entered.epsilon = float(made.epsilon_spent)
    if output is not None:
        write_report(made, output)
    if json:
        print_json(made.to_dict())
        return
    told = f"{made.periods} of {made.periods_in_all} periods"
    where = "" if output is None else f" in {output}"
    typer.echo(f"{made.name}: {told}{where}; cost: ε {made.epsilon_spent:g}; left: ε {made.epsilon_left:g}")


COMMAND = CommandEntry(publish, place=94, task=ASK)
