"""Noise that keeps correlations (ISO/IEC 20889, 9.7.2): several number columns receive one joint noise vector.

With Σ the covariance matrix of the columns, each record gets ε ~ N(0, share·Σ). Then Cov(X + ε) = (1 + share)·Σ: every
correlation coefficient is what it was, in expectation. With ``rescale`` the result is drawn back to the mean,
μ + (X + ε − μ)/√(1 + share), so that means and covariances themselves are kept in expectation (Kim, 1986).

The noise follows the spread of each column, so an extreme value moves no further than a common one and may still
stand out: code the top and bottom first. Σ is computed over the whole table, hence ``Scope.TABLE``. A missing value has
no place in Σ and is refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from shoal.errors import DataError
from shoal.kernels.arrays import Floats
from shoal.randomness import Stream
from shoal.schema.column_names import ColumnNames
from shoal.schema.columns import ROW, Column
from shoal.schema.parameters import Parameters
from shoal.techniques.base import Scope, Step


class CorrelatedNoise(Parameters):
    with_: ColumnNames = Field(alias="with", min_length=1)
    """The columns that receive noise together with the attribute."""
    share: float = Field(gt=0, le=1)
    """Variance of the noise as a share of the variance of the data."""
    rescale: bool = False


@dataclass(frozen=True)
class CorrelatedNoiseStep(Step):
    scope: ClassVar[Scope] = Scope.TABLE

    columns: tuple[Column, ...]
    share: float
    rescale: bool
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        data = np.column_stack([self._numbers(frame, column) for column in self.columns])
        if len(data) == 1:
            raise DataError(f"correlated noise over {', '.join(self.reads)} needs at least two records, there is 1")
        noisy = self._noisy(data, frame[ROW].to_numpy()) if len(data) else data
        results = (pl.Series(column.name, noisy[:, at]) for at, column in enumerate(self.columns))
        return frame.with_columns(
            column.from_numbers(result) for column, result in zip(self.columns, results, strict=True)
        )

    def _numbers(self, frame: pl.DataFrame, column: Column) -> Floats:
        numbers = column.numbers(frame[column.name])
        if missing := numbers.null_count():
            raise DataError(f"correlated noise has no rule for missing values; column '{column.name}' has {missing}")
        return numbers.cast(pl.Float64).to_numpy()

    def _noisy(self, data: Floats, rows: NDArray[np.uint64]) -> Floats:
        normal = np.column_stack([self.stream.gaussian(rows, lane) for lane in range(data.shape[1])])
        noisy: Floats = data + np.sqrt(self.share) * (normal @ _root(np.cov(data, rowvar=False)))
        if not self.rescale:
            return noisy
        mean = data.mean(axis=0)
        shrunk: Floats = mean + (noisy - mean) / np.sqrt(1.0 + self.share)
        return shrunk


def _root(covariance: Floats) -> Floats:
    """A matrix A with Aᵀ·A = covariance, also where columns are constant or depend on each other.

    It goes through the correlation matrix, so that a column of small numbers is not lost beside one of large numbers.
    """
    spread = np.sqrt(np.diag(covariance))
    unit = np.where(spread > 0, spread, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(unit, unit))
    root: Floats = (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T * spread
    return root
