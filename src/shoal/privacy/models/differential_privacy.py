"""Differential privacy of a published table (ISO/IEC 20889, 10.3): nobody's record changes what is likely to come out.

Whether a person's record is in the source or not, every possible release has nearly the same chance: e^ε times at most,
but for a chance of δ. It holds against whatever an attacker knows and whatever else is published. It comes about by
random sampling, generalisation to levels that the policy fixes and the suppression of small groups together (see
``shoal.privacy.sampling_guarantee``); what a class has to have for it is k people, and the rest is asked of the policy.

The classes of a finished table can't show it: it is a property of how a table is made. Table A.1 of the standard has it
as not truthful, since it thinks of noise; records that are drawn and generalised stay true.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import Figures, MinimumClass, PrivacyModel, reached_by_generalising
from shoal.privacy.classes import Classes
from shoal.privacy.sampling_guarantee import SamplingGuarantee
from shoal.schema.properties import Lowers


class DifferentialPrivacy(PrivacyModel):
    """
    >>> model = DifferentialPrivacy(epsilon=1.0, delta=1e-6)
    >>> sizes = np.array([73, 74])
    >>> model.holds(Classes(records=sizes, people=sizes)).tolist()
    [False, True]
    """

    key = "differential_privacy"
    title = "differential privacy"
    clause = "ISO/IEC 20889, 10.3"
    example = "{epsilon: 1.0, delta: 1.0e-6}"
    properties = reached_by_generalising(Lowers.YES, Lowers.YES, Lowers.PARTIALLY)
    one_file_only = True
    monotone_under_generalisation = True
    monotone_under_suppression = True

    epsilon: float = Field(
        ge=0.001, le=10, description="ε: by how much a person's record may change the chance of any release."
    )
    delta: float = Field(ge=1e-100, le=0.01, description="δ: the chance with which it may change more than that.")

    @property
    def guarantee(self) -> SamplingGuarantee:
        return SamplingGuarantee.of(self.epsilon, self.delta)

    @property
    def required(self) -> float:
        return self.guarantee.smallest_group

    def figures(self, classes: Classes) -> Figures:
        return classes.people.astype(np.float64)

    def holds(self, classes: Classes) -> Mask:
        return self.figures(classes) >= self.required

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        return MinimumClass(people=self.guarantee.smallest_group)

    def explain(self) -> str:
        found = self.guarantee
        return (
            f"Each record is drawn by chance (β = {found.sampling:.1%}), and only groups of at least "
            f"{found.smallest_group} drawn records (k) are released. So whether a person's record is in the source "
            f"changes the chance of any release by a factor of e^{self.epsilon:g} = {exp(self.epsilon):.3g} at most, "
            f"but for a chance of {self.delta:g}. Counts are divided by β. Each further release of the same people "
            f"adds its ε and δ; a person with several records is protected less."
        )
