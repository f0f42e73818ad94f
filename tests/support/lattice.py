"""Brute force over the generalisation lattice: every node worked out combination by combination, in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import floor, inf, log2, prod

import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.privacy import PrivacyModel, kept_by
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, SensitiveAttribute, solve_lattice
from shoal.solve.population_join import join_population

SENSITIVE = "s"
Cells = tuple[int, ...]


def nested_ladder(draw: st.DrawFn, name: str, size: int) -> Ladder:
    """A random nested hierarchy over ``size`` values: each level merges some groups of the one below."""
    groups = [np.arange(size, dtype=np.int64)]
    for _ in range(draw(st.integers(0, 2))):
        merge = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
        _, merged = np.unique(merge[groups[-1]], return_inverse=True)
        groups.append(merged.astype(np.int64))
    groups.append(np.zeros(size, dtype=np.int64))
    losses = [(np.bincount(group)[group] - 1) / max(1, size - 1) for group in groups]
    losses[-1] = np.ones(size)
    height = len(groups) - 1
    lowest = draw(st.integers(0, min(1, height - 1)))
    highest = draw(st.sampled_from([height] * 3 + list(range(lowest, height))))
    weight = draw(st.sampled_from([1.0, 2.5]))
    return Ladder(name, tuple(groups[: highest + 1]), tuple(losses[: highest + 1]), lowest, height, size, weight)


@st.composite
def problems(
    draw: st.DrawFn, models: Sequence[PrivacyModel], *, population: bool = False, most_rows: int = 30
) -> Problem:
    """Up to three quasi-identifiers, one sensitive attribute; people with several records; a population if wanted."""
    sizes = [draw(st.integers(1, 4)) for _ in range(draw(st.integers(1, 3)))]
    quasi = tuple(f"q{place}" for place in range(len(sizes)))
    combination = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    rows = [draw(st.tuples(combination, st.integers(0, 2))) for _ in range(draw(st.integers(1, most_rows)))]
    counts = _counts(draw, [(*cells, value) for cells, value in rows], (*quasi, SENSITIVE))
    combinations, where = counts.project(quasi)
    known = None
    if population:
        others = [draw(combination) for _ in range(draw(st.integers(0, most_rows)))]
        beside = _table([cells for cells, _ in rows] + others, quasi)
        joined = join_population(combinations, beside)
        combinations, known, where = joined.counts, joined.population, joined.place[where]
    ladders = [nested_ladder(draw, name, len(combinations.values_of(name))) for name in quasi]
    values = len(counts.values_of(SENSITIVE))
    tree = (np.minimum(np.arange(values), 1), np.zeros(values, dtype=np.int64))
    numbers = counts.values_of(SENSITIVE).to_numpy() ** 2 * 10.0
    tallies = {SENSITIVE: SensitiveAttribute(np.arange(values), tree, numbers).tally(counts, where, SENSITIVE)}
    limit = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    return Problem(combinations, ladders, models, tallies, known, limit)


def _table(rows: Sequence[Cells], names: tuple[str, ...]) -> Counts:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    return Counts.from_frame(frame.group_by(names).agg(pl.len().alias("n")), names, "n")


def _counts(draw: st.DrawFn, rows: Sequence[Cells], names: tuple[str, ...]) -> Counts:
    if not draw(st.booleans()):
        return _table(rows, names)
    people = draw(st.lists(st.integers(0, 20), min_size=len(rows), max_size=len(rows)))
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    pairs = frame.with_columns(pl.Series("who", people)).group_by(*names, "who").agg(pl.len().alias("n"))
    return Counts.from_pairs(pairs, names, "who", "n")


@dataclass(frozen=True)
class Released:
    """A node worked out combination by combination: the cells of each, and whether it is kept."""

    problem: Problem
    node: tuple[int, ...]
    cells: Sequence[Cells]
    kept: Sequence[bool]

    @property
    def rows(self) -> Iterator[tuple[Cells, Cells, bool, int]]:
        """Codes, released cells, whether kept, records; without combinations that only a population has."""
        codes = (tuple(int(code) for code in row) for row in self.problem.counts.codes)
        rows = zip(codes, self.cells, self.kept, self.problem.counts.records.tolist(), strict=True)
        return (row for row in rows if row[-1])

    @property
    def suppressed(self) -> int:
        return sum(records for _, _, kept, records in self.rows if not kept)

    @property
    def feasible(self) -> bool:
        return self.suppressed <= floor(self.problem.suppression_limit * self.problem.records + 1e-9)

    @property
    def weights(self) -> list[float]:
        """They add up to 1."""
        given = [ladder.weight for ladder in self.problem.ladders]
        return [weight / sum(given) for weight in given]

    def mean(self, cost: Callable[[int, int], float]) -> float:
        """Over all cells; ``cost(place, code)`` is what a kept one costs."""
        total = 0.0
        for codes, _, kept, records in self.rows:
            for place, code in enumerate(codes):
                total += self.weights[place] * records * (cost(place, code) if kept else 1.0)
        return total / self.problem.records


def loss(released: Released) -> float:
    ladders, node = released.problem.ladders, released.node
    return released.mean(lambda place, code: float(ladders[place].losses[node[place]][code]))


def precision(released: Released) -> float:
    ladders, node = released.problem.ladders, released.node
    return released.mean(lambda place, _: node[place] / ladders[place].height)


def geometric_loss(released: Released) -> float:
    problem = released.problem
    factors = []
    for place, ladder in enumerate(problem.ladders):
        share = (ladder.losses[released.node[place]] * (ladder.leaves - 1) + 1) / ladder.leaves
        summed = sum(records * (share[codes[place]] if kept else 1.0) for codes, _, kept, records in released.rows)
        least = problem.records / ladder.leaves
        scaled = (summed - least) / (problem.records - least) if ladder.leaves > 1 else summed / problem.records
        factors.append(float((floor(max(0.0, scaled) * 1e10) / 1e10 + 1) ** released.weights[place]))
    return prod(factors) - 1


def average_class_size(released: Released) -> float:
    classes = {cells for _, cells, kept, _ in released.rows if kept}
    return released.problem.records / (len(classes) + (released.suppressed > 0))


def discernibility(released: Released) -> float:
    sizes: Counter[Cells] = Counter()
    for _, cells, _, records in released.rows:
        sizes[cells] += records
    return float(sum(size * size for size in sizes.values()))


def entropy(released: Released) -> float:
    bits = 0.0
    for place, weight in enumerate(released.weights):
        original: Counter[int] = Counter()
        generalised: Counter[int] = Counter()
        for codes, cells, _, records in released.rows:
            original[codes[place]] += records
            generalised[cells[place]] += records
        for codes, cells, _, records in released.rows:
            hidden = log2(generalised[cells[place]] / original[codes[place]])
            bits += len(released.weights) * weight * records * hidden
    return bits


def entropy_with_suppressed(released: Released) -> float:
    bits = entropy(released)
    for place, weight in enumerate(released.weights):
        among: Counter[int] = Counter()
        for _, cells, kept, records in released.rows:
            among[cells[place]] += 0 if kept else records
        hidden = sum(n * log2(released.suppressed / n) for n in among.values() if n)
        bits += len(released.weights) * weight * hidden
    return bits


def ambiguity(released: Released) -> float:
    ladders, node = released.problem.ladders, released.node
    total = 0.0
    for codes, _, kept, records in released.rows:
        leaves = [
            ladder.losses[node[place]][codes[place]] * (ladder.leaves - 1) + 1 if kept else ladder.leaves
            for place, ladder in enumerate(ladders)
        ]
        total += records * prod(leaves)
    return total / released.problem.records


MEASURES: dict[str, Callable[[Released], float]] = {
    measure.__name__: measure
    for measure in (
        loss,
        precision,
        geometric_loss,
        average_class_size,
        discernibility,
        entropy,
        entropy_with_suppressed,
        ambiguity,
    )
}

Judge = Callable[[Problem, Sequence[Cells]], Iterable[Sequence[bool]]]
"""From the released cells of each combination to which of them are kept: all answers that would be right."""


def by_the_models(problem: Problem, cells: Sequence[Cells]) -> Iterable[Sequence[bool]]:
    """The models' own word, on classes that are grouped anew."""
    names = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
    member = np.array([names[cell] for cell in cells])
    held = kept_by(problem.models, problem.classes(member, len(names), np.array(list(names))))
    return [held[member].tolist()]


def nodes(problem: Problem) -> list[Released]:
    """All nodes, by the models' own word."""
    return [choices[0] for choices in judged(problem, by_the_models)]


def judged(problem: Problem, judge: Judge) -> list[list[Released]]:
    """All nodes, each with all that may rightly be kept there."""
    found = []
    for node in product(*(range(ladder.lowest, ladder.highest + 1) for ladder in problem.ladders)):
        cells = [
            tuple(
                int(ladder.groups[level][code]) for ladder, level, code in zip(problem.ladders, node, row, strict=True)
            )
            for row in problem.counts.codes
        ]
        found.append([Released(problem, node, cells, kept) for kept in judge(problem, cells)])
    return found


def check(problem: Problem, *utilities: str, judge: Judge = by_the_models) -> None:
    """The solver's optimum is the least of all nodes.

    Where a model leaves a choice of what to suppress, it lies between the best and the worst choice.
    """
    found = judged(problem, judge)
    for utility in utilities:
        values = [[MEASURES[utility](each) if each.feasible else inf for each in choices] for choices in found]
        least, surely = min(map(min, values)), min(map(max, values))
        try:
            solution = solve_lattice(problem, utility)
        except InfeasibleError:
            assert surely == inf
            continue
        assert least < inf
        assert least - 1e-9 * (1 + least) <= solution.objective <= surely + 1e-9 * (1 + surely)
        assert solution.optimal
        assert solution.bound == solution.objective
        assert solution.nodes_checked <= solution.nodes_total == len(found)
        (chosen,) = [choices for choices in found if choices[0].node == tuple(solution.levels.values())]
        there = np.flatnonzero(problem.counts.records)
        (kept,) = [each for each in chosen if (np.array(each.kept) != solution.withheld)[there].all()]
        assert kept.feasible
        assert kept.suppressed == solution.suppressed
        assert solution.objective == pytest.approx(MEASURES[utility](kept), rel=1e-9, abs=1e-9)
        assert solution.loss == pytest.approx(loss(kept), abs=1e-12)
