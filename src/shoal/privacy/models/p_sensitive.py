"""p-sensitive k-anonymity: every class has at least k people and p different values of a sensitive attribute.

The k people keep a person from being singled out, the p values keep the class from giving away what all in it share
(Truta and Vinay 2006). How often each of the p values occurs doesn't matter: see l-diversity by entropy for that.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import Figures, MinimumClass, SensitiveModel, reached_by_generalising
from shoal.privacy.classes import Classes, Histograms
from shoal.privacy.figures import Figure, FigureUnit, figure_beside_k
from shoal.schema.properties import Lowers


class PSensitive(SensitiveModel):
    """
    The figure is the number of different values; for a class with too few people it is people ÷ k, below any p.

    >>> histograms = Histograms(np.array([2, 2]), np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([2, 1, 1]), 2)
    >>> sizes = np.array([3, 1])
    >>> classes = Classes(sizes, sizes, {"ill": histograms})
    >>> PSensitive(attribute="ill", p=2, k=2).figures(classes).tolist()
    [2.0, 0.5]
    """

    key = "p_sensitive"
    title = "p-sensitive k-anonymity"
    clause = "ISO/IEC 20889, annex E"
    example = "{attribute: diagnosis, p: 2, k: 5}"
    properties = reached_by_generalising(Lowers.YES, Lowers.PARTIALLY, Lowers.PARTIALLY)
    listing_order = 90
    bound = "p"
    monotone_under_generalisation = True
    monotone_under_suppression = True

    p: int = Field(ge=1, description="The least number of different sensitive values in a class.")
    k: int = Field(ge=1, description="The least number of people in a class.")

    @property
    def judges_class_alone(self) -> bool:
        return True

    def spread(self, block: Integers, histograms: Histograms) -> Figures:
        return np.asarray((block > 0).sum(axis=1), dtype=np.float64)

    def accepts(self, figures: Figures) -> Mask:
        return figures >= self.p

    def figures(self, classes: Classes) -> Figures:
        return np.where(classes.people >= self.k, super().figures(classes), classes.people / self.k)

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        return MinimumClass(people=self.k, records=self.p, distinct={self.attribute: self.p})

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (
            figure_beside_k(
                "p", "p-sensitive k-anonymity: p", lambda of, p, k: cls(attribute=of, p=p, k=k), FigureUnit.COUNT
            ),
        )

    def explain(self) -> str:
        return (
            f"Everyone shares their quasi-identifying values with at least {self.k - 1} other people, and the group "
            f"has at least {self.p} different values of '{self.attribute}'."
        )
