"""From a level per cell to a solution: the released rows are grouped anew, and what does not hold is suppressed."""

from __future__ import annotations

import numpy as np

from shoal.errors import InfeasibleError
from shoal.kernels.arrays import Floats, Mask
from shoal.solve.cells.table import Levels, blank_rows, judge
from shoal.solve.problem import Problem
from shoal.solve.solution import Solution


def verified(  # noqa: PLR0913  # all that a solution consists of
    problem: Problem,
    levels: Levels,
    shown: Mask,
    *,
    recoding: str,
    prices: Floats | None = None,
    nodes: tuple[int, int] = (1, 1),
    optimal: bool = False,
) -> Solution:
    """The solution that shows these rows on these levels, as far as their classes hold.

    ``prices`` are what each row costs per record in the measure that was minimised (1 when suppressed); without them
    that measure is the loss. ``nodes`` are those there are and those looked at.
    """
    blank = blank_rows(problem, levels)
    if blank[problem.counts.records > 0].all():
        # Nothing tells the records apart: they are one class.
        blank = np.zeros_like(blank)
    held, _ = judge(problem, levels, shown & ~blank)
    withheld = (problem.counts.records > 0) & ~held
    return solution_of_cells(problem, levels, withheld, recoding=recoding, prices=prices, nodes=nodes, optimal=optimal)


def solution_of_cells(  # noqa: PLR0913  # all that a solution consists of
    problem: Problem,
    levels: Levels,
    withheld: Mask,
    *,
    recoding: str,
    prices: Floats | None,
    nodes: tuple[int, int],
    optimal: bool,
) -> Solution:
    """The solution that shows all rows but those withheld on these levels, if so many may be suppressed."""
    suppressed = int(problem.counts.records[withheld].sum())
    if suppressed > problem.allowed:
        raise InfeasibleError(
            f"no way was found to meet {' and '.join(model.key for model in problem.models)}: "
            f"{suppressed} records would have to be suppressed, "
            f"{problem.allowed} may be",
            advice="raise solve.suppression_limit, lower the demands, widen solve.levels or drop a quasi-identifier",
        )
    cells = levels.copy()
    cells[withheld] = [ladder.highest for ladder in problem.ladders]
    loss = problem.loss(cells, withheld)
    paid = None if prices is None else float(np.where(withheld, 1.0, prices) @ problem.counts.records)
    return Solution(
        {ladder.attribute: int(cells[:, place].max(initial=0)) for place, ladder in enumerate(problem.ladders)},
        loss=loss,
        objective=loss if paid is None else paid / max(1, problem.records),
        optimal=optimal,
        nodes_total=nodes[0],
        nodes_checked=nodes[1],
        suppressed=suppressed,
        withheld=withheld,
        recoding=recoding,
        cells=cells,
    )
