"""δ-disclosure privacy: every value of a sensitive attribute is about as frequent in a class as in the whole table.

With q the share of a value in the class and p in the whole table, suppressed records included, |ln(q ÷ p)| < δ: finding
a person's class makes no value more than e^δ times more or less likely (Brickell and Shmatikov 2008). A value of the
table that a class lacks has ln 0: the class tells what its people do *not* have, and no δ allows that. (Where a tool
takes log₂, its δ is this one ÷ ln 2.)
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, floor

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import ROUNDING, ClosenessModel, Figures, MinimumClass
from shoal.privacy.classes import Histograms
from shoal.privacy.figures import Figure
from shoal.privacy.retention_bounds import SLACK, within_caps


class DeltaDisclosure(ClosenessModel):
    """
    The figure is the greatest |ln(q ÷ p)|, infinite for a class that lacks a value.

    Monotone under generalisation: p e^−δ < q < p e^δ is linear in q, so what its parts keep, a mixture keeps.

    >>> histograms = Histograms(np.array([2, 2]), np.array([0, 1]), np.array([0, 1]), np.array([1, 1]), 2)
    >>> DeltaDisclosure(attribute="ill", delta=1).spread(np.array([[1, 1], [2, 0]]), histograms).tolist()
    [0.0, inf]
    """

    key = "delta_disclosure"
    title = "δ-disclosure privacy"
    clause = "ISO/IEC 20889, annex E"
    example = "{attribute: diagnosis, delta: 1.5}"
    listing_order = 120
    bound = "delta"

    delta: float = Field(gt=0, description="The bound on |ln(share in a class ÷ share in the whole table)|.")

    def spread(self, block: Integers, histograms: Histograms) -> Figures:
        occurs = histograms.whole > 0
        known = histograms.whole[occurs] / histograms.whole.sum()
        ratios = block[:, occurs] / block.sum(axis=1, keepdims=True) / known
        with np.errstate(divide="ignore"):
            return np.asarray(np.abs(np.log(ratios)).max(axis=1))

    def accepts(self, figures: Figures) -> Mask:
        return figures < self.delta - ROUNDING

    def retention_bounds(self, block: Integers, histograms: Histograms) -> Integers:
        occurs = histograms.whole > 0
        known = histograms.whole[occurs] / histograms.whole.sum()
        scarce = (block[:, occurs] / (known * exp(-self.delta))).min(axis=1)
        caps = np.minimum(1, known * exp(self.delta))
        whole = np.floor(scarce * (1 + SLACK)).astype(np.int64)
        return np.asarray(np.minimum(within_caps(block[:, occurs], caps), whole))

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """Every value has to occur, the rarest too, and one record of it may not be too much: 1 ÷ records < p e^δ."""
        counts = whole[self.attribute][whole[self.attribute] > 0]
        if not len(counts):
            return MinimumClass()
        values = len(counts)
        alone = floor(int(counts.sum()) / int(counts.min()) * exp(-self.delta)) + 1
        return MinimumClass(records=max(values, alone), distinct={self.attribute: values})

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (Figure("delta", "δ-disclosure: δ above", lambda name, bound, _k: cls(attribute=name, delta=bound)),)

    def explain(self) -> str:
        return (
            f"Finding a person's group makes no value of '{self.attribute}' more or less likely than it is in the "
            f"whole table by a factor of {exp(self.delta):.4g} or more."
        )
