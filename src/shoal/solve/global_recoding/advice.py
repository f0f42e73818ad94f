"""What to say when no transformation meets the models: which one fails, by how many records, what would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from shoal.errors import InfeasibleError
from shoal.privacy import Classes, PrivacyModel, kept_by
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable, Rollup


def infeasible(problem: Problem, rollup: Rollup) -> InfeasibleError:
    table = rollup.at(tuple(ladder.highest for ladder in problem.ladders))
    classes = problem.classes(table.member, table.number, table.cells)
    failing = [(model, _lost([model], classes)) for model in problem.models]
    named = "; ".join(
        f"{model.key} fails for {lost:,} of {problem.records:,} records ({model.explain().rstrip('.')})"
        for model, lost in failing
        if lost
    )
    together = _lost(problem.models, classes)
    return InfeasibleError(
        f"no generalisation meets the privacy models, {problem.allowed:,} records may be suppressed: "
        f"even at the highest levels {named or f'they fail together for {together:,} of {problem.records:,} records'}",
        advice=", or ".join(_helps(problem, table, together)),
    )


def _helps(problem: Problem, table: ClassTable, lost: int) -> Iterator[str]:
    if lost < problem.records:
        yield f"raise solve.suppression_limit to {ceil(1000 * lost / problem.records) / 1000:g}"
    bounded = [place for place, ladder in enumerate(problem.ladders) if ladder.highest < ladder.height]
    if bounded:
        left, place = min((_lost_without(problem, table, place), place) for place in bounded)
        names = ", ".join(problem.ladders[place].attribute for place in bounded)
        yield f"allow higher solve.levels for {names}"
        if left < lost:
            yield f"drop {problem.ladders[place].attribute}, then {left:,} records fail"
    yield "lower what the model asks for"


def _lost_without(problem: Problem, table: ClassTable, place: int) -> int:
    """Records that fail at the highest levels of all attributes but one, which is left out."""
    cells = np.delete(table.cells, place, axis=1)
    found, groups = np.unique(cells, axis=0, return_inverse=True)
    labels = np.insert(found, place, 0, axis=1)
    return _lost(problem.models, problem.classes(groups.reshape(-1)[table.member], len(found), labels))


def _lost(models: Sequence[PrivacyModel], classes: Classes) -> int:
    return int(classes.records[~kept_by(models, classes)].sum())
