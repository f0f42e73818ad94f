"""Sample uniqueness (ISO/IEC 20889, 7.2, singling out): few people stand alone in their class.

A class of one person is a record that a single look singles out. The share of such people among all bounds how often
that works; it says nothing of pairs and other small classes. Someone in several classes counts in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import Figures, MinimumClass, TableModel
from shoal.privacy.classes import Classes


class SampleUniqueness(TableModel):
    """
    As few uniques as possible are taken away; the earlier goes first.

    >>> sizes = np.array([1, 8, 1])
    >>> SampleUniqueness(maximum=0.15).holds(Classes(sizes, sizes)).tolist()
    [False, True, True]
    """

    key = "sample_uniqueness"
    title = "sample uniqueness"
    clause = "ISO/IEC 20889, 7.2"
    example = "{maximum: 0.01}"
    listing_order = 40
    monotone_under_generalisation = True

    maximum: float = Field(ge=0, le=1, description="The largest share of people who are alone in their class.")

    def figures(self, classes: Classes) -> Figures:
        """The share, for each class the same."""
        alone, people = int((classes.people == 1).sum()), int(classes.people.sum())
        return np.full(len(classes), alone / people if people else 0.0)

    def holds(self, classes: Classes) -> Mask:
        kept = np.ones(len(classes), dtype=bool)
        uniques = np.flatnonzero(classes.people == 1)
        gone = np.arange(len(uniques))
        met = (len(uniques) - gone) / (int(classes.people.sum()) - gone) <= self.maximum
        kept[uniques[: int(np.argmax(met)) if met.any() else len(met)]] = False
        return kept

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        return MinimumClass(people=1 if self.maximum else 2)

    def explain(self) -> str:
        return f"At most {self.maximum:.4g} of the people here have quasi-identifying values that nobody else here has."
