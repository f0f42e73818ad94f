"""(α, k)-anonymity: every class has at least k people, and no sensitive value belongs to more than a share α of it.

Whoever finds a person's class can tell no sensitive value of that person with a confidence above α. This is the general
form of Wong et al. (2006), which protects every value of the attribute alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import ROUNDING, Figures, MinimumClass, SensitiveModel, reached_by_generalising
from shoal.privacy.classes import Classes, Histograms
from shoal.privacy.figures import Figure, FigureUnit, figure_beside_k
from shoal.privacy.retention_bounds import within_caps
from shoal.schema.properties import Lowers


class AlphaK(SensitiveModel):
    """
    The figure is the largest share; for a class with too few people it is k ÷ people, above any α.

    >>> histograms = Histograms(np.array([2, 2]), np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([3, 1, 1]), 2)
    >>> sizes = np.array([4, 1])
    >>> classes = Classes(sizes, sizes, {"ill": histograms})
    >>> AlphaK(attribute="ill", alpha=0.75, k=2).figures(classes).tolist()
    [0.75, 2.0]
    """

    key = "alpha_k"
    title = "(α, k)-anonymity"
    clause = "ISO/IEC 20889, annex E"
    example = "{attribute: diagnosis, alpha: 0.5, k: 5}"
    properties = reached_by_generalising(Lowers.YES, Lowers.PARTIALLY, Lowers.PARTIALLY)
    listing_order = 100
    bound = "alpha"
    monotone_under_generalisation = True
    monotone_under_suppression = True
    more_is_safer = False
    trims = True

    alpha: float = Field(gt=0, le=1, description="The largest share of a class that one sensitive value may have.")
    k: int = Field(ge=1, description="The least number of people in a class.")

    @property
    def judges_class_alone(self) -> bool:
        return True

    def spread(self, block: Integers, histograms: Histograms) -> Figures:
        return np.asarray(block.max(axis=1) / block.sum(axis=1))

    def accepts(self, figures: Figures) -> Mask:
        return figures <= self._most

    @property
    def _most(self) -> float:
        return self.alpha * (1 + ROUNDING)

    def figures(self, classes: Classes) -> Figures:
        return np.where(classes.people >= self.k, super().figures(classes), self.k / classes.people)

    def retention_bounds(self, block: Integers, histograms: Histograms) -> Integers:
        return within_caps(block, np.full(block.shape[1], self._most))

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """The values of a class have shares of at most α that add up to 1."""
        least = ceil(1 / self._most)
        return MinimumClass(people=self.k, records=least, distinct={self.attribute: least})

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (
            figure_beside_k(
                "alpha", "(α, k)-anonymity: α", lambda of, most, k: cls(attribute=of, alpha=most, k=k), FigureUnit.SHARE
            ),
        )

    def explain(self) -> str:
        return (
            f"Everyone shares their quasi-identifying values with at least {self.k - 1} other people, and no value of "
            f"'{self.attribute}' belongs to more than {self.alpha:.4g} of such a group."
        )
