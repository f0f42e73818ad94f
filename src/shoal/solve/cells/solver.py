"""Local suppression and local generalisation (ISO/IEC 20889, 9.3.3 and 9.6.5): only rare combinations lose cells.

Global recoding coarsens a whole column because of a few rare people. Here the combinations that already sit in a class
that holds stay as they are, and the others lose as few cells as possible, weighted: with w(a) the weight of attribute
a, n(i) the records of combination i and c the price of a cell, the search keeps

    Σ n(i) · w(a) · c(i, a)

small. For `solve_cells` a cell is left alone (c = 0) or becomes ``*`` (c = 1); for `solve_rare` it may go to any level
of its ladder, and c is the loss of that level. A heavier attribute is therefore given up later.

It protects because every released row, stars included, shares *exactly* its released cells with a class that meets all
models: ``*`` counts as a value of its own. That is stricter than the reading of sdcMicro, where a star matches any
value, so that one star can make several classes larger at once. That reading (`solve_wildcards`) takes fewer stars, but
whoever knows that only rare values are starred can tell the rows apart again. A row with nothing but stars is a
suppressed record: it is in no class and counts towards the suppression limit.

Finding the fewest stars is NP-hard. The search is greedy with rounds of improvement (`cells_patterns`,
`cells_regroup`), so the solution is small, seldom provably the smallest. When fewer records may be suppressed than are
left alone in the end, these are merged with their nearest classes; only then does a safe combination lose cells too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.schema.progress import Progress
from shoal.solve.blas_threads import one_blas_thread
from shoal.solve.cells.patterns import pattern_count, settle_by_chain, settle_by_pattern
from shoal.solve.cells.regrouping import join_nearest, put_back, regroup
from shoal.solve.cells.table import CellTable
from shoal.solve.cells.verification import verified
from shoal.solve.ladder import Ladder
from shoal.solve.problem import Problem
from shoal.solve.solution import Solution
from shoal.solve.truthful_labels import truthful

ROUNDS = 3
"""Rounds of regrouping; later ones gain next to nothing."""

Prices = Floats


@one_blas_thread
def solve_cells(problem: Problem, *, progress: Progress | None = None) -> Solution:
    """Stars in the rare combinations only, as few as the search finds, the least important attributes first.

    ``Solution.cells`` has 0 (or the lowest level that the policy allows) for a cell left alone and the top for ``*``.
    An attribute whose top level the policy rules out is never starred.
    """
    return _solve(problem, _star_levels, _star_prices, "cells", progress)


@one_blas_thread
def solve_rare(problem: Problem, *, progress: Progress | None = None) -> Solution:
    """The cells of rare combinations only go up their ladders, each as far as it needs."""
    return _solve(problem, _all_levels, _loss_prices, "rare", progress)


def _star_levels(ladder: Ladder) -> list[int]:
    starred = ladder.highest == ladder.height > ladder.lowest
    return [ladder.lowest, ladder.height] if starred else [ladder.lowest]


def _all_levels(ladder: Ladder) -> list[int]:
    return list(range(ladder.lowest, ladder.highest + 1))


def _star_prices(ladder: Ladder, weight: float) -> Prices:
    prices = np.zeros((ladder.highest + 1, len(ladder.groups[0])))
    prices[_star_levels(ladder)[1:]] = weight
    return prices


def _loss_prices(ladder: Ladder, weight: float) -> Prices:
    return weight * np.stack(ladder.losses)


def _solve(
    problem: Problem,
    levels: Callable[[Ladder], Sequence[int]],
    prices: Callable[[Ladder, float], Prices],
    recoding: str,
    progress: Progress | None,
) -> Solution:
    priced = [prices(ladder, weight) for ladder, weight in zip(problem.ladders, problem.weights, strict=True)]
    table = CellTable(problem, [levels(ladder) for ladder in problem.ladders], priced)
    untouched = not len(table.unsettled)
    checked = 1 if untouched else _search(table, progress)
    shown = truthful(problem, table.levels, table.settled)
    return verified(
        problem,
        shown,
        table.settled,
        recoding=recoding,
        prices=table.paid + table.prices_of(shown) - table.prices_of(table.levels),
        nodes=(pattern_count(table), checked),
        optimal=untouched,
    )


def _search(table: CellTable, progress: Progress | None) -> int:
    checked = settle_by_pattern(table, progress)
    settle_by_chain(table)
    for _ in range(ROUNDS):
        if not regroup(table):
            break
    join_nearest(table, table.problem.allowed)
    put_back(table)
    return checked
