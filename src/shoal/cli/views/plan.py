"""A plan on the terminal: a line for each column, then what is done to the whole table and what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from shoal.cli.terminal.output import print_table
from shoal.errors import printable
from shoal.plan.description import ColumnDescription, PlanDescription, StepDescription
from shoal.plan.nodes import PlanStage
from shoal.results.number_format import count, percent

FIXED = "the policy fixes it"
HEADER = ("column", "role", "type", "what is done", "what the reader sees")


def print_plan(described: PlanDescription, title: str) -> None:
    rows = [_row(column) for column in described.columns]
    print_table(_heading(described, title), HEADER, rows)
    for line in _lines(described):
        typer.echo(printable(line))


def _heading(described: PlanDescription, title: str) -> str:
    if not described.bound:
        return f"{title}: what the policy alone tells"
    return f"{title}: {count(described.records or 0, 'record')} of {described.source}, on {described.engine}"


def _row(column: ColumnDescription) -> tuple[str, ...]:
    name = "every other column" if column.name == "*" else column.name
    done = "; then ".join(map(_step, column.steps)) or "nothing"
    return (name, column.role, column.type or "", done, column.reader_sees)


def _step(step: StepDescription) -> str:
    return f"{step.words} ({', '.join(_circumstances(step))})"


def _circumstances(step: StepDescription) -> Iterator[str]:
    if step.number is not None:
        yield f"step {step.number}"
    if step.chosen_by == "solver":
        yield "the solver chooses"
    else:
        yield FIXED if step.stage == PlanStage.SOLUTION else step.stage
    if step.clause:
        yield step.clause
    if step.scope == "table":
        yield "sees its columns whole"
    if step.barrier:
        yield f"bound after step {step.barrier} has run"


def _lines(described: PlanDescription) -> Iterator[str]:
    if described.recipient is not None:
        yield f"for:      {described.recipient}"
    for column in described.columns:
        if column.read_by:
            yield f"read:     {column.name}: by {'; '.join(column.read_by)}"
    for step in described.table:
        yield f"table:    {_step(step)}"
    for model in described.models:
        yield f"model:    {model.title}: {model.promise}"
    for rule in described.rules:
        broken = "" if rule.violations is None else f"; {count(rule.violations, 'record')} of the data broke it"
        yield f"rule:     {rule.name}: never {rule.never} ({rule.on_violation}{broken})"
    if described.solve is not None:
        limit = described.solve["suppression_limit"]
        allowed = f"up to {percent(limit)} of records" if limit else "no record"
        yield f"solver:   recoding {described.solve['recoding']}, {allowed} may be suppressed"
    if described.suppressed:
        names = ("every other column" if name == "*" else name for name in described.suppressed)
        yield f"left out: {', '.join(names)}"
    if described.passes is not None:
        passes = described.passes
        yield (
            f"passes:   {passes.total} over the data: {passes.questions} to learn what binding and the solver need, "
            f"{passes.whole_table} for steps that see columns whole, {passes.write} to write"
        )
