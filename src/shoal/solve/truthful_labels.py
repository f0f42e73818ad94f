"""What a label says, where levels differ from record to record: a star is a star, others are nobody who is named."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Mask
from shoal.solve.problem import Problem

Levels = NDArray[np.int8]


def truthful(problem: Problem, cells: Levels, shown: Mask) -> Levels:
    """The levels per combination and attribute, some of them raised.

    A cell that is ``*`` below the top counts as one at the top, as nobody can tell them apart. Where a group is called
    *others*, no value of it keeps its name in a record that is shown.
    """
    raised = cells.copy()
    for place, ladder in enumerate(problem.ladders):
        codes, levels = problem.counts.codes[:, place], raised[:, place]
        if ladder.starred and ladder.highest == ladder.height:
            stars = np.stack(ladder.starred)
            levels[stars[levels, codes]] = ladder.height
        if ladder.pooled is not None:
            pooled = ladder.pooled[codes]
            if (shown & pooled & (levels == 1)).any():
                levels[pooled & (levels == 0)] = 1
    return raised
