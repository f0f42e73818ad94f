"""Differentially private synthesis by noisy counts of pairs of columns and the distribution of largest entropy.

Codes of each column are public or found within the budget (``domain_discovery``); then the pairs of columns that the
model knows least of are counted with noise, one after the other (``marginal_selection``); the model is the distribution
of largest entropy that agrees with all noisy counts (``graphical_model``). Records are drawn from it, never from the
table, so all that follows the counts costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.thread_limits import one_blas_thread
from shoal.randomness import Randomness
from shoal.synth.column_codes import CategoryCodes, NumberCodes
from shoal.synth.constraints import LookUp
from shoal.synth.graphical_model.drawing import drawn
from shoal.synth.graphical_model.junction_tree import CalibratedTree, JunctionTree, Scope, Table, TreeEdge
from shoal.synth.marginal_selection import SelectionTask, measured
from shoal.synth.method import (
    Arrays,
    FitOptions,
    GuaranteeStatement,
    SynthesisMethod,
    SynthesisModel,
    in_blocks,
    synthesis_methods,
)
from shoal.synth.private_coding import PrivateCoding, PrivateTable, SynthesisBudget, private_table

_NAME: Final = "marginals"
_PAIRED: Final = 64
"""Columns that are modelled together; further ones are drawn by themselves."""
_OUTSIDE: Final = 0.3
"""The weight of a pair that the workload has no use for."""


@dataclass(frozen=True)
class MeasuredPair:
    """What was counted: which columns, into how many cells, with how much noise."""

    columns: tuple[str, ...]
    cells: int
    scale: float


@dataclass(frozen=True)
class MarginalsModel:
    """A distribution over groups of codes, and how these become records. All of it may be published."""

    coding: PrivateCoding
    tree: CalibratedTree
    together: tuple[int, ...]
    """The places of the columns that the tree is about; the others are drawn by themselves."""
    pairs: tuple[MeasuredPair, ...]
    records: float
    budget: SynthesisBudget
    method: str = _NAME

    def sample(self, rows: int, randomness: Randomness, first: int = 0) -> pl.DataFrame:
        return in_blocks(self._block, rows, randomness, first)

    def _block(self, rows: int, randomness: Randomness, first: int) -> pl.DataFrame:
        groups = np.zeros((rows, len(self.coding.attributes)), dtype=np.int64)
        groups[:, self.together] = drawn(self.tree, rows, randomness.stream("synth", _NAME), first=first)
        for place in sorted(set(range(groups.shape[1])) - set(self.together)):
            counts = self.coding.attributes[place].counts
            alone = JunctionTree.over((len(counts),), [(0,)]).calibrated({(0,): np.log(np.maximum(counts, 1e-9))})
            groups[:, place] = drawn(alone, rows, randomness.stream("synth", _NAME, str(place)), first=first)[:, 0]
        return self.coding.decode(groups, randomness, first)

    def inspect(self) -> dict[str, Any]:
        seen = [{"columns": list(one.columns), "cells": one.cells, "noise": round(one.scale, 2)} for one in self.pairs]
        budget = self.budget.model_dump(mode="json")
        alone = [name for place, name in enumerate(self.coding.names) if place not in self.together]
        about = {"method": _NAME, "records": round(self.records), "budget": budget, "pairs": seen, "alone": alone}
        return about | self.coding.described()

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        state, arrays = self.coding.saved()
        tree = self.tree.tree
        arrays |= {f"clique{place}": one for place, one in enumerate(self.tree.marginals)}
        edges = [[edge.child, edge.parent, list(edge.separator)] for edge in tree.edges]
        about = {"sizes": list(tree.sizes), "cliques": [list(one) for one in tree.cliques], "edges": edges}
        pairs = [[list(one.columns), one.cells, one.scale] for one in self.pairs]
        more = {
            "together": list(self.together),
            "pairs": pairs,
            "records": self.records,
            "log": self.tree.log_partition,
        }
        return {"table": state, "tree": about, "budget": self.budget.model_dump(mode="json"), **more}, arrays


def _load(state: Mapping[str, Any], arrays: Arrays) -> MarginalsModel:
    about = state["tree"]
    cliques = tuple(tuple(one) for one in about["cliques"])
    edges = tuple(TreeEdge(child, parent, tuple(separator)) for child, parent, separator in about["edges"])
    tables: list[NDArray[Any]] = [arrays[f"clique{place}"] for place in range(len(cliques))]
    tree = JunctionTree(tuple(about["sizes"]), cliques, edges)
    return MarginalsModel(
        PrivateCoding.loaded(state["table"], arrays),
        CalibratedTree(tree, state["log"], tuple(tables)),
        tuple(state["together"]),
        tuple(MeasuredPair(tuple(columns), cells, scale) for columns, cells, scale in state["pairs"]),
        state["records"],
        SynthesisBudget.model_validate(state["budget"]),
    )


@one_blas_thread
def fit_marginals(frame: pl.DataFrame, options: FitOptions) -> MarginalsModel:
    table = private_table(frame, options)
    together = _together(table, options)
    at = {place: own for own, place in enumerate(together)}
    found = measured(
        SelectionTask(
            codes=table.codes[:, together],
            attributes=tuple(table.coding.attributes[place] for place in together),
            records=table.records,
            rho=table.rho_left,
            rows_per_person=table.budget.rows_per_person,
            weights=_weights(table, options, at),
            required=tuple(tuple(sorted(at[one] for one in pair)) for pair in _tied(table, options)),
            monitor=options.monitor,
        )
    )
    names = [table.coding.names[place] for place in together]
    pairs = [
        MeasuredPair(tuple(names[place] for place in one.scope), one.counts.size, one.scale)
        for one in found.marginals
        if len(one.scope) > 1
    ]
    look_ups = {
        name: looked_up(table.coding, pair, found.model.counts(tuple(at[one] for one in pair)))
        for name, pair in _dependents(table, options).items()
    }
    return MarginalsModel(
        table.coding.with_look_ups(look_ups), found.model.tree, together, tuple(pairs), table.records, table.budget
    )


def _together(table: PrivateTable, options: FitOptions) -> tuple[int, ...]:
    """Columns of the workload, of targets and of constraints first, then as they come."""
    ties = [(one.determinant, one.dependent) for one in options.description.constraints.dependencies]
    asked = [place for one in table.places([*ties, *options.workload, options.targets]) for place in one]
    wanted = dict.fromkeys([*asked, *range(len(table.coding.attributes))])
    return tuple(sorted(list(wanted)[:_PAIRED]))


def _dependents(table: PrivateTable, options: FitOptions) -> dict[str, Scope]:
    ties = options.description.constraints.dependencies
    known = {name: place for place, name in enumerate(table.coding.names)}
    return {
        one.dependent: (known[one.determinant], known[one.dependent])
        for one in ties
        if one.determinant in known and one.dependent in known
    }


def _tied(table: PrivateTable, options: FitOptions) -> Sequence[Scope]:
    return tuple(_dependents(table, options).values())


def _weights(table: PrivateTable, options: FitOptions, at: Mapping[int, int]) -> dict[Scope, float]:
    """Pairs within the workload's sets, or with a target, count in full; all others less, where anything was said."""
    if not (options.workload or options.targets):
        return {}
    targets = {place for one in table.places([options.targets]) for place in one}
    sets = [set(one) for one in table.places(options.workload)]
    return {
        (at[first], at[second]): 1.0
        if targets & {first, second} or any({first, second} <= one for one in sets)
        else _OUTSIDE
        for first, second in combinations(sorted(at), 2)
    }


def looked_up(coding: PrivateCoding, pair: Scope, counts: Table) -> LookUp:
    """For each name of the determinant, the dependent that the model has most often with it."""
    (first, determinant), (second, dependent) = (
        (coding.attributes[place], coding.coding.codes[coding.names[place]]) for place in pair
    )
    by_code = second.groups.spread(first.groups.spread(counts, 0), 1) * second.shares
    values = _values(dependent)
    best = [values[int(code)] for code in by_code.argmax(axis=1)]
    overall = values[int(by_code.sum(axis=0).argmax())]
    names: Sequence[str] = determinant.names if isinstance(determinant, CategoryCodes) else ()
    places = determinant.codes if isinstance(determinant, CategoryCodes) else ()
    return LookUp(
        determinant=coding.names[pair[0]],
        stepped=isinstance(dependent, NumberCodes),
        determinants=tuple(names),
        dependents=tuple(best[place + determinant.missing] for place in places),
        otherwise=overall,
        of_missing=best[0] if determinant.missing else overall,
    )


def _values(codes: NumberCodes | CategoryCodes) -> list[str | int | None]:
    """One for each code: of a range its middle, of a group its first name."""
    missing: list[str | int | None] = [None] * codes.missing
    if isinstance(codes, NumberCodes):
        middles = [low + (high - low) // 2 for low, high in zip(codes.lows, codes.highs, strict=True)]
        return [*missing, *codes.special, *middles]
    firsts: dict[int, str] = {}
    for name, code in zip(codes.names, codes.codes, strict=True):
        firsts.setdefault(code, name)
    return [*missing, *firsts.values()]


def _guarantee(_options: FitOptions, model: SynthesisModel) -> GuaranteeStatement:
    if not isinstance(model, MarginalsModel):
        raise TypeError("a model of another method")
    return model.budget.guarantee()


synthesis_methods.add(_NAME, SynthesisMethod(fit_marginals, _load, _guarantee, is_private=True))
