"""What each privacy model means, in plain Python and exact numbers, so that its own code has something to answer to.

A class is judged by sets of people and lists of values; shares are fractions, parameters are taken as they are written.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import exp, log, prod
from typing import Any

import numpy as np
from scipy.special import digamma
from scipy.stats import poisson
from tests.support.lattice import SENSITIVE, Cells

from shoal.privacy import PrivacyModel
from shoal.privacy.population_estimators import SampleSizes, uniques
from shoal.solve import Problem

Model = Any
"""A privacy model, of which a definition reads the parameters."""


@dataclass(frozen=True)
class Group:
    """An equivalence class."""

    cells: Cells
    records: int
    people: frozenset[tuple[int, int]]
    values: Counter[int]
    population: int

    @property
    def ranked(self) -> list[int]:
        """Records per value, the most frequent first."""
        return sorted(self.values.values(), reverse=True)

    def share(self, value: int) -> Fraction:
        return Fraction(self.values[value], self.values.total())


@dataclass(frozen=True)
class Table:
    groups: tuple[Group, ...]
    whole: Counter[int]
    tree: tuple[Sequence[int], ...]
    numbers: Sequence[float] = ()
    """What each value is as a number."""

    def share(self, value: int) -> Fraction:
        return Fraction(self.whole[value], self.whole.total())

    def surplus(self, group: Group) -> dict[int, Fraction]:
        """By value in order, the share in the class less the share in the table."""
        return {value: group.share(value) - self.share(value) for value in sorted(self.whole)}


def written(number: float) -> Fraction:
    """0.1 is a tenth, not the nearest binary number."""
    return Fraction(str(number))


def k_anonymity(model: Model, group: Group, table: Table) -> bool:
    named = [int(name[1:]) for name in model.attributes] or range(len(group.cells))
    alike = [one for one in table.groups if all(one.cells[place] == group.cells[place] for place in named)]
    return len(frozenset[tuple[int, int]]().union(*(one.people for one in alike))) >= model.k


def l_diversity(model: Model, group: Group, table: Table) -> bool:
    ranked, records = group.ranked, group.values.total()
    if model.kind == "distinct":
        return len(ranked) >= model.l
    if model.kind == "recursive":
        return ranked[0] < written(model.c) * sum(ranked[int(model.l) - 1 :])
    if model.estimator == "grassberger":
        within = sum(count * _grassberger(count) for count in ranked) / records
        return min(max(exp(_grassberger(records) - within), 1), len(ranked)) >= model.l - 1e-9
    # exp(H) ≥ l, both sides to the power of the records: N^N ÷ ∏ r^r ≥ l^N
    return records**records >= written(model.l) ** records * prod(count**count for count in ranked)


def _grassberger(n: int) -> float:
    return float(digamma(n) + (-1) ** n * (digamma((n + 1) / 2) - digamma(n / 2)) / 2)


def t_closeness(model: Model, group: Group, table: Table) -> bool:
    surplus = table.surplus(group)
    if model.distance == "equal":
        work = sum(max(extra, Fraction(0)) for extra in surplus.values())
    elif model.distance == "ordered":
        so_far = [sum(list(surplus.values())[:end]) for end in range(1, len(surplus))]
        work = sum(map(abs, so_far), Fraction(0)) / max(1, len(surplus) - 1)  # type: ignore[assignment, type-var]
    else:
        work = _up_the_tree(surplus, table.tree)
    return work <= written(model.t)


def _up_the_tree(surplus: Mapping[int, Fraction], tree: Sequence[Sequence[int]]) -> Fraction:
    """Earth is moved within the lowest group that can take it; on level h of H that costs h ÷ H (Li et al. 2007)."""
    work = Fraction(0)
    left = {(0, value): extra for value, extra in surplus.items()}
    below: Sequence[int] = range(1 + max(surplus))
    for level, groups in enumerate(tree, start=1):
        merged: dict[tuple[int, int], list[Fraction]] = {}
        for (_, group), extra in left.items():
            parent = groups[list(below).index(group)]
            merged.setdefault((level, int(parent)), []).append(extra)
        for extras in merged.values():
            gained = sum(extra for extra in extras if extra > 0)
            missed = -sum(extra for extra in extras if extra < 0)
            work += Fraction(level, len(tree)) * min(gained, missed)
        left = {node: sum(extras, Fraction(0)) for node, extras in merged.items()}
        below = groups
    return work


def alpha_k(model: Model, group: Group, table: Table) -> bool:
    share = Fraction(group.ranked[0], group.values.total())
    return len(group.people) >= model.k and share <= written(model.alpha)


def p_sensitive(model: Model, group: Group, table: Table) -> bool:
    return len(group.people) >= model.k and len(group.values) >= model.p


def beta_likeness(model: Model, group: Group, table: Table) -> bool:
    for value, extra in table.surplus(group).items():
        gain, known = extra / table.share(value), table.share(value)
        if gain > written(model.beta) or (model.kind == "enhanced" and gain > -log(known)):
            return False
    return True


def delta_disclosure(model: Model, group: Group, table: Table) -> bool:
    return all(
        group.values[value] and abs(log(group.share(value) / table.share(value))) < model.delta for value in table.whole
    )


def k_map(model: Model, group: Group, table: Table) -> bool:
    if model.population is not None:
        return group.population >= model.k
    size = len(group.people)
    expected = model.k * model.sample_size / model.population_size
    chance = poisson.sf(size - 1, expected) / poisson.sf(0, expected)
    return size >= model.k or bool(chance <= model.significance)


def delta_presence(model: Model, group: Group, table: Table) -> bool:
    if model.minimum and model.judge_absent and any(not one.records for one in table.groups):
        return False
    if not group.population:
        return False
    return written(model.minimum) <= Fraction(group.records, group.population) <= written(model.maximum)


def maximum_risk(model: Model, group: Group, table: Table) -> bool:
    return Fraction(1, len(group.people)) <= written(model.maximum)


def lkc(model: Model, group: Group, table: Table) -> bool:
    """As the table is now; taking classes away may break it for others."""
    attributes = len(group.cells)
    for known in combinations(range(attributes), min(model.l, attributes)):
        alike = [one for one in table.groups if all(one.cells[place] == group.cells[place] for place in known)]
        people = frozenset[tuple[int, int]]().union(*(one.people for one in alike))
        values = sum((one.values for one in alike), Counter[int]())
        if len(people) < model.k or Fraction(max(values.values()), values.total()) > written(model.c):
            return False
    return True


SINGLE: dict[str, Callable[[Model, Group, Table], bool]] = {
    definition.__name__: definition
    for definition in (
        k_anonymity,
        l_diversity,
        t_closeness,
        alpha_k,
        p_sensitive,
        beta_likeness,
        delta_disclosure,
        k_map,
        delta_presence,
        maximum_risk,
        lkc,
    )
}
"""Whether a class of a table may stay."""


def average_risk(model: Model, sizes: Sequence[int]) -> list[int]:
    ends = range(len(sizes) + 1)
    return [next(end for end in ends if len(sizes[end:]) <= written(model.maximum) * sum(sizes[end:]))]


def sample_uniqueness(model: Model, sizes: Sequence[int]) -> list[int]:
    ends = range(sizes.count(1) + 1)
    return [next(end for end in ends if sizes[end:].count(1) <= written(model.maximum) * sum(sizes[end:]))]


def population_uniqueness(model: Model, sizes: Sequence[int]) -> list[int]:
    """The estimate may rise and fall: with any of these numbers it will do, with one fewer it would not."""
    estimates = [
        uniques(SampleSizes.of(np.array(sizes[end:])), model.population_size, model.model)
        for end in range(sizes.count(1) + 1)
    ]
    met = [estimate is not None and estimate / model.population_size <= model.maximum for estimate in estimates]
    return [0] if met[0] else [end for end in range(1, len(met)) if met[end] and not met[end - 1]]


FEWEST: dict[str, Callable[[Model, Sequence[int]], list[int]]] = {
    definition.__name__: definition for definition in (average_risk, sample_uniqueness, population_uniqueness)
}
"""From the sizes of all classes, smallest first, to how many of the smallest may have to go; of equal ones any."""


def by_definition(problem: Problem, cells: Sequence[Cells]) -> Iterator[Sequence[bool]]:
    """What one model allows to keep; every choice that it leaves."""
    (model,) = problem.models
    groups = tuple(_groups(problem, cells))
    for kept in _kept(model, problem, groups):
        stay = {group.cells for group in kept}
        yield [cell in stay for cell in cells]


def _kept(model: PrivacyModel, problem: Problem, groups: tuple[Group, ...]) -> Iterator[tuple[Group, ...]]:
    if model.key in SINGLE:
        yield _largest(model, problem, groups)
        return
    there = sorted((group for group in groups if group.records), key=lambda group: len(group.people))
    sizes = [len(group.people) for group in there]
    for number in FEWEST[model.key](model, sizes):
        border = sizes[number - 1] if number else 0
        smaller = bisect_left(sizes, border)
        alike = there[smaller : bisect_right(sizes, border)]
        for gone in combinations(alike, number - smaller):
            yield tuple(group for group in there[smaller:] if group not in gone)


def _largest(model: PrivacyModel, problem: Problem, groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Classes that fail go, all at once, until none fails."""
    tally = problem.tallies[SENSITIVE]
    whole = Counter({value: int(records) for value, records in enumerate(tally.whole) if records})
    while True:
        numbers = () if tally.numbers is None else tally.numbers.tolist()
        table = Table(groups, whole, tuple(level.tolist() for level in tally.tree), numbers)
        kept = tuple(group for group in groups if not group.records or SINGLE[model.key](model, group, table))
        if kept == groups or not any(group.records for group in kept):
            return kept
        groups = kept


def _groups(problem: Problem, cells: Sequence[Cells]) -> Iterator[Group]:
    counts, tally = problem.counts, problem.tallies[SENSITIVE]
    values: list[Counter[int]] = [Counter() for _ in cells]
    for row, value, count in zip(tally.combination, tally.value, tally.count, strict=True):
        values[row][int(value)] += int(count)
    people = [{(-1 - row, own) for own in range(counts.people[row])} for row in range(len(cells))]
    for person, row in counts.shared:
        people[row].add((0, int(person)))
    for cell in dict.fromkeys(cells):
        rows = [row for row, other in enumerate(cells) if other == cell]
        yield Group(
            cell,
            sum(int(counts.records[row]) for row in rows),
            frozenset().union(*(people[row] for row in rows)),
            sum((values[row] for row in rows), Counter()),
            0 if problem.population is None else sum(int(problem.population[row]) for row in rows),
        )
