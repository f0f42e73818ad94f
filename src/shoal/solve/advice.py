"""What to say when no transformation meets the models: which one fails, by how many records, what would help."""

from __future__ import annotations

import numpy as np

from shoal.errors import InfeasibleError
from shoal.privacy import Classes, kept_by
from shoal.solve.problem import Problem
from shoal.solve.rollup import Rollup


def infeasible(problem: Problem, rollup: Rollup) -> InfeasibleError:
    top = tuple(ladder.highest for ladder in problem.ladders)
    table = rollup.at(top)
    classes = problem.classes(table.member, table.number, table.cells)
    classes = classes.only(classes.records > 0)
    named, helps = [], []
    for model in problem.models:
        lost = _lost(classes, kept_by([model], classes))
        if lost:
            named.append(
                f"{model.key} fails for {lost:,} of {problem.records:,} records ({model.explain().rstrip('.')})"
            )
    together = _lost(classes, kept_by(problem.models, classes))
    if together and together < problem.records:
        helps.append(f"raise solve.suppression_limit to {np.ceil(1000 * together / problem.records) / 1000:g}")
    bounded = [ladder.attribute for ladder in problem.ladders if ladder.highest < ladder.height]
    if bounded:
        helps.append(f"allow higher solve.levels for {', '.join(bounded)}")
    if together == problem.records:
        helps.append("lower what the model asks for")
    else:
        helps.append("drop a quasi-identifier")
    what = "; ".join(named) or f"at least {together:,} records would have to be suppressed"
    return InfeasibleError(
        f"no generalisation meets the privacy models, {problem.allowed:,} records may be suppressed: "
        f"even at the highest levels {what}",
        advice=", or ".join(helps),
    )


def _lost(classes: Classes, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> int:
    return int(classes.records[~kept].sum())
