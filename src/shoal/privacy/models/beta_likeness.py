"""β-likeness: no value of a sensitive attribute is much more frequent in a class than in the whole table.

t-closeness bounds a distance over all values, in which a rare value may hide: from 0.1 % to 5 % is only 0.05. Here each
value has its own bound. With q its share in the class and p in the whole table, suppressed records included, the gain
(q − p) ÷ p is at most β (*basic*), or at most min(β, −ln p) (*enhanced*), so that a frequent value is never certain
(Cao and Karras 2012). A value that becomes less likely is no threat in this model; see δ-disclosure privacy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from math import inf

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import ROUNDING, ClosenessModel, Figures, MinimumClass, PrivacyModel
from shoal.privacy.classes import Classes, Histograms
from shoal.privacy.figures import Figure, worst_figure
from shoal.privacy.retention_bounds import within_caps

SLACK = 1e-9
"""Relative. More than what rounding lets through, so that the minimum class is below every class that is accepted."""

SIZES_TRIED = 1000
"""How many sizes are tried to find the smallest class that can stay within all bounds."""


class LikenessKind(StrEnum):
    BASIC = "basic"
    ENHANCED = "enhanced"


class BetaLikeness(ClosenessModel):
    """
    The figure is the greatest gain of a value. With the enhanced kind, the gain of a value that is allowed less than β
    counts for so much more, so that β is the bound of all.

    Monotone under generalisation: each bound is linear in q, so what its parts keep, a mixture keeps.

    >>> histograms = Histograms(np.array([2, 2]), np.array([0, 0]), np.array([0, 1]), np.array([3, 1]), 1)
    >>> BetaLikeness(attribute="ill", beta=1, kind="basic").spread(np.array([[3, 1]]), histograms).tolist()
    [0.5]
    """

    key = "beta_likeness"
    title = "β-likeness"
    clause = "ISO/IEC 20889, annex E"
    example = "{attribute: diagnosis, beta: 2, kind: enhanced}"
    listing_order = 110
    bound = "beta"

    beta: float = Field(gt=0, description="How much more frequent a value may be than in the whole table; 1: twice.")
    kind: LikenessKind = Field(description="basic, or enhanced, which bounds frequent values more.")

    def spread(self, block: Integers, histograms: Histograms) -> Figures:
        occurs = histograms.whole > 0
        known = histograms.whole[occurs] / histograms.whole.sum()
        gains = block[:, occurs] / block.sum(axis=1, keepdims=True) / known - 1
        return np.asarray((gains * (self.beta / self._bounds(known))).max(axis=1))

    def _bounds(self, known: Figures) -> Figures:
        """The gain that each value is allowed. A value that all have can't gain; any bound will do for it."""
        if self.kind is LikenessKind.BASIC:
            return np.full(len(known), self.beta)
        return np.where(known < 1, np.minimum(self.beta, -np.log(known)), self.beta)

    def accepts(self, figures: Figures) -> Mask:
        return figures <= self.beta + ROUNDING * (1 + self.beta)

    def retention_bounds(self, block: Integers, histograms: Histograms) -> Integers:
        occurs = histograms.whole > 0
        known = histograms.whole[occurs] / histograms.whole.sum()
        return within_caps(block[:, occurs], (1 + self._bounds(known)) * known * (1 + SLACK))

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """The greatest shares that the values are allowed have to fill a class: as shares, and as whole records."""
        counts = whole[self.attribute][whole[self.attribute] > 0]
        known = counts / counts.sum()
        allowed = np.minimum(1, (1 + self._bounds(known)) * known * (1 + SLACK))
        distinct = 1 + int((np.cumsum(np.sort(allowed)[::-1]) < 1).sum())
        last = distinct + SIZES_TRIED
        fits = (size for size in range(distinct, last) if np.floor(allowed * size).sum() >= size)
        return MinimumClass(records=next(fits, last), distinct={self.attribute: distinct})

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (
            Figure("beta", "basic β-likeness: β", cls._of_kind(LikenessKind.BASIC)),
            Figure(
                "enhanced_beta", "enhanced β-likeness: β", cls._of_kind(LikenessKind.ENHANCED), measure=_least_enhanced
            ),
        )

    @classmethod
    def _of_kind(cls, kind: LikenessKind) -> Callable[[str, float, int], PrivacyModel]:
        return lambda name, bound, _k: cls(attribute=name, beta=bound, kind=kind)

    def explain(self) -> str:
        more = "" if self.kind is LikenessKind.BASIC else ", and less for values that are frequent anyway"
        return (
            f"Finding a person's group makes no value of '{self.attribute}' more than {1 + self.beta:g} times as "
            f"likely as it is in the whole table{more}."
        )


def _least_enhanced(classes: Classes, attribute: str) -> float:
    """The least β of the enhanced kind. A gain is at most min(β, −ln p): the greatest gain will do, or none will."""
    gain = worst_figure(BetaLikeness(attribute=attribute, beta=1, kind=LikenessKind.BASIC), classes)
    if gain <= 0:
        return 0.0
    model = BetaLikeness(attribute=attribute, beta=gain, kind=LikenessKind.ENHANCED)
    return gain if model.holds(classes).all() else inf
