"""What ``shoal explore`` shows: each try, and which of them nothing beats."""

from __future__ import annotations

import typer

from shoal.cli.terminal.output import print_table, table_width
from shoal.report.exploration import attributes, reasons, tables
from shoal.results.exploration import Exploration
from shoal.results.number_format import count

COLUMNS = ("k", "limit", "loss", "suppressed", "class ≥", "mean", "risk ≤", "mean", "optimal", "s", "levels")
"""The columns of ``report.exploration.HEADER`` in words that leave room on a terminal."""
ESSENTIAL = (0, 1, 2, 3, 4, 6, 10)
"""Which of them a narrow terminal shows."""
WIDE = 116


def print_exploration(exploration: Exploration) -> None:
    tried = count(len(exploration.tries), "try", "tries")
    stopped = "" if exploration.complete else ", then interrupted"
    typer.echo(f"{exploration.name}: {exploration.records:,} records, {tried}{stopped}")
    wide = table_width() >= WIDE
    shown = range(len(COLUMNS)) if wide else ESSENTIAL
    header = ("", *(COLUMNS[place] for place in shown))
    for recoding, lines in tables(exploration):
        rows = [("→" * line.wanted + "●" * line.best, *(line.cells[place] for place in shown)) for line in lines]
        print_table(f"{recoding} recoding", header, rows)
    typer.echo("→ what the policy asks for; ● on the frontier: no other try is as safe and loses less")
    more = "s: seconds" if wide else f"{WIDE} columns or more show more"
    typer.echo(f"class ≥: the smallest class; risk ≤: the highest prosecutor risk; {more}")
    if named := attributes(exploration):
        typer.echo(f"levels: {', '.join(named)} (where cells differ, the highest)")
    for reason in reasons(exploration):
        typer.echo(f"not reachable: {reason}")
    for sentence in exploration.advice:
        typer.echo(sentence)
