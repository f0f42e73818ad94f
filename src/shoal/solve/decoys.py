"""Decoys instead of suppression (PDPC annex C): a class that is too small for k is filled up with invented people.

A withheld class of p people becomes one of k by k − p decoys, and its own records are released after all, as truthful
as any other. What decoys cost is not detail but truth: the table now holds people who don't exist.

**What k means then.** The target's record is one of k that look alike, so the chance of picking it is at most 1 ÷ k,
even for one who knows which classes were filled up and with how many. This holds as long as nobody can tell decoys from
real people (see ``techniques.decoys`` for what is done about that). Whoever can gets the smaller class back, with
1 ÷ p. So a release states both figures: k as it is counted, and ``k_without_decoys``.

**Which classes.** The solver has chosen levels under a suppression limit; of the classes that it withholds, those that
keep most records for a decoy are filled first, until ``limit`` decoys per original record are used up. The rest stays
suppressed. Where a record is a person, no other choice saves more records: a class that needs fewer decoys (k − p) also
has more records to save (p), so an exchange never helps.

Only k-anonymity on all quasi-identifiers is reached this way. Other models judge sensitive values: invented ones would
meet them on paper, with the real people's values as telling as before.
"""

from __future__ import annotations

from dataclasses import replace
from math import floor

import numpy as np

from shoal.errors import InputError
from shoal.kernels.arrays import Integers, Mask
from shoal.privacy import PrivacyModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.solve.problem import Problem
from shoal.solve.rollup import ClassTable, Rollup
from shoal.solve.solution import Solution


def fill_up(problem: Problem, solution: Solution, limit: float) -> Solution:
    """The solution with decoys for as many of its withheld classes as the limit allows, cheapest first.

    The objective, its bound and what is said of optimality stay those of the search, which knew nothing of decoys.
    """
    table = _classes(problem, solution)
    short = _withheld(table, solution)
    needed = _k(problem) - table.people
    chosen = _cheapest(needed, table.records, short, floor(limit * problem.records + 1e-9))
    withheld = solution.withheld & ~np.isin(table.member, chosen)
    levels = np.tile(np.array([*solution.levels.values()], dtype=np.int8), (problem.counts.size, 1))
    return replace(
        solution,
        loss=problem.loss(levels, withheld),
        suppressed=int(problem.counts.records[withheld].sum()),
        withheld=withheld,
        filling=_on_one_of_each(chosen, needed, table.member),
    )


def k_without_decoys(problem: Problem, solution: Solution) -> int:
    """The fewest real people in a class that is released: what is left of k where decoys are recognised."""
    table = _classes(problem, solution)
    released = (table.records > 0) & ~_withheld(table, solution)
    return int(table.people[released].min()) if released.any() else 0


def _cheapest(needed: Integers, records: Integers, short: Mask, allowed: int) -> Integers:
    """The short classes to fill with the decoys allowed: those that keep most records for a decoy."""
    candidates = np.flatnonzero(short)
    price = needed[candidates] / records[candidates]
    order = candidates[np.lexsort((candidates, needed[candidates], price))]
    return order[np.cumsum(needed[order]) <= allowed]


def _on_one_of_each(chosen: Integers, needed: Integers, member: Integers) -> Integers | None:
    """Each class's decoys put down at the first of its combinations."""
    if not len(chosen):
        return None
    classes, first = np.unique(member, return_index=True)
    filling = np.zeros(len(member), dtype=np.int64)
    filling[first[np.searchsorted(classes, chosen)]] = needed[chosen]
    return filling


def _classes(problem: Problem, solution: Solution) -> ClassTable:
    if solution.cells is not None:
        raise InputError(
            f"solve.decoys: classes can't be filled up with `recoding: {solution.recoding}`",
            advice="use `recoding: global`, or leave solve.decoys out",
        )
    return Rollup(problem).at(tuple(solution.levels[ladder.attribute] for ladder in problem.ladders))


def _withheld(table: ClassTable, solution: Solution) -> Mask:
    return np.bincount(table.member, weights=solution.withheld, minlength=table.number) > 0


def _k(problem: Problem) -> int:
    others = [model.key for model in problem.models if not _fillable(model)]
    if others:
        raise InputError(
            f"solve.decoys: added records can't meet {', '.join(others)}, only k_anonymity on all quasi-identifiers",
            advice="leave solve.decoys out, or the other models",
        )
    wanted = [model.k for model in problem.models if isinstance(model, KAnonymity)]
    if not wanted:
        raise InputError("solve.decoys: needs k_anonymity among the privacy models")
    return max(wanted)


def _fillable(model: PrivacyModel) -> bool:
    return isinstance(model, KAnonymity) and model.plain
