"""Differentially private synthesis by a Bayesian network (after PrivBayes: Zhang and others 2017): the quick way.

Columns are put in an order; each gets up to two parents among those before it, chosen by how much its counts together
with them differ from independence; a noisy table of each column with its parents is what is drawn from.

A score compares counts c(x, π) with p(x)·c(π), where p is known from noisy counts of the single column. A record more
adds 1 to one cell of the first and spreads 1 over cells of the second, so a score changes by at most 2 a record, for
whatever number of records there are. That bounds the choice; one record adds 1 to one cell of each table, which bounds
the noise. Both are sized in zCDP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import pi, prod, sqrt
from typing import Any, Final

import numpy as np
import polars as pl

from shoal.dp.opendp_measurements import ConcentratedChoice, GaussianNoise
from shoal.kernels.arrays import Floats, Integers
from shoal.randomness import Randomness
from shoal.synth.graphical_model.drawing import systematic
from shoal.synth.graphical_model.junction_tree import Scope
from shoal.synth.method import (
    Arrays,
    FitOptions,
    GuaranteeStatement,
    SynthesisMethod,
    SynthesisModel,
    in_blocks,
    synthesis_methods,
)
from shoal.synth.methods.marginals import looked_up
from shoal.synth.private_coding import PrivateCoding, PrivateTable, SynthesisBudget, private_table

_NAME: Final = "network"
_CHOOSING: Final = 0.2
"""Of what is left after single columns, the share for choosing parents."""
_MOST_CELLS: Final = 20_000
_PAIRS_UNTIL: Final = 24
"""Columns up to which two parents are tried; wider tables get one each."""
_GRAIN: Final = 16
_MEAN_NOISE: Final = sqrt(2 / pi)
_BESIDE: Final = 4


@dataclass(frozen=True)
class ConditionalCounts:
    """One column given its parents: a row of shares for each combination of the parents' groups."""

    column: int
    parents: Scope
    shares: Floats
    scale: float


@dataclass(frozen=True)
class NetworkModel:
    """Columns in the order in which they are drawn. All of it may be published."""

    coding: PrivateCoding
    tables: tuple[ConditionalCounts, ...]
    records: float
    budget: SynthesisBudget
    method: str = _NAME

    def sample(self, rows: int, randomness: Randomness, first: int = 0) -> pl.DataFrame:
        return in_blocks(self._block, rows, randomness, first)

    def _block(self, rows: int, randomness: Randomness, first: int) -> pl.DataFrame:
        stream = randomness.stream("synth", _NAME)
        places = np.arange(first, first + rows, dtype=np.uint64)
        groups = np.zeros((rows, len(self.tables)), dtype=np.int64)
        done: list[int] = []
        for lane, table in enumerate(self.tables):
            sizes = [self.coding.attributes[one].groups.size for one in table.parents]
            within = _cells(groups, table.parents, sizes)
            beside = [groups[:, one] for one in done if one not in table.parents][-_BESIDE:]
            groups[:, table.column] = systematic(table.shares, within, stream, places, lane, beside)
            done.append(table.column)
        return self.coding.decode(groups, randomness, first)

    def inspect(self) -> dict[str, Any]:
        names = self.coding.names
        order = [
            {"column": names[one.column], "parents": [names[at] for at in one.parents], "noise": round(one.scale, 2)}
            for one in self.tables
        ]
        about = {"method": _NAME, "records": round(self.records), "budget": self.budget.model_dump(mode="json")}
        return about | {"order": order} | self.coding.described()

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        state, arrays = self.coding.saved()
        arrays |= {f"table{place}": one.shares for place, one in enumerate(self.tables)}
        order = [[one.column, list(one.parents), one.scale] for one in self.tables]
        budget = self.budget.model_dump(mode="json")
        return {"table": state, "order": order, "records": self.records, "budget": budget}, arrays


def _load(state: Mapping[str, Any], arrays: Mapping[str, Any]) -> NetworkModel:
    tables = [
        ConditionalCounts(column, tuple(parents), arrays[f"table{place}"], scale)
        for place, (column, parents, scale) in enumerate(state["order"])
    ]
    budget = SynthesisBudget.model_validate(state["budget"])
    return NetworkModel(PrivateCoding.loaded(state["table"], arrays), tuple(tables), state["records"], budget)


def fit_network(frame: pl.DataFrame, options: FitOptions) -> NetworkModel:
    table = private_table(frame, options)
    tied = {
        one.dependent: one.determinant
        for one in options.description.constraints.dependencies
        if {one.dependent, one.determinant} <= set(table.coding.names)
    }
    at = table.coding.names.index
    growing = _Growing(table, options, {at(one): at(by) for one, by in tied.items()})
    tables = growing.run()
    look_ups = {
        table.coding.names[one.column]: looked_up(
            table.coding, (one.parents[0], one.column), one.shares * growing.expected(one.parents)
        )
        for one in tables
        if table.coding.names[one.column] in tied
    }
    return NetworkModel(table.coding.with_look_ups(look_ups), tuple(tables), table.records, table.budget)


class _Growing:
    """Columns join the network one after the other."""

    def __init__(self, table: PrivateTable, options: FitOptions, tied: Mapping[int, int]) -> None:
        self._table, self._options, self._tied = table, options, tied
        self._attributes = table.coding.attributes
        self._sizes = [one.groups.size for one in self._attributes]
        self._most = table.budget.rows_per_person
        width = max(1, len(self._sizes) - 1)
        self._choosing = _CHOOSING * table.rho_left / width
        self._noise = GaussianNoise(float(self._most), (1 - _CHOOSING) * table.rho_left / width)
        self._shares = [np.maximum(one.counts, 1e-9) / np.maximum(one.counts, 1e-9).sum() for one in self._attributes]
        self._scores: dict[tuple[int, Scope], int] = {}

    def run(self) -> list[ConditionalCounts]:
        """Starts with the column that has most groups, unless it is looked up: its own table needs no more noise."""
        if not self._sizes:
            return []
        free = [place for place in range(len(self._sizes)) if place not in self._tied]
        first = max(free or [0], key=lambda place: (self._sizes[place], -place))
        found = [ConditionalCounts(first, (), self._shares[first][None], self._attributes[first].scale)]
        while len(found) < len(self._sizes):
            self._options.monitor.cancel.check()
            done = [one.column for one in found]
            self._score(done)
            column, parents = self._chosen(done)
            found.append(self._measured(column, parents))
        return found

    def expected(self, parents: Scope) -> Floats:
        """About how many records each combination of parents has, as far as single columns tell: to weigh rows by."""
        return self._shares[parents[0]][:, None] * self._table.records if len(parents) == 1 else np.ones((1, 1))

    def _candidates(self, done: list[int]) -> Iterator[tuple[int, Scope]]:
        newest, before = done[-1], done[:-1]
        for column in sorted(set(range(len(self._sizes))) - set(done)):
            if column in self._tied:
                if self._tied[column] == newest:
                    yield column, (newest,)
                continue
            yield column, (newest,)
            if len(self._sizes) <= _PAIRS_UNTIL:
                yield from ((column, tuple(sorted((newest, other)))) for other in before)

    def _score(self, done: list[int]) -> None:
        for column, parents in self._candidates(done):
            cells = self._sizes[column] * prod(self._sizes[one] for one in parents)
            if len(parents) == 1 or cells <= _MOST_CELLS:
                counts = self._counted(column, parents)
                apart = counts - counts.sum(axis=1, keepdims=True) * self._shares[column]
                told = float(np.abs(apart).sum()) - _MEAN_NOISE * self._noise.scale * cells
                self._scores[column, parents] = round(_GRAIN * told)

    def _chosen(self, done: list[int]) -> tuple[int, Scope]:
        open_ = [one for one in self._scores if one[0] not in done]
        choice = ConcentratedChoice(2 * self._most * _GRAIN + 1, self._choosing)
        return open_[choice.chosen([self._scores[one] for one in open_])]

    def _counted(self, column: int, parents: Scope) -> Integers:
        """Exact: rows are combinations of parents."""
        sizes = [self._sizes[one] for one in parents]
        cells = _cells(self._table.codes, parents, sizes) * self._sizes[column] + self._table.codes[:, column]
        rows = prod(sizes)
        return np.bincount(cells, minlength=rows * self._sizes[column]).reshape(rows, self._sizes[column])

    def _measured(self, column: int, parents: Scope) -> ConditionalCounts:
        counts = self._counted(column, parents)
        noisy = np.asarray(self._noise.add(counts.ravel().tolist()), dtype=np.float64).reshape(counts.shape)
        return ConditionalCounts(
            column, parents, _conditional(noisy, self._shares[column], self._noise.scale), self._noise.scale
        )


def _conditional(noisy: Floats, single: Floats, scale: float) -> Floats:
    """Shares by row. A row of few records is drawn towards the single column, the more so the more noise it has."""
    clipped = np.maximum(noisy, 0)
    lacking = scale * sqrt(noisy.shape[1])
    rows = clipped.sum(axis=1, keepdims=True)
    shrunk: Floats = (clipped + lacking * single) / (rows + lacking)
    return shrunk


def _cells(codes: Integers, scope: Scope, sizes: list[int]) -> Integers:
    found = np.zeros(len(codes), dtype=np.int64)
    for place, size in zip(scope, sizes, strict=True):
        found = found * size + codes[:, place]
    return found


def _guarantee(_options: FitOptions, model: SynthesisModel) -> GuaranteeStatement:
    if not isinstance(model, NetworkModel):
        raise TypeError("a model of another method")
    return model.budget.guarantee()


synthesis_methods.add(_NAME, SynthesisMethod(fit_network, _load, _guarantee, is_private=True))
