"""What the solver found, as steps of the plan: levels or recoded cells, classes to withhold, decoys."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engine.protocol import TableT
from shoal.errors import InputError
from shoal.hierarchy import BoundHierarchy
from shoal.plan.binder import PlanBinder
from shoal.plan.cell_recoding import recode_cells
from shoal.plan.nodes import PlannedStep, PlanStage
from shoal.plan.solver_problem import BoundProblem
from shoal.solve import Solution
from shoal.techniques.generalisation.generalise import GeneraliseStep
from shoal.techniques.suppression.suppress_records import WithholdClassesStep


def apply_solution(binder: PlanBinder[TableT], question: BoundProblem, solution: Solution) -> None:
    if solution.cells is not None:
        _recode_cells(binder, question, solution, solution.cells)
    else:
        _raise_levels(binder, question, solution)
        _withhold_classes(binder, question, solution)
    _add_decoys(binder, question, solution)


def _recode_cells(
    binder: PlanBinder[TableT], question: BoundProblem, solution: Solution, cells: NDArray[np.int8]
) -> None:
    counts, drop = question.problem.counts, binder.policy.solve.drop_suppressed
    recode = recode_cells(counts, question.hierarchies, cells, solution.withheld, drop=drop)
    clause = "ISO/IEC 20889, 9.3.3" if solution.recoding == "cells" else "ISO/IEC 20889, 9.6.5"
    binder.planned.add(PlannedStep(recode, "recode", clause, stage=PlanStage.SOLUTION))


def _raise_levels(binder: PlanBinder[TableT], question: BoundProblem, solution: Solution) -> None:
    for name, level in solution.levels.items():
        hierarchy = question.hierarchies[name]
        if not level:
            _tell_from_marks(binder, hierarchy, question.problem.counts.values_of(name))
        else:
            _add_level(binder, question, name, level)


def _add_level(binder: PlanBinder[TableT], question: BoundProblem, name: str, level: int) -> None:
    hierarchy = question.hierarchies[name]
    binder.planned.add(
        PlannedStep(
            GeneraliseStep(binder.columns[name], hierarchy, level),
            "generalise",
            "ISO/IEC 20889, 9.6",
            name,
            f"level {level} of {hierarchy.height}",
            PlanStage.SOLUTION,
            {"level": level},
            known_values=question.problem.counts.values_of(name),
        )
    )


def _tell_from_marks(binder: PlanBinder[TableT], hierarchy: BoundHierarchy, values: pl.Series) -> None:
    """Values of the data that read like the mark of a suppressed cell are written otherwise."""
    name, told = hierarchy.column.name, hierarchy.generalise(values, 0)
    if not told.equals(values, null_equal=True):
        step = GeneraliseStep(binder.columns[name], hierarchy, 0)
        detail = r"the value * is written as \*"
        binder.planned.add(PlannedStep(step, "escape", "", name, detail, PlanStage.SOLUTION, known_values=values))


def _withhold_classes(binder: PlanBinder[TableT], question: BoundProblem, solution: Solution) -> None:
    if not solution.withheld.any():
        return
    counts = question.problem.counts
    withheld = counts.frame().filter(pl.Series(solution.withheld))
    classes = _generalised(withheld, question, solution).unique(maintain_order=True)
    step = WithholdClassesStep(counts.attributes, classes, drop=binder.policy.solve.drop_suppressed)
    binder.planned.add(PlannedStep(step, "suppress_records", "ISO/IEC 20889, 9.3.4", stage=PlanStage.SOLUTION))


def _add_decoys(binder: PlanBinder[TableT], question: BoundProblem, solution: Solution) -> None:
    decoys, counts = binder.policy.solve.decoys, question.problem.counts
    if decoys is None or solution.filling is None:
        return
    if any(planned.step.beside for planned in binder.plan):
        raise InputError("solve.decoys: invented records would have nothing in the files beside the data")
    alike = counts.frame()[np.repeat(np.arange(counts.size), solution.filling)]
    wanted = decoys.wants(binder.planned.columns, counts.attributes)
    step = decoys.bind(_generalised(alike, question, solution), binder.context(("table", "decoys"), wanted))
    binder.planned.add(PlannedStep(step, "decoys", decoys.facts.clause, stage=PlanStage.SOLUTION))


def _generalised(combinations: pl.DataFrame, question: BoundProblem, solution: Solution) -> pl.DataFrame:
    return combinations.select(
        question.hierarchies[name].generalise(combinations[name], level) for name, level in solution.levels.items()
    )
