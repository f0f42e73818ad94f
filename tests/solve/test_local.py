"""Local recoding: what is released is grouped again from scratch, in plain Python, and judged by definition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import ALL, EIGHT, Adult
from benchmarks.wide import halved, survey
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InfeasibleError
from shoal.hierarchy.kinds.rare import RareHierarchy
from shoal.privacy import Histograms, PrivacyModel, SensitiveModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.l_diversity import DiversityKind, LDiversity
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness
from shoal.schema import Column, Counts
from shoal.solve import Ladder, Problem, SensitiveCounts, Solution, build_ladder, solve_rare
from shoal.solve.local_recoding import class_joining, lattice_sweep, regrouping, solve_local
from shoal.solve.local_recoding import labelled_classes as labelled
from shoal.solve.local_recoding.lattice_sweep import cheapest_nodes

pytestmark = pytest.mark.requirement("S-08")

Row = tuple[int, ...]


class DistinctValues(SensitiveModel):
    """A class needs two different sensitive values."""

    title = "toy"
    clause = "none"
    monotone_under_generalisation = True
    monotone_under_suppression = True

    @property
    def required(self) -> float:
        return 2

    def spread(self, block: np.ndarray, histograms: Histograms) -> np.ndarray:
        assert block.any(axis=1).all()
        return (block > 0).sum(axis=1).astype(float)

    def accepts(self, figures: np.ndarray) -> np.ndarray:
        return figures >= 2

    def explain(self) -> str:
        return "At least two values."


class NearWhole(DistinctValues):
    """A class's shares are at most t from those of the table, in total variation."""

    t: float

    def spread(self, block: np.ndarray, histograms: Histograms) -> np.ndarray:
        shares = histograms.whole / histograms.whole.sum()
        return np.abs(block / block.sum(axis=1, keepdims=True) - shares).sum(axis=1) / 2

    def accepts(self, figures: np.ndarray) -> np.ndarray:
        return figures <= self.t + 1e-12


def nested_ladder(draw: st.DrawFn, name: str, size: int) -> Ladder:
    groups = [np.arange(size, dtype=np.int64)]
    for _ in range(draw(st.integers(0, 2))):
        merge = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)))
        groups.append(np.unique(merge[groups[-1]], return_inverse=True)[1].astype(np.int64))
    if draw(st.integers(0, 3)):
        groups.append(np.zeros(size, dtype=np.int64))
    losses = [(np.bincount(group)[group] - 1) / max(1, size - 1) for group in groups]
    lowest = draw(st.integers(0, len(groups) - 1)) if draw(st.booleans()) else 0
    return Ladder(name, tuple(groups), tuple(losses), lowest, len(groups), size, draw(st.sampled_from([1.0, 2.5])))


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    cell = st.tuples(*(st.integers(0, size - 1) for size in sizes), st.integers(0, 2))
    rows = draw(st.lists(cell, min_size=1, max_size=40))
    names = tuple(f"q{place}" for place in range(len(sizes)))
    frame = pl.DataFrame(rows, schema=dict.fromkeys((*names, "s"), pl.Int64), orient="row")
    everything = Counts.from_frame(frame.group_by((*names, "s")).agg(pl.len().alias("n")), (*names, "s"), "n")
    counts, where = everything.project(names)
    ladders = [nested_ladder(draw, name, len(values)) for name, values in zip(names, counts.values, strict=True)]
    values = everything.codes[:, -1].astype(np.int64)
    tally = SensitiveCounts(where, values, everything.records, int(values.max()) + 1)
    models: list[PrivacyModel] = [KAnonymity(k=draw(st.integers(1, 6)))]
    models += draw(st.sampled_from([[], [DistinctValues(attribute="s")], [NearWhole(attribute="s", t=0.3)]]))
    if draw(st.integers(0, 3)) == 0:
        models.append(KAnonymity(k=draw(st.integers(2, 9)), attributes=names[:1]))
    return Problem(counts, ladders, models, {"s": tally}, None, draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])))


def released(problem: Problem, cells: np.ndarray, withheld: np.ndarray) -> dict[Row, list[int]]:
    """The combinations of each class, by what is seen of them: level and group of every cell."""
    classes = defaultdict(list)
    for place in np.flatnonzero(~withheld):
        label = tuple(
            (int(level), int(ladder.groups[level][code]))
            for ladder, level, code in zip(problem.ladders, cells[place], problem.counts.codes[place], strict=True)
        )
        classes[label].append(int(place))
    return classes  # type: ignore[return-value]


def meets(problem: Problem, classes: dict[Row, list[int]]) -> bool:
    """By definition, one model and one class after the other."""
    records, tally = problem.counts.records, problem.tallies["s"]
    values = np.zeros((problem.counts.size, tally.values))
    np.add.at(values, (tally.combination, tally.value), tally.count)
    for model in problem.models:
        names = getattr(model, "attributes", ()) or tuple(ladder.attribute for ladder in problem.ladders)
        places = [place for place, ladder in enumerate(problem.ladders) if ladder.attribute in names]
        together = defaultdict(list)
        for label, members in classes.items():
            together[tuple(label[place] for place in places)].extend(members)
        for members in together.values():
            spread = values[members].sum(axis=0)
            if isinstance(model, KAnonymity) and records[members].sum() < model.k:
                return False
            if type(model) is DistinctValues and (spread > 0).sum() < 2:
                return False
            if isinstance(model, NearWhole):
                away = np.abs(spread / spread.sum() - tally.whole / tally.whole.sum()).sum() / 2
                if away > model.t + 1e-9:
                    return False
    return True


def loss(problem: Problem, cells: np.ndarray, withheld: np.ndarray) -> float:
    lost = 0.0
    weights = sum(ladder.weight for ladder in problem.ladders)
    for place, records in enumerate(problem.counts.records):
        of_cells = (
            ladder.weight * ladder.losses[level][code]
            for ladder, level, code in zip(problem.ladders, cells[place], problem.counts.codes[place], strict=True)
        )
        lost += records * (1.0 if withheld[place] else sum(of_cells) / weights)
    return lost / problem.counts.total_records


def top_class(problem: Problem) -> float | None:
    """What everyone on the highest levels loses, where that meets the models without suppression."""
    highest = np.tile([ladder.highest for ladder in problem.ladders], (problem.counts.size, 1))
    nobody = np.zeros(problem.counts.size, dtype=bool)
    return loss(problem, highest, nobody) if meets(problem, released(problem, highest, nobody)) else None


def check(problem: Problem, solution: Solution) -> None:
    cells, withheld = solution.cells, solution.withheld
    assert cells is not None
    assert meets(problem, released(problem, cells, withheld))
    assert solution.suppressed == problem.counts.records[withheld].sum()
    assert solution.suppressed <= problem.suppression_limit * problem.counts.total_records + 1e-9
    assert solution.loss == pytest.approx(loss(problem, cells, withheld), abs=1e-9)
    for place, ladder in enumerate(problem.ladders):
        assert cells[:, place].min() >= ladder.lowest
        assert cells[:, place].max() <= ladder.highest
        assert solution.levels[ladder.attribute] == cells[~withheld, place].max(initial=ladder.lowest)


@given(problems())
@settings(max_examples=300)
def test_what_is_released_meets_the_models(problem: Problem) -> None:
    top = top_class(problem)
    try:
        solution = solve_local(problem)
    except InfeasibleError:
        assert top is None
        return
    check(problem, solution)
    assert top is None or solution.loss <= top + 1e-9


@given(problems())
@settings(max_examples=60)
def test_a_lattice_too_large_to_sweep_is_climbed(problem: Problem) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lattice_sweep, "NODES", 2)
        patch.setattr(lattice_sweep, "WORK", 0)
        patch.setattr(class_joining, "CHUNK", 2)
        patch.setattr(class_joining, "CANDIDATES", 2)
        try:
            check(problem, solve_local(problem))
        except InfeasibleError:
            assert top_class(problem) is None


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(3, 40))
@settings(max_examples=40)
def test_classes_divided_anew_are_large_enough_and_lose_no_more(seed: int, k: int, window: int) -> None:
    rng = np.random.default_rng(seed)
    table = pl.DataFrame({f"q{place}": rng.integers(0, 9, 80) for place in range(5)})
    problem = halved(table, [KAnonymity(k=k)], limit=0.0)
    size = problem.counts.size
    member = rng.permutation(np.minimum(np.arange(size) // (2 * k), max(0, size // (2 * k) - 1)))
    before = labelled.label(problem, member, int(member.max()) + 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regrouping, "WINDOW", window)
        found, number = regrouping.regroup(problem, member, len(before.records), 1, k)
    after = labelled.label(problem, found, number)
    assert (np.flatnonzero(found == 0) == np.flatnonzero(member == 0)).all()
    assert after.records.sum() == before.records.sum()
    assert after.records.min() >= min(k, before.records.min())
    assert (after.records * after.cost).sum() <= (before.records * before.cost).sum() + 1e-9


def test_a_wide_table_is_divided_anew(shared: Path) -> None:
    """Climbing alone loses 0.129."""
    problem = halved(survey(shared, "free1.csv", 24), [KAnonymity(k=3)], limit=0.05)
    solution = solve_local(problem)
    assert solution.loss < 0.113
    assert solution.cells is not None
    classes = released(problem, solution.cells, solution.withheld)
    assert min(problem.counts.records[members].sum() for members in classes.values()) >= 3
    assert solution.loss == pytest.approx(loss(problem, solution.cells, solution.withheld), abs=1e-9)


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=1, max_size=4), st.integers(1, 30))
def test_cheapest_nodes_are_the_first_of_all_nodes_by_cost(costs: list[list[float]], most: int) -> None:
    def cost(node: Row) -> float:
        return sum(known[step] for known, step in zip(costs, node, strict=True))

    every = sorted(map(cost, product(*(range(len(known)) for known in costs))))
    found = [tuple(map(int, node)) for node in cheapest_nodes([np.array(known) for known in costs], most)]
    assert len(set(found)) == len(found)
    assert [cost(node) for node in found] == pytest.approx(every[:most])


def single_column(people: Counts, top: bool = True) -> list[Ladder]:
    size = len(people.values[0])
    groups = (np.arange(size), np.zeros(size, dtype=np.int64)) if top else (np.arange(size),)
    return [Ladder("q", groups, tuple(np.full(size, float(level)) for level in range(len(groups))), 0, 1, size)]


def pairs(people: Counts) -> list[Ladder]:
    """As single_column, with a level between on which two neighbours fall together."""
    size = len(people.values[0])
    groups = (np.arange(size), np.arange(size) // 2, np.zeros(size, dtype=np.int64))
    losses = (np.zeros(size), np.full(size, 1 / max(1, size - 1)), np.ones(size))
    return [Ladder("q", groups, losses, 0, 2, size)]


def test_large_combinations_stay_as_they_are() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2, 3, 4], "n": [9, 6, 2, 7]}), ("q",), "n")
    solution = solve_local(Problem(counts, pairs(counts), [KAnonymity(k=5)], suppression_limit=0.2))
    assert solution.cells is not None
    assert solution.cells[~solution.withheld].ravel().tolist() == [0, 0, 0]
    assert (solution.recoding, solution.optimal, solution.suppressed) == ("local", False, 2)


def test_a_record_of_which_nothing_is_left_counts_as_suppressed() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2, 3, 4], "n": [9, 2, 1, 2]}), ("q",), "n")
    solution = solve_local(Problem(counts, single_column(counts), [KAnonymity(k=5)], suppression_limit=0.4))
    assert solution.withheld.tolist() == [False, True, True, True]
    assert solution.loss == pytest.approx(5 / 14)
    everyone = solve_local(Problem(counts, single_column(counts), [KAnonymity(k=5)]))
    assert (everyone.suppressed, everyone.loss) == (0, 1.0)


def test_who_finds_no_company_joins_the_smallest_class() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2, 3, 4], "n": [9, 7, 5, 1]}), ("q",), "n")
    solution = solve_local(Problem(counts, pairs(counts), [KAnonymity(k=5)]))
    assert solution.cells is not None
    assert solution.cells.ravel().tolist() == [0, 0, 1, 1]
    suppressing = solve_local(Problem(counts, pairs(counts), [KAnonymity(k=5)], suppression_limit=0.1))
    assert suppressing.withheld.tolist() == [False, False, False, True]


def test_people_are_counted_not_records() -> None:
    pairs = pl.DataFrame({"q": ["a", "a", "b", "c"], "who": [1, 2, 1, 1], "n": [3, 1, 4, 4]})
    counts = Counts.from_pairs(pairs, ("q",), "who", "n")
    solution = solve_local(Problem(counts, single_column(counts), [KAnonymity(k=2)]))
    assert solution.cells is not None
    assert solution.cells.ravel().tolist() == [1, 1, 1]
    with pytest.raises(InfeasibleError):
        solve_local(Problem(counts, single_column(counts), [KAnonymity(k=3)]))


def test_combinations_only_the_population_has_are_nobodys_company() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2, 3], "n": [3, 2, 0]}), ("q",), "n")
    population = np.array([5, 5, 50])
    solution = solve_local(Problem(counts, single_column(counts), [KAnonymity(k=3)], {}, population))
    assert (solution.suppressed, solution.loss) == (0, 1.0)


def test_infeasible_says_how_many_records_and_what_would_help() -> None:
    counts = Counts.from_frame(pl.DataFrame({"q": [1, 2], "n": [1, 7]}), ("q",), "n")
    with pytest.raises(InfeasibleError, match="suppresses 1 of 8 records, 0 may be") as caught:
        solve_local(Problem(counts, single_column(counts, top=False), [KAnonymity(k=2)]))
    assert "suppression_limit" in str(caught.value)


def test_adult_by_k_loses_less_than_six_per_cent(adult: Adult) -> None:
    problem = adult.problem(ALL, [KAnonymity(k=5)])
    steps: list[tuple[int, int]] = []
    solution = solve_local(problem, progress=lambda done, total: steps.append((done, total)))  # type: ignore[arg-type]
    assert solution.loss < 0.054
    assert solution.suppressed == 0
    assert solution.cells is not None
    classes = released(problem, solution.cells, solution.withheld)
    assert min(problem.counts.records[members].sum() for members in classes.values()) >= 5
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1]
    again = solve_local(problem)
    assert np.array_equal(again.cells, solution.cells)  # type: ignore[arg-type]


def test_adult_by_l_loses_little_more_than_by_k(adult: Adult) -> None:
    models = [KAnonymity(k=5), LDiversity(attribute="occupation", l=5, kind=DiversityKind.DISTINCT)]
    problem = adult.problem(EIGHT, models, sensitive=("occupation",))
    solution = solve_local(problem)
    assert solution.cells is not None
    assert solution.loss < 0.062
    assert solution.suppressed == 0
    tally = problem.tallies["occupation"]
    jobs = defaultdict(set)
    for combination, value in zip(tally.combination, tally.value, strict=True):
        jobs[int(combination)].add(int(value))
    for members in released(problem, solution.cells, solution.withheld).values():
        assert len(set().union(*(jobs[member] for member in members))) >= 5


def test_adult_by_t_loses_less_than_forty_per_cent(adult: Adult) -> None:
    models = [KAnonymity(k=5), TCloseness(attribute="occupation", t=0.2, distance=ClosenessDistance.EQUAL)]
    problem = adult.problem(EIGHT, models, sensitive=("occupation",), limit=1.0)
    solution = solve_local(problem)
    assert solution.cells is not None
    assert solution.loss < 0.40
    tally = problem.tallies["occupation"]
    values = np.zeros((problem.counts.size, tally.values))
    np.add.at(values, (tally.combination, tally.value), tally.count)
    whole = values.sum(axis=0) / values.sum()
    for members in released(problem, solution.cells, solution.withheld).values():
        spread = values[members].sum(axis=0)
        assert spread.sum() >= 5
        assert np.abs(spread / spread.sum() - whole).sum() / 2 <= 0.2 + 1e-9


def _races(records: dict[str, int], models: list[PrivacyModel], others: int = 2) -> tuple[Problem, list[list[str]]]:
    """A table of races beside a second attribute with ``others`` values, and the labels of race on each level."""
    frame = pl.DataFrame(
        [(race, place % others) for race, count in records.items() for place in range(count)],
        schema={"race": pl.String, "side": pl.Int64},
        orient="row",
    )
    counts = Counts.from_frame(frame.group_by("race", "side").len("n"), ("race", "side"), "n")
    bound = RareHierarchy(minimum=10).bind(Column("race"), counts.value_counts("race"))
    values = counts.values_of("race").alias("race")
    side = Ladder("side", (np.arange(others), np.zeros(others, np.int64)), (np.zeros(others), np.ones(others)), 0, 1, 2)
    labels = [bound.generalise(values, level).to_list() for level in range(bound.height + 1)]
    return Problem(counts, [build_ladder(bound, values), side], models), labels


@pytest.mark.parametrize("solve", [solve_local, solve_rare])
@pytest.mark.parametrize(
    "records",
    [{"white": 98, "black": 4, "asian": 3}, {"white": 60, "malay": 9, "indian": 6, "thai": 2}, {"a": 30, "b": 1}],
)
@pytest.mark.requirement("T-13")
def test_others_are_nobody_who_is_named(records: dict[str, int], solve: Callable[[Problem], Solution]) -> None:
    """Neither a common value among the others nor a value of theirs that keeps its name elsewhere."""
    problem, labels = _races(records, [KAnonymity(k=3)])
    solution = solve(problem)
    assert solution.cells is not None
    shown = ~solution.withheld
    released = [
        (labels[0][code], labels[level][code])
        for code, level in zip(problem.counts.codes[shown, 0], solution.cells[shown, 0], strict=True)
    ]
    named = {label for _, label in released} - {"Others", "*"}
    assert not named & {value for value, label in released if label == "Others"}
