"""Linear sensitivity: can a contribution be reckoned too closely from a sum? (ISO/IEC 20889, 10.4; Cox 1981)

Contributions of a cell are ordered, x₁ ≥ x₂ ≥ …, and weighted with weights that don't grow: S = Σ wᵢ·xᵢ. The cell is
sensitive where S > 0. With m contributions, X = Σ xᵢ, and per cents as shares:

- *threshold* (n): n − m, so fewer than n people;
- *dominance* (n, k): x₁ + … + xₙ − k·X, so the n largest make up more than the share k;
- *p %*: p·x₁ − (X − x₁ − x₂), so the second largest, who knows itself, comes nearer to the largest than p; with a
  coalition of c, the c next largest know each other;
- *prior–posterior*: (posterior/prior)·x₁ − (X − x₁ − x₂), where everybody knows each contribution to within ``prior``
  already, and nobody may come nearer to one than ``posterior``. Statistical offices write it p/q with p the posterior;
  ISO/IEC 20889 calls the prior p. p % is the case of prior 1.

A cell without contributions discloses nobody: S = 0.

A sum that is published and a class of microdata that adds up to it tell the same, so both are judged by the same rules.
A contribution below zero counts by its size. That is a choice: the rules are made for contributions of one sign, and
where signs are mixed Hundepool et al. (2012) advise a smaller p or the threshold rule. Records of one person are one
contribution where the person is known. A missing value is no contribution, a zero is one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from shoal.errors import DataError, InputError
from shoal.kernels.arrays import Floats, Integers
from shoal.measurement.risk.equivalence_classes import SUPPRESSED
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

_ROUNDING = 1e-12
"""Of the cell's total: what sums of floating-point numbers may be off by."""


@dataclass(frozen=True)
class CellContributions:
    """What the rules see of cells: how many contributions, their sum, the largest in order (0 where there is none)."""

    number: Integers
    total: Floats
    largest: Floats

    @classmethod
    def of(cls, contributions: ArrayLike) -> CellContributions:
        """A single cell."""
        sizes = np.sort(np.abs(np.asarray(contributions, dtype=np.float64)))[::-1]
        return cls(np.array([len(sizes)]), np.array([sizes.sum()]), sizes[np.newaxis])

    def first(self, number: int) -> Floats:
        """The sum of the largest contributions."""
        return np.asarray(self.largest[:, :number].sum(axis=1))


class SensitivityRule(ABC):
    """One sensitivity measure."""

    @property
    @abstractmethod
    def looks_at(self) -> int:
        """How many of the largest contributions it weighs by themselves."""

    @abstractmethod
    def measure(self, cells: CellContributions) -> Floats:
        """S of cells that have contributions."""

    def of_cells(self, cells: CellContributions) -> Floats:
        """S of each cell."""
        return np.where(cells.number > 0, self.measure(cells), 0.0)

    def sensitivity(self, contributions: ArrayLike) -> float:
        """S of one cell.

        >>> PPercentRule(0.15).sensitivity([52_000, 50_000, 8_000]) > 0
        False
        """
        return float(self.of_cells(CellContributions.of(contributions))[0])


@dataclass(frozen=True)
class ThresholdRule(SensitivityRule):
    n: int

    def __post_init__(self) -> None:
        _at_least_one("n", self.n)

    def __str__(self) -> str:
        return f"threshold ({self.n})"

    @property
    def looks_at(self) -> int:
        return 0

    def measure(self, cells: CellContributions) -> Floats:
        return np.asarray(self.n - cells.number, dtype=np.float64)


@dataclass(frozen=True)
class DominanceRule(SensitivityRule):
    n: int
    k: float

    def __post_init__(self) -> None:
        _at_least_one("n", self.n)
        _share("k", self.k)

    def __str__(self) -> str:
        return f"dominance ({self.n}, {self.k:.6g})"

    @property
    def looks_at(self) -> int:
        return self.n

    def measure(self, cells: CellContributions) -> Floats:
        return _exact(cells.first(self.n) - self.k * cells.total, cells)


class _NearnessRule(SensitivityRule):
    """A coalition of contributors must not come nearer to the largest of the others than this share of it."""

    coalition: int

    @property
    @abstractmethod
    def near(self) -> float: ...

    @property
    def looks_at(self) -> int:
        return 1 + self.coalition

    def measure(self, cells: CellContributions) -> Floats:
        return _ambiguity(cells, self.near, self.coalition)


@dataclass(frozen=True)
class PriorPosteriorRule(_NearnessRule):
    prior: float
    posterior: float
    coalition: int = 1

    def __post_init__(self) -> None:
        _share("prior", self.prior)
        _share("posterior", self.posterior)
        _at_least_one("coalition", self.coalition)
        if self.posterior > self.prior:
            raise InputError("a posterior above the prior: a release makes nobody know less")

    def __str__(self) -> str:
        return f"p/q ({self.posterior:.6g}, {self.prior:.6g}{_with(self.coalition)})"

    @property
    def near(self) -> float:
        return self.posterior / self.prior


@dataclass(frozen=True)
class PPercentRule(_NearnessRule):
    p: float
    """As a share: 0.1 for 10 %."""
    coalition: int = 1

    def __post_init__(self) -> None:
        _share("p", self.p)
        _at_least_one("coalition", self.coalition)

    def __str__(self) -> str:
        return f"p % ({100 * self.p:.6g}{_with(self.coalition)})"

    @property
    def near(self) -> float:
        return self.p


def _ambiguity(cells: CellContributions, near: float, coalition: int) -> Floats:
    others = cells.total - cells.first(1 + coalition)
    return _exact(near * cells.first(1) - others, cells)


def _exact(measured: Floats, cells: CellContributions) -> Floats:
    """What is within rounding of 0 is 0."""
    return np.where(np.abs(measured) <= _ROUNDING * cells.total, 0.0, measured)


def _at_least_one(name: str, number: int) -> None:
    if number < 1:
        raise InputError(f"{name} = {number} has to be at least 1")


def _share(name: str, share: float) -> None:
    if not 0 < share <= 1:
        raise InputError(f"{name} = {share} has to be above 0 and at most 1", advice="0.1 is 10 %")


def _with(coalition: int) -> str:
    return f", coalition of {coalition}" if coalition > 1 else ""


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
