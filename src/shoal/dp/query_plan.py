"""What a question costs and which noise each of its figures gets, known before any row is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Final

from shoal.dp.accounting import Accountant, Accounting, PrivacyCost
from shoal.dp.description import BudgetPeriod, DatasetColumn, DatasetDescription, TableDescription
from shoal.dp.opendp_measurements import GaussianNoise, KeyRelease, LaplaceNoise, Noise, NoisyChoice
from shoal.dp.question import AggregateFunction, Question
from shoal.dp.scalars import Constant, columns_in, public_values
from shoal.dp.statistics import Ingredients, QuantileStatistic, Statistic, StatisticKind, ingredients
from shoal.errors import InputError, RefusedQuestion

MOST_GROUPS: Final = 1_000_000
MOST_RANKED: Final = 10_000
"""Groups that quantiles are asked of."""
LEAST_SHARE: Final = 1e-9
"""Of ε or ρ, for one figure."""
LEAST_DELTA: Final = 1e-15
"""That can still be told from nought when keys are released."""
LARGEST_CHANGE: Final = 2**60
"""That a person can make, so that it can be written as a whole number of 64 bits."""
VALUE_SHARE: Final = 0.8
"""Of what a quantile may cost, for the value itself; the rest is for its interval."""


@dataclass(frozen=True)
class QueryPlan:
    """One question with its price."""

    question: Question
    tables: tuple[TableDescription, ...]
    columns: Mapping[str, DatasetColumn]
    """By their names in the question."""
    prefixes: tuple[str, ...]
    """What the columns of each table begin with there."""
    accountant: Accountant
    cost: PrivacyCost
    per: BudgetPeriod | None = None
    """What a person does within it is what is protected, by the dates in ``time``."""
    time: str | None = None
    first_by: str | None = None
    """Which rows of a person are used where there are too many: the first by these dates, or else any by chance."""
    groups_beside: int = 0
    """Groups of other questions that draw from the same rows of a person: at most so many rows in all of them."""
    columns_beside: frozenset[str] = frozenset()
    """What those other questions ask about: their rows are read once, for all of them."""

    @cached_property
    def rows_per_person(self) -> int:
        """In the rows that are asked about; those of joined tables go together in every way."""
        rows = 1
        for table in self.tables:
            rows *= 1 if table.person is None else (table.rows_per_person or 1)
        return rows

    @cached_property
    def ingredients(self) -> tuple[Ingredients, ...]:
        """Of each aggregate, in order."""
        return tuple(ingredients(aggregate, self.columns) for aggregate in self.question.aggregates)

    @cached_property
    def used(self) -> frozenset[str]:
        """The columns that are asked about, here or beside; no other one is read."""
        question = self.question
        scalars = [key.scalar for key in question.keys]
        scalars += [one.argument for one in question.aggregates if one.argument is not None]
        scalars += [] if question.where is None else [question.where]
        times = [] if self.time is None else [f"{prefix}{self.time}" for prefix in self.prefixes]
        return frozenset([*(name for scalar in scalars for name in columns_in(scalar)), *times, *self.columns_beside])

    @cached_property
    def statistics(self) -> tuple[Statistic, ...]:
        """Each once, however many aggregates are worked out of it."""
        return tuple(dict.fromkeys(one for parts in self.ingredients for one in parts.statistics))

    @cached_property
    def quantiles(self) -> tuple[QuantileStatistic, ...]:
        found = (parts.quantile for parts in self.ingredients)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    @cached_property
    def public_keys(self) -> tuple[list[Constant], ...] | None:
        """The values of each key, or None where one of them is not public."""
        domains = []
        for key in self.question.keys:
            values = public_values(key.scalar, self.columns)
            if values is None:
                return None
            domains.append(values)
        size = 1
        for values in domains:
            size *= len(values)
        if size > MOST_GROUPS:
            raise RefusedQuestion(
                f"{size:,} groups are too many; at most {MOST_GROUPS:,}", advice="group more coarsely"
            )
        return tuple(domains)

    @property
    def groups(self) -> int | None:
        """How many there will be, where that is public."""
        if self.public_keys is None:
            return None
        size = 1
        for values in self.public_keys:
            size *= len(values)
        return size

    @property
    def _parts(self) -> int:
        return len(self.statistics) + len(self.quantiles) + (self.public_keys is None)

    @property
    def share(self) -> float:
        """Of the cost, for each figure."""
        return float(self.cost.amount) / self._parts

    @property
    def people_share(self) -> Fraction:
        """Of the cost, for the number of people; nought where nobody is counted."""
        return Fraction(any(one.kind is StatisticKind.PEOPLE for one in self.statistics), self._parts)

    def noise(self, statistic: Statistic) -> Noise:
        rows = self.rows_per_person
        if self.accountant.accounting is Accounting.ZCDP:
            return GaussianNoise(statistic.l2(rows, self._reached), self.share)
        return LaplaceNoise(statistic.l1(rows, self._reached), self.share)

    @property
    def _reached(self) -> int | None:
        """Groups that a person may be in at once, here and in questions that share the person's rows."""
        return None if self.groups is None else self.groups + self.groups_beside

    @property
    def key_release(self) -> KeyRelease:
        """zCDP is had from pure ε by ρ = ε² / 2."""
        share = (2 * self.share) ** 0.5 if self.accountant.accounting is Accounting.ZCDP else self.share
        return KeyRelease(self.rows_per_person, share, float(self.cost.delta))

    def choice(self, quantile: QuantileStatistic) -> NoisyChoice:
        """For the value of a quantile.

        A person's rows may lie in several groups: what each group's choice tells of them is in proportion to the rows
        there, so that all of them together tell no more than one would of all rows.
        """
        share = self.share * VALUE_SHARE
        if self.accountant.accounting is Accounting.ZCDP:
            share = (2 * share) ** 0.5
        return NoisyChoice(quantile.weight * self.rows_per_person, share)

    @property
    def rank_noise(self) -> Noise:
        """For the numbers of rows around a quantile; each row is in one of them, in one group."""
        share = self.share * (1 - VALUE_SHARE)
        if self.accountant.accounting is Accounting.ZCDP:
            return GaussianNoise(float(self.rows_per_person), share)
        return LaplaceNoise(self.rows_per_person, share)


def planned(question: Question, description: DatasetDescription, epsilon: Decimal, delta: Decimal | None) -> QueryPlan:
    """The question at a price; δ is only asked for where keys are not public."""
    tables = description.described_tables
    used = tuple(tables[name] for name in question.tables)
    prefixes = ("",) if description.source is not None else tuple(f"{name}." for name in question.tables)
    columns = {
        f"{prefix}{name}": one
        for prefix, table in zip(prefixes, used, strict=True)
        for name, one in table.columns.items()
    }
    accountant = description.accountant
    unit = description.per, description.time
    free = QueryPlan(question, used, columns, prefixes, accountant, PrivacyCost(), *unit)
    _refuse_people(free)
    _refuse_sizes(free)
    _refuse_totals(free)
    if free.public_keys is not None:
        return _affordable(QueryPlan(question, used, columns, prefixes, accountant, accountant.price(epsilon), *unit))
    if not description.budget.delta:
        raise RefusedQuestion(
            "the values of a key in GROUP BY are not public, and the budget has no delta for them",
            advice="describe its `categories` or `bounds`, or give the budget a `delta`",
        )
    allowed = description.budget.delta / 10 if delta is None else delta
    if float(allowed) / free.rows_per_person < LEAST_DELTA:
        raise InputError(f"is too small: at least {LEAST_DELTA:g} for each row of a person", field="delta")
    cost = accountant.price(epsilon, allowed)
    return _affordable(QueryPlan(question, used, columns, prefixes, accountant, cost, *unit))


def _affordable(plan: QueryPlan) -> QueryPlan:
    if plan.share < LEAST_SHARE:
        raise InputError("is too small for so many figures: nothing but noise would come out", field="epsilon")
    return plan


def _refuse_sizes(plan: QueryPlan) -> None:
    if plan.per is not None and len(plan.tables) > 1:
        raise RefusedQuestion(
            f"what a person does in a {plan.per} is protected, and rows of several are joined",
            advice="ask about one table",
        )
    if any(one.l1(plan.rows_per_person) > LARGEST_CHANGE for one in plan.statistics):
        raise RefusedQuestion("one person could have too many rows of joined tables", advice="lower `rows_per_person`")
    if plan.quantiles and (plan.groups or 1) > MOST_RANKED:
        raise RefusedQuestion(
            f"quantiles of {plan.groups:,} groups; at most {MOST_RANKED:,}", advice="group more coarsely"
        )


def _refuse_totals(plan: QueryPlan) -> None:
    """Of what does not add up, or of groups some of which are not told."""
    if not plan.question.levels:
        return
    if plan.public_keys is None:
        raise RefusedQuestion(
            "totals of groups some of which are not told", advice="describe the `categories` of the keys, or ask apart"
        )
    several = plan.rows_per_person > 1 or plan.per is not None
    if plan.quantiles or (several and any(one.kind is StatisticKind.PEOPLE for one in plan.statistics)):
        raise RefusedQuestion(
            "quantiles, and people who may be in several groups, do not add up", advice="ask for their total apart"
        )


def _refuse_people(plan: QueryPlan) -> None:
    counted = any(one.kind is StatisticKind.PEOPLE for one in plan.statistics)
    if counted and plan.tables[0].person is None:
        raise RefusedQuestion("no column names the person", advice="describe it as `person`, or ask for COUNT(*)")
    if any(one.function is AggregateFunction.QUANTILE for one in plan.question.aggregates) and plan.public_keys is None:
        raise RefusedQuestion(
            "quantiles by groups whose keys are not public", advice="describe the `categories` of the key"
        )
