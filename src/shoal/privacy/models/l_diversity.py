"""l-diversity (ISO/IEC 20889, 10.2.2): every class has at least l well-represented values of a sensitive attribute.

k-anonymity hides who is who in a class, but not what all of a class have in common. Here a class gets a figure, the
number of its values that count, and that has to reach l. With r₁ ≥ r₂ ≥ … ≥ rₘ records per value and N in all:

- *distinct*: m. Whoever finds a person's class still has l values to choose from. Rare ones count like frequent ones.
- *entropy*: exp(H), H = ln N − Σ rᵢ ln rᵢ ÷ N: as many equally frequent values would leave an attacker as uncertain.
- *recursive*: the greatest l for which r₁ < c (r_l + … + rₘ). With l − 2 values ruled out from elsewhere, the most
  frequent one is still less than c times as likely as the rest (Machanavajjhala et al. 2007).

Shannon's H is what a class has. Grassberger's (2003) takes the class for a sample and estimates the entropy of its
source: G(N) − Σ rᵢ G(rᵢ) ÷ N with G(n) = ψ(n) + ½(−1)ⁿ[ψ((n + 1) ÷ 2) − ψ(n ÷ 2)]. The paper begins with ln N; with
G(N), as ARX has it, a class of one value has no entropy. It is more lenient with small classes than Shannon's; still,
none counts for more values than it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from math import ceil, floor, inf
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import ROUNDING, Figures, MinimumClass, PrivacyModel, SensitiveModel, reached_by_generalising
from shoal.privacy.classes import Classes, Histograms
from shoal.privacy.figures import Figure, FigureUnit
from shoal.schema.properties import Lowers


class DiversityKind(StrEnum):
    DISTINCT = "distinct"
    ENTROPY = "entropy"
    RECURSIVE = "recursive"


class Estimator(StrEnum):
    SHANNON = "shannon"
    GRASSBERGER = "grassberger"


class LDiversity(SensitiveModel):
    """
    Monotone under generalisation, except with Grassberger's estimator: two classes with the same two values, once
    each, count for 2 values each, but for 1.95 together.

    >>> whole, owner, value = np.array([3, 3]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> histograms = Histograms(whole, owner, value, np.array([1, 1, 2, 2]), 2)
    >>> [LDiversity(attribute="ill", l=2, kind="entropy").spread(block, histograms) for _, block in histograms.blocks()]
    [array([2., 2.])]
    """

    key = "l_diversity"
    title = "l-diversity"
    clause = "ISO/IEC 20889, 10.2.2"
    example = "{attribute: diagnosis, l: 3, kind: distinct}"
    properties = reached_by_generalising(Lowers.YES, Lowers.PARTIALLY, Lowers.PARTIALLY)
    listing_order = 70
    bound = "l"
    monotone_under_suppression = True

    l: float = Field(ge=1, description="How many well-represented values each class needs at least.")  # noqa: E741  # its name
    kind: DiversityKind = Field(description="What well represented means: distinct, entropy or recursive.")
    c: float | None = Field(
        None, gt=0, description="Recursive only: how many times as frequent as the rest the most frequent may be."
    )
    estimator: Estimator | None = Field(
        None, description="Entropy only: shannon (the default) or grassberger, which corrects for small classes."
    )

    @model_validator(mode="after")
    def _check_choices(self) -> Self:
        if self.kind is DiversityKind.RECURSIVE and self.c is None:
            raise ValueError("kind recursive needs c")
        if self.kind is not DiversityKind.RECURSIVE and self.c is not None:
            raise ValueError(f"kind {self.kind} doesn't take c, only recursive does")
        if self.kind is not DiversityKind.ENTROPY and self.estimator is not None:
            raise ValueError(f"kind {self.kind} doesn't take an estimator, only entropy does")
        if self.kind is not DiversityKind.ENTROPY and self.l != int(self.l):
            raise ValueError(f"kind {self.kind} counts values: l has to be a whole number")
        return self

    @property
    def judges_class_alone(self) -> bool:
        return True

    @property
    def monotone_under_generalisation(self) -> bool:  # type: ignore[override]  # it depends on the estimator
        return self.estimator is not Estimator.GRASSBERGER

    def spread(self, block: Integers, histograms: Histograms) -> Figures:
        if self.c is not None:
            return _recursive(block, self.c)
        if self.kind is DiversityKind.DISTINCT:
            return _distinct(block)
        return _effective(block, grassberger if self.estimator is Estimator.GRASSBERGER else np.log)

    def accepts(self, figures: Figures) -> Mask:
        return figures >= self._least

    @property
    def _least(self) -> float:
        return self.l * (1 - ROUNDING)

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """No figure is above the number of distinct values; with c ≤ 1 it falls behind: c (m − l + 1) r₁ > r₁."""
        least = ceil(self._least)
        if self.c is not None:
            least = max(least, floor(least - 1 + 1 / self.c) + 1)
        return MinimumClass(records=least, distinct={self.attribute: least})

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (
            Figure(
                "distinct_l", "distinct l-diversity: l", cls._of_kind(DiversityKind.DISTINCT), unit=FigureUnit.COUNT
            ),
            Figure("entropy_l", "entropy l-diversity: l", cls._of_kind(DiversityKind.ENTROPY)),
            cls._recursive_figure(2),
            cls._recursive_figure(3),
        )

    @classmethod
    def _of_kind(cls, kind: DiversityKind) -> Callable[[str, float, int], PrivacyModel]:
        return lambda name, bound, _k: cls(attribute=name, l=bound, kind=kind)

    @classmethod
    def _recursive_figure(cls, values: int) -> Figure:
        """Of recursive (c, l)-diversity for one l; it holds for every greater c."""
        return Figure(
            f"recursive_c{values}",
            f"recursive (c, {values})-diversity: c above",
            lambda name, bound, _k: cls(attribute=name, l=values, c=bound, kind=DiversityKind.RECURSIVE),
            lower_bound=False,
            measure=lambda classes, name: _least_c(classes, name, values),
            parameters=lambda _classes: {"l": values},
        )

    def explain(self) -> str:
        if self.kind is DiversityKind.RECURSIVE:
            return (
                f"In every group of people who look alike the most frequent '{self.attribute}' is less than {self.c:g} "
                f"times as frequent as all those together that come {_nth(int(self.l))} or later."
            )
        how = (
            "different values"
            if self.kind is DiversityKind.DISTINCT
            else "equally likely values, as measured by entropy"
        )
        return f"Whoever finds a person's group is left with at least {self.l:g} {how} for '{self.attribute}'."


def _distinct(block: Integers) -> Figures:
    return np.asarray((block > 0).sum(axis=1), dtype=np.float64)


def _recursive(block: Integers, c: float) -> Figures:
    """The greatest l that will do. The tail r_l + … + rₘ only falls with l, so it is the number that will do."""
    rising = np.sort(block, axis=1)
    tails = np.cumsum(rising, axis=1)
    most = rising[:, -1:] * (1 + ROUNDING)
    return np.asarray((c * tails > most).sum(axis=1), dtype=np.float64)


def _effective(block: Integers, logarithm: Callable[[Integers], Figures]) -> Figures:
    """The number of equally frequent values with the same entropy."""
    records = block.sum(axis=1)
    within = (block * logarithm(np.maximum(block, 1))).sum(axis=1) / records
    return np.asarray(np.clip(np.exp(logarithm(records) - within), 1, _distinct(block)))


def grassberger(counts: Integers) -> Figures:
    """G(n) for n ≥ 1, which is ψ(m + ½) + ln 2 with m = ⌊n ÷ 2⌋."""
    from scipy.special import digamma

    return np.asarray(digamma(counts // 2 + 0.5) + np.log(2))


def _nth(place: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(place, f"{place}th")


def _least_c(classes: Classes, attribute: str, values: int) -> float:
    """The greatest r₁ ÷ (r_l + … + rₘ); infinite with fewer than l values in a class."""
    most = 0.0
    for _, block in classes.histograms(attribute).blocks():
        falling = np.sort(block, axis=1)[:, ::-1]
        tails = falling[:, values - 1 :].sum(axis=1)
        if not tails.all():
            return inf
        most = max(most, float((falling[:, 0] / tails).max()))
    return most
