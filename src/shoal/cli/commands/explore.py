"""``shoal explore``: what each step towards more privacy costs, tried out before anything is released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import typer

from shoal.assess.exploration import ExplorationSetting, PolicyExplorer
from shoal.cli.terminal.output import print_table, progress, table_width
from shoal.errors import InputError, TargetError
from shoal.io import write_atomic
from shoal.policy import Policy
from shoal.randomness import now
from shoal.report import render_exploration
from shoal.report.exploration import attributes, reasons, tables
from shoal.results.exploration import Exploration, ExplorationTrial
from shoal.results.number_format import count

Number = TypeVar("Number", int, float)

COLUMNS = ("k", "limit", "loss", "suppressed", "class ≥", "mean", "risk ≤", "mean", "optimal", "s", "levels")
"""The columns of ``report.exploration.HEADER`` in words that leave room on a terminal."""
ESSENTIAL = (0, 1, 2, 3, 4, 6, 10)
"""Which of them a narrow terminal shows."""
WIDE = 116


def listed(option: str, text: str) -> list[str]:
    """What stands between the commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise InputError(f"{option}: the list is empty", advice="separate what is to be tried by commas")
    return parts


def numbers(option: str, text: str, kind: Callable[[str], Number], what: str) -> list[Number]:
    found = []
    for part in listed(option, text):
        try:
            found.append(kind(part))
        except ValueError:
            raise InputError(f"{option}: '{part}' is not {what}") from None
    return found


def explore_policy(
    policy: Policy, data: str | None, settings: Sequence[ExplorationSetting], *, seed: int | None
) -> Exploration:
    """All tries, or those that were made when the user had seen enough."""
    tries: list[ExplorationTrial] = []
    complete = False
    with progress() as report:
        explorer = PolicyExplorer(policy, data, seed=seed)
        try:
            for one in explorer.tries(settings, report):
                tries.append(one)  # noqa: PERF402  # one by one, so that an interrupt leaves what is there
            complete = True
        except KeyboardInterrupt:
            if not tries:
                raise
    return Exploration(policy.name, explorer.label, explorer.problem.records, tuple(tries), complete)


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


def refuse_page(path: Path) -> None:
    """Before the work, so that it is not in vain; a name without .html is rather a slip than the wish to replace it."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise TargetError(f"{path}: the chart is an HTML page; its name has to end in .html")
    if not path.parent.is_dir() or path.is_dir():
        raise TargetError(f"{path}: {'is a folder' if path.is_dir() else 'its folder does not exist'}")


def write_page(exploration: Exploration, path: Path) -> None:
    write_atomic(path, render_exploration(exploration, now()))
