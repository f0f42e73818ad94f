"""The distributions that noise on one number can have. Each says what it keeps, for the report."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.kernels.arrays import Floats
from shoal.randomness import Stream
from shoal.schema.parameters import Parameters

Rows = NDArray[np.uint64]


class NoiseDistribution(Parameters, ABC):
    @abstractmethod
    def noise(self, values: Floats, stream: Stream, rows: Rows, lane: int) -> Floats:
        """What is added to each value."""

    @property
    @abstractmethod
    def keeps(self) -> str:
        """Which statistics of the column survive (in expectation, before rounding and bounds)."""


class AddedNoise(NoiseDistribution):
    """Noise around 0 that does not depend on the value it is added to."""

    @property
    @abstractmethod
    def variance(self) -> float: ...

    @property
    def keeps(self) -> str:
        return f"the mean; the variance rises by {self.variance:g}"


class Laplace(AddedNoise):
    scale: float = Field(gt=0)

    def noise(self, values: Floats, stream: Stream, rows: Rows, lane: int) -> Floats:
        centred = stream.uniform(rows, lane) - 0.5
        return np.asarray(-self.scale * np.sign(centred) * np.log1p(-2.0 * np.abs(centred)))

    @property
    def variance(self) -> float:
        return 2 * self.scale**2


class Gaussian(AddedNoise):
    sd: float = Field(gt=0)

    def noise(self, values: Floats, stream: Stream, rows: Rows, lane: int) -> Floats:
        return self.sd * stream.gaussian(rows, lane)

    @property
    def variance(self) -> float:
        return self.sd**2


class Uniform(AddedNoise):
    width: float = Field(gt=0)
    """The whole width: the noise lies between −width/2 and +width/2."""

    def noise(self, values: Floats, stream: Stream, rows: Rows, lane: int) -> Floats:
        return self.width * (stream.uniform(rows, lane) - 0.5)

    @property
    def variance(self) -> float:
        return self.width**2 / 12


class Multiplicative(NoiseDistribution):
    sd: float = Field(gt=0, le=1)

    def noise(self, values: Floats, stream: Stream, rows: Rows, lane: int) -> Floats:
        return values * (self.sd * stream.gaussian(rows, lane))

    @property
    def keeps(self) -> str:
        return f"the mean, and every zero; the variance rises by {self.sd**2:g} times the mean square"
