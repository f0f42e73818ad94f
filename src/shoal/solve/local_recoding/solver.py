"""Local recoding: each class is released on levels of its own, so far less is lost than on one level for all.

A class is a set of combinations, released on the lowest level of each attribute on which they all agree. Whoever sees
the table sees classes, and every class meets the models, so it protects as global recoding does; only the levels differ
from class to class. Finding the partition that loses least is NP-hard (Meyerson and Williams, 2004), so this is a
heuristic and says so (``optimal`` is False): sweep the lattice for company (``sweep``), let the rest join (``join``),
and judge the finished table by its released cells alone (``release``).
"""

from __future__ import annotations

import numpy as np

from shoal.errors import InfeasibleError
from shoal.kernels.arrays import Integers, Mask
from shoal.schema.progress import Progress
from shoal.solve.blas_threads import one_blas_thread
from shoal.solve.local_recoding.admissible_classes import ClassAdmission
from shoal.solve.local_recoding.class_joining import Joiner
from shoal.solve.local_recoding.labelled_classes import Levels, label, without_blank
from shoal.solve.local_recoding.lattice_sweep import Sweep
from shoal.solve.local_recoding.regrouping import regroup
from shoal.solve.local_recoding.released_table import LocalRelease, coarser, judged, top_node
from shoal.solve.problem import Problem
from shoal.solve.solution import Solution


@one_blas_thread
def solve_local(problem: Problem, *, progress: Progress | None = None) -> Solution:
    """A partition of the combinations that meets all models; equal problems have equal solutions."""
    judge = ClassAdmission(problem)
    sweep = Sweep(problem, judge)
    sweep.run(progress)
    member, number = without_blank(problem, sweep.member, sweep.number)
    joiner = Joiner(problem, judge, member, number)
    joiner.run(problem.allowed)
    released = _released(problem, joiner.member, number)
    if judge.divisible and sweep.swept < number:
        member, number = regroup(problem, joiner.member, number, sweep.swept, judge.least)
        released = min(released, _released(problem, member, number), key=lambda table: table.loss)
    return Solution(
        {ladder.attribute: _highest(released, place, ladder.lowest) for place, ladder in enumerate(problem.ladders)},
        loss=released.loss,
        objective=released.loss,
        optimal=False,
        nodes_total=sweep.total,
        nodes_checked=sweep.visited,
        suppressed=released.suppressed,
        withheld=released.withheld,
        recoding="local",
        cells=released.cells,
    )


def _released(problem: Problem, member: Integers, number: int) -> LocalRelease:
    return _best(problem, _cells(problem, member, number), member < 0)


def _cells(problem: Problem, member: Integers, number: int) -> Levels:
    """Each combination on the levels of its class; on the lowest where it has none."""
    lowest = np.array([[ladder.lowest for ladder in problem.ladders]], dtype=np.int8)
    return np.vstack((label(problem, member, number).levels, lowest))[member]


def _best(problem: Problem, cells: Levels, left_out: Mask) -> LocalRelease:
    """The table as it was found, unless the top node loses less; where too much of it fails, the best raised one."""
    found = judged(problem, cells, left_out)
    raised = coarser(problem, cells) if found.suppressed > problem.allowed else [top_node(problem)]
    everyone = np.zeros_like(left_out)
    best, least = found, found.suppressed
    for table in (judged(problem, levels, everyone) for levels in raised):
        least = min(least, table.suppressed)
        if (table.suppressed > problem.allowed, table.loss) < (best.suppressed > problem.allowed, best.loss):
            best = table
    if best.suppressed > problem.allowed:
        raise _infeasible(problem, least)
    return best


def _highest(released: LocalRelease, place: int, lowest: int) -> int:
    return int(released.cells[~released.withheld, place].max(initial=lowest))


def _infeasible(problem: Problem, least: int) -> InfeasibleError:
    named = " and ".join(model.explain().rstrip(".") for model in problem.models)
    return InfeasibleError(
        f"no local recoding was found that meets the privacy models ({named}): the best suppresses {least} of "
        f"{problem.records} records, {problem.allowed} may be",
        advice="raise solve.suppression_limit, lower the demands, widen solve.levels or drop a quasi-identifier",
    )
