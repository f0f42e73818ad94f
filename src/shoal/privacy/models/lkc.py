"""LKC-privacy (Mohammed, Fung et al. 2009): k-anonymity and confidence against those who know at most L values.

Whoever knows at most L quasi-identifiers of a person finds at least K people who match, and can tell no sensitive value
of theirs with a confidence above C. It is for tables with many attributes, all of which nobody knows; asking
k-anonymity of them together would leave nothing.

Only sets of exactly L attributes are looked at (all of them, if there are fewer): a group by fewer attributes is a
union of groups by L, so it has as many people or more, and no larger share of a value than the largest among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import comb

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import Figures, PrivacyModel, reached_by_generalising
from shoal.privacy.classes import Classes
from shoal.privacy.figures import Figure, FigureUnit
from shoal.schema import Column
from shoal.schema.properties import Lowers

KNOWN = 2
"""How many quasi-identifiers an attacker knows where no policy says it."""


class Lkc(PrivacyModel):
    """
    The figure of a class is the people in the smallest group it belongs to; 0 if some group gives a value away.

    A class goes when one of its groups fails. That makes other groups smaller, so this goes on until all meet it.
    Generalising is taken as raising a whole attribute, which joins whole groups.
    """

    key = "lkc"
    title = "LKC-privacy"
    clause = "ISO/IEC 20889, annex E"
    example = "{l: 2, k: 5, c: 0.5, attribute: diagnosis}"
    properties = reached_by_generalising(Lowers.PARTIALLY, Lowers.PARTIALLY, Lowers.PARTIALLY)
    listing_order = 130
    bound = "k"
    monotone_under_generalisation = True
    monotone_under_suppression = False
    local = False
    trims = True

    l: int = Field(ge=1, description="How many quasi-identifiers an attacker may know.")  # noqa: E741  # its name
    k: int = Field(ge=1, description="The least number of people who match what the attacker knows.")
    c: float = Field(gt=0, le=1, description="The largest share of those people that one sensitive value may have.")
    attribute: str = Field(description="The sensitive attribute.")

    @property
    def sensitive(self) -> tuple[str, ...]:
        return (self.attribute,)

    def figures(self, classes: Classes) -> Figures:
        least = np.full(len(classes), np.inf)
        for known in combinations(classes.attributes, min(self.l, len(classes.attributes))):
            groups, number = classes.grouped_by(known)
            people = classes.people_in(groups, number)
            people[self._largest_share(classes, groups, number) > self.c] = 0
            least = np.minimum(least, people[groups])
        return least

    def _largest_share(self, classes: Classes, groups: Integers, number: int) -> Figures:
        """Per group, the share of its records that have its most frequent sensitive value."""
        largest = np.zeros(number)
        for rows, block in classes.histograms(self.attribute).merged(groups, number).blocks():
            total = block.sum(axis=1)
            largest[rows] = np.divide(block.max(axis=1), total, out=np.zeros(len(block)), where=total > 0)
        return largest

    def holds(self, classes: Classes) -> Mask:
        kept = np.ones(len(classes), dtype=bool)
        while kept.any():
            stay = self.figures(classes.only(kept)) >= self.k
            if stay.all():
                break
            kept[kept] = stay
        return kept

    def most_kept(self, classes: Classes) -> Integers:
        """Raising attributes joins whole groups, so a group of too few people has too few on every node below."""
        enough = np.ones(len(classes), dtype=bool)
        for known in combinations(classes.attributes, min(self.l, len(classes.attributes))):
            groups, number = classes.grouped_by(known)
            enough &= classes.people_in(groups, number)[groups] >= self.k
        return np.where(enough, classes.records, 0)

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (
            Figure(
                "lkc_c",
                f"LKC-privacy, L = {KNOWN}: C",
                lambda name, bound, _k: cls(l=KNOWN, k=1, c=bound, attribute=name),
                unit=FigureUnit.SHARE,
                lower_bound=False,
                measure=_confidence,
                obstacle=_all_known,
                parameters=_fewest_who_match,
                shown_parameters={"k": "lkc_k"},
                regroupings=_sets_of_known,
            ),
        )

    def explain(self) -> str:
        return (
            f"Whoever knows at most {self.l} quasi-identifying values of a person finds at least {self.k} people who "
            f"match, and no value of '{self.attribute}' belongs to more than {self.c:.4g} of them."
        )


def _sets_of_known(classes: Classes) -> int:
    """How many sets of attributes an attacker may know who doesn't know all of them; none if there are too few."""
    number = len(classes.attributes)
    return comb(number, KNOWN) if number > KNOWN and classes.cells is not None else 0


def _all_known(classes: Classes, _attribute: str, _column: Column | None) -> str | None:
    return None if _sets_of_known(classes) else f"there are no more than {KNOWN} quasi-identifiers: see alpha"


def _confidence(classes: Classes, attribute: str) -> float:
    """The largest share of a sensitive value among those who match what an attacker knows."""
    largest = 0.0
    for groups, number in _matching(classes):
        for _, block in classes.histograms(attribute).merged(groups, number).blocks():
            largest = max(largest, float((block.max(axis=1) / block.sum(axis=1)).max()))
    return largest


def _fewest_who_match(classes: Classes) -> Mapping[str, int]:
    """What the confidence was measured for: so many values known, and the fewest people who match any of them."""
    return {"l": KNOWN, "k": min(int(classes.people_in(*groups).min()) for groups in _matching(classes))}


def _matching(classes: Classes) -> Iterator[tuple[Integers, int]]:
    """The classes grouped by each two quasi-identifiers: the group of each class, and how many there are."""
    if classes.cells is None:
        return
    for first, second in combinations(classes.cells.T, KNOWN):
        pairs = first * (int(second.max()) + 1) + second
        found, groups = np.unique(pairs, return_inverse=True)
        yield groups.astype(np.int64), len(found)
