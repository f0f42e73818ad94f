"""What becomes of a lattice node under the models: which classes stay, what that suppresses, what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.privacy import Classes, kept_by
from shoal.schema.arrays import Integers, Mask
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable
from shoal.solve.solution import Solution
from shoal.solve.utility import Loss, Utility


@dataclass(frozen=True)
class Look:
    """A node looked at."""

    table: ClassTable
    kept: Mask
    suppressed: int
    value: float

    @property
    def withheld(self) -> Mask:
        """For each combination, whether its records are suppressed."""
        return ~self.kept[self.table.member]


class Judge:
    def __init__(self, problem: Problem, utility: Utility) -> None:
        self.problem = problem
        self.utility = utility
        self._local = all(model.local for model in problem.models)
        self._trims = any(model.trims for model in problem.models)
        self._ties = any(model.takes_smallest for model in problem.models)

    @property
    def tells_of_below(self) -> bool:
        """Whether the models say of some classes that records of them are lost, here and on every node below."""
        floor = self.problem.floor
        return (
            self._trims or floor.people > 1 or floor.records > 1 or any(least > 1 for least in floor.distinct.values())
        )

    def above_floor(self, table: ClassTable) -> Mask:
        floor = self.problem.floor
        above = table.people >= floor.people
        if floor.records > floor.people or table.people is not table.records:
            above &= table.records >= floor.records
        for name, least in () if self._trims else floor.distinct.items():
            if least > 1:
                some = table.histograms(name, self.problem.tallies[name]).only(above)
                above[above] = some.distinct() >= least
        return above

    def trimmed(self, table: ClassTable, candidates: Classes, places: Integers) -> Integers | None:
        """Per class, how many records are lost at least, here and below. None where the models don't say.

        ``candidates`` are the classes at ``places``; those at other places are lost as a whole.
        """
        if not self._trims:
            return None
        most = candidates.records
        for model in self.problem.models:
            if model.trims:
                most = np.minimum(most, model.most_kept(candidates))
        lost = table.records.copy()
        lost[places] -= np.where(most < self.problem.floor.records, 0, most)
        return lost

    def looks(self, table: ClassTable, candidates: Classes, places: Integers) -> Iterator[Look]:
        """By all models. Where a model takes away the smallest classes, equal ones can go in different orders."""
        for order in self._orders(table, places):
            classes = candidates if order is None else candidates.at(order)
            kept = np.zeros(table.number, dtype=bool)
            kept[places if order is None else places[order]] = kept_by(self.problem.models, classes)
            yield Look(table, kept, int(table.records[~kept].sum()), self.utility.value(table, kept))

    def _orders(self, table: ClassTable, places: Integers) -> Iterator[Integers | None]:
        """None stands for the order in which they are."""
        if self._ties and self.problem.turns is not None:
            yield np.argsort(self.problem.turns(table)[places], kind="stable")
            return
        yield None
        if self._ties:
            yield np.arange(len(places))[::-1]

    def solution(self, look: Look, total: int, checked: int, bound: float, *, optimal: bool) -> Solution:
        attributes = (ladder.attribute for ladder in self.problem.ladders)
        whole = look.value
        if not isinstance(self.utility, Loss):
            whole = Loss(self.problem).value(look.table, look.kept)
        return Solution(
            dict(zip(attributes, look.table.node, strict=True)),
            loss=whole,
            objective=look.value,
            optimal=optimal,
            nodes_total=total,
            nodes_checked=checked,
            suppressed=look.suppressed,
            withheld=look.withheld,
            bound=bound,
        )

    def classes(self, table: ClassTable, places: Integers) -> Classes:
        """Some of the classes, with all that the models look at."""
        return self._classes(table).at(places)

    def _classes(self, table: ClassTable) -> Classes:
        problem = self.problem
        population = problem.population
        if population is not None:
            population = np.bincount(table.member, weights=population, minlength=table.number).astype(np.int64)
        return Classes(
            table.records,
            table.people,
            {name: table.histograms(name, tally) for name, tally in problem.tallies.items()},
            population,
            tuple(ladder.attribute for ladder in problem.ladders),
            None if self._local else table.cells,
            None
            if not len(problem.counts.shared)
            else (lambda groups, number: problem.counts.people_in(groups[table.member], number)),
        )
