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
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from shoal.errors import InputError
from shoal.kernels.arrays import Floats, Integers

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


@dataclass(frozen=True)
class PriorPosteriorRule(SensitivityRule):
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
    def looks_at(self) -> int:
        return 1 + self.coalition

    def measure(self, cells: CellContributions) -> Floats:
        return _ambiguity(cells, self.posterior / self.prior, self.coalition)


@dataclass(frozen=True)
class PPercentRule(SensitivityRule):
    p: float
    """As a share: 0.1 for 10 %."""
    coalition: int = 1

    def __post_init__(self) -> None:
        _share("p", self.p)
        _at_least_one("coalition", self.coalition)

    def __str__(self) -> str:
        return f"p % ({100 * self.p:.6g}{_with(self.coalition)})"

    @property
    def looks_at(self) -> int:
        return 1 + self.coalition

    def measure(self, cells: CellContributions) -> Floats:
        return _ambiguity(cells, self.p, self.coalition)


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
