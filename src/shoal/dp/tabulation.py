"""The exact whole numbers behind a question, by group, with at most so many rows of each person: one pass in a stream.

They exist in memory until noise is added, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.dp.contribution_bounds import bounded_rows
from shoal.dp.description import BudgetPeriod, ColumnKind, DatasetColumn, TableDescription
from shoal.dp.query_plan import QueryPlan
from shoal.dp.scalars import ScalarColumn, as_described, columns_in, expression, held, readable, row_type, typed
from shoal.dp.statistics import GroupSums, StatisticKind
from shoal.errors import DataError
from shoal.kernels.calendar import on_calendar

PERSON: Final = "\x00person"
_PERIOD: Final = "\x00period"
_ANY: Final = "\x00any"
_HOLDS: Final = "\x00holds"
_EVERY: Final = {BudgetPeriod.DAY: "1d", BudgetPeriod.MONTH: "1mo", BudgetPeriod.YEAR: "1y"}
_STREAMED: Final = "streaming"
AT_HAND: Final = 250_000
"""Rows of a table that is read once and kept while a question is worked out."""


@dataclass(frozen=True)
class Tabulation:
    keys: pl.DataFrame
    """One row for each group, one column for each key; a single row without columns where nothing is grouped."""
    figures: tuple[list[int], ...]
    """Of each statistic, in the order of the groups."""
    ranked: tuple[list[NDArray[np.int64]], ...]
    """Of each quantile, by group: how many rows there are at each candidate."""
    people: Mapping[str, int]
    """By group, where keys are not public: how many people are in each; the groups stand in ``keys`` in this order."""


def missing_columns(names: Iterable[str]) -> DataError:
    return DataError(f"the data has no column {', '.join(repr(name) for name in names)}, which is described")


def unlike_described(name: str, column: DatasetColumn, given: pl.DataType) -> DataError:
    return DataError(f"the column '{name}' is described as {column.type.value}, and the data has {held(given)}")


def checked_frame(plan: QueryPlan, table: TableDescription, frame: pl.LazyFrame, prefix: str) -> pl.LazyFrame:
    """The columns that are asked about, as they were described. What can't be is said by name, never by value."""
    used, listed = plan.used, _looked_up(plan)
    schema = frame.collect_schema()
    needed = {name: one for name, one in table.columns.items() if f"{prefix}{name}" in used}
    missing = [name for name in (*needed, *([table.person] if table.person else ())) if name not in schema]
    if missing:
        raise missing_columns(missing)
    for name, one in needed.items():
        if not readable(one.type, schema[name]):
            raise unlike_described(name, one, schema[name])
    read = [typed(name, one, schema[name]).alias(f"{prefix}{name}") for name, one in needed.items()]
    checked = [
        as_described(pl.col(f"{prefix}{name}"), one, schema[name]).alias(f"{prefix}{name}")
        for name, one in needed.items()
        if f"{prefix}{name}" not in listed
    ]
    person = [] if table.person is None else [on_calendar(pl.col(table.person), schema[table.person]).alias(PERSON)]
    if table.person is not None and not readable(ColumnKind.CATEGORY, schema[table.person]):
        raise DataError(f"the column '{table.person}' can't name people: it holds lists, records or bytes")
    rows = [pl.nth(0).is_null().alias(_ANY)] if not (read or person) else []  # so that rows can still be counted
    return frame.select(*read, *person, *rows).with_columns(checked)


def checked_frames(plan: QueryPlan, sources: Sequence[pl.LazyFrame]) -> list[pl.LazyFrame]:
    """The tables of a question; no row is read. A DataError where one is not as it was described."""
    if plan.per is not None and plan.time is not None:
        sources = [_within_time(plan.tables[0].columns[plan.time], plan.time, source) for source in sources]
    tables = zip(plan.tables, sources, plan.prefixes, strict=True)
    frames = [checked_frame(plan, table, source, prefix) for table, source, prefix in tables]
    if len({frame.collect_schema().get(PERSON) for frame in frames}) > 1:
        frames = [frame.with_columns(pl.col(PERSON).cast(pl.String)) for frame in frames]
    return frames


def _looked_up(plan: QueryPlan) -> dict[str, list[str]]:
    """Categories of columns that are nothing but keys: whether a value is one of them is seen once for each group.

    None where other questions draw from the same rows, since those may be asked about otherwise there.
    """
    if plan.public_keys is None or plan.columns_beside:
        return {}
    question = plan.question
    others = [one.argument for one in question.aggregates if one.argument is not None]
    others += [one.scalar for one in question.keys if not isinstance(one.scalar, ScalarColumn)]
    others += [] if question.where is None else [question.where]
    elsewhere = {name for scalar in others for name in columns_in(scalar)}
    keys = [one.scalar.name for one in question.keys if isinstance(one.scalar, ScalarColumn)]
    return {
        name: [str(one) for one in plan.columns[name].categories or ()]
        for name in keys
        if name not in elsewhere and plan.columns[name].categories is not None
    }


def _within_time(column: DatasetColumn, time: str, source: pl.LazyFrame) -> pl.LazyFrame:
    """Where a person's month is protected, rows beyond the bounds are left out: clipped, many months would be one."""
    given = source.collect_schema().get(time)
    if column.bounds is None or given is None or not readable(ColumnKind.DATE, given):
        return source
    free = row_type(time, column.model_copy(update={"bounds": None}), given)
    return _where(source, free.is_between(*column.bounds))


def shared_rows(plans: Sequence[QueryPlan], frames: Sequence[pl.LazyFrame]) -> list[pl.LazyFrame]:
    """Frames for several questions about the same tables that have no row in common.

    A person's rows are drawn once for all of them, so that all together use no more rows than one would.
    """
    plan = plans[0]
    if len(frames) > 1:
        return [_bounded_rows(frame, table, [PERSON]) for frame, table in zip(frames, plan.tables, strict=True)]
    wanted = pl.any_horizontal(_chosen_by(one) for one in plans)
    bounded = _bounded_rows(*_units(plan, _where(frames[0], wanted)))
    return [bounded.drop(_PERIOD, strict=False)]


def _chosen_by(plan: QueryPlan) -> pl.Expr:
    """The rows that a question looks at: those of its WHERE whose keys are known."""
    known = [expression(key.scalar).is_not_null() for key in plan.question.keys]
    where = [] if plan.question.where is None else [expression(plan.question.where).fill_null(value=False)]
    return pl.all_horizontal(pl.lit(value=True), *known, *where)


def tabulated(plan: QueryPlan, frames: Sequence[pl.LazyFrame]) -> Tabulation:
    """Of frames as ``checked_frames`` gives them."""
    question = plan.question
    if len(frames) > 1:
        frames = [_bounded_rows(frame, table, [PERSON]) for frame, table in zip(frames, plan.tables, strict=True)]
    frame = frames[0] if len(frames) > 1 else _at_hand(frames[0])
    for other in frames[1:]:
        frame = frame.join(other, on=PERSON, how="inner")
    if question.where is not None:
        frame = _where(frame, expression(question.where))
    names = [f"\x00key{place}" for place in range(len(question.keys))]
    frame = frame.with_columns(
        expression(key.scalar).alias(name) for name, key in zip(names, question.keys, strict=True)
    )
    asked = _in_groups(plan, names)
    if plan.public_keys is None:
        frame = frame.filter(asked)
    if len(frames) == 1:
        frame = _bounded_rows(*_units(plan, frame), asked, plan.first_by)
    return _Groups(plan, frame, names).tabulation()


def _where(frame: pl.LazyFrame, condition: pl.Expr) -> pl.LazyFrame:
    """Rows of which a condition holds, which is worked out as a column.

    Where rows that are filtered are only counted, Polars' streaming engine may work a condition with CASE and constants
    out for the rows of one branch instead of all, so that one record would decide about others (polars 2.1).
    """
    return frame.with_columns(condition.alias(_HOLDS)).filter(pl.col(_HOLDS)).drop(_HOLDS)


def _at_hand(frame: pl.LazyFrame) -> pl.LazyFrame:
    """A small table is read once, however often it is gone through."""
    read = frame.head(AT_HAND + 1).collect(engine=_STREAMED)
    return read.lazy() if read.height <= AT_HAND else frame


def _in_groups(plan: QueryPlan, names: list[str]) -> pl.Expr:
    """Whether a row is in one of the groups, where that can be told of it."""
    listed = _looked_up(plan)
    each = [pl.col(name).is_not_null() for name in names]
    for name, key in zip(names, plan.question.keys, strict=True):
        if isinstance(key.scalar, ScalarColumn) and key.scalar.name in listed:
            each.append(pl.col(name).is_in(listed[key.scalar.name]))
    return pl.all_horizontal(each) if each else pl.lit(True)  # noqa: FBT003


def _units(plan: QueryPlan, frame: pl.LazyFrame) -> tuple[pl.LazyFrame, TableDescription, list[str]]:
    """What is protected: a person, or a person in a period. A row without a date is in none, and is left out."""
    table = plan.tables[0]
    if plan.per is None or plan.time is None:
        return frame, table, [PERSON]
    period = pl.col(f"{plan.prefixes[0]}{plan.time}").dt.truncate(_EVERY[plan.per]).alias(_PERIOD)
    return frame.with_columns(period).drop_nulls(_PERIOD), table, [PERSON, _PERIOD]


def _bounded_rows(
    frame: pl.LazyFrame,
    table: TableDescription,
    unit: list[str],
    asked: pl.Expr | None = None,
    first_by: str | None = None,
) -> pl.LazyFrame:
    if table.person is None:
        return frame
    return bounded_rows(frame, unit, table.rows_per_person or 1, asked=asked, first_by=first_by)


@dataclass(frozen=True)
class _Groups:
    plan: QueryPlan
    frame: pl.LazyFrame
    names: list[str]

    def tabulation(self) -> Tabulation:
        counted = self._counted()
        keys = self._public() if self.plan.public_keys is not None else counted.select(self.names)
        if self.names:
            whole = keys.join(counted, on=self.names, how="left", maintain_order="left").fill_null(0)
        else:
            whole = counted
        figures = tuple(whole[_statistic(place)].to_list() for place in range(len(self.plan.statistics)))
        people = {} if self.plan.public_keys is not None else self._people(keys)
        ranked = tuple(self._ranked(place, keys) for place in range(len(self.plan.quantiles)))
        return Tabulation(keys, figures, ranked, people)

    def _public(self) -> pl.DataFrame:
        keys = pl.DataFrame({"\x00one": [0]})
        schema = self.frame.collect_schema()
        for name, values in zip(self.names, self.plan.public_keys or (), strict=True):
            keys = keys.join(pl.DataFrame({name: pl.Series(name, values, dtype=schema[name])}), how="cross")
        return keys.drop("\x00one") if self.names else keys.drop("\x00one").with_columns()

    def _counted(self) -> pl.DataFrame:
        made = GroupSums(self.plan.statistics)
        columns = [*self.names, *(one.meta.output_name() for one in made.rows())]
        rows = self.frame.with_columns(made.rows()).select(columns) if columns else self.frame
        summed = rows.group_by(self.names).agg(made.sums()) if self.names else rows.select(made.sums())
        found = summed.collect(engine=_STREAMED)
        figures = [one.alias(_statistic(place)) for place, one in enumerate(made.figures())]
        found = found.select(*self.names, *figures) if self.names or figures else found
        return self._with_people(found.sort(self.names) if self.names else found)

    def _with_people(self, found: pl.DataFrame) -> pl.DataFrame:
        places = [place for place, one in enumerate(self.plan.statistics) if one.kind is StatisticKind.PEOPLE]
        if not places:
            return found
        name = _statistic(places[0])
        once = self.frame.select(*self.names, PERSON).unique()
        if not self.names:
            return found.with_columns(once.select(pl.len().cast(pl.Int64).alias(name)).collect(engine=_STREAMED)[name])
        people = once.group_by(self.names).agg(pl.len().cast(pl.Int64).alias(name)).collect(engine=_STREAMED)
        return found.drop(name).join(people, on=self.names, how="left", maintain_order="left")

    def _people(self, keys: pl.DataFrame) -> dict[str, int]:
        """Of each group whose key is not public, by its place."""
        whose = [PERSON] if self.plan.tables[0].person is not None else []
        once = self.frame.select(*self.names, *whose)
        people = (once.unique() if whose else once).group_by(self.names).len("people").collect(engine=_STREAMED)
        found = keys.join(people, on=self.names, how="left", maintain_order="left")["people"].fill_null(0)
        return {str(place): int(number) for place, number in enumerate(found)}

    def _ranked(self, place: int, keys: pl.DataFrame) -> list[NDArray[np.int64]]:
        quantile = self.plan.quantiles[place]
        grid = quantile.grid(max(1, keys.height if self.names else 1))
        width = grid[-1] - grid[0]
        value = expression(quantile.scalar).clip(grid[0], grid[-1])
        scale = (len(grid) - 1) / width if width else 0.0
        bin_of = ((value - grid[0]) * scale).round().cast(pl.Int64).alias("\x00bin")
        rows = self.frame.with_columns(bin_of).select(*self.names, "\x00bin").drop_nulls("\x00bin")
        found = rows.group_by(*self.names, "\x00bin").len("\x00n").collect(engine=_STREAMED)
        counts = np.zeros((max(1, keys.height if self.names else 1), len(grid)), dtype=np.int64)
        if self.names:
            places = keys.with_row_index("\x00place").join(found, on=self.names, how="inner")
            counts[places["\x00place"].to_numpy(), places["\x00bin"].to_numpy()] = places["\x00n"].to_numpy()
        else:
            counts[0, found["\x00bin"].to_numpy()] = found["\x00n"].to_numpy()
        return list(counts)


def _statistic(place: int) -> str:
    return f"\x00statistic{place}"
