"""(k, e)-anonymity: every class has at least k different numbers, and they lie at least e apart from end to end.

l different numbers may be all but the same: incomes of 50 000, 50 001 and 50 002 are three values and one secret. Here
the smallest and the largest value of a class differ by at least e, so that whoever finds a person's class learns no
narrower range than that (Zhang, Koudas, Srivastava and Yu 2007, *Aggregate query answering on anonymized tables*). It
says nothing of how the numbers lie in between: all but one may be close together, which t-closeness by the ordered
distance bounds. A missing value is a value like others, but widens no range.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from shoal.errors import InputError
from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import ROUNDING, Figures, MinimumClass, SensitiveModel, reached_by_generalising
from shoal.privacy.classes import Classes, Histograms
from shoal.privacy.figures import Figure
from shoal.schema import Column
from shoal.schema.properties import Lowers


class KeAnonymity(SensitiveModel):
    """
    The figure is the range of the numbers; for a class with too few values it is below 0, by as many as it lacks.

    Both demands only get easier when classes merge. Of a class that fails no division keeps anything: its parts have no
    more values and no wider a range.

    >>> numbers, dense = np.array([30, 31, 50]), np.array([[1, 1, 0], [2, 0, 1], [0, 0, 3]])
    >>> sizes = dense.sum(axis=1)
    >>> classes = Classes(sizes, sizes, {"income": Histograms.of(dense.sum(axis=0), dense, numbers=numbers)})
    >>> model = KeAnonymity(attribute="income", k=2, e=10)
    >>> model.figures(classes).tolist(), model.holds(classes).tolist()
    ([1.0, 20.0, -1.0], [False, True, False])
    """

    key = "ke_anonymity"
    title = "(k, e)-anonymity"
    clause = "ISO/IEC 20889, 10.2 (Zhang et al. 2007)"
    example = "{attribute: income, k: 5, e: 1000}"
    bound = "e"
    properties = reached_by_generalising(Lowers.YES, Lowers.PARTIALLY, Lowers.PARTIALLY)
    monotone_under_generalisation = True
    monotone_under_suppression = True
    trims = True

    attribute: str = Field(description="The sensitive attribute, of numbers.")
    k: int = Field(ge=1, description="The least number of different values in a class.")
    e: float = Field(ge=0, description="How far apart the smallest and the largest number of a class are at least.")

    def spread(self, block: Integers, histograms: Histograms) -> Figures:
        if histograms.numbers is None:
            raise InputError(
                f"{self.key}: '{self.attribute}' has no numbers to take a range of",
                advice="name an attribute of numbers, or take l_diversity",
            )
        occurs = block > 0
        lacking = self.k - occurs.sum(axis=1)
        return np.where(lacking > 0, -lacking, _ranges(occurs, histograms.numbers))

    def accepts(self, figures: Figures) -> Mask:
        return figures >= self.e * (1 - ROUNDING)

    def retention_bounds(self, block: Integers, histograms: Histograms) -> Integers:
        return np.where(self.accepts(self.spread(block, histograms)), block.sum(axis=1), 0)

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """A range above 0 has two ends."""
        least = max(self.k, 2 if self.e else 1)
        return MinimumClass(records=least, distinct={self.attribute: least})

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        """The e of the table, for any k: how many different values there are is ``distinct_l``."""
        return (
            Figure(
                "e",
                "(k, e)-anonymity: e",
                lambda name, bound, _k: cls(attribute=name, k=1, e=bound),
                obstacle=_no_numbers,
            ),
        )

    def explain(self) -> str:
        return (
            f"Whoever finds a person's group is left with at least {self.k} different values for '{self.attribute}', "
            f"the largest of them at least {self.e:g} above the smallest."
        )


def _ranges(occurs: Mask, numbers: Figures) -> Figures:
    """Of each row (classes × values), the largest number less the smallest; 0 without any."""
    known = ~np.isnan(numbers)
    there, rising = occurs[:, known], numbers[known]
    if not there.size:
        return np.zeros(len(occurs))
    lowest = rising[there.argmax(axis=1)]
    highest = rising[::-1][there[:, ::-1].argmax(axis=1)]
    return np.where(there.any(axis=1), highest - lowest, 0.0)


def _no_numbers(classes: Classes, attribute: str, _column: Column | None) -> str | None:
    return None if classes.histograms(attribute).numbers is not None else "its values are not numbers"
