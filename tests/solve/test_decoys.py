"""Decoys for classes that are too small: every class reaches k, the limit holds, and no other choice saves more."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations
from math import floor

import numpy as np
import polars as pl
import pytest
from benchmarks.adult import ALL, Adult
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.privacy import PrivacyModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.l_diversity import LDiversity
from shoal.schema import Counts
from shoal.solve import Ladder, Problem, Solution, build_problem, solve_cells, solve_lattice
from shoal.solve.decoys import fill_up, k_without_decoys

pytestmark = pytest.mark.requirement("S-12")

K = 3
LIMITS = st.sampled_from([0.01, 0.1, 0.25, 0.5, 1.0])
Records = list[tuple[int, int]]


def ladder(name: str, size: int) -> Ladder:
    """Values as they are, in pairs, all together."""
    codes = np.arange(size)
    groups = (codes, codes // 2, np.zeros(size, dtype=np.int64))
    losses = (np.zeros(size), np.full(size, 1 / 3), np.ones(size))
    return Ladder(name, groups, losses, 0, 2, size)


def problem_of(
    records: Records, people: list[int] | None = None, models: tuple[PrivacyModel, ...] = (KAnonymity(k=K),)
) -> Problem:
    frame = pl.DataFrame(records, schema={"a": pl.Int64, "b": pl.Int64}, orient="row")
    if people is None:
        counts = Counts.from_frame(frame.group_by("a", "b").agg(pl.len().alias("n")), ("a", "b"), "n")
    else:
        pairs = frame.with_columns(pl.Series("who", people)).group_by("a", "b", "who").agg(pl.len().alias("n"))
        counts = Counts.from_pairs(pairs, ("a", "b"), "who", "n")
    ladders = [ladder(name, len(counts.values_of(name))) for name in ("a", "b")]
    return build_problem(counts, ladders, models, suppression_limit=1.0)


def at(problem: Problem, levels: tuple[int, int]) -> Solution:
    """What a solver would say of these levels: all classes below k withheld."""
    kept = [len(people) >= K for people in real_people(problem, levels)]
    withheld = ~np.array(kept)
    suppressed = int(problem.counts.records[withheld].sum())
    return Solution(dict(zip(("a", "b"), levels, strict=True)), 0.5, 0.5, False, 9, 9, suppressed, withheld)


def keys(problem: Problem, levels: tuple[int, int]) -> list[tuple[int, ...]]:
    return [
        tuple(int(ladder.groups[level][code]) for ladder, level, code in zip(problem.ladders, levels, row, strict=True))
        for row in problem.counts.codes
    ]


def real_people(problem: Problem, levels: tuple[int, int]) -> list[set[tuple[str, int]]]:
    """Combination by combination, the people in its class."""
    here: dict[tuple[int, ...], set[tuple[str, int]]] = defaultdict(set)
    key = keys(problem, levels)
    numbered = 0
    for place, people in enumerate(problem.counts.people.tolist()):
        here[key[place]] |= {("alone", number) for number in range(numbered, numbered + people)}
        numbered += people
    for person, place in problem.counts.shared.tolist():
        here[key[place]].add(("shared", person))
    return [here[each] for each in key]


@st.composite
def solved(draw: st.DrawFn, *, with_people: bool = True) -> tuple[Problem, Solution]:
    records = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25))
    people = None
    if with_people and draw(st.booleans()):
        people = draw(st.lists(st.integers(0, 9), min_size=len(records), max_size=len(records)))
    problem = problem_of(records, people)
    return problem, at(problem, draw(st.tuples(st.integers(0, 2), st.integers(0, 2))))


@given(solved(), LIMITS)
def test_every_released_class_has_k_people_with_its_decoys(both: tuple[Problem, Solution], limit: float) -> None:
    problem, before = both
    after = fill_up(problem, before, limit)
    filling = np.zeros(problem.counts.size, dtype=int) if after.filling is None else after.filling
    levels = (before.levels["a"], before.levels["b"])
    decoys: Counter[tuple[int, ...]] = Counter()
    for key, many in zip(keys(problem, levels), filling.tolist(), strict=True):
        decoys[key] += many
    for key, people, was, withheld in zip(
        keys(problem, levels), real_people(problem, levels), before.withheld, after.withheld, strict=True
    ):
        assert len(people) + decoys[key] >= K or withheld
        assert decoys[key] == (K - len(people) if was and not withheld else 0)
    assert after.decoys == sum(decoys.values()) <= limit * problem.records
    assert (after.withheld <= before.withheld).all()
    assert after.suppressed == problem.counts.records[after.withheld].sum()
    assert (after.levels, after.objective) == (before.levels, before.objective)


@given(solved(with_people=False), LIMITS)
def test_no_other_choice_of_classes_saves_more_records(both: tuple[Problem, Solution], limit: float) -> None:
    problem, before = both
    sizes: Counter[tuple[int, ...]] = Counter()
    for key, records in zip(keys(problem, (*before.levels.values(),)), problem.counts.records.tolist(), strict=True):  # type: ignore[arg-type]
        sizes[key] += records
    short = [size for size in sizes.values() if size < K]
    allowed = floor(limit * problem.records + 1e-9)
    best = max(
        sum(chosen)
        for number in range(len(short) + 1)
        for chosen in combinations(short, number)
        if sum(K - size for size in chosen) <= allowed
    )
    assert before.suppressed - fill_up(problem, before, limit).suppressed == best


@given(solved(), LIMITS)
def test_both_figures_of_k(both: tuple[Problem, Solution], limit: float) -> None:
    problem, before = both
    after = fill_up(problem, before, limit)
    people = real_people(problem, (before.levels["a"], before.levels["b"]))
    shown = [len(here) for here, withheld in zip(people, after.withheld, strict=True) if not withheld]
    assert k_without_decoys(problem, after) == min(shown, default=0)
    assert (k_without_decoys(problem, before) or K) >= K


def test_worked_by_hand() -> None:
    """Classes of 4, 2, 1 and 1; k is 3: one decoy keeps two records, then two decoys keep one."""
    records = [(0, 0)] * 4 + [(0, 1)] * 2 + [(1, 0), (2, 0)]
    problem = problem_of(records)
    before = at(problem, (0, 0))
    assert before.suppressed == 4
    found = {limit: fill_up(problem, before, limit) for limit in (0.1, 0.2, 0.4, 0.7)}
    assert {limit: each.decoys for limit, each in found.items()} == {0.1: 0, 0.2: 1, 0.4: 3, 0.7: 5}
    assert [each.suppressed for each in found.values()] == [4, 2, 1, 0]
    assert [each.loss for each in found.values()] == [4 / 8, 2 / 8, 1 / 8, 0]
    assert [k_without_decoys(problem, each) for each in found.values()] == [4, 2, 1, 1]
    assert found[0.1].filling is None
    assert found[0.4].filling is not None
    assert found[0.4].filling.tolist() == [0, 1, 2, 0]


def test_people_are_filled_up_not_records() -> None:
    """One person with four records still needs two others."""
    problem = problem_of([(0, 0)] * 4 + [(1, 1)] * 3, people=[7, 7, 7, 7, 1, 2, 3])
    after = fill_up(problem, at(problem, (0, 0)), 1.0)
    assert (after.decoys, after.suppressed, k_without_decoys(problem, after)) == (2, 0, 1)


def test_the_largest_k_counts() -> None:
    problem = problem_of([(0, 0)] * 2, models=(KAnonymity(k=2), KAnonymity(k=K)))
    assert fill_up(problem, at(problem, (0, 0)), 1.0).decoys == 1


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ((KAnonymity(k=2), LDiversity(attribute="s", l=2, kind="distinct")), "can't meet l_diversity"),
        ((KAnonymity(k=2, attributes=("a",)),), "can't meet k_anonymity, only k_anonymity on all"),
        ((), "needs k_anonymity"),
    ],
)
def test_what_decoys_cannot_do_is_refused(models: tuple[PrivacyModel, ...], said: str) -> None:
    problem = problem_of([(0, 0)] * 4)
    with pytest.raises(InputError, match=said):
        fill_up(replace(problem, models=models), at(problem, (0, 0)), 0.5)


def test_only_global_recoding_leaves_classes_to_fill() -> None:
    problem = problem_of([(0, 0)] * 4 + [(1, 1)])
    with pytest.raises(InputError, match="recoding: cells"):
        fill_up(problem, solve_cells(problem), 0.5)


def test_census_data(adult: Adult) -> None:
    """The optimum for k = 5 with 4 % suppression: what it withholds, and what decoys save of it."""
    problem = adult.problem(ALL, [KAnonymity(k=5)], limit=0.04)
    before = solve_lattice(problem)
    some, enough = (fill_up(problem, before, limit) for limit in (0.01, 0.2))
    assert (before.suppressed, before.loss) == (1178, pytest.approx(0.2928158759))
    assert (some.decoys, some.suppressed, some.loss) == (300, 648, pytest.approx(0.2797321911))
    assert (enough.decoys, enough.suppressed, enough.loss) == (2212, 0, pytest.approx(0.2637163857))
    assert k_without_decoys(problem, before) == 5
    assert k_without_decoys(problem, enough) == 1
