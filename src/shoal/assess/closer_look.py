"""Around a choice: the node of the lattice that was best, its neighbours, what each attribute costs; and why a record
of a release is starred out. All of it from counts, as the solver sees them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from shoal.errors import InfeasibleError, InputError
from shoal.hierarchy.base import TOP
from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import kept_by

if TYPE_CHECKING:
    from shoal.io import Source
    from shoal.plan import BoundProblem, Problem, Solution
    from shoal.policy import Solve
    from shoal.results.manifest import Manifest

STARRED_SHOWN: Final = 40
MOST_COMBINATIONS: Final = 200_000
"""Beyond which the neighbours are not worked out: nobody waits for them."""


@dataclass(frozen=True)
class LatticeNode:
    levels: Mapping[str, int]
    attribute: str | None
    """Which one is a level higher or lower than in the node in the middle; None of that node itself."""
    step: int
    loss: float
    starred: int
    """Records of classes that do not meet the models."""
    allowed: bool
    """Whether no more are starred than may be."""
    lost: Mapping[str, float]
    """By attribute, the loss of its own cells."""

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "levels": dict(self.levels), "lost": dict(self.lost)}


def lattice_around(problem: Problem, wanted: Solve) -> list[dict[str, Any]]:
    """The best node where whole columns are made coarser alike, then each neighbour a level up or down."""
    from shoal.plan.solver_choice import solve_by_policy

    if not problem.ladders or problem.counts.size > MOST_COMBINATIONS:
        return []
    try:
        best = solve_by_policy(problem, wanted.model_copy(update={"recoding": "global"}), lambda *_: None)
    except InfeasibleError:
        return []
    if best.cells is not None or not best.levels:
        return []
    middle = [best.levels[ladder.attribute] for ladder in problem.ladders]
    found = [_node(problem, middle, None, 0)]
    for place, ladder in enumerate(problem.ladders):
        for step in (-1, 1):
            level = middle[place] + step
            if ladder.lowest <= level <= ladder.highest:
                found.append(_node(problem, [*middle[:place], level, *middle[place + 1 :]], ladder.attribute, step))
    return [node.to_dict() for node in found]


def _node(problem: Problem, levels: list[int], attribute: str | None, step: int) -> LatticeNode:
    starred, cells = _starred(problem, levels)
    counts, ladders = problem.counts, problem.ladders
    records = counts.records
    lost = {
        ladder.attribute: float(
            (np.where(starred, 1.0, ladder.losses[level][counts.codes[:, place]]) * records).sum()
            / max(1, problem.records)
        )
        for place, (ladder, level) in enumerate(zip(ladders, levels, strict=True))
    }
    number = int(records[starred].sum())
    told = {ladder.attribute: level for ladder, level in zip(ladders, levels, strict=True)}
    loss = problem.loss(cells, starred)
    return LatticeNode(told, attribute, step, loss, number, number <= problem.allowed, lost)


def _starred(problem: Problem, levels: list[int]) -> tuple[Mask, Any]:
    """The combinations whose class does not meet the models when every column is on its level."""
    counts = problem.counts
    groups = np.column_stack(
        [
            ladder.groups[level][counts.codes[:, place]]
            for place, (ladder, level) in enumerate(zip(problem.ladders, levels, strict=True))
        ]
    )
    kinds, member = np.unique(groups, axis=0, return_inverse=True)
    member = member.reshape(-1)
    kept = kept_by(problem.models, problem.classes(member, len(kinds), kinds))
    return ~kept[member], np.broadcast_to(np.array(levels, dtype=np.int8), groups.shape)


def explain_record(bound: BoundProblem, wanted: Solve, source: Source, manifest: Manifest, row: int) -> dict[str, Any]:
    """Whom a record of the source is like, column by column and together, before and on the levels of the release.

    What became of it is found by solving again, since nobody can follow a record into a release that was shuffled.
    """
    problem, names = bound.problem, bound.problem.counts.attributes
    if not 1 <= row <= problem.records:
        raise InputError(f"has to be 1 to {problem.records}", field="row")
    if bound.rolled_up:
        raise InputError("the table has so many combinations that single values were not counted")
    solution = _solved_again(problem, wanted, manifest)
    original = source.scan().select(names).slice(row - 1, 1).collect()
    codes = [_code(problem, place, original[name]) for place, name in enumerate(names)]
    same = (problem.counts.codes == np.array(codes)).all(axis=1)
    here = int(np.flatnonzero(same)[0])
    starred = bool(solution.withheld[here])
    alike, columns = np.ones(problem.counts.size, dtype=bool), []
    for place, (name, code) in enumerate(zip(names, codes, strict=True)):
        level = solution.levels[name] if starred or solution.cells is None else int(solution.cells[here, place])
        group = problem.ladders[place].groups[level]
        own, coarse = problem.counts.codes[:, place] == code, group[problem.counts.codes[:, place]] == group[code]
        alike &= coarse
        label = _text(bound.hierarchies[name].generalise(problem.counts.values[place], level).cast(pl.String)[code])
        columns.append(
            {"name": name, "value": _text(original[name][0]), "label": label, "level": level,
             "released": TOP if starred else label, "same": _people(problem, own), "alike": _people(problem, coarse)}
        )  # fmt: skip
    return {"row": row, "starred": starred, "columns": columns, "same": _people(problem, same),
            "alike": _people(problem, alike), "asked": [model.explain() for model in problem.models],
            "records": problem.records, "others": _starred_rows(problem, solution, source)}  # fmt: skip


def _solved_again(problem: Problem, wanted: Solve, manifest: Manifest) -> Solution:
    """The solution of the release; another one would explain another release."""
    from shoal.plan.solver_choice import solve_by_policy

    found = solve_by_policy(problem, wanted, lambda *_: None)
    told = manifest.solution
    if told is None or found.levels != told.levels or found.suppressed != manifest.suppressed.records:
        raise InputError("solved again, the table gives another release: its records can't be explained")
    return found


def _starred_rows(problem: Problem, solution: Solution, source: Source) -> list[int]:
    """The first records that are starred out as a whole, by their number in the source."""
    counts, names = problem.counts, problem.counts.attributes
    gone = np.flatnonzero(solution.withheld)
    told = {
        name: counts.values[place].gather(counts.codes[gone, place]).cast(pl.String) for place, name in enumerate(names)
    }
    rows = source.scan().select(pl.col(names).cast(pl.String)).with_row_index("row number", offset=1)
    found = rows.join(pl.LazyFrame(told), on=names, how="semi", nulls_equal=True)
    return found.sort("row number").head(STARRED_SHOWN).collect(engine="streaming")["row number"].to_list()


def _code(problem: Problem, place: int, value: pl.Series) -> int:
    values = problem.counts.values[place]
    found = values.is_null() if value.is_null()[0] else values.cast(pl.String) == value.cast(pl.String)[0]
    where = found.fill_null(value=False).arg_max()
    if where is None or not found[where]:
        raise InputError("a technique changes a quasi-identifier before it is counted: the record can't be followed")
    return int(where)


def _people(problem: Problem, where: Mask) -> int:
    records: Integers = problem.counts.records
    return int(records[where].sum())


def _text(value: object) -> str | None:
    return None if value is None else str(value)[:80]


def class_sizes(data: Source, names: Sequence[str]) -> dict[int, int]:
    """How many classes of each size were released; records with nothing but stars are in none."""
    if not names:
        return {}
    stars = pl.all_horizontal(*(pl.col(name).cast(pl.String).eq_missing(TOP) for name in names))
    shown = data.scan().select(names).filter(~stars)
    sizes = shown.group_by(names).len("size").group_by("size").len("times").collect(engine="streaming")
    return dict(sizes.sort("size").iter_rows())
