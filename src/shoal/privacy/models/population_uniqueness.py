"""Population uniqueness: few people of the population could be singled out, as estimated from the table.

Someone who stands alone in a table may have many look-alikes outside; only a population unique can be named with
certainty. How many there are is estimated from the class sizes (see ``shoal.privacy.population_estimators``). A table
without uniques has no population uniques. Where there are some and the model gives no estimate, it is not met: fail
closed.

No monotonicity: the estimate may rise when classes merge or are taken away, because it is an estimate.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Mask
from shoal.privacy.base import Figures, TableModel
from shoal.privacy.classes import Classes
from shoal.privacy.population_estimators import SampleSizes, uniques


class UniquenessEstimator(StrEnum):
    DANKAR = "dankar"
    PITMAN = "pitman"
    ZAYATZ = "zayatz"
    SNB = "snb"


class PopulationUniqueness(TableModel):
    """
    Uniques are taken away, the earlier first, until the estimate will do. The number is found by halving: with one
    fewer the estimate would not do.

    >>> sizes = np.array([1, 1, 2, 9, 70])
    >>> PopulationUniqueness(maximum=0.015, population_size=100, model="zayatz").holds(Classes(sizes, sizes)).tolist()
    [False, True, True, True, True]
    """

    key = "population_uniqueness"
    title = "population uniqueness"
    clause = "ISO/IEC 20889, 7.2"
    example = "{maximum: 0.001, population_size: 1400000}"
    monotone_under_generalisation = False

    maximum: float = Field(ge=0, lt=1, description="The largest share of the population that may be unique.")
    population_size: int = Field(ge=1, description="The people of the population that the table was drawn from.")
    model: UniquenessEstimator = Field(
        default=UniquenessEstimator.DANKAR, description="How the uniques of the population are estimated."
    )

    def figures(self, classes: Classes) -> Figures:
        """The share, for each class the same. Without an estimate it is 1: everyone might be unique."""
        return np.full(len(classes), self._share(SampleSizes.of(classes.people)))

    def holds(self, classes: Classes) -> Mask:
        kept = np.ones(len(classes), dtype=bool)
        sample = SampleSizes.of(classes.people)
        too_many = _too_many(self, sample.sizes.tobytes(), sample.numbers.tobytes())
        kept[np.flatnonzero(classes.people == 1)[:too_many]] = False
        return kept

    def _share(self, sample: SampleSizes) -> float:
        estimate = uniques(sample, self.population_size, self.model)
        return 1.0 if estimate is None else estimate / self.population_size

    def too_many(self, sample: SampleSizes) -> int:
        """How many uniques have to go."""
        if self._meets(sample):
            return 0
        too_few, enough = 0, sample.of_size(1)
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if self._meets(sample.without_uniques(middle)):
                enough = middle
            else:
                too_few = middle
        return enough

    def _meets(self, sample: SampleSizes) -> bool:
        return self._share(sample) <= self.maximum

    def explain(self) -> str:
        return (
            f"At most {self.maximum:.4g} of the {self.population_size} people of the population are estimated to have "
            f"quasi-identifying values that nobody else has."
        )


@lru_cache(maxsize=256)
def _too_many(model: PopulationUniqueness, sizes: bytes, numbers: bytes) -> int:
    """Estimates take milliseconds, and a solver asks for the same class sizes more than once."""
    return model.too_many(SampleSizes(np.frombuffer(sizes, dtype=np.int64), np.frombuffer(numbers, dtype=np.int64)))
