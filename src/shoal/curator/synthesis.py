"""Synthetic tables of a curator's dataset: paid from its budget before a record is read (ISO/IEC 20889, 9.8).

What the description says of columns is public and used as it is; what it leaves open is found within the price. The
same question can then be asked of the synthetic table, as often as one likes, and of the real one, through the budget,
side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from math import ceil, log10
from typing import Any, Final

import polars as pl

from shoal.curator.curator import Curator
from shoal.dp.composition import composed
from shoal.dp.description import ColumnKind, DatasetColumn, TableDescription
from shoal.dp.noisy_answer import with_noise, worked_out
from shoal.dp.sql.question_reader import read_questions
from shoal.dp.tabulation import checked_frames
from shoal.errors import InputError
from shoal.io import explained
from shoal.kernels.calendar import on_calendar
from shoal.results.base import Number, ResultModel
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.method import FitOptions, GuaranteeStatement, SynthesisModel, synthesis_method
from shoal.synth.private_coding import public_budget
from shoal.synth.table_coding import TableDescription as PublicTable

_DELTA: Final = Decimal("1e-9")
_DIGITS: Final = 4
_EXACT: Final = Decimal(100_000)
"""An ε at which noise rounds to nothing: for a table that is nobody's."""
_KINDS: Final = {
    ColumnKind.INTEGER: ShapeKind.WHOLE,
    ColumnKind.NUMBER: ShapeKind.DECIMAL,
    ColumnKind.CATEGORY: ShapeKind.CATEGORY,
    ColumnKind.BOOLEAN: ShapeKind.BOOLEAN,
    ColumnKind.DATE: ShapeKind.DATE,
}


@dataclass(frozen=True)
class PaidSynthesis:
    """A model that was paid for, and what is promised."""

    model: SynthesisModel
    guarantee: GuaranteeStatement
    epsilon_left: Decimal


def synthesise_dataset(
    dataset: object,
    options: FitOptions,
    *,
    method: str = "marginals",
    table: str | None = None,
    analyst: str | None = None,
) -> PaidSynthesis:
    """Fits a private method to a described table. BudgetExhausted where the budget does not suffice: nothing is read.

    Of ``options`` the description is taken from the dataset's, but for its constraints.
    """
    chosen = synthesis_method(method)
    if not chosen.is_private:
        raise InputError("only private methods are paid from a budget", field="method")
    curator = dataset if isinstance(dataset, Curator) else Curator(dataset)
    described = _table_of(curator, table)
    source = curator.source_of(described)
    with explained(source):
        frame = _described_columns(source.scan(), described)
        schema = frame.collect_schema()
    delta = min(_DELTA, curator.description.budget.delta) if options.delta == FitOptions().delta else options.delta
    if not delta:
        raise InputError("a synthesis needs a budget with a delta, as 1e-7", field="delta")
    public = PublicTable(
        columns=public_shapes(described, schema),
        constraints=options.description.constraints,
        find_constraints=False,
        person=described.person,
    )
    asked = replace(options, description=public, delta=float(delta), rows_per_person=described.rows_per_person or 1)
    budget = public_budget(schema, asked)
    words = f"synthesis({method}, table={table or curator.description.name})"
    with curator.learning(
        words,
        epsilon=Decimal(str(budget.epsilon)),
        delta=Decimal(str(budget.delta)),
        rho=budget.rho,
        analyst=analyst,
        apart=Decimal(str(budget.delta_thresholds)),
    ):
        with explained(source):
            records = frame.collect()
        model = chosen.fit(records, asked)
    return PaidSynthesis(model, chosen.guarantee(asked, model), curator.left(analyst))


def described_table(dataset: object, name: str | None = None) -> TableDescription:
    """What a dataset's description says of the table that a synthesis is of."""
    return _table_of(dataset if isinstance(dataset, Curator) else Curator(dataset), name)


def _table_of(curator: Curator, name: str | None) -> TableDescription:
    tables = curator.description.described_tables
    if name is None:
        if len({id(one) for one in tables.values()}) > 1:
            raise InputError(f"which table? one of {', '.join(sorted(tables))}", field="table")
        return next(iter(tables.values()))
    if name not in tables:
        raise InputError(f"there is no table '{name}' in the description", field="table")
    return tables[name]


def _described_columns(frame: pl.LazyFrame, described: TableDescription) -> pl.LazyFrame:
    """Those that are described and the person; numbers without bounds as numbers, dates as far as they are some."""
    names = [*([described.person] if described.person else []), *described.columns]
    schema = frame.collect_schema()
    missing = [name for name in names if name not in schema]
    if missing:
        raise InputError(f"the table has no column '{missing[0]}', which is described", field="columns")
    numbers = [
        name
        for name, one in described.columns.items()
        if one.type in {ColumnKind.NUMBER, ColumnKind.INTEGER} and name != described.person
    ]
    kinds = {ColumnKind.NUMBER: pl.Float64, ColumnKind.INTEGER: pl.Int64}
    casts = [pl.col(name).cast(kinds[described.columns[name].type], strict=False) for name in numbers]
    kept = [on_calendar(pl.col(name), schema[name]) for name in dict.fromkeys(names)]
    return frame.select(kept).with_columns(casts)


def public_shapes(described: TableDescription, schema: pl.Schema) -> dict[str, ColumnShape]:
    """What the description says, as shapes; columns of which it says no more than the type are left to be found."""
    columns = {name: one for name, one in described.columns.items() if name != described.person}
    shapes = {name: _shape(one, schema[name]) for name, one in columns.items()}
    return {name: shape for name, shape in shapes.items() if shape is not None}


def _shape(column: DatasetColumn, stored: pl.DataType) -> ColumnShape | None:
    kind = _KINDS[column.type]
    if kind is ShapeKind.DECIMAL and column.bounds is None:
        return None
    about: dict[str, Any] = {"kind": kind}
    if column.bounds is not None:
        about["lowest"], about["highest"] = column.bounds
        if kind is ShapeKind.DECIMAL:
            spread = max(float(column.bounds[1]) - float(column.bounds[0]), 1e-6)
            about["decimals"] = max(0, min(6, _DIGITS - ceil(log10(spread))))
    if column.categories is not None:
        about["categories"] = tuple(str(one) for one in column.categories)
    if kind is ShapeKind.DATE and isinstance(stored, pl.String):
        about["date_format"] = column.format or "%Y-%m-%d"
    return ColumnShape(**about)


class ComparedAnswer(ResultModel):
    """One question, asked of both tables. Each figure ``x`` has ``x_low``, ``x_high`` and ``x_synthetic`` beside it."""

    sql: str
    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    within: Number | None
    """The share of figures of which the synthetic one lies within the real one's interval."""
    synthetic_rows: int
    epsilon_spent: Number
    epsilon_left: Number


def compare_query(  # noqa: PLR0913  # one question's options, all by name
    dataset: object,
    sql: str,
    synthetic: pl.DataFrame,
    *,
    epsilon: object,
    delta: object = None,
    analyst: str | None = None,
    absurd: bool = False,
) -> ComparedAnswer:
    """The same SQL of the synthetic table, exactly, and of the real one, through the budget."""
    curator = dataset if isinstance(dataset, Curator) else Curator(dataset)
    asked = _asked_exactly(curator, sql, synthetic)
    answer = curator.query(sql, epsilon, delta=delta, analyst=analyst, absurd=absurd)
    figures = [name for name in answer.columns if f"{name}_low" in answer.columns]
    extras = {f"{name}_{end}" for name in figures for end in ("low", "high", "error")}
    keys = [name for name in answer.columns if name not in figures and name not in extras]
    told = {tuple(str(row[key]) for key in keys): row for row in asked.iter_rows(named=True)}
    rows, inside = [], []
    for row in answer.rows:
        beside = told.get(tuple(str(row[key]) for key in keys), {})
        shown = {key: row[key] for key in keys}
        for name in figures:
            other = beside.get(name)
            shown |= {one: row[one] for one in (name, f"{name}_low", f"{name}_high")} | {f"{name}_synthetic": other}
            low, high = row[f"{name}_low"], row[f"{name}_high"]
            if low is not None and high is not None:
                inside.append(other is not None and low <= other <= high)
        rows.append(shown)
    columns = [*keys, *(one for name in figures for one in (name, f"{name}_low", f"{name}_high", f"{name}_synthetic"))]
    return ComparedAnswer(
        sql=sql,
        columns=tuple(columns),
        rows=tuple(rows),
        within=sum(inside) / len(inside) if inside else None,
        synthetic_rows=synthetic.height,
        epsilon_spent=answer.epsilon_spent,
        epsilon_left=answer.epsilon_left,
    )


def _asked_exactly(curator: Curator, sql: str, synthetic: pl.DataFrame) -> pl.DataFrame:
    """As the curator reads the question: bounds and categories hold here too."""
    description = curator.description
    plan = composed(read_questions(sql, description), description, _EXACT, None)
    frames = [checked_frames(one, [synthetic.lazy()] * len(one.tables)) for one in plan.plans]
    exact = plan.tabulated(frames)
    found = [worked_out(one, with_noise(one, table)).frame for one, table in zip(plan.plans, exact, strict=True)]
    return pl.concat([frame.rename(dict(zip(frame.columns, found[0].columns, strict=True))) for frame in found])
