"""A plan as one page to agree on before anything is written: what is done to each column, in which order, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from shoal.plan.description import ColumnDescription, PlanDescription, StepDescription
from shoal.report.sections import environment
from shoal.results.number_format import moment, percent

EVERY_OTHER = "every other column"


@dataclass(frozen=True)
class PlanTable:
    """One table of the page."""

    name: str
    about: str
    refused: tuple[str, ...]
    figures: tuple[tuple[str, str, str], ...]
    columns: tuple[ColumnDescription, ...]
    order: tuple[tuple[str, str, str, str], ...]
    """Number, what, of which column, and how, in the order in which the steps run."""
    promises: tuple[tuple[str, str], ...]
    solver: str


@dataclass(frozen=True)
class PlanPage:
    name: str
    created: str
    created_iso: str
    recipient: str | None
    engine: str
    headline: str
    refused: bool
    tables: tuple[PlanTable, ...]


def render_plan(plans: Mapping[str, PlanDescription], name: str, created: datetime) -> str:
    """``plans`` are those of the tables of one policy."""
    pages = environment().overlay()
    pages.filters = {**pages.filters, "column_named": _named, "step_in_words": _step}
    return pages.get_template("plan.html.j2").render(page=compose_plan(plans, name, created))


def compose_plan(plans: Mapping[str, PlanDescription], name: str, created: datetime) -> PlanPage:
    first = next(iter(plans.values()))
    refused = sum(bool(one.refused) for one in plans.values())
    return PlanPage(
        name=name,
        created=moment(created),
        created_iso=created.isoformat(timespec="seconds"),
        recipient=first.recipient,
        engine=first.engine,
        headline="A run would be refused." if refused else "A run can begin: nothing speaks against it so far.",
        refused=bool(refused),
        tables=tuple(_table(key, one) for key, one in plans.items()),
    )


def _table(name: str, plan: PlanDescription) -> PlanTable:
    known = plan.bound and plan.records is not None
    return PlanTable(
        name=name,
        about=f"{plan.source}" if plan.bound else "what the policy alone tells",
        refused=plan.refused,
        figures=(
            ("Records", f"{plan.records:,}" if known else "–", plan.source or "no data was read"),
            ("Columns", str(len(plan.columns)), f"{len(plan.suppressed)} left out"),
            ("Steps", str(len(_ordered(plan))), "in the order below"),
            ("Reads of the data", str(plan.passes.total) if plan.passes else "–", "the last one writes"),
        ),
        columns=plan.columns,
        order=_ordered(plan),
        promises=(
            *((one.title, one.promise) for one in plan.models),
            *((f"Rule {one.name}", f"never {one.never}") for one in plan.rules),
        ),
        solver=_solver(plan),
    )


def _named(column: str) -> str:
    return EVERY_OTHER if column == "*" else column


def _step(step: StepDescription) -> str:
    return f"{step.words} (the solver chooses)" if step.chosen_by == "solver" else step.words


def _ordered(plan: PlanDescription) -> tuple[tuple[str, str, str, str], ...]:
    """Steps with a number in their order; those that the solver decides after them."""
    own = [(one.name, step) for one in plan.columns for step in one.steps]
    whole = [("the whole table", step) for step in plan.table]
    numbered = sorted((*own, *whole), key=lambda pair: (pair[1].number is None, pair[1].number or 0))
    return tuple(
        (str(place), _step(step), _named(name), ", ".join(_how(step)))
        for place, (name, step) in enumerate(numbered, start=1)
    )


def _how(step: StepDescription) -> Iterator[str]:
    yield step.stage
    if step.scope is not None:
        yield "sees its columns whole" if step.scope == "table" else "record by record"
    if step.clause:
        yield step.clause


def _solver(plan: PlanDescription) -> str:
    if plan.solve is None:
        return ""
    limit = plan.solve["suppression_limit"]
    allowed = f"up to {percent(limit)} of the records" if limit else "no record"
    return f"Recoding is {plan.solve['recoding']}; {allowed} may be suppressed."
