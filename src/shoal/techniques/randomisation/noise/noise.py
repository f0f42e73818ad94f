"""Noise addition (ISO/IEC 20889, 9.7.2; MeitY 2.2.7; PDPC annex A and B): a random number is added to each value.

| parameter | released value | variance of the noise |
|---|---|---|
| ``laplace: {scale: b}`` | x + L, density e^(−|L|/b) / 2b | 2b² |
| ``gaussian: {sd: s}`` | x + N(0, s²) | s² |
| ``uniform: {width: w}`` | x + U(−w/2, +w/2): "± 5" is width 10 | w²/12 |
| ``multiplicative: {sd: s}`` | x · (1 + N(0, s²)), s ≤ 1 | x²s² |
| ``days: n`` | a date moved by −n … +n whole days, all equally likely; a date with time by whole seconds | n(n+1)/3 |
| ``correlated`` | several columns, correlations kept: see ``noise_correlated`` | share · Σ |
| ``gps`` | latitude and longitude by metres: see ``noise_location`` | metres²/4 each way |

The result is rounded to ``decimals``, by default the digits the column has; integers stay integers. The mean is kept in
expectation and the variance rises by the amount above (``keeps`` says it in words).

``bounds: [low, high]`` hold without exception: a result outside is drawn again, from a further lane of the record's own
stream, and clamped if 16 draws were in vain. So the noise is truncated: near a bound values are pulled inwards and the
mean shifts a little; only originals that lie well outside pile up on the bound.

It protects because a value known from elsewhere no longer matches the released one. How well depends on the noise
against the gaps between records: an outlier stays one (code top and bottom first), and a person with many records can
be averaged out. This is **not** differential privacy: no budget is kept, and no guarantee follows from the scale.

Missing values are kept; ``correlated`` refuses them.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from math import sqrt
from typing import Self

import polars as pl
from pydantic import Field, model_validator

from shoal.errors import BugError, DataError
from shoal.schema.columns import Column
from shoal.schema.roles import Role
from shoal.schema.values import DATES, NUMBERS, ValueType
from shoal.techniques.base import EACH_PARTIALLY, Context, Step, Technique, table_a1
from shoal.techniques.randomisation.noise.column_noise import DateNoiseStep, GivenBounds, NumberNoiseStep, limits
from shoal.techniques.randomisation.noise.correlated import CorrelatedNoise, CorrelatedNoiseStep
from shoal.techniques.randomisation.noise.distributions import (
    Gaussian,
    Laplace,
    Multiplicative,
    NoiseDistribution,
    Uniform,
)
from shoal.techniques.randomisation.noise.location import LocationNoise, LocationNoiseStep


class Noise(Technique):
    key = "noise"
    facts = table_a1(
        "Noise addition",
        "9.7.2",
        EACH_PARTIALLY,
        truthful=False,
        types=NUMBERS | DATES,
        roles=frozenset({Role.DIRECT, Role.QUASI}),
        random=True,
    )

    laplace: Laplace | None = None
    gaussian: Gaussian | None = None
    uniform: Uniform | None = None
    multiplicative: Multiplicative | None = None
    days: int | None = Field(default=None, gt=0, le=36_525)
    correlated: CorrelatedNoise | None = None
    gps: LocationNoise | None = None
    bounds: GivenBounds | None = None
    decimals: int | None = Field(default=None, ge=0, le=15)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = (self.laplace, self.gaussian, self.uniform, self.multiplicative, self.days, self.correlated, self.gps)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("give exactly one of laplace, gaussian, uniform, multiplicative, days, correlated and gps")
        if self.decimals is not None and not self._distribution:
            raise ValueError("decimals apply to laplace, gaussian, uniform and multiplicative noise")
        return self

    @model_validator(mode="after")
    def _bounds_fit(self) -> Self:
        if self.bounds is None:
            return self
        if self.correlated or self.gps:
            raise ValueError("bounds apply to noise on one column, not to correlated or gps")
        if isinstance(self.bounds[0], datetime.date) != (self.days is not None):
            raise ValueError("bounds are dates for days, and numbers for all other noise")
        if sorted(self.bounds) != list(self.bounds) or self.bounds[0] == self.bounds[1]:
            raise ValueError("the lower bound must be below the upper one")
        return self

    @property
    def _distribution(self) -> NoiseDistribution | None:
        return self.laplace or self.gaussian or self.uniform or self.multiplicative

    @property
    def keeps(self) -> str:
        """Which statistics survive, for the report."""
        if self._distribution:
            return self._distribution.keeps
        if self.correlated:
            kept = "means and covariances" if self.correlated.rescale else "means and correlations"
            return f"{kept} of {len(self.correlated.with_) + 1} columns"
        return "the mean date" if self.days else "the mean position"

    @property
    def moves_by(self) -> float | None:
        """The standard deviation."""
        if self.days is not None:
            return self.days / sqrt(3)
        scaled = {
            sqrt(2): self.laplace and self.laplace.scale,
            1.0: self.gaussian and self.gaussian.sd,
            1 / sqrt(12): self.uniform and self.uniform.width,
        }
        return next((times * float(size) for times, size in scaled.items() if size), None)

    def also_reads(self) -> tuple[str, ...]:
        if self.correlated:
            return self.correlated.with_
        return (self.gps.longitude,) if self.gps else ()

    def also_alters(self) -> tuple[str, ...]:
        return self.also_reads()

    def refuse(self, column: Column) -> str | None:
        whole = column.type is ValueType.INTEGER
        named, is_a = f"column '{column.name}'", f"column '{column.name}' is {column.type}"
        reasons = {
            f"dates take noise in days, numbers all other noise; {is_a}": column.is_date != (self.days is not None),
            f"integers stay integers under noise; {named} can't have {self.decimals} decimals": whole and self.decimals,
            f"a latitude has decimals; {is_a}": whole and self.gps,
            f"correlated noise has no rule for missing values; {named} has {column.missing}": (
                self.correlated and column.missing
            ),
            f"{named} is named twice": column.name in self.also_reads(),
        }
        return super().refuse(column) or next((reason for reason, holds in reasons.items() if holds), None)

    def bind(self, column: Column, context: Context) -> Step:
        if self.correlated:
            columns = (column, *(_number(context, name) for name in self.correlated.with_))
            return CorrelatedNoiseStep(columns, self.correlated.share, self.correlated.rescale, context.stream)
        if self.gps:
            return LocationNoiseStep(column, _number(context, self.gps.longitude), self.gps.metres, context.stream)
        released = self.leaves(column)
        within = limits(self.bounds, released) if self.bounds else None
        if self.days:
            return DateNoiseStep(released, context.stream, within, self.days)
        if self._distribution:
            return NumberNoiseStep(released, context.stream, within, self._distribution)
        raise BugError("noise of no kind was bound")

    def leaves(self, column: Column) -> Column:
        if not column.is_number:
            return column
        if column.type is ValueType.INTEGER:
            return replace(column, storage=pl.Int64())
        scale = column.scale if self.decimals is None else self.decimals
        return replace(column, storage=pl.Float64(), scale=scale)


def _number(context: Context, name: str) -> Column:
    """A further column that takes part in the noise."""
    column = context.columns[name]
    if not column.is_number:
        raise DataError(f"noise on several columns needs numbers in all of them; column '{name}' is {column.type}")
    return column
