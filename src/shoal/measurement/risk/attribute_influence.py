"""Which quasi-identifiers drive the risk: what an attacker who does not know one of them would still get right.

The average prosecutor risk (PDPC, annex D) is taken by all quasi-identifiers, and once more without each of them. What
it falls by is what that attribute adds to all others: of two that say the same, neither adds anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from shoal.measurement.risk.attacker_risks import attackers_of
from shoal.privacy import Classes

MOST_CLASSES: Final = 1_000_000
"""Each attribute takes sorting of all classes; of more of them nothing is said."""


@dataclass(frozen=True)
class AttributeInfluence:
    attribute: str
    risk: float
    """Average risk by all quasi-identifiers."""
    without: float
    """The same if this one is not known."""

    @property
    def adds(self) -> float:
        """The part of the risk that goes with it."""
        return 1 - self.without / self.risk if self.risk else 0.0


def attribute_influence(classes: Classes) -> tuple[AttributeInfluence, ...]:
    """Of each quasi-identifier, the strongest first; none where there are no classes, or too many.

    >>> sizes = np.array([1, 1, 2])
    >>> cells = np.array([[0, 0], [0, 1], [1, 0]])
    >>> classes = Classes(sizes, sizes, attributes=("age", "sex"), cells=cells)
    >>> [(one.attribute, one.risk, one.without) for one in attribute_influence(classes)]
    [('age', 0.75, 0.5), ('sex', 0.75, 0.5)]
    """
    if classes.cells is None or not 0 < len(classes) <= MOST_CLASSES:
        return ()
    risk = attackers_of(classes).prosecutor.average
    found = [AttributeInfluence(name, risk, _average(classes, name)) for name in classes.attributes]
    return tuple(sorted(found, key=lambda one: -one.adds))


def _average(classes: Classes, left_out: str) -> float:
    groups, number = classes.grouped_by(tuple(name for name in classes.attributes if name != left_out))
    records = np.bincount(groups, weights=classes.records, minlength=number).astype(np.int64)
    pairs = classes.pairs
    if pairs is None or not len(pairs):
        people = classes.people_in(groups, number)
        return attackers_of(Classes(records, people)).prosecutor.average
    joined = np.unique(np.column_stack((pairs[:, 0], groups[pairs[:, 1]])), axis=0)
    alone = classes.people - np.bincount(pairs[:, 1], minlength=len(classes))
    people = np.bincount(groups, weights=alone, minlength=number) + np.bincount(joined[:, 1], minlength=number)
    return attackers_of(Classes(records, people.astype(np.int64), pairs=joined)).prosecutor.average
