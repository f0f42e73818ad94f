"""k-anonymity (ISO/IEC 20889, 10.2.1): every person shares their quasi-identifiers with at least k − 1 others.

Whoever knows a person's quasi-identifiers can narrow the search to k people, not further: the chance of picking the
right one is at most 1/k. It says nothing of what the class has in common (see l-diversity, t-closeness).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shoal.privacy.base import Classes, Finding, PrivacyModel


class KAnonymity(PrivacyModel):
    """
    >>> model = KAnonymity(k=3)
    >>> sizes = np.array([2, 3, 7])
    >>> model.holds(Classes(records=sizes, people=sizes)).tolist()
    [False, True, True]
    """

    key = "k_anonymity"
    title = "k-anonymity"
    clause = "ISO/IEC 20889, 10.2.1"
    monotone_under_generalisation = True
    monotone_under_suppression = True

    k: int = Field(ge=1, description="The least number of people in an equivalence class.")

    def holds(self, classes: Classes) -> NDArray[np.bool_]:
        return classes.people >= self.k

    def find(self, classes: Classes) -> Finding:
        if not len(classes.people):
            return Finding(self.key, self.k, 0, met=True)
        smallest = int(classes.people.min())
        return Finding(self.key, self.k, smallest, smallest >= self.k)

    def explain(self) -> str:
        return f"Everyone shares their quasi-identifying values with at least {self.k - 1} other people."
