"""What becomes of a lattice node under the models: which classes stay, what that suppresses, what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy import Classes, PrivacyModel, kept_by
from shoal.privacy.classes import PeopleIn, among
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable
from shoal.solve.solution import Solution
from shoal.solve.utility import Utility
from shoal.solve.utility.loss import Loss


@dataclass(frozen=True)
class NodeEvaluation:
    """A node looked at."""

    table: ClassTable
    kept: Mask
    suppressed: int
    value: float

    @property
    def withheld(self) -> Mask:
        """For each combination, whether its records are suppressed."""
        return ~self.kept[self.table.member]


class CandidateClasses:
    """The classes of a node that are not lost from the start; each model is asked about them once."""

    def __init__(self, places: Integers, classes: Classes) -> None:
        self.places = places
        self.classes = classes
        self._held: dict[int, Mask] = {}

    def held(self, models: Sequence[PrivacyModel]) -> Mask:
        """The classes that all of the models, which look at one class at a time, let stay."""
        held = np.ones(len(self.places), dtype=bool)
        for model in models:
            held &= self._holds(model)
        return held

    def most_kept(self, model: PrivacyModel) -> Integers:
        """How many records of each class can be kept at most, however finely it is divided."""
        records = self.classes.records
        if not model.local:
            return model.most_kept(self.classes)
        held = self._holds(model)
        failing = np.flatnonzero(~held)
        if 2 * len(failing) > len(held):
            return np.where(held, records, model.most_kept(self.classes))
        most = records.copy()
        if len(failing):
            most[failing] = model.most_kept(self.classes.at(failing))
        return most

    def _holds(self, model: PrivacyModel) -> Mask:
        if id(model) not in self._held:
            real = self.classes.records > 0
            self._held[id(model)] = model.holds(self.classes) if real.all() else self._of_real(model, real)
        return self._held[id(model)]

    def _of_real(self, model: PrivacyModel, real: Mask) -> Mask:
        held = np.ones(len(real), dtype=bool)
        held[real] = model.holds(self.classes.only(real))
        return held


class NodeEvaluator:
    def __init__(self, problem: Problem, utility: Utility) -> None:
        self.problem = problem
        self.utility = utility
        self._one_by_one = [model for model in problem.models if model.local]
        self._together = [model for model in problem.models if not model.local]
        self._trims = any(model.trims for model in problem.models)
        self._ties = any(model.takes_smallest for model in problem.models)

    @property
    def tells_of_below(self) -> bool:
        """Whether the models say of some classes that records of them are lost, here and on every node below."""
        minimum = self.problem.minimum_class
        return (
            self._trims
            or minimum.people > 1
            or minimum.records > 1
            or any(least > 1 for least in minimum.distinct.values())
        )

    def too_small(self, table: ClassTable) -> Mask:
        """Classes with fewer people or records than the models' minimum: they are lost here and on every node below."""
        minimum = self.problem.minimum_class
        small = table.people < minimum.people
        if minimum.records > minimum.people or table.people is not table.records:
            small |= table.records < minimum.records
        if self.problem.population is not None:
            small &= table.records > 0
        return small

    def candidates(self, table: ClassTable, lost: Mask) -> CandidateClasses:
        """The classes that may stay, with all that the models look at; ``lost`` gains those of too few values."""
        places = np.flatnonzero(~lost)
        classes = self._classes(table, places)
        varied = np.ones(len(places), dtype=bool)
        # Where models say what can be kept at most, they say it of classes with too few values too.
        for name, least in () if self._trims else self.problem.minimum_class.distinct.items():
            if least > 1:
                varied &= (classes.histograms(name).distinct() >= least) | (classes.records == 0)
        if not varied.all():
            lost[places[~varied]] = True
            places, classes = places[varied], classes.only(varied)
        return CandidateClasses(places, classes)

    def trimmed(self, table: ClassTable, candidates: CandidateClasses) -> Integers | None:
        """Per class, how many records are lost at least, here and below. None where the models don't say.

        Classes that are no candidates are lost as a whole.
        """
        if not self._trims:
            return None
        most = candidates.classes.records
        for model in self.problem.models:
            if model.trims:
                most = np.minimum(most, candidates.most_kept(model))
        lost = table.records.copy()
        lost[candidates.places] -= np.where(most < self.problem.minimum_class.records, 0, most)
        return lost

    def evaluate(self, table: ClassTable, candidates: CandidateClasses) -> Iterator[NodeEvaluation]:
        """By all models. Where a model takes away the smallest classes, equal ones can go in different orders."""
        staying = candidates.classes.records == 0
        held = candidates.held(self._one_by_one) | staying
        for order in self._orders(table, candidates.places):
            places = np.flatnonzero(held) if order is None else order[held[order]]
            kept = np.zeros(table.number, dtype=bool)
            kept[candidates.places[places]] = (
                kept_by(self._together, candidates.classes.at(places)) if self._together else True
            )
            yield NodeEvaluation(table, kept, int(table.records[~kept].sum()), self.utility.value(table, kept))

    def _orders(self, table: ClassTable, places: Integers) -> Iterator[Integers | None]:
        """None stands for the order in which they are."""
        if self._ties and self.problem.tie_break_order is not None:
            yield np.argsort(self.problem.tie_break_order(table)[places], kind="stable")
            return
        yield None
        if self._ties:
            yield np.arange(len(places))[::-1]

    def solution(
        self, evaluation: NodeEvaluation, total: int, checked: int, bound: float, *, optimal: bool
    ) -> Solution:
        attributes = (ladder.attribute for ladder in self.problem.ladders)
        whole = evaluation.value
        if not isinstance(self.utility, Loss):
            whole = Loss(self.problem).value(evaluation.table, evaluation.kept)
        return Solution(
            dict(zip(attributes, evaluation.table.node, strict=True)),
            loss=whole,
            objective=evaluation.value,
            optimal=optimal,
            nodes_total=total,
            nodes_checked=checked,
            suppressed=evaluation.suppressed,
            withheld=evaluation.withheld,
            bound=bound,
        )

    def _classes(self, table: ClassTable, places: Integers) -> Classes:
        """Some of the classes, with all that the models look at."""
        problem = self.problem
        population = problem.population
        if population is not None:
            population = np.bincount(table.member, weights=population, minlength=table.number).astype(np.int64)[places]
        return Classes(
            table.records[places],
            table.people[places],
            {name: table.histograms(name, tally, places) for name, tally in problem.tallies.items()},
            population,
            tuple(ladder.attribute for ladder in problem.ladders),
            table.cells[places] if self._together else None,
            self._people_in(table, places) if len(problem.counts.shared) else None,
        )

    def _people_in(self, table: ClassTable, places: Integers) -> PeopleIn:
        return among(
            lambda groups, number: self.problem.counts.people_in(groups[table.member], number), places, table.number
        )
