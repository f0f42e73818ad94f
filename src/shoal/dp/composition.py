"""Several SELECTs in one question (UNION ALL): which of them cost as much as one, and what all cost together.

SELECTs that can have no row in common share a person's rows: at most ``rows_per_person`` of them are drawn once, for
all of those SELECTs. What a SELECT tells of a person is in proportion to the rows in it, so together they tell no more
than the dearest of them would of all rows (parallel composition). Others add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from typing import Final

import polars as pl

from shoal.dp.accounting import PrivacyCost
from shoal.dp.description import DatasetDescription
from shoal.dp.noisy_answer import NoisyFigures, worked_out
from shoal.dp.partitions import disjoint
from shoal.dp.query_plan import QueryPlan, planned
from shoal.dp.question import Question
from shoal.dp.scalars import facts_of, row_dtype
from shoal.dp.tabulation import Tabulation, shared_rows, tabulated
from shoal.errors import RefusedQuestion

_PLACES: Final = Decimal("1e-15")


@dataclass(frozen=True)
class ComposedPlan:
    """SELECTs with their prices."""

    plans: tuple[QueryPlan, ...]
    parts: tuple[tuple[int, ...], ...]
    """Places of those that have no row in common; each part costs as much as its dearest."""

    @property
    def cost(self) -> PrivacyCost:
        total = PrivacyCost()
        for part in self.parts:
            costs = [self.plans[place].cost for place in part]
            total += PrivacyCost(max(one.amount for one in costs), max(one.delta for one in costs))
        return total

    def tabulated(self, frames: Sequence[Sequence[pl.LazyFrame]]) -> list[Tabulation]:
        """The exact numbers of each SELECT, in order, from the frames of its tables."""
        given = list(frames)
        for part in self.parts:
            if len(part) > 1:
                shared = shared_rows([self.plans[place] for place in part], given[part[0]])
                for place in part:
                    given[place] = shared
        return [tabulated(plan, one) for plan, one in zip(self.plans, given, strict=True)]


def composed(
    questions: Sequence[Question], description: DatasetDescription, epsilon: Decimal, delta: Decimal | None
) -> ComposedPlan:
    """All SELECTs at a price for all together."""
    parts = _parts(questions)
    each = _share(epsilon, len(parts))
    most = None if delta is None else _share(delta, len(parts))
    plans = [planned(question, description, each, most) for question in questions]
    for part in parts:
        if len(part) > 1:
            _read_together(plans, part)
    _refuse_unlike(plans)
    return ComposedPlan(tuple(plans), parts)


def _read_together(plans: list[QueryPlan], part: Sequence[int]) -> None:
    """Each knows what the others of its part ask about, since the rows of a person are drawn once for all of them.

    One row changes a number of people as far as all rows do. So that number may be told at the noise for a few groups
    only where each SELECT spends the same share on it: else one row would be paid for there, and all others elsewhere.
    """
    groups = [plans[place].groups for place in part]
    alike = len({plans[place].people_share for place in part}) == 1
    columns = frozenset[str]().union(*(plans[place].used for place in part))
    for place in part:
        most = plans[place].rows_per_person
        beside = sum(one if alike and one is not None else most for one in groups)
        plans[place] = replace(plans[place], groups_beside=beside - (plans[place].groups or 0), columns_beside=columns)


def _parts(questions: Sequence[Question]) -> tuple[tuple[int, ...], ...]:
    """Each SELECT goes to the first part with which it has no row in common."""
    parts: list[list[int]] = []
    for place, question in enumerate(questions):
        for part in parts:
            others = [questions[one] for one in part]
            if all(one.tables == question.tables and disjoint(one.where, question.where) for one in others):
                part.append(place)
                break
        else:
            parts.append([place])
    return tuple(tuple(part) for part in parts)


def _share(amount: Decimal, parts: int) -> Decimal:
    """Rounded down, so that all shares together are never more."""
    return amount if parts == 1 else (amount / parts).quantize(min(_PLACES, amount * _PLACES), rounding=ROUND_FLOOR)


def _refuse_unlike(plans: Sequence[QueryPlan]) -> None:
    """Before anything is spent: answers that can't stand below each other."""
    if len(plans) == 1:
        return
    shapes = [_shape(plan) for plan in plans]
    for shape in shapes[1:]:
        alike = len(shape) == len(shapes[0]) and all(_alike(*pair) for pair in zip(shape, shapes[0], strict=True))
        if not alike:
            raise RefusedQuestion(
                "the SELECTs of a UNION have different columns", advice="ask for the same columns, in the same order"
            )


def _alike(one: str, other: str) -> bool:
    return one == other or "" in (one, other)


def _shape(plan: QueryPlan) -> list[str]:
    """The kinds of an answer's columns, from an answer of nought; none for a column of nothing."""
    kinds = [row_dtype(facts_of(key.scalar, plan.columns)) for key in plan.question.keys]
    keys = pl.DataFrame({f"\x00key{place}": pl.Series([], dtype=kind) for place, kind in enumerate(kinds)})
    nought = [] if kinds else [0]
    spans = [(0.0, 0.0, 0.0)] * len(nought)
    keys = keys if kinds else pl.DataFrame({"\x00one": nought}).drop("\x00one")
    figures = NoisyFigures(keys, (nought,) * len(plan.statistics), (spans,) * len(plan.quantiles))
    frame = worked_out(plan, figures).frame
    return ["" if kind == pl.Null else "number" if kind.is_numeric() else str(kind) for kind in frame.dtypes]
