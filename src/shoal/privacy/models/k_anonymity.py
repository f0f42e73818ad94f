"""k-anonymity (ISO/IEC 20889, 10.2.1): every person shares their quasi-identifiers with at least k − 1 others.

Whoever knows a person's quasi-identifiers can narrow the search to k people, not further: the chance of picking the
right one is at most 1/k. It says nothing of what the class has in common (see l-diversity, t-closeness).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import Figures, MinimumClass, PrivacyModel, reached_by_generalising
from shoal.privacy.classes import Classes
from shoal.privacy.figures import Figure, FigureUnit, figure_of_classes
from shoal.schema.column_names import ColumnNames
from shoal.schema.properties import Lowers


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
    example = "{k: 5}"
    properties = reached_by_generalising(Lowers.YES, Lowers.PARTIALLY, Lowers.NO)
    listing_order = 10
    bound = "k"
    monotone_under_generalisation = True
    monotone_under_suppression = True

    k: int = Field(ge=1, description="The least number of people in an equivalence class.")
    attributes: ColumnNames = Field(
        default=(), description="Count by these quasi-identifiers only; without it, by all of them."
    )

    @property
    def plain(self) -> bool:
        """Whether it counts by all quasi-identifiers."""
        return not self.attributes

    @property
    def judges_class_alone(self) -> bool:
        return self.plain

    @property
    def local(self) -> bool:  # type: ignore[override]  # a model on some of the attributes looks across classes
        return self.plain

    @property
    def trims(self) -> bool:  # type: ignore[override]  # by all of them the minimum class says it
        return not self.plain

    def most_kept(self, classes: Classes) -> Integers:
        """Raising attributes joins whole groups, so a group that is too small is too small on every node below."""
        return classes.records if self.plain else np.where(self.holds(classes), classes.records, 0)

    def figures(self, classes: Classes) -> Figures:
        if not self.attributes:
            return classes.people.astype(np.float64)
        groups, number = classes.grouped_by(self.attributes)
        return classes.people_in(groups, number)[groups].astype(np.float64)

    def holds(self, classes: Classes) -> Mask:
        return self.figures(classes) >= self.k

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        return MinimumClass() if self.attributes else MinimumClass(people=self.k)

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (figure_of_classes("k", "k-anonymity: k", lambda bound: cls(k=bound), FigureUnit.COUNT),)

    def explain(self) -> str:
        by = f" by {', '.join(self.attributes)}" if self.attributes else ""
        return f"Everyone shares their quasi-identifying values{by} with at least {self.k - 1} other people."
