"""Publishing a report period by period from one budget, which is spent when the first one appears (C-05).

What was told stays told: the noisy sums of earlier periods are kept with the ledger and never drawn again. Where two
processes publish at once, the first one's sums count, and those of the other never leave it.

Sums are told at several times, and all of them together may not use more of a person's rows than were described. So of
too many rows the first by date are used, not any by chance: which those are does not change when later rows are added.
That holds as long as the rows of a period that was told stay as they are.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.curator.budget_ledger import BudgetLedger
from shoal.curator.curator import Curator
from shoal.dp.composition import ComposedPlan
from shoal.dp.description import BudgetPeriod
from shoal.dp.query_plan import QueryPlan, planned
from shoal.dp.question import AggregateFunction
from shoal.dp.report_description import ReportDescription
from shoal.dp.running_totals import TotalsStrategy, best_strategy
from shoal.dp.scalars import columns_in
from shoal.dp.sql.question_reader import read_questions
from shoal.errors import InputError, RefusedQuestion
from shoal.io import atomic_text
from shoal.io.withdrawn_people import WithdrawnPeople
from shoal.randomness import now
from shoal.results.base import Number, ResultModel

_UNITS = {
    BudgetPeriod.DAY: "{}",
    BudgetPeriod.MONTH: "DATE_TRUNC('month', {})",
    BudgetPeriod.YEAR: "DATE_TRUNC('year', {})",
}
_NORMAL = 1.959964
"""Half of a 95 % interval, in standard errors; each figure is worked out of many noisy sums."""


class PublishedReport(ResultModel):
    name: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    """By area and period: `value` and `total` so far, each with `_low` and `_high`."""
    periods: int
    """That are told so far."""
    periods_in_all: int
    strategy: str
    epsilon_spent: Number
    """By this publication; all of it with the first, nothing with the others."""
    epsilon_left: Number


@dataclass(frozen=True)
class _Report:
    description: ReportDescription
    curator: Curator

    @cached_property
    def plan(self) -> QueryPlan:
        report = self.description
        unit = _UNITS[report.every].format(_quoted(report.time))
        keys = [*(_quoted(name) for name in report.by), unit]
        where = f" WHERE {report.where}" if report.where else ""
        sql = f"SELECT {report.figure} AS figure FROM t{where} GROUP BY {', '.join(keys)}"  # noqa: S608  # parsed, not run
        (question, *others) = read_questions(sql, self.curator.description)
        if others or len(question.aggregates) != 1 or question.having or question.order or question.limit is not None:
            raise RefusedQuestion("a report has one figure", advice="COUNT(*) or SUM(x)")
        if question.aggregates[0].function not in _SUMMED:
            raise RefusedQuestion("a report counts or adds up", advice="COUNT(*) or SUM(x)")
        plan = planned(question, self.curator.description, report.epsilon, None)
        if plan.public_keys is None:
            raise RefusedQuestion("the areas of a report are public", advice="describe their `categories`")
        return replace(plan, first_by=next(columns_in(question.keys[-1].scalar)))

    @cached_property
    def periods(self) -> list[datetime.date]:
        return [value for value in (self.plan.public_keys or ((),))[-1] if isinstance(value, datetime.date)]

    @cached_property
    def strategy(self) -> TotalsStrategy:
        return best_strategy(len(self.periods), self.plan.accountant.accounting)

    def key(self, *more: object) -> str:
        told = [self.description.model_dump_json(), self.curator.public_words(), *more]
        return hashlib.sha256(json.dumps([str(one) for one in told]).encode()).hexdigest()

    def over(self, until: datetime.date) -> int:
        """How many periods have ended by then."""
        return sum(self.description.every.end(start) <= until for start in self.periods)


_SUMMED = frozenset({AggregateFunction.COUNT, AggregateFunction.PEOPLE, AggregateFunction.SUM})


def publish(report: object, *, until: datetime.date, withdrawn: WithdrawnPeople | None = None) -> PublishedReport:
    """All periods that have ended by a day (which itself is not counted)."""
    described = ReportDescription.of(report)
    job = _Report(described, Curator(described.dataset_path, withdrawn=withdrawn))
    if until > now().date() + datetime.timedelta(days=1):
        raise InputError("lies in the future: what is not over is not told", field="until")
    over = job.over(until)
    if not over:
        raise InputError("no period has ended by then", field="until")
    sources = job.curator.opened(job.plan)
    frames = job.curator.described_frames(job.plan, sources)
    with job.curator.begun() as ledger:
        number, spent = _paid(job, ledger)
        told = _known(job, ledger, over)
        missing = [row for row in job.strategy.told_by(over) if str(row) not in told]
        if missing:
            (exact,) = job.curator.tabulated(ComposedPlan((job.plan,), ((0,),)), [frames], sources)
            drawn = _drawn(job, exact.figures[0], missing)
            ledger.answered(number, {job.key("sum", row): json.dumps(areas) for row, areas in drawn.items()})
            told = _known(job, ledger, over)
    return _published(job, over, told, spent)


def _paid(job: _Report, ledger: BudgetLedger) -> tuple[int, Decimal]:
    """The number of the report's one question in the ledger, and what it cost this time."""
    begun = ledger.kept_answer(job.key("begun"))
    if begun is not None:
        return int(begun), Decimal(0)
    told = {"sql": f"report {job.description.name}: {job.description.figure}", "epsilon": str(job.description.epsilon)}
    told["question"] = job.key()
    number = ledger.reserve(job.curator.accounts_of(None), job.plan.cost, told, job.curator.otherwise())
    ledger.answered(number, {job.key("begun"): str(number)})
    return number, job.description.epsilon


def _known(job: _Report, ledger: BudgetLedger, over: int) -> dict[str, list[int]]:
    rows = {job.key("sum", row): str(row) for row in job.strategy.told_by(over)}
    return {rows[key]: json.loads(areas) for key, areas in ledger.kept_answers(list(rows)).items()}


def _drawn(job: _Report, figures: list[int], rows: list[int]) -> dict[str, list[int]]:
    """Noisy sums of the strategy's rows, for each area."""
    periods = len(job.periods)
    exact = np.asarray(figures, dtype=object).reshape(-1, periods)
    weights = job.strategy.weights[rows].astype(object)
    sums = exact @ weights.T
    statistic = job.plan.statistics[0]
    most = statistic.l1(job.plan.rows_per_person)
    noise = job.strategy.noise(job.plan.accountant.accounting, most, float(job.plan.cost.amount))
    drawn = [noise.add([int(one) for one in area]) for area in sums]
    return {str(row): [area[place] for area in drawn] for place, row in enumerate(rows)}


def _published(job: _Report, over: int, told: dict[str, list[int]], spent: Decimal) -> PublishedReport:
    statistic = job.plan.statistics[0]
    rows = job.strategy.told_by(over)
    sums = np.asarray([told[str(row)] for row in rows], dtype=np.float64)
    most = statistic.l1(job.plan.rows_per_person)
    noise = job.strategy.noise(job.plan.accountant.accounting, most, float(job.plan.cost.amount))
    columns: dict[str, Any] = {}
    for name, made in (("value", job.strategy.single(over)), ("total", job.strategy.totals(over))):
        figures = (made @ sums * statistic.step).T
        reach = np.sqrt((made**2).sum(axis=1)) * noise.standard_error * statistic.step * _NORMAL
        columns[name] = figures.ravel()
        columns[f"{name}_low"] = (figures - reach).ravel()
        columns[f"{name}_high"] = (figures + reach).ravel()
    frame = pl.concat([_areas(job, over), pl.DataFrame(columns)], how="horizontal")
    return PublishedReport(
        name=job.description.name,
        columns=tuple(frame.columns),
        rows=tuple({name: _cell(cell) for name, cell in row.items()} for row in frame.iter_rows(named=True)),
        periods=over,
        periods_in_all=len(job.periods),
        strategy=job.strategy.name,
        epsilon_spent=float(spent),
        epsilon_left=float(job.curator.left()),
    )


def _areas(job: _Report, over: int) -> pl.DataFrame:
    keys = pl.DataFrame({"period": job.periods[:over]})
    domains = (job.plan.public_keys or ())[:-1]
    for name, values in reversed(list(zip(job.description.by, domains, strict=True))):
        keys = pl.DataFrame({name: values}).join(keys, how="cross")
    return keys


def write_report(report: PublishedReport, path: Path) -> None:
    """As CSV, whole or not at all."""
    with atomic_text(path) as file:
        table = csv.DictWriter(file, report.columns, lineterminator="\n")
        table.writeheader()
        table.writerows(report.rows)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    return value.isoformat() if isinstance(value, datetime.date) else value
