"""What a solver is given: counts, ladders, models, how sensitive values are spread, how much may be suppressed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers, Mask, sums_by
from shoal.privacy import Classes, Histograms, MinimumClass, PrivacyModel
from shoal.privacy.classes import BLOCK_CELLS
from shoal.schema import Counts
from shoal.solve.ladder import Ladder

if TYPE_CHECKING:
    from shoal.solve.rollup import ClassTable


@dataclass(frozen=True)
class SensitiveCounts:
    """How often each value of a sensitive attribute occurs in each combination of quasi-identifiers.

    Entry e: ``count[e]`` records of combination ``combination[e]`` have the value ``value[e]``. Values are numbered in
    their natural order; ``tree`` has their group on each level of the attribute's hierarchy, from 1 to the top;
    ``numbers`` what they are as numbers, where they are.
    """

    combination: Integers
    value: Integers
    count: Integers
    values: int
    tree: tuple[Integers, ...] = ()
    numbers: Floats | None = None

    @cached_property
    def whole(self) -> Integers:
        return sums_by(self.value, self.count, self.values)

    @property
    def none(self) -> Histograms:
        """Of no class: what is known of the whole table."""
        return Histograms.of(self.whole, np.zeros((0, self.values), dtype=np.int64), self.tree, self.numbers)

    def within(self, member: Integers, number: int, *, some: bool = False) -> Histograms:
        """By class, when combination i belongs to class ``member[i]``; with ``some``, to none where it is negative."""
        owner, value, count = member[self.combination], self.value, self._weights
        if some:
            here = np.flatnonzero(owner >= 0)
            owner, value, count = owner[here], value[here], count[here]
        if number * self.values > BLOCK_CELLS:
            counted = count.astype(np.int64)
            return Histograms(self.whole, owner, value, counted, number, self.tree, numbers=self.numbers)
        owner *= self.values
        owner += value
        dense = np.bincount(owner, weights=count, minlength=number * self.values).astype(np.int64)
        return Histograms.of(self.whole, dense.reshape(number, self.values), self.tree, self.numbers)

    @cached_property
    def _weights(self) -> Floats:
        return self.count.astype(np.float64)

    def merged(self, groups: Integers, number: int) -> SensitiveCounts:
        """By class: combination i is in class ``groups[i]`` of ``number``, and what is equal adds up."""
        key = groups[self.combination] * self.values + self.value
        if number * self.values <= BLOCK_CELLS:
            sums = np.bincount(key, weights=self.count, minlength=number * self.values)
            cells = np.flatnonzero(sums)
            counted = sums[cells].astype(np.int64)
        else:
            cells, place = np.unique(key, return_inverse=True)
            counted = np.bincount(place.reshape(-1), weights=self.count).astype(np.int64)
        combination, value = np.divmod(cells, self.values)
        return replace(self, combination=combination, value=value, count=counted)


TieBreakOrder = Callable[["ClassTable"], Integers]
"""The turn of each class of a node."""


@dataclass(frozen=True)
class Problem:
    """``population[i]`` is how many records of the population table have combination i, where there is one.

    A combination that only the population has stands there with no records. ``tie_break_order`` lays down which of
    equally small classes go first; without it, the solver takes an order that costs less.
    """

    counts: Counts
    ladders: Sequence[Ladder]
    models: Sequence[PrivacyModel] = ()
    tallies: Mapping[str, SensitiveCounts] = field(default_factory=dict)
    population: Integers | None = None
    suppression_limit: float = 0.0
    tie_break_order: TieBreakOrder | None = None

    @cached_property
    def records(self) -> int:
        return self.counts.total_records

    @property
    def allowed(self) -> int:
        """How many records may be suppressed."""
        return floor(self.suppression_limit * self.records + 1e-9)

    @cached_property
    def minimum_class(self) -> MinimumClass:
        """What no class can do without, by all models together."""
        spread = {name: tally.none for name, tally in self.tallies.items()}
        together = MinimumClass()
        for model in self.models:
            together |= model.minimum_class_in(spread)
        return together

    @cached_property
    def weights(self) -> Floats:
        """Of the attributes; they add up to 1."""
        given = np.array([ladder.weight for ladder in self.ladders], dtype=np.float64)
        return given / given.sum() if len(given) else given

    def classes(self, member: Integers, number: int, cells: Integers | None = None) -> Classes:
        """The classes of any partition of the combinations: combination i belongs to class ``member[i]``.

        ``cells`` are numbers for the released values of each class; only models on some of the quasi-identifiers look
        at them.
        """
        records = sums_by(member, self.counts.records, number)
        plain = not len(self.counts.shared)
        people = (
            records if plain and self.counts.people is self.counts.records else self.counts.people_in(member, number)
        )
        population = self.population
        return Classes(
            records,
            people,
            {name: tally.within(member, number) for name, tally in self.tallies.items()},
            None if population is None else sums_by(member, population, number),
            tuple(ladder.attribute for ladder in self.ladders),
            cells,
            None if plain else (lambda groups, many: self.counts.people_in(groups[member], many)),
        )

    def loss(self, levels: NDArray[np.int8], suppressed: Mask) -> float:
        """The contract's loss when combination i's attribute a is released on level ``levels[i, a]``."""
        lost = np.zeros(self.counts.size)
        for place, ladder in enumerate(self.ladders):
            codes = self.counts.codes[:, place]
            cells = np.empty(self.counts.size)
            for level, losses in enumerate(ladder.losses):
                here = levels[:, place] == level
                cells[here] = losses[codes[here]]
            lost += self.weights[place] * cells
        lost[suppressed] = 1.0
        return float((lost * self.counts.records).sum()) / max(1, self.records)


@dataclass(frozen=True)
class SensitiveAttribute:
    """What the solver has to know of a sensitive attribute's values, by their codes in the counts.

    ``order`` is the place of each in its natural order; ``tree`` their group on each level of a hierarchy, 1 to top;
    ``numbers`` what each is as a number, NaN where it is missing, None for other values than numbers.
    """

    order: Integers
    tree: tuple[Integers, ...] = ()
    numbers: Floats | None = None

    def tally(self, counts: Counts, where: Integers, attribute: str) -> SensitiveCounts:
        """Of the attribute in the counts, whose combinations lie at ``where`` among those without it."""
        back = np.argsort(self.order)
        codes = counts.codes[:, counts.attributes.index(attribute)]
        tree = tuple(groups[back] for groups in self.tree)
        numbers = None if self.numbers is None else self.numbers[back]
        return SensitiveCounts(where, self.order[codes], counts.records, len(self.order), tree, numbers)


def build_problem(  # noqa: PLR0913  # all that a problem consists of
    counts: Counts,
    ladders: Sequence[Ladder],
    models: Sequence[PrivacyModel] = (),
    *,
    sensitive: Mapping[str, SensitiveAttribute] | None = None,
    population: Integers | None = None,
    suppression_limit: float = 0.0,
) -> Problem:
    """From counts by the quasi-identifiers (those of the ladders) and the sensitive attributes together.

    ``population`` is what the population has of each of these combinations.
    """
    quasi = tuple(ladder.attribute for ladder in ladders)
    combinations, where = counts.project(quasi)
    if population is not None:
        population = sums_by(where, population, combinations.size)
    tallies = {name: known.tally(counts, where, name) for name, known in (sensitive or {}).items()}
    return Problem(combinations, ladders, models, tallies, population, suppression_limit)
