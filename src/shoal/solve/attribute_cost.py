"""What a single quasi-identifier costs: how much of its own detail a solution takes, and the question without it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from shoal.kernels.arrays import Floats, sums_by
from shoal.solve.problem import Problem
from shoal.solve.solution import Solution


def attribute_losses(problem: Problem, solution: Solution) -> dict[str, float]:
    """The mean loss of each attribute's cells; those of a suppressed record are lost."""
    records = problem.counts.records
    return {
        ladder.attribute: float((_cell_losses(problem, solution, place) * records).sum() / max(1, problem.records))
        for place, ladder in enumerate(problem.ladders)
    }


def _cell_losses(problem: Problem, solution: Solution, place: int) -> Floats:
    ladder, codes = problem.ladders[place], problem.counts.codes[:, place]
    if solution.cells is None:
        cells = ladder.losses[solution.levels[ladder.attribute]][codes]
    else:
        cells = np.stack(ladder.losses)[solution.cells[:, place], codes]
    return np.where(solution.withheld, 1.0, cells)


def problem_without(problem: Problem, name: str) -> Problem:
    """The same question with a quasi-identifier less."""
    left = [ladder for ladder in problem.ladders if ladder.attribute != name]
    counts, where = problem.counts.project(tuple(ladder.attribute for ladder in left))
    tallies = {key: tally.merged(where, counts.size) for key, tally in problem.tallies.items()}
    population = None if problem.population is None else sums_by(where, problem.population, counts.size)
    return replace(problem, counts=counts, ladders=left, tallies=tallies, population=population)
