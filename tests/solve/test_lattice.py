"""The lattice search against brute force over every node, for each model and each utility measure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from math import floor, log2, prod

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import Adult
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.privacy import PrivacyModel, kept_by
from shoal.privacy.k_anonymity import KAnonymity
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, Sensitive, build_problem, solve_lattice
from shoal.solve.lattice import Search
from shoal.solve.utility import Utility, make_utility

pytestmark = pytest.mark.requirement("S-01", "S-07", "T-09")

SENSITIVE = "s"


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
    highest = draw(st.integers(lowest, height))
    weight = draw(st.sampled_from([1.0, 2.5]))
    return Ladder(name, tuple(groups[: highest + 1]), tuple(losses[: highest + 1]), lowest, height, size, weight)


@st.composite
def problems(draw: st.DrawFn, models: tuple[PrivacyModel, ...]) -> Problem:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes), st.integers(0, 2))
    rows = draw(st.lists(row, min_size=1, max_size=30))
    names = (*(f"q{place}" for place in range(len(sizes))), SENSITIVE)
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    if draw(st.booleans()):
        people = draw(st.lists(st.integers(0, 20), min_size=len(rows), max_size=len(rows)))
        pairs = frame.with_columns(pl.Series("who", people)).group_by(*names, "who").agg(pl.len().alias("n"))
        counts = Counts.from_pairs(pairs, names, "who", "n")
    else:
        counts = Counts.from_frame(frame.group_by(names).agg(pl.len().alias("n")), names, "n")
    ladders = [nested_ladder(draw, name, len(counts.values_of(name))) for name in names[:-1]]
    values = len(counts.values_of(SENSITIVE))
    known = Sensitive(np.arange(values), (np.minimum(np.arange(values), 1), np.zeros(values, dtype=np.int64)))
    limit = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    return build_problem(counts, ladders, models, sensitive={SENSITIVE: known}, suppression_limit=limit)


@dataclass
class Released:
    """A node worked out combination by combination: the cells of each, and whether it is kept."""

    problem: Problem
    node: tuple[int, ...]
    cells: list[tuple[int, ...]]
    kept: list[bool]

    @property
    def rows(self) -> list[tuple[tuple[int, ...], tuple[int, ...], bool, int]]:
        codes = [tuple(int(code) for code in row) for row in self.problem.counts.codes]
        return list(zip(codes, self.cells, self.kept, self.problem.counts.records.tolist(), strict=True))

    @property
    def suppressed(self) -> int:
        return sum(records for _, _, kept, records in self.rows if not kept)

    def mean(self, cost: object) -> float:
        weights = [ladder.weight / sum(each.weight for each in self.problem.ladders) for ladder in self.problem.ladders]
        total = 0.0
        for codes, _, kept, records in self.rows:
            for place, code in enumerate(codes):
                total += weights[place] * records * (cost(place, code) if kept else 1.0)  # type: ignore[operator]
        return total / self.problem.records


def loss(released: Released) -> float:
    ladders, node = released.problem.ladders, released.node
    return released.mean(lambda place, code: ladders[place].losses[node[place]][code])


def precision(released: Released) -> float:
    ladders, node = released.problem.ladders, released.node
    return released.mean(lambda place, _: node[place] / ladders[place].height)


def geometric_loss(released: Released) -> float:
    problem = released.problem
    weights = [ladder.weight / sum(each.weight for each in problem.ladders) for ladder in problem.ladders]
    factors = []
    for place, ladder in enumerate(problem.ladders):
        share = (ladder.losses[released.node[place]] * (ladder.leaves - 1) + 1) / ladder.leaves
        summed = sum(records * (share[codes[place]] if kept else 1.0) for codes, _, kept, records in released.rows)
        least = problem.records / ladder.leaves
        scaled = (summed - least) / (problem.records - least) if ladder.leaves > 1 else summed / problem.records
        factors.append(float((floor(max(0.0, scaled) * 1e10) / 1e10 + 1) ** weights[place]))
    return prod(factors) - 1


def average_class_size(released: Released) -> float:
    classes = {cells for _, cells, kept, _ in released.rows if kept}
    return released.problem.records / (len(classes) + (released.suppressed > 0))


def discernibility(released: Released) -> float:
    sizes: Counter[tuple[int, ...]] = Counter()
    for _, cells, _, records in released.rows:
        sizes[cells] += records
    return float(sum(size * size for size in sizes.values()))


def entropy(released: Released) -> float:
    ladders = released.problem.ladders
    mean = sum(ladder.weight for ladder in ladders) / len(ladders)
    bits = 0.0
    for place, ladder in enumerate(ladders):
        original: Counter[int] = Counter()
        generalised: Counter[int] = Counter()
        for codes, cells, _, records in released.rows:
            original[codes[place]] += records
            generalised[cells[place]] += records
        for codes, cells, _, records in released.rows:
            bits -= ladder.weight / mean * records * log2(original[codes[place]] / generalised[cells[place]])
    return bits


def entropy_with_suppressed(released: Released) -> float:
    ladders = released.problem.ladders
    mean = sum(ladder.weight for ladder in ladders) / len(ladders)
    bits = entropy(released)
    for place, ladder in enumerate(ladders):
        among: Counter[int] = Counter()
        for _, cells, kept, records in released.rows:
            among[cells[place]] += 0 if kept else records
        bits -= sum(ladder.weight / mean * n * log2(n / released.suppressed) for n in among.values() if n)
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


MEASURES = {
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


def nodes(problem: Problem) -> list[Released]:
    """All nodes, each grouped anew from the codes."""
    found = []
    for node in product(*(range(ladder.lowest, ladder.highest + 1) for ladder in problem.ladders)):
        cells = [
            tuple(
                int(ladder.groups[level][code]) for ladder, level, code in zip(problem.ladders, node, row, strict=True)
            )
            for row in problem.counts.codes
        ]
        names = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
        member = np.array([names[cell] for cell in cells])
        held = kept_by(problem.models, problem.classes(member, len(names), np.array(list(names))))
        found.append(Released(problem, node, cells, held[member].tolist()))
    return found


def check(problem: Problem, utility: str) -> None:
    allowed = floor(problem.suppression_limit * problem.records + 1e-9)
    possible = [MEASURES[utility](node) for node in nodes(problem) if node.suppressed <= allowed]
    if not possible:
        with pytest.raises(InfeasibleError):
            solve_lattice(problem, utility)
        return
    solution = solve_lattice(problem, utility)
    assert solution.objective == pytest.approx(min(possible), rel=1e-9, abs=1e-9)
    assert solution.optimal
    assert solution.nodes_checked <= solution.nodes_total
    (chosen,) = [node for node in nodes(problem) if node.node == tuple(solution.levels.values())]
    assert chosen.suppressed == solution.suppressed <= allowed
    assert [not kept for kept in chosen.kept] == solution.withheld.tolist()
    assert solution.loss == pytest.approx(loss(chosen), abs=1e-12)


@pytest.mark.parametrize("utility", list(MEASURES))
@given(data=st.data(), k=st.integers(1, 6))
@settings(max_examples=60)
def test_optimum_equals_brute_force(utility: str, data: st.DataObject, k: int) -> None:
    check(data.draw(problems((KAnonymity(k=k),))), utility)


def test_every_measure_is_compared() -> None:
    assert set(MEASURES) == set(Utility.known)


@given(data=st.data(), k=st.integers(1, 6))
@settings(max_examples=60)
def test_two_k_for_two_sets_of_attributes(data: st.DataObject, k: int) -> None:
    check(data.draw(problems((KAnonymity(k=2), KAnonymity(k=k, attributes=("q0",))))), "loss")


@given(data=st.data(), utility=st.sampled_from(list(MEASURES)))
@settings(max_examples=60)
def test_bounds_are_never_too_high(data: st.DataObject, utility: str) -> None:
    problem = data.draw(problems((KAnonymity(k=3),)))
    start = make_utility(utility, problem).start()
    for node in nodes(problem):
        place = tuple(level - ladder.lowest for level, ladder in zip(node.node, problem.ladders, strict=True))
        assert start[place] <= MEASURES[utility](node) + 1e-9


def test_a_time_limit_gives_the_best_so_far_and_says_so(adult: Adult) -> None:
    problem = adult.problem(("age", "race", "education", "workclass"), [KAnonymity(k=5)], limit=0.02)
    whole = solve_lattice(problem)
    hurried = solve_lattice(problem, time_limit=0.0)
    assert whole.optimal
    assert not hurried.optimal
    assert hurried.objective >= whole.objective
    assert hurried.bound is not None
    assert hurried.bound <= whole.objective
    assert hurried.suppressed <= problem.allowed


def test_infeasible_says_which_model_how_many_records_and_what_would_help() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2], "n": [1, 3]}), ("q",), "n")
    ladder = Ladder("q", (np.arange(2),), (np.zeros(2),), 0, 1, 2)
    with pytest.raises(InfeasibleError, match="k_anonymity fails for 1 of 4 records") as caught:
        solve_lattice(Problem(counts, [ladder], [KAnonymity(k=2)]))
    assert "suppression_limit to 0.25" in str(caught.value)
    assert "solve.levels for q" in str(caught.value)


def test_people_are_counted_not_records() -> None:
    """Three records of one person are one person."""
    pairs = pl.DataFrame({"q": ["a", "a", "b"], "who": [1, 2, 1], "n": [3, 1, 1]})
    counts = Counts.from_pairs(pairs, ("q",), "who", "n")
    ladder = Ladder("q", (np.arange(2), np.zeros(2, dtype=np.int64)), (np.zeros(2), np.ones(2)), 0, 1, 2)
    assert solve_lattice(Problem(counts, [ladder], [KAnonymity(k=2)], suppression_limit=0.2)).suppressed == 1
    with pytest.raises(InfeasibleError):
        solve_lattice(Problem(counts, [ladder], [KAnonymity(k=3)]))


def test_progress_ends_at_what_was_checked(adult: Adult) -> None:
    seen: list[tuple[int, int]] = []
    problem = adult.problem(("age", "sex"), [KAnonymity(k=5)])
    solution = solve_lattice(problem, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (solution.nodes_checked, solution.nodes_total)
    assert seen == sorted(seen)


def test_no_models_change_nothing() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2], "n": [1, 3]}), ("q",), "n")
    ladder = Ladder("q", (np.arange(2), np.zeros(2, dtype=np.int64)), (np.zeros(2), np.ones(2)), 0, 1, 2)
    solution = solve_lattice(Problem(counts, [ladder]))
    assert (solution.levels, solution.loss, solution.suppressed) == ({"q": 0}, 0.0, 0)
    empty = Counts.from_frame(pl.DataFrame({"n": [5]}), (), "n")
    assert solve_lattice(Problem(empty, [])).levels == {}


def test_looking_above_rules_out_most_of_the_lattice(adult: Adult) -> None:
    problem = adult.problem(("age", "race", "education", "workclass", "occupation"), [KAnonymity(k=5)], limit=0.05)
    search = Search(problem, make_utility("loss", problem))
    search.run()
    assert search.proven
    assert search.checked < search.size / 3
