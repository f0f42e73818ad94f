"""What the solver found, as steps of the plan: levels or recoded cells, classes to withhold, decoys."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.engine.protocol import TableT
from shoal.errors import InputError
from shoal.hierarchy import BoundHierarchy
from shoal.plan.builder import PlanBuilder
from shoal.plan.cell_recoding import recode_cells
from shoal.plan.nodes import PlannedStep
from shoal.plan.rewrite_rules import look_up_labels
from shoal.plan.solver_problem import BoundProblem
from shoal.solve import Solution
from shoal.techniques.generalisation.generalise import GeneraliseStep
from shoal.techniques.suppression.suppress_records import WithholdClassesStep


def apply_solution(builder: PlanBuilder[TableT], question: BoundProblem, solution: Solution) -> None:
    if solution.cells is not None:
        _recode_cells(builder, question, solution, solution.cells)
    else:
        _raise_levels(builder, question, solution)
        _withhold_classes(builder, question, solution)
    _add_decoys(builder, question, solution)


def _recode_cells(
    builder: PlanBuilder[TableT], question: BoundProblem, solution: Solution, cells: NDArray[np.int8]
) -> None:
    counts, drop = question.problem.counts, builder.policy.solve.drop_suppressed
    recode = recode_cells(counts, question.hierarchies, cells, solution.withheld, drop=drop)
    clause = "ISO/IEC 20889, 9.3.3" if solution.recoding == "cells" else "ISO/IEC 20889, 9.6.5"
    builder.now.add(PlannedStep(recode, "recode", clause))


def _raise_levels(builder: PlanBuilder[TableT], question: BoundProblem, solution: Solution) -> None:
    for name, level in solution.levels.items():
        hierarchy = question.hierarchies[name]
        if not level:
            _tell_from_marks(builder, hierarchy, question.problem.counts.values_of(name))
        else:
            step = GeneraliseStep(builder.columns[name], hierarchy, level)
            recode = look_up_labels(step, question.problem.counts.values_of(name))
            detail = f"level {level} of {hierarchy.height}"
            builder.now.add(PlannedStep(recode, "generalise", "ISO/IEC 20889, 9.6", name, detail))


def _tell_from_marks(builder: PlanBuilder[TableT], hierarchy: BoundHierarchy, values: pl.Series) -> None:
    """Values of the data that read like the mark of a suppressed cell are written otherwise."""
    name, told = hierarchy.column.name, hierarchy.generalise(values, 0)
    if not told.equals(values, null_equal=True):
        step = look_up_labels(GeneraliseStep(builder.columns[name], hierarchy, 0), values)
        builder.now.add(PlannedStep(step, "escape", "", name, r"the value * is written as \*"))


def _withhold_classes(builder: PlanBuilder[TableT], question: BoundProblem, solution: Solution) -> None:
    if not solution.withheld.any():
        return
    counts = question.problem.counts
    withheld = counts.frame().filter(pl.Series(solution.withheld))
    classes = _generalised(withheld, question, solution).unique(maintain_order=True)
    step = WithholdClassesStep(counts.attributes, classes, drop=builder.policy.solve.drop_suppressed)
    builder.now.add(PlannedStep(step, "suppress_records", "ISO/IEC 20889, 9.3.4"))


def _add_decoys(builder: PlanBuilder[TableT], question: BoundProblem, solution: Solution) -> None:
    decoys, counts = builder.policy.solve.decoys, question.problem.counts
    if decoys is None or solution.filling is None:
        return
    if any(planned.step.sidecar_files for planned in builder.now.plan):
        raise InputError("solve.decoys: invented records would have nothing in the files beside the data")
    alike = counts.frame()[np.repeat(np.arange(counts.size), solution.filling)]
    wanted = decoys.wants(builder.now.engine.columns(builder.now.table), counts.attributes)
    step = decoys.bind(_generalised(alike, question, solution), builder.context(("table", "decoys"), wanted))
    builder.now.add(PlannedStep(step, "decoys", decoys.facts.clause))


def _generalised(combinations: pl.DataFrame, question: BoundProblem, solution: Solution) -> pl.DataFrame:
    return combinations.select(
        question.hierarchies[name].generalise(combinations[name], level) for name, level in solution.levels.items()
    )
