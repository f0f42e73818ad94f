"""Exact numbers to an answer: noise, what is worked out of it, and how far off each figure may be.

The interval of a figure is about the noise alone: it says where the figure without noise lies, of the rows and bounds
that were used. Counts and sums have the interval of their noise. What is worked out of several figures has the
spread of the same calculation with noise drawn anew around the noisy figures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.dp.opendp_measurements import LaplaceNoise
from shoal.dp.quantile_interval import cell_counts, edges_around, interval
from shoal.dp.query_plan import QueryPlan
from shoal.dp.question import AggregateFunction, OutputColumn, aggregate_name
from shoal.dp.scalars import ScalarColumn, columns_in, expression
from shoal.dp.statistics import QuantileStatistic, Statistic, StatisticKind, combined
from shoal.dp.subtotals import Figures, Subtotals, non_negative
from shoal.dp.tabulation import Tabulation
from shoal.randomness import Randomness

CONFIDENCE: Final = 0.95
DRAWS: Final = 1000
"""Of noise, for the spread of a calculation."""
WIDTH: Final = 3.92
"""Of an interval, in standard errors."""
_FIGURE: Final = "\x00figure"
_Interval = tuple[float, float, float]
Column = Callable[[int], Figures]
"""The figures of a statistic, by its place."""
MOST_DRAWN: Final = 4_000_000
"""Figures that are drawn for it at most; with more groups, fewer times."""


@dataclass(frozen=True)
class NoisyFigures:
    """What may be told, by group."""

    keys: pl.DataFrame
    statistics: tuple[list[int], ...]
    quantiles: tuple[list[tuple[float, float, float]], ...]
    """Value, lower and upper end of its interval."""


@dataclass(frozen=True)
class AnswerTable:
    frame: pl.DataFrame
    """Outputs in order, each estimate followed by its ends and its standard error."""
    estimates: tuple[str, ...]


def with_noise(plan: QueryPlan, exact: Tabulation) -> NoisyFigures:
    """Every number gets its noise here; what is not public about groups is decided here too."""
    keys, rows = exact.keys, list(range(max(1, exact.keys.height) if not plan.question.keys else exact.keys.height))
    if plan.public_keys is None:
        kept = plan.key_release.released(exact.people)
        rows = sorted(int(place) for place in kept)
        keys = keys[rows]
    statistics = tuple(
        plan.noise(statistic).add([figures[row] for row in rows])
        for statistic, figures in zip(plan.statistics, exact.figures, strict=True)
    )
    quantiles = tuple(
        _chosen(plan, quantile, [ranked[row] for row in rows])
        for quantile, ranked in zip(plan.quantiles, exact.ranked, strict=True)
    )
    return NoisyFigures(keys, statistics, quantiles)


def _chosen(plan: QueryPlan, quantile: QuantileStatistic, ranked: list[NDArray[np.int64]]) -> list[_Interval]:
    """By group the value, and the interval from noisy numbers of rows around it."""
    grid = quantile.grid(len(ranked))
    choice, noise = plan.choice(quantile), plan.rank_noise
    chosen = np.asarray([choice.chosen(quantile.scores(counts)) for counts in ranked], dtype=np.int64)
    counts, found = np.asarray(ranked, dtype=np.int64).reshape(len(ranked), -1), np.zeros((len(ranked), 3))
    for place in np.unique(chosen):  # groups with the same value have the same cells
        here = np.flatnonzero(chosen == place)
        edges = edges_around(int(place), len(grid))
        cells = cell_counts(counts[here], edges)
        noisy = np.asarray(noise.add(cells.ravel()), dtype=np.float64).reshape(cells.shape)
        low, high = quantile.values(grid, *interval(quantile, edges, noisy, noise, CONFIDENCE))
        found[here] = np.column_stack([np.full(len(here), grid[place]), low, high])
    found[:, 1], found[:, 2] = found[:, :2].min(axis=1), found[:, ::2].max(axis=1)
    return [(point, low, high) for point, low, high in found.tolist()]


def worked_out(plan: QueryPlan, noisy: NoisyFigures) -> AnswerTable:
    """Outputs, HAVING, ORDER BY and LIMIT, all on figures that have their noise."""
    question = plan.question
    names = {f"\x00key{place}": key.name for place, key in enumerate(question.keys)}
    cells = len(noisy.statistics[0]) if noisy.statistics else len(noisy.quantiles[0])
    rows = Subtotals.of(noisy.keys.rename(names), question.levels, cells)
    base = rows.keys

    def figures(place: int) -> Figures:
        return rows.summed(np.asarray(noisy.statistics[place], dtype=float))

    def counts(place: int) -> Figures:
        exact = np.asarray(noisy.statistics[place], dtype=float)
        return rows.summed(non_negative(exact, keep_sum=bool(question.levels)))

    values = base.with_columns(_aggregates(plan, noisy, figures, counts if question.non_negative else figures))
    spread = _Spread(plan, noisy, rows)
    columns: list[pl.Series] = []
    estimates: list[str] = []
    for output in question.outputs:
        figure = values.with_columns(expression(output.scalar).alias(_FIGURE))[_FIGURE].alias(output.name)
        columns.append(figure)
        if figure.dtype.is_numeric() and any(name.startswith("\x00") for name in columns_in(output.scalar)):
            low, high, error = spread.of(output, figures)
            low, high = _holding(figure, low, high) if question.non_negative else (low, high)
            columns += [low.alias(f"{output.name}_low"), high.alias(f"{output.name}_high")]
            columns.append(error.alias(f"{output.name}_error"))
            estimates.append(output.name)
    frame = pl.DataFrame(columns)
    return AnswerTable(_postprocessed(plan, frame, values), tuple(estimates))


def _postprocessed(plan: QueryPlan, frame: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    question = plan.question
    if question.having is None and not question.order and question.limit is None:
        return frame
    numbered = frame.with_row_index("\x00at")
    places = values.with_row_index("\x00at")
    if question.having is not None:
        places = places.filter(expression(question.having))
    if question.order:
        by = [expression(one.scalar) for one in question.order]
        places = places.sort(by, descending=[one.descending for one in question.order], maintain_order=True)
    if question.limit is not None:
        places = places.head(question.limit)
    return places.select("\x00at").join(numbered, on="\x00at", how="left", maintain_order="left").drop("\x00at")


def _holding(figure: pl.Series, low: pl.Series, high: pl.Series) -> list[pl.Series]:
    """The ends of an interval of a count that was put right: what it is now lies within."""
    ends = pl.DataFrame({"x": figure, "low": low, "high": high})
    return ends.select(pl.min_horizontal("low", "x"), pl.max_horizontal("high", "x")).get_columns()


def _aggregates(
    plan: QueryPlan, noisy: NoisyFigures, figures: Column, counts: Column, wanted: Collection[str] | None = None
) -> list[pl.Series]:
    """Each aggregate by its name, from the figures of its statistics; those of counts by themselves from ``counts``.

    All of them, or those that are wanted.
    """
    found: list[pl.Series] = []
    used: dict[str, Figures] = {}
    made: list[pl.Expr] = []
    for place, (aggregate, made_of) in enumerate(zip(plan.question.aggregates, plan.ingredients, strict=True)):
        name = aggregate_name(place)
        if wanted is not None and name not in wanted:
            continue
        if made_of.quantile is not None:
            chosen = noisy.quantiles[plan.quantiles.index(made_of.quantile)]
            found.append(pl.Series(name, [point for point, _, _ in chosen], dtype=pl.Float64))
            continue
        counted = aggregate.function in (AggregateFunction.COUNT, AggregateFunction.PEOPLE) and counts is not figures
        parts = [(plan.statistics.index(one), f"{counted} {plan.statistics.index(one)}") for one in made_of.statistics]
        used |= {part: (counts if counted else figures)(at) for at, part in parts if part not in used}
        terms = tuple(pl.col(part) for _, part in parts)
        made.append(combined(aggregate.function, terms, made_of.statistics).alias(name))
    return [*found, *(pl.DataFrame(used).select(made).get_columns() if made else [])]


@dataclass(frozen=True)
class _Spread:
    plan: QueryPlan
    noisy: NoisyFigures
    rows: Subtotals

    @property
    def base(self) -> pl.DataFrame:
        return self.rows.keys

    def of(self, output: OutputColumn, figures: Column) -> tuple[pl.Series, pl.Series, pl.Series]:
        """Lower end, upper end and standard error, by group."""
        plain = self._plain(output)
        if plain is not None:
            return self._exact(plain, figures(self.plan.statistics.index(plain)))
        chosen = self._quantile(output)
        if chosen is not None:
            low = pl.Series(output.name, [one for _, one, _ in chosen], dtype=pl.Float64)
            high = pl.Series(output.name, [one for _, _, one in chosen], dtype=pl.Float64)
            return low, high, (high - low) / WIDTH
        return self._drawn(output)

    def _place(self, output: OutputColumn) -> int | None:
        scalar = output.scalar
        names = [aggregate_name(place) for place in range(len(self.plan.question.aggregates))]
        return names.index(scalar.name) if isinstance(scalar, ScalarColumn) and scalar.name in names else None

    def _plain(self, output: OutputColumn) -> Statistic | None:
        """Of a count or a sum by itself."""
        place = self._place(output)
        if place is None or len(self.plan.ingredients[place].statistics) != 1:
            return None
        return self.plan.ingredients[place].statistics[0]

    def _exact(self, statistic: Statistic, figures: Figures) -> tuple[pl.Series, pl.Series, pl.Series]:
        """From what is known of the noise of sums of so many groups."""
        noise, sizes = self.plan.noise(statistic), self.rows.sizes
        widths = {int(size): noise.half_width_of_sum(int(size), CONFIDENCE) for size in np.unique(sizes)}
        reach = np.asarray([widths[int(size)] for size in sizes])
        ends = [(figures - reach) * statistic.step, (figures + reach) * statistic.step]
        if self.plan.question.non_negative and statistic.kind is not StatisticKind.TOTAL:
            ends = [np.maximum(one, 0.0) for one in ends]
        low, high = (pl.Series("end", one, dtype=pl.Float64) for one in ends)
        return low, high, pl.Series("error", noise.standard_error * statistic.step * np.sqrt(sizes), dtype=pl.Float64)

    def _quantile(self, output: OutputColumn) -> list[tuple[float, float, float]] | None:
        place = self._place(output)
        quantile = None if place is None else self.plan.ingredients[place].quantile
        return None if quantile is None else self.noisy.quantiles[self.plan.quantiles.index(quantile)]

    def _around(self, chosen: list[_Interval], draws: int, place: int) -> list[_Interval]:
        """Quantiles as if drawn anew: about as far off as their intervals are wide."""
        rows = np.arange(len(chosen) * draws, dtype=np.uint64)
        far = Randomness().stream("spread of quantiles").gaussian(rows, lane=place).reshape(-1, draws)
        return [
            (min(max(point + (high - low) / WIDTH * float(one), low), high), low, high)
            for (point, low, high), drawn in zip(chosen, far, strict=True)
            for one in drawn
        ]

    def _drawn(self, output: OutputColumn) -> tuple[pl.Series, pl.Series, pl.Series]:
        groups, cells = len(self.rows.sizes), len(self.rows.rows_of_cells[0])
        draws = max(100, min(DRAWS, MOST_DRAWN // max(1, groups, cells)))
        stream = Randomness().stream("spread")

        def figures(place: int) -> Figures:
            noise = self.plan.noise(self.plan.statistics[place])
            rows = np.arange(cells * draws, dtype=np.uint64)
            around = np.repeat(np.asarray(self.noisy.statistics[place], dtype=float), draws)
            if isinstance(noise, LaplaceNoise):
                chance = stream.uniform(rows, lane=place) - 0.5
                drawn = -np.sign(chance) * np.log1p(-2 * np.abs(chance))
            else:
                drawn = stream.gaussian(rows, lane=place)
            return self.rows.summed((around + noise.scale * drawn).reshape(cells, draws)).ravel()

        group = np.repeat(np.arange(groups), draws)
        repeated = NoisyFigures(
            self.base,
            tuple([] for _ in self.noisy.statistics),
            tuple(self._around(chosen, draws, place) for place, chosen in enumerate(self.noisy.quantiles)),
        )
        wanted = frozenset(columns_in(output.scalar))
        made = _aggregates(self.plan, repeated, figures, figures, wanted)
        frame = pl.DataFrame([pl.Series("\x00group", group), *made])
        keys = [name for name in self.base.columns if name in wanted]
        frame = pl.concat([frame, self.base.select(keys)[group]], how="horizontal") if keys else frame
        drawn = frame.with_columns(expression(output.scalar).cast(pl.Float64).alias("\x00value"))
        # by the rank among draws beyond which one more of them would lie so often: few draws give no narrower intervals
        tail = max(0.0, ((1 - CONFIDENCE) / 2 * (draws + 1) - 1) / (draws - 1))
        value = pl.col("\x00value")
        found = drawn.group_by("\x00group").agg(
            value.quantile(tail, "linear").alias("low"),
            value.quantile(1 - tail, "linear").alias("high"),
            value.std().alias("error"),
        )
        found = found.sort("\x00group")
        return found["low"], found["high"], found["error"]
