"""Rules of linear sensitivity as a user writes them, and the groups of a table that they find (ISO/IEC 20889, 10.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from shoal.errors import DataError, FieldName, FieldText, InputError
from shoal.measurement.risk.linear_sensitivity import (
    DominanceRule,
    PPercentRule,
    PriorPosteriorRule,
    SensitiveCells,
    SensitivityRule,
    ThresholdRule,
    check_groups,
)
from shoal.schema import Column
from shoal.schema.registry import did_you_mean

FORMS = {
    "threshold": "threshold=3",
    "dominance": "dominance=1,0.8",
    "p": "p=0.1",
    "pq": "pq=0.1,0.5",
}
"""Shares, not percentages. In pq, p is what nobody may come nearer than, q what everybody knows already."""
MOST_DOMINANT = 100
"""More contributions than that dominate nothing."""
_MAKE: dict[str, Callable[..., SensitivityRule]] = {
    "threshold": lambda n: ThresholdRule(_whole(n)),
    "dominance": lambda n, k: DominanceRule(_few(n), k),
    "p": PPercentRule,
    "pq": lambda p, q: PriorPosteriorRule(prior=q, posterior=p),
}


def parse_rule(text: str) -> SensitivityRule:
    """
    >>> str(parse_rule("dominance=1,0.8"))
    'dominance (1, 0.8)'
    """
    name, _, written = text.partition("=")
    name = name.strip()
    if name not in FORMS:
        near = did_you_mean(name, tuple(FORMS))
        raise InputError(f"unknown rule '{name}'{near}", field="rules", advice=f"as in {', '.join(FORMS.values())}")
    try:
        numbers = [float(part) for part in written.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != FORMS[name].count(",") + 1:
        raise InputError(f"'{text}' is not of the form {FORMS[name]}", field="rules")
    try:
        return _MAKE[name](*numbers)
    except InputError as error:
        raise InputError(error.message, field=FieldName("rules", text), advice=error.advice) from None


def sensitive_groups(
    frame: pl.LazyFrame,
    quasi: tuple[str, ...],
    columns: Mapping[str, Column],
    rules: Sequence[SensitivityRule],
    person: str | None,
) -> dict[str, SensitiveCells]:
    """Of each sensitive attribute that is a number, what the rules say of its sum in each class."""
    if not rules:
        return {}
    numbers = [name for name, column in columns.items() if column.is_number]
    if not columns:
        raise InputError("which numbers?", field="rules", advice=FieldText("give ", FieldName("sensitive", "income")))
    if not numbers:
        named = ", ".join(f"'{name}'" for name in columns)
        raise DataError(
            f"no numbers to add up in {named}",
            field="rules",
            advice=FieldText("name a numeric attribute by ", FieldName("sensitive")),
        )
    read = frame.with_columns(pl.col(name).cast(pl.Float64) for name in numbers)
    return {name: check_groups(read, quasi, name, rules, person=person) for name in numbers}


def _whole(number: float) -> int:
    if number != number // 1:
        raise InputError("the number of contributions has to be a whole number")
    return int(number)


def _few(number: float) -> int:
    if number > MOST_DOMINANT:
        raise InputError(f"more than {MOST_DOMINANT} contributions dominate nothing")
    return _whole(number)
