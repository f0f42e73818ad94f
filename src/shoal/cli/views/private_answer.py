"""An answer of the curator on a screen: figures with how far off they may be, then what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from shoal.cli.terminal.output import print_table, say

if TYPE_CHECKING:
    from shoal.curator.private_answer import PrivateAnswer, QuestionPrice
    from shoal.curator.synthesis import ComparedAnswer


def print_answer(answer: PrivateAnswer) -> None:
    estimates = [name for name in answer.columns if f"{name}_low" in answer.columns]
    hidden = {f"{name}{end}" for name in estimates for end in ("_low", "_high", "_error")}
    shown = [name for name in answer.columns if name not in hidden]
    rows = [[_figure(row, name) if name in estimates else _cell(row[name]) for name in shown] for row in answer.rows]
    print_table(answer.dataset, shown, rows)
    for note in answer.notes:
        say(note)
    cost = "nothing" if answer.kept else f"ε {answer.epsilon_spent:g}"
    if answer.delta_spent:
        cost += f", δ {answer.delta_spent:g}"
    typer.echo(f"cost: {cost}; left: ε {answer.epsilon_left:g}")


def print_comparison(both: ComparedAnswer) -> None:
    """Each figure of the real table with its interval, and the synthetic table's beside it."""
    figures = [name for name in both.columns if f"{name}_synthetic" in both.columns]
    ends = ("", "_low", "_high", "_synthetic")
    told = {f"{name}{end}" for name in figures for end in ends}
    keys = [name for name in both.columns if name not in told]
    header = [*keys, *(head for name in figures for head in (f"{name} (real)", f"{name} (synthetic)"))]
    rows = [
        [
            *(_cell(row[key]) for key in keys),
            *(told for name in figures for told in (_figure(row, name), _number(row[f"{name}_synthetic"]))),
        ]
        for row in both.rows
    ]
    print_table("the same question of both", header, rows)
    if both.within is not None:
        typer.echo(f"{both.within:.0%} of the synthetic figures lie within the interval of the real one")
    typer.echo(f"cost: ε {both.epsilon_spent:g}, for the real table; left: ε {both.epsilon_left:g}")


def print_price(price: QuestionPrice) -> None:
    rows = [
        [name, "depends on the data" if width is None else f"± {_number(width)}", _number(price.errors[name])]
        for name, width in price.half_widths.items()
    ]
    print_table(price.dataset, ("figure", "95 % interval", "standard error"), rows)
    groups = "not public" if price.groups is None else f"{price.groups:,}"
    typer.echo(f"groups: {groups}; cost: ε {price.epsilon:g}; left before: ε {price.epsilon_left:g}")
    if not price.sufficient:
        typer.echo("the budget does not suffice for it")


def _figure(row: Mapping[str, Any], name: str) -> str:
    if row[name] is None:
        return "–"
    ends = row[f"{name}_low"], row[f"{name}_high"]
    if None in ends:
        return _number(row[name])
    return f"{_number(row[name])}  ({_number(ends[0])} to {_number(ends[1])})"


def _number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"


def _cell(value: object) -> str:
    return "" if value is None else _number(value) if isinstance(value, float) else str(value)
