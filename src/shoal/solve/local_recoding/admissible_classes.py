"""Which groups of combinations may be classes, asked of some groups at a time while most of the table stands still."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from shoal.kernels.arrays import Integers, Mask, sums_by
from shoal.privacy import Classes, Histograms, SensitiveModel, kept_by
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.solve.problem import Problem


class ClassAdmission:
    """Asks the models that look at one class by itself; the others have their say on the finished table.

    ``chosen`` are combinations, ``group`` the group of each, numbered from 0 to ``number`` − 1.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.models = [model for model in problem.models if model.local]
        self.minimum_class = problem.minimum_class
        self.by_size = all(isinstance(model, KAnonymity) for model in self.models)
        """Whether the minimum class says it all."""
        self._tallies = {name: _Rows(tally.combination, problem.counts.size) for name, tally in problem.tallies.items()}

    @property
    def least(self) -> int:
        """Records that a class can't do without."""
        return max(self.minimum_class.people, self.minimum_class.records)

    @property
    def divisible(self) -> bool:
        """Whether any division into classes of ``least`` records will do."""
        counts = self.problem.counts
        alone = len(self.models) == len(self.problem.models) and self.problem.population is None
        return self.by_size and alone and counts.people is counts.records

    @cached_property
    def shaped(self) -> str | None:
        """The sensitive attribute that a class can be made to suit by leaving some of its members out."""
        return next((model.sensitive[0] for model in self.models if isinstance(model, SensitiveModel)), None)

    def large(self, chosen: Integers, group: Integers, number: int) -> Mask:
        """The groups with the people and records that no class can do without."""
        people = self._people(chosen, group, number)
        if self.problem.counts.people is self.problem.counts.records:
            return people >= max(self.minimum_class.people, self.minimum_class.records)
        return (people >= self.minimum_class.people) & (
            self._records(chosen, group, number) >= self.minimum_class.records
        )

    def holds(self, chosen: Integers, group: Integers, number: int) -> Mask:
        held = self.large(chosen, group, number)
        if self.by_size or not held.any():
            return held
        place = np.cumsum(held) - 1
        here = held[group]
        held[held] = kept_by(self.models, self._classes(chosen[here], place[group[here]], int(held.sum())))
        return held

    def dense(self, attribute: str, chosen: Integers, group: Integers, number: int) -> Integers:
        """Records per group and value of a sensitive attribute."""
        tally = self.problem.tallies[attribute]
        entries, owner = self._tallies[attribute].of(chosen, group)
        cells = owner * tally.values + tally.value[entries]
        flat = np.bincount(cells, weights=tally.count[entries], minlength=number * tally.values)
        return flat.astype(np.int64).reshape(number, tally.values)

    def accepts(self, attribute: str, block: Integers) -> Mask:
        """What the models on one sensitive attribute say of dense histograms, none of them empty."""
        tally = self.problem.tallies[attribute]
        none = np.empty(0, dtype=np.int64)
        histograms = Histograms(tally.whole, none, none, none, len(block), tally.tree, numbers=tally.numbers)
        accepted = np.ones(len(block), dtype=bool)
        for model in self.models:
            if isinstance(model, SensitiveModel) and model.attribute == attribute:
                accepted &= model.accepts(model.spread(block, histograms))
        return accepted

    def _classes(self, chosen: Integers, group: Integers, number: int) -> Classes:
        population = self.problem.population
        sensitive = {}
        for name, tally in self.problem.tallies.items():
            entries, owner = self._tallies[name].of(chosen, group)
            value, count = tally.value[entries], tally.count[entries]
            sensitive[name] = Histograms(tally.whole, owner, value, count, number, tally.tree, numbers=tally.numbers)
        return Classes(
            self._records(chosen, group, number),
            self._people(chosen, group, number),
            sensitive,
            None if population is None else sums_by(group, population[chosen], number),
        )

    def _records(self, chosen: Integers, group: Integers, number: int) -> Integers:
        return sums_by(group, self.problem.counts.records[chosen], number)

    def _people(self, chosen: Integers, group: Integers, number: int) -> Integers:
        counts = self.problem.counts
        people = sums_by(group, counts.people[chosen], number)
        if not len(counts.shared):
            return people
        where = np.full(counts.size, -1, dtype=np.int64)
        where[chosen] = group
        owner = where[counts.shared[:, 1]]
        here = owner >= 0
        pairs = np.unique(owner[here] + counts.shared[here, 0] * number)
        return people + np.bincount(pairs % number, minlength=number)


class _Rows:
    """The entries of a tally by combination, so that those of some combinations are found without a scan."""

    def __init__(self, combination: Integers, size: int) -> None:
        self.order = np.argsort(combination, kind="stable")
        self.length = np.bincount(combination, minlength=size)
        self.first = np.cumsum(self.length) - self.length

    def of(self, chosen: Integers, group: Integers) -> tuple[Integers, Integers]:
        length = self.length[chosen]
        ends = np.cumsum(length)
        shift = np.repeat(self.first[chosen] - (ends - length), length)
        return self.order[shift + np.arange(len(shift))], np.repeat(group, length)
