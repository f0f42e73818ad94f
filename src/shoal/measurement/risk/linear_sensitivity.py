"""Cells of sums, and classes of microdata, from which a contribution can be reckoned too closely (ISO/IEC 20889, 10.4).

A sum that is published and a class of microdata that adds up to it tell the same, so both are judged by the same rules.
A contribution below zero counts by its size. That is a choice: the rules are made for contributions of one sign, and
where signs are mixed Hundepool et al. (2012) advise a smaller p or the threshold rule. Records of one person are one
contribution where the person is known. A missing value is no contribution, a zero is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.errors import DataError, InputError
from shoal.measurement.risk.equivalence_classes import SUPPRESSED
from shoal.measurement.risk.sensitivity_rules import (
    CellContributions,
    DominanceRule,
    PPercentRule,
    PriorPosteriorRule,
    SensitivityRule,
    ThresholdRule,
)
from shoal.schema.registry import did_you_mean

__all__ = [
    "DominanceRule",
    "PPercentRule",
    "PriorPosteriorRule",
    "SensitiveCells",
    "SensitivityRule",
    "ThresholdRule",
    "check_cells",
    "check_groups",
]

CONTRIBUTIONS, SENSITIVE = "contributions", "sensitive"
_VALUE, _TOTAL, _LARGEST = "__shoal_value", "__shoal_total", "__shoal_largest"
_EVERYTHING, _PERSON = "__shoal_everything", "__shoal_person"


@dataclass(frozen=True)
class SensitiveCells:
    """What the rules say of each cell."""

    cells: pl.DataFrame
    """The keys, the number of ``contributions``, S by each rule under its name, whether any makes it ``sensitive``."""
    rules: tuple[SensitivityRule, ...]

    @property
    def number(self) -> int:
        return self.cells.height

    @property
    def sensitive(self) -> int:
        return int(self.cells[SENSITIVE].sum())

    @property
    def by_rule(self) -> dict[str, int]:
        """How many cells each rule finds sensitive."""
        return {str(rule): int((self.cells[str(rule)] > 0).sum()) for rule in self.rules}

    def to_dict(self) -> dict[str, object]:
        """Counts only, in plain JSON types: no cell is named."""
        return {"cells": self.number, "sensitive": self.sensitive, "by_rule": self.by_rule}


def check_cells(
    frame: pl.LazyFrame | pl.DataFrame,
    by: Sequence[str],
    measure: str,
    rules: Sequence[SensitivityRule],
    *,
    person: str | None = None,
) -> SensitiveCells:
    """The cells of a table of sums of ``measure``, from the microdata; without ``by`` the grand total.

    >>> firms = pl.DataFrame({"town": ["A", "A", "A", "B"], "turnover": [52.0, 50.0, 8.0, 9.0]})
    >>> check_cells(firms, ["town"], "turnover", [ThresholdRule(2), PPercentRule(0.15)]).by_rule
    {'threshold (2)': 1, 'p % (15)': 1}
    """
    lazy = frame.lazy()
    _check_names(lazy.collect_schema(), (*by, *((person,) if person else ())), measure, rules)
    keys = list(by) or [_EVERYTHING]
    given = lazy if by else lazy.with_columns(pl.lit(0, pl.Int8).alias(_EVERYTHING))
    value = pl.col(measure).cast(pl.Float64)
    if person:
        # Records without a person are one person: the safe side. A person whose values are all missing gives nothing.
        summed = pl.when(value.count() > 0).then(value.sum())
        given = given.group_by(*keys, pl.col(person).alias(_PERSON)).agg(summed.alias(_VALUE))
    else:
        given = given.select(*keys, value.alias(_VALUE))
    most = max((rule.looks_at for rule in rules), default=0)
    size = pl.col(_VALUE).abs()
    grouped = (
        given.group_by(keys)
        .agg(
            pl.col(_VALUE).count().cast(pl.Int64).alias(CONTRIBUTIONS),
            size.sum().alias(_TOTAL),
            size.drop_nulls().top_k(most).sort(descending=True).alias(_LARGEST),
        )
        .sort(keys, nulls_last=True)
        .collect(engine="streaming")
    )
    if not grouped[_TOTAL].is_finite().all():
        raise DataError(f"column '{measure}' has values that are no finite numbers")
    return _judged(grouped, list(by), tuple(rules), most)


def check_groups(
    frame: pl.LazyFrame | pl.DataFrame,
    quasi: Sequence[str],
    sensitive: str,
    rules: Sequence[SensitivityRule],
    *,
    person: str | None = None,
) -> SensitiveCells:
    """The equivalence classes of microdata, each as the sum of its sensitive numbers; suppressed records left out."""
    lazy = frame.lazy()
    _check_names(lazy.collect_schema(), tuple(quasi), sensitive, rules)
    if quasi:
        stars = (pl.col(name).cast(pl.String).eq_missing(pl.lit(SUPPRESSED)) for name in quasi)
        lazy = lazy.filter(~pl.all_horizontal(*stars))
    return check_cells(lazy, quasi, sensitive, rules, person=person)


def _judged(grouped: pl.DataFrame, by: list[str], rules: tuple[SensitivityRule, ...], most: int) -> SensitiveCells:
    largest = np.zeros((grouped.height, most))
    for place in range(most):
        largest[:, place] = grouped[_LARGEST].list.get(place, null_on_oob=True).fill_null(0.0).to_numpy()
    cells = CellContributions(grouped[CONTRIBUTIONS].to_numpy(), grouped[_TOTAL].to_numpy(), largest)
    measured = [pl.Series(str(rule), rule.of_cells(cells)) for rule in rules]
    found = np.zeros(grouped.height, dtype=bool)
    for column in measured:
        found |= (column > 0).to_numpy()
    table = grouped.select(*by, CONTRIBUTIONS).with_columns(*measured, pl.Series(SENSITIVE, found))
    return SensitiveCells(table, rules)


def _check_names(schema: pl.Schema, names: tuple[str, ...], measure: str, rules: Sequence[SensitivityRule]) -> None:
    if not rules:
        raise InputError("no rule is given")
    for name in (*names, measure):
        if name not in schema:
            raise InputError(f"no column '{name}'{did_you_mean(name, tuple(schema))}")
    if not schema[measure].is_numeric():
        raise DataError(f"column '{measure}' holds no numbers, so they can't be added up")
    taken = {CONTRIBUTIONS, SENSITIVE, *map(str, rules)}
    for name in names:
        if name in taken:
            raise InputError(f"column '{name}' is called like a figure of the result", advice="rename it")
