"""Cell suppression and local generalisation, against the true optimum of small tables and on public data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import ALL, Adult
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.privacy import Histograms, SensitiveModel
from shoal.privacy.base import Figures
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, SensitiveCounts, Solution
from shoal.solve.cells import patterns, solve_cells, solve_rare

pytestmark = pytest.mark.requirement("T-03", "T-13")

Solver = Callable[[Problem], Solution]


def ladder(name: str, values: int, *, middle: bool = False, weight: float = 1.0) -> Ladder:
    """Up to ``*``, where ``middle`` puts a level of pairs between."""
    groups = [np.arange(values), np.arange(values) // 2] if middle else [np.arange(values)]
    groups.append(np.zeros(values, dtype=np.int64))
    losses = tuple((np.bincount(group)[group] - 1) / max(1, values - 1) for group in groups)
    return Ladder(name, tuple(groups), losses, 0, len(groups) - 1, values, weight)


def table(
    rows: Sequence[tuple[int, ...]], k: int, limit: float, weights: list[float], *, middle: bool = False
) -> Problem:
    names = tuple(f"q{place}" for place in range(len(weights)))
    counted = [(*row, records) for row, records in Counter(rows).items()]
    frame = pl.DataFrame(counted, schema=dict.fromkeys((*names, "n"), pl.Int64), orient="row")
    counts = Counts.from_frame(frame, names, "n")
    ladders = [
        ladder(name, len(values), middle=middle, weight=weight)
        for name, values, weight in zip(names, counts.values, weights, strict=True)
    ]
    return Problem(counts, ladders, [KAnonymity(k=k)], suppression_limit=limit)


@st.composite
def tables(draw: st.DrawFn) -> Problem:
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.tuples(*[st.integers(0, 2)] * width), min_size=1, max_size=7))
    repeats = draw(st.lists(st.integers(1, 3), min_size=len(rows), max_size=len(rows)))
    weights = draw(st.lists(st.sampled_from([1.0, 3.0]), min_size=width, max_size=width))
    everyone = [row for row, times in zip(rows, repeats, strict=True) for _ in range(times)]
    return table(everyone, draw(st.integers(1, 5)), draw(st.sampled_from([0.0, 0.2, 1.0])), weights, middle=True)


def optimum(problem: Problem, *, stars_only: bool) -> float | None:
    """The least cost of all partitions of the combinations into classes and suppressed ones."""
    size = problem.counts.size
    k = int(problem.models[0].required)
    price = [_block_price(problem, block, k, stars_only=stars_only) for block in range(1 << size)]
    records = [_records(problem, block) for block in range(1 << size)]
    classes = [np.inf] * (1 << size)
    classes[0] = 0.0
    for union in range(1, 1 << size):
        block = union
        while block:
            if block & union & -union:
                classes[union] = min(classes[union], price[block] + classes[union ^ block])
            block = (block - 1) & union
    everyone = (1 << size) - 1
    totals = [
        classes[kept] + records[everyone ^ kept]
        for kept in range(1 << size)
        if records[everyone ^ kept] <= problem.allowed
    ]
    best = min(totals)
    return None if best == np.inf else best / problem.records


def _records(problem: Problem, block: int) -> int:
    return sum(int(n) for place, n in enumerate(problem.counts.records) if block >> place & 1)


def _block_price(problem: Problem, block: int, k: int, *, stars_only: bool) -> float:
    """What it costs to make some combinations one class: each attribute on the lowest level where they agree."""
    rows = [place for place in range(problem.counts.size) if block >> place & 1]
    records = _records(problem, block)
    if records < k:
        return np.inf
    total, blank = 0.0, True
    for place, (up, weight) in enumerate(zip(problem.ladders, problem.weights, strict=True)):
        codes = problem.counts.codes[rows, place]
        levels = (0, up.height) if stars_only else range(up.height + 1)
        level = next(level for level in levels if len(set(up.groups[level][codes])) == 1)
        blank &= level == up.height
        loss = float(level > 0) if stars_only else float(up.losses[level][codes[0]])
        total += weight * loss * records
    return np.inf if blank else total


def released(problem: Problem, solution: Solution) -> Counter[tuple[tuple[int, int], ...]]:
    """The records of each released row, in plain Python; suppressed ones left out."""
    assert solution.cells is not None
    classes: Counter[tuple[tuple[int, int], ...]] = Counter()
    for codes, levels, records, gone in zip(
        problem.counts.codes, solution.cells, problem.counts.records, solution.withheld, strict=True
    ):
        row = tuple(
            (int(level), int(up.groups[level][code]))
            for up, level, code in zip(problem.ladders, levels, codes, strict=True)
        )
        if not gone:
            assert any(level < up.height for up, level in zip(problem.ladders, levels, strict=True))
            classes[row] += int(records)
    return classes


def stars(problem: Problem, solution: Solution) -> np.ndarray:
    """Starred cells per attribute."""
    assert solution.cells is not None
    tops = np.array([up.height for up in problem.ladders])
    return np.asarray(((solution.cells == tops) * problem.counts.records[:, None]).sum(axis=0))


@pytest.mark.parametrize("solve", [solve_cells, solve_rare])
@given(problem=tables())
@settings(max_examples=150)
def test_every_class_holds_and_nothing_beats_the_optimum(solve: Solver, problem: Problem) -> None:
    stars_only = solve is solve_cells
    best = optimum(problem, stars_only=stars_only)
    try:
        solution = solve(problem)
    except InfeasibleError:
        assert problem.suppression_limit < 1
        return
    assert best is not None
    assert solution.objective >= best - 1e-9
    k = int(problem.models[0].required)
    assert min(released(problem, solution).values(), default=k) >= k
    assert solution.suppressed == problem.counts.records[solution.withheld].sum() <= problem.allowed
    assert solution.loss == pytest.approx(solution.objective) or stars_only
    if stars_only:
        assert solution.cells is not None
        assert all(set(column) <= {0, 2} for column in solution.cells.T.tolist())
    if problem.suppression_limit == 1:
        assert not solution.cells[problem.counts.records >= k].any()  # type: ignore[index]  # always there


@pytest.mark.parametrize(("solve", "most"), [(solve_cells, 1.1), (solve_rare, 1.15)])
def test_gap_to_the_optimum_of_small_tables_is_small(solve: Solver, most: float) -> None:
    """About 6 % for stars and 8 % for levels; a way that exists is missed in at most one of the tables."""
    generator = np.random.default_rng(20889)
    ours, best, missed = 0.0, 0.0, 0
    for _ in range(60):
        rows = [tuple(row) for row in generator.integers(0, (2, 3, 4, 2), size=(12, 4)).tolist()]
        problem = table(rows[: generator.integers(8, 12)], 2, 0.1, [1.0, 2.0, 1.0, 1.0], middle=True)
        if problem.counts.size > 9:
            continue
        least = optimum(problem, stars_only=solve is solve_cells)
        try:
            ours, best = ours + solve(problem).objective, best + (least or 0.0)
        except InfeasibleError:
            missed += least is not None
    assert best > 1
    assert ours / best <= most
    assert missed <= 1


def test_a_heavier_attribute_is_starred_later() -> None:
    """Either column could be starred; the lighter one is."""
    for weights, expected in (([1.0, 1.5], [4, 0]), ([1.5, 1.0], [0, 4])):
        problem = table([(0, 0), (0, 1), (1, 0), (1, 1)], 2, 0.0, weights)
        assert stars(problem, solve_cells(problem)).tolist() == expected


def test_what_is_safe_already_stays_and_is_known_to_be_optimal() -> None:
    problem = table([(0, 0)] * 3 + [(1, 0)] * 4, 3, 0.0, [1.0, 1.0])
    solution = solve_cells(problem)
    assert solution.cells is not None
    assert not solution.cells.any()
    assert solution.optimal
    assert solution.loss == solution.suppressed == 0


def test_a_safe_combination_loses_cells_only_when_nothing_may_be_suppressed() -> None:
    rows = [(0, 0)] * 3 + [(1, 0)]
    assert solve_cells(table(rows, 3, 0.25, [1.0, 1.0])).suppressed == 1
    problem = table(rows, 3, 0.0, [1.0, 1.0])
    solution = solve_cells(problem)
    assert solution.suppressed == 0
    assert stars(problem, solution).tolist() == [4, 0]


def test_a_row_of_stars_alone_is_suppressed_not_a_class() -> None:
    rows = [(0, 0), (1, 1), (2, 2)]
    assert solve_cells(table(rows, 3, 1.0, [1.0, 1.0])).suppressed == 3
    with pytest.raises(InfeasibleError, match="3 records would have to be suppressed, 2 may be") as caught:
        solve_cells(table(rows, 3, 0.9, [1.0, 1.0]))
    assert "suppression_limit" in str(caught.value)


def test_an_attribute_without_its_top_level_is_never_starred() -> None:
    problem = table([(0, 0), (1, 0), (2, 1), (2, 2)], 2, 0.5, [1.0, 1.0])
    first = problem.ladders[0]
    capped = Ladder(first.attribute, first.groups[:1], first.losses[:1], 0, 1, first.leaves)
    solution = solve_cells(Problem(problem.counts, [capped, problem.ladders[1]], problem.models, suppression_limit=0.5))
    assert solution.cells is not None
    assert solution.cells[:, 0].max() == 0
    assert solution.withheld.tolist() == [True, True, False, False]


def test_people_are_counted_not_records() -> None:
    """Three records of one person in two combinations are one person, whatever is starred."""
    pairs = pl.DataFrame({"q": ["a", "b", "c"], "r": ["x", "x", "x"], "who": [1, 1, 2], "n": [2, 1, 1]})
    counts = Counts.from_pairs(pairs, ("q", "r"), "who", "n")
    two = Problem(counts, [ladder("q", 3), ladder("r", 1)], [KAnonymity(k=2)])
    solution = solve_cells(two)
    assert solution.cells is not None
    assert solution.cells.tolist() == [[1, 0], [1, 0], [1, 0]]


def test_people_of_the_population_alone_need_no_class() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [0, 1], "n": [2, 0]}), ("q",), "n")
    solution = solve_cells(Problem(counts, [ladder("q", 2)], [KAnonymity(k=2)], population=np.array([2, 1])))
    assert solution.suppressed == 0
    assert not solution.withheld.any()


class Varied(SensitiveModel):
    """At least two different values in each class."""

    monotone_under_generalisation = True
    monotone_under_suppression = True

    @property
    def required(self) -> float:
        return 2

    def spread(self, block: np.ndarray, histograms: Histograms) -> Figures:
        return np.asarray((block > 0).sum(axis=1), dtype=np.float64)

    def accepts(self, figures: Figures) -> np.ndarray:
        return np.asarray(figures >= 2)

    def explain(self) -> str:
        return "Every class has two values."


def test_models_on_sensitive_values_are_met() -> None:
    """Four people of size-2 classes without variety: only the star on q brings two values together."""
    problem = table([(0, 0)] * 2 + [(1, 0)] * 2 + [(2, 1)] * 2, 2, 0.0, [1.0, 1.0])
    tally = SensitiveCounts(np.array([0, 1, 2, 2]), np.array([0, 1, 0, 1]), np.array([2, 2, 1, 1]), 2)
    models = [KAnonymity(k=2), Varied(attribute="s")]
    solution = solve_cells(Problem(problem.counts, problem.ladders, models, {"s": tally}))
    assert solution.cells is not None
    assert solution.cells.tolist() == [[1, 0], [1, 0], [0, 0]]


def test_models_on_some_of_the_attributes_are_met() -> None:
    """q0 alone has to occur three times, though every class is large enough."""
    problem = table([(0, 0)] * 2 + [(1, 0)] * 2 + [(2, 1)] * 4, 2, 0.0, [1.0, 1.0])
    models = [KAnonymity(k=2), KAnonymity(k=3, attributes=("q0",))]
    solution = solve_cells(Problem(problem.counts, problem.ladders, models))
    assert solution.cells is not None
    assert solution.cells.tolist() == [[1, 0], [1, 0], [0, 0]]


@pytest.mark.parametrize("solve", [solve_cells, solve_rare])
def test_holds_too_when_there_are_too_many_patterns_to_see(solve: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MOST_PATTERNS", 1)
    rows = list(product(range(3), range(2), range(4)))
    problem = table(rows, 5, 0.0, [1.0, 1.0, 1.0], middle=True)
    solution = solve(problem)
    assert min(released(problem, solution).values()) >= 5
    assert solution.nodes_checked < solution.nodes_total


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    solve_cells(table([(0, 0), (0, 1), (1, 0)], 2, 1.0, [1.0, 1.0]), progress=lambda *at: seen.append(at))
    assert seen
    assert all(0 < done <= total == 4 for done, total in seen)


def test_adult_loses_an_eighth_of_its_cells(adult: Adult) -> None:
    problem = adult.problem(ALL, [KAnonymity(k=5)])
    solution = solve_cells(problem)
    assert min(released(problem, solution).values()) >= 5
    assert solution.suppressed == 0
    share = stars(problem, solution).sum() / (problem.records * len(ALL))
    assert share == pytest.approx(solution.objective)
    assert share < 0.134


def test_adult_local_generalisation_loses_less_than_stars(adult: Adult) -> None:
    names = ("sex", "age", "race", "education", "native-country", "workclass")
    problem = adult.problem(names, [KAnonymity(k=5)], limit=0.01)
    rare, cells = solve_rare(problem), solve_cells(problem)
    assert min(released(problem, rare).values()) >= 5
    assert rare.loss < 0.6 * cells.loss


def test_sdcmicro_example_is_within_a_twentieth_of_the_optimum(shared: Path) -> None:
    """367 stars are the optimum for a star as a value of its own (by integer programming, safe rows untouched).

    sdcMicro takes 293, but its star matches everything: read as here, 150 of its rows are in classes below 3.
    """
    keys = ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex")
    people = pl.read_csv(shared / "data" / "sdcmicro" / "testdata.csv", infer_schema=False)
    counts = Counts.from_frame(people.group_by(keys).agg(pl.len().alias("n")), keys, "n")
    ladders = [ladder(name, len(counts.values_of(name))) for name in keys]
    problem = Problem(counts, ladders, [KAnonymity(k=3)])
    solution = solve_cells(problem)
    assert min(released(problem, solution).values()) >= 3
    assert 367 <= stars(problem, solution).sum() <= 1.05 * 367
    assert solution.cells is not None
    assert not solution.cells[counts.records >= 3].any()
