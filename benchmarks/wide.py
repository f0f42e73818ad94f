"""Tables of many quasi-identifiers, and a yardstick for heuristics on lattices that are too large to be searched whole.

The yardstick is the top-down search that ARX offers for such lattices (Prasser, Eicher, Spengler, Bild and Kuhn 2020),
written from its description: a queue of nodes that meet the models, the best first; the best is taken out, and all
nodes one level below it are looked at. It ends when it may look no further.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np
import polars as pl

from shoal.privacy import PrivacyModel
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, SensitiveAttribute, build_problem
from shoal.solve.global_recoding.node_evaluation import NodeEvaluator
from shoal.solve.rollup import Node, Rollup
from shoal.solve.utility import make_utility

ADULT_ROWS = 30_000


def adult_24(shared: Path) -> pl.DataFrame:
    """Adult's nine columns and fifteen that follow from them: pairs of columns, and one shifted by another."""
    table = pl.read_csv(shared / "data" / "adult" / "adult.csv", separator=";", infer_schema=False).head(ADULT_ROWS)
    codes = {name: table[name].rank("dense").to_numpy().astype(np.int64) - 1 for name in table.columns}
    names = list(codes)
    derived = {}
    for place in range(15):
        one, other = codes[names[place % 9]], codes[names[(place * 4 + 2) % 9]]
        size = int(one.max()) + 1
        mixed = one * 7 + other * (place + 3)
        derived[f"d{place:02}"] = (mixed + mixed // 11) % max(3, min(size, 30))
    return pl.DataFrame({**codes, **derived})


def fars_20(shared: Path, rows: int = 20_000) -> pl.DataFrame:
    """FARS' eight columns and twelve that follow from them."""
    table = pl.read_csv(shared / "data" / "fars" / "fars.csv", separator=";", infer_schema=False).gather_every(5)
    codes = {name: table[name].rank("dense").to_numpy().astype(np.int64)[:rows] - 1 for name in table.columns}
    names = list(codes)
    derived = {}
    for place in range(12):
        one, other = codes[names[place % 8]], codes[names[(place * 3 + 1) % 8]]
        derived[f"d{place:02}"] = (one * 5 + other * (place + 2)) % (3 + 2 * place)
    return pl.DataFrame({**codes, **derived})


def survey(shared: Path, file: str, columns: int) -> pl.DataFrame:
    """The first columns of one of sdcMicro's tables, as places in their order."""
    table = pl.read_csv(shared / "data" / "sdcmicro" / file, infer_schema=False, null_values=["NA", ""])
    return pl.DataFrame(
        {
            name: table[name].fill_null("").rank("dense").to_numpy().astype(np.int64) - 1
            for name in table.columns[:columns]
        }
    )


def halved(
    table: pl.DataFrame, models: Sequence[PrivacyModel], *, limit: float, sensitive: str | None = None
) -> Problem:
    """Every column but the sensitive one is a quasi-identifier; its levels halve the places of its values."""
    quasi = tuple(name for name in table.columns if name != sensitive)
    names = (*quasi, *((sensitive,) if sensitive else ()))
    counts = Counts.from_frame(table.group_by(names).len("n"), names, "n")
    ladders = [_halving(name, counts.values_of(name).to_numpy()) for name in quasi]
    known = {sensitive: SensitiveAttribute(np.arange(len(counts.values_of(sensitive))))} if sensitive else {}
    return build_problem(counts, ladders, models, sensitive=known, suppression_limit=limit)


def _halving(name: str, values: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Ladder:
    places = np.unique(values, return_inverse=True)[1].astype(np.int64)
    groups = [places]
    while groups[-1].max(initial=0):
        groups.append(groups[-1] >> 1)
    size = len(values)
    losses = [(np.bincount(each)[each] - 1) / max(1, size - 1) for each in groups]
    losses[-1] = np.ones(size)
    if len(groups) == 1:
        groups, losses = [places, places], [np.zeros(size), np.ones(size)]
    return Ladder(name, tuple(groups), tuple(losses), 0, len(groups) - 1, size)


def top_down(problem: Problem, utility: str, looks: int) -> float:
    """The best cost that the yardstick finds with so many looks at nodes."""
    measure = make_utility(utility, problem)
    judge, rollup = NodeEvaluator(problem, measure), Rollup(problem)
    top: Node = tuple(ladder.highest for ladder in problem.ladders)
    lowest = tuple(ladder.lowest for ladder in problem.ladders)

    def cost(node: Node) -> float:
        table = rollup.at(node)
        found = judge.evaluate(table, judge.candidates(table, judge.too_small(table)))
        return min((evaluation.value for evaluation in found if evaluation.suppressed <= problem.allowed), default=inf)

    best = cost(top)
    seen, queue = {top}, [(best, top)]
    while queue and len(seen) < looks:
        _, node = heapq.heappop(queue)
        for place, low in enumerate(lowest):
            below = (*node[:place], node[place] - 1, *node[place + 1 :])
            if node[place] > low and below not in seen and len(seen) < looks:
                seen.add(below)
                value = cost(below)
                best = min(best, value)
                if value < inf:
                    heapq.heappush(queue, (value, below))
    return best
