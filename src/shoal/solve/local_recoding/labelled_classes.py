"""Classes of combinations as local recoding releases them: one level per attribute, the lowest they all agree on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.solve.problem import Problem

Levels = NDArray[np.int8]


@dataclass
class LabelledClasses:
    """Per class: a combination that stands for it, its levels, its records and what one of them loses."""

    first: Integers
    levels: Levels
    records: Integers
    cost: Floats


def label(problem: Problem, member: Integers, number: int) -> LabelledClasses:
    """The classes 0 to ``number`` − 1, none of them empty; combinations of no class are members of −1."""
    if not number:
        nothing = np.empty(0, dtype=np.int64)
        return LabelledClasses(nothing, np.empty((0, len(problem.ladders)), dtype=np.int8), nothing, np.empty(0))
    order = np.argsort(member, kind="stable")
    order = order[np.searchsorted(member[order], 0) :]
    starts = np.searchsorted(member[order], np.arange(number))
    levels = np.empty((number, len(problem.ladders)), dtype=np.int8)
    for place, ladder in enumerate(problem.ladders):
        codes = problem.counts.codes[order, place]
        levels[:, place] = ladder.lowest
        for groups in ladder.groups[ladder.lowest : ladder.highest]:
            here = groups[codes]
            levels[:, place] += np.minimum.reduceat(here, starts) != np.maximum.reduceat(here, starts)
    records = np.add.reduceat(problem.counts.records[order], starts)
    return LabelledClasses(order[starts], levels, records, costs_of(problem, order[starts], levels))


def is_blank(problem: Problem, levels: Levels) -> Mask:
    """Rows of levels that leave nothing of any attribute: such a record is suppressed, whatever it is called."""
    tops = np.array([ladder.height for ladder in problem.ladders], dtype=np.int8)
    return np.asarray((levels == tops).all(axis=1))


def without_blank(problem: Problem, member: Integers, number: int) -> tuple[Integers, int]:
    """The same classes but those of which nothing would be left; their combinations are members of −1."""
    blank = is_blank(problem, label(problem, member, number).levels)
    if not blank.any() or blank.all():
        return member, number
    place = np.where(blank, -1, np.cumsum(~blank) - 1)
    return np.where(member < 0, -1, place[member]), int((~blank).sum())


def costs_of(problem: Problem, combinations: Integers, levels: Levels) -> Floats:
    """What a record of each combination loses on the given levels."""
    lost = np.zeros(len(combinations))
    for place, ladder in enumerate(problem.ladders):
        codes = problem.counts.codes[combinations, place]
        for level, losses in enumerate(ladder.losses):
            here = levels[:, place] == level
            lost[here] += problem.weights[place] * losses[codes[here]]
    return lost
