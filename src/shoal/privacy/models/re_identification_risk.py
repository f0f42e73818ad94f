"""Re-identification risk as a demand (ISO/IEC 20889, 7.2): the chance 1/size to pick the right person of a class.

*Maximum risk* bounds it for everyone, against whoever looks for one certain person (the prosecutor): k-anonymity in
other words. *Average risk* bounds its mean over people, against whoever wants to re-identify as many as they can (the
marketer): Σ size·(1/size) ÷ Σ size, which is classes ÷ people. Someone in several classes counts in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import Figures, MinimumClass, ShareModel, TableModel, reached_by_generalising
from shoal.privacy.classes import Classes
from shoal.schema.properties import Lowers


class MaximumRisk(ShareModel):
    """
    >>> sizes = np.array([4, 5])
    >>> MaximumRisk(maximum=0.2).holds(Classes(sizes, sizes)).tolist()
    [False, True]
    """

    key = "maximum_risk"
    title = "maximum risk"
    clause = "ISO/IEC 20889, 7.2"
    example = "{maximum: 0.2}"
    properties = reached_by_generalising(Lowers.YES, Lowers.PARTIALLY, Lowers.NO)
    listing_order = 20
    monotone_under_generalisation = True
    monotone_under_suppression = True

    maximum: float = Field(gt=0, le=1, description="The largest chance to pick the right person of a class.")

    def figures(self, classes: Classes) -> Figures:
        """Nobody is at risk in a class without people."""
        return np.divide(1, classes.people, out=np.zeros(len(classes)), where=classes.people > 0)

    def holds(self, classes: Classes) -> Mask:
        return self.figures(classes) <= self.maximum

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """The least size with 1/size ≤ maximum; the rounding of 1/maximum may miss it by one."""
        near = ceil(1 / self.maximum)
        return MinimumClass(
            people=next(size for size in (near - 1, near, near + 1) if size and 1 / size <= self.maximum)
        )

    def explain(self) -> str:
        return (
            f"The chance to pick the right person of a group of look-alikes is at most {self.maximum:.4g} for everyone."
        )


class AverageRisk(TableModel):
    """
    The smallest classes are taken away until the rest meets it: no choice takes away fewer classes. Of equal ones
    the earlier goes first.

    >>> sizes = np.array([1, 9, 1])
    >>> AverageRisk(maximum=0.2).holds(Classes(sizes, sizes)).tolist()
    [False, True, True]
    """

    key = "average_risk"
    title = "average risk"
    clause = "ISO/IEC 20889, 7.2"
    example = "{maximum: 0.05}"
    listing_order = 30
    monotone_under_generalisation = True

    maximum: float = Field(gt=0, le=1, description="The largest mean chance to pick the right person of a class.")

    def figures(self, classes: Classes) -> Figures:
        """The mean, for each class the same."""
        occupied, people = int((classes.people > 0).sum()), int(classes.people.sum())
        return np.full(len(classes), occupied / people if people else 0.0)

    def holds(self, classes: Classes) -> Mask:
        kept = np.ones(len(classes), dtype=bool)
        occupied = np.flatnonzero(classes.people)
        smallest_first = occupied[np.argsort(classes.people[occupied], kind="stable")]
        left = np.cumsum(classes.people[smallest_first[::-1]])[::-1]
        met = np.arange(len(left), 0, -1) / left <= self.maximum
        kept[smallest_first[: int(np.argmax(met)) if met.any() else len(met)]] = False
        return kept

    def explain(self) -> str:
        return f"Of all re-identifications that someone may try, at most {self.maximum:.4g} succeed on average."
