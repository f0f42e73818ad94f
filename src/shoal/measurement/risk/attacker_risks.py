"""Three attackers and what each can hope for (El Emam 2013; ISO/IEC 20889, 7.2; PDPC guide, annex D).

With fⱼ people of the table in class j, Fⱼ of the population, n people in the table and J classes:

- the *prosecutor* knows that somebody is in the table: 1/fⱼ, on average over people (J/n if each is in one class);
- the *journalist* looks for anybody, by a register of the population: 1/Fⱼ, on average the larger of J/ΣFⱼ (from the
  register to the table) and (1/n)·Σ fⱼ/Fⱼ (from the table to the register);
- the *marketer* links everybody and is content with a share of right guesses: (1/n)·Σ fⱼ/Fⱼ.

All of these are of people. Somebody with records in several classes is at the risk of the smallest of them; where only
the fewest people of each class are known, nobody can say who is in which, and the average is bounded by the highest.

Fⱼ comes from a table of the population. Where only its size N is known, a class of two or more people is taken for
fⱼ·N/n people of the population. For classes of one that would hide those who are alone in the population too: as many
as Dankar's rule estimates are taken for unique, the others for one of N/n, or of two where that is less. Which ones are
unique can't be told, so the highest risk of a record is then an expected value; and as classes of one size differ in
the population, the share above a threshold is an expected value over their possible sizes. Where nothing is known of
the population, it is taken to be the table: the journalist's and marketer's figures are upper bounds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from shoal.errors import InputError
from shoal.kernels.arrays import Floats, Integers
from shoal.privacy import Classes
from shoal.privacy.population_estimators import ESTIMATORS, SampleSizes, uniques

THRESHOLD = 0.2
STRICT = 1 / 3
"""The highest risk with which an average may speak for everybody: nobody is alone, or one of two."""


class Basis(StrEnum):
    """What is known of the population."""

    TABLE = "table"
    POPULATION = "population"
    ESTIMATE = "estimate"

    @property
    def words(self) -> str:
        return _WORDS[self]


_WORDS = {
    Basis.TABLE: "nothing is known of the population, so the table stands for it: upper bounds",
    Basis.POPULATION: "counted in a table of the population",
    Basis.ESTIMATE: "estimated from the size of the population: expected values",
}


@dataclass(frozen=True)
class AttackerRisk:
    max: float
    """Of the record most at risk."""
    average: float
    above: float
    """The share of records whose risk is above the threshold."""
    uniques: float
    """Records that are certain to be matched rightly, being alone in their class; a fraction if estimated."""

    @property
    def strict_average(self) -> float:
        """The average as long as nobody's own risk is above a third; else that highest risk, which no average hides.

        PDPC guide, footnote 14, names it beside the average, without a figure for what one person may be at risk of.
        """
        return self.average if self.max <= STRICT or math.isclose(self.max, STRICT) else self.max


@dataclass(frozen=True)
class Attackers:
    prosecutor: AttackerRisk
    journalist: AttackerRisk
    marketer: float
    threshold: float
    basis: Basis
    beyond: int = 0
    """Classes with more people in the table than in the population; their own size is taken instead."""

    @property
    def basis_in_words(self) -> str:
        return self.basis.words


def attackers_of(
    classes: Classes,
    *,
    population: Integers | None = None,
    population_size: int | None = None,
    threshold: float = THRESHOLD,
) -> Attackers:
    """The three risks that classes leave; ``population`` has the people of the population in each of them.

    >>> sizes = np.array([2, 4])
    >>> found = attackers_of(Classes(sizes, sizes), population=np.array([10, 8]))
    >>> found.prosecutor.max, found.journalist.max, round(found.marketer, 3)
    (0.5, 0.125, 0.117)
    """
    if not 0 < threshold <= 1:
        raise InputError(f"a threshold of {threshold} is no share", advice="give one above 0 and up to 1")
    classes, there = _present(classes, population)
    people = classes.people
    prosecutor = _certain(classes, people, threshold)
    if not len(people):
        return Attackers(prosecutor, prosecutor, 0.0, threshold, _basis(there, population_size))
    if there is not None:
        beyond = int((there < people).sum())
        there = np.maximum(there, people)
        journalist = _certain(classes, there, threshold)
        marketer = journalist.average
        from_register = min(journalist.max, max(marketer, len(classes) / int(there.sum())))
        journalist = replace(journalist, average=from_register)
        return Attackers(prosecutor, journalist, marketer, threshold, Basis.POPULATION, beyond)
    if population_size is not None:
        journalist, marketer = _estimated(people, population_size, threshold)
        return Attackers(prosecutor, journalist, marketer, threshold, Basis.ESTIMATE)
    return Attackers(prosecutor, prosecutor, prosecutor.average, threshold, Basis.TABLE)


def population_uniques(people: Integers, population_size: int) -> dict[str, float | None]:
    """How many people are unique in the population by each model; None where a model gives no estimate.

    >>> sorted(population_uniques(np.array([1, 1, 2, 3]), 20))
    ['dankar', 'pitman', 'snb', 'zayatz']
    """
    sample = SampleSizes.of(people)
    return {model: uniques(sample, population_size, model) for model in ESTIMATORS}


def _present(classes: Classes, population: Integers | None) -> tuple[Classes, Integers | None]:
    """The classes that the table has, and the people of the population in them."""
    there = classes.population if population is None else population
    if there is not None and len(there) != len(classes):
        raise InputError(f"{len(classes)} classes, but the population is given for {len(there)}")
    here = classes.people > 0
    return classes.only(here), None if there is None else there[here]


def _basis(there: Integers | None, population_size: int | None) -> Basis:
    if there is not None:
        return Basis.POPULATION
    return Basis.TABLE if population_size is None else Basis.ESTIMATE


def _certain(classes: Classes, among: Integers, threshold: float) -> AttackerRisk:
    """The risk of people who can be told apart from all but as many others."""
    if not len(classes):
        return AttackerRisk(0.0, 0.0, 0.0, 0)
    risk = 1 / among
    highest, (each, people) = float(risk.max()), classes.by_person(risk)
    average = _average(classes, risk)
    above = (
        int(people[each > threshold].sum()) / int(people.sum()) if classes.told_apart else float(highest > threshold)
    )
    alone = int(people[each == 1].sum()) if classes.told_apart else int((among == 1).sum())
    return AttackerRisk(highest, min(average, highest), above, alone)


def _average(classes: Classes, risk: Floats) -> float:
    """Over people, each at the highest risk of their classes."""
    if not classes.told_apart:
        return float(risk.max())
    each, people = classes.by_person(risk)
    # Summed by size, so that the order of classes and people does not show in the last digit.
    sizes, which = np.unique(each, return_inverse=True)
    return float(sizes @ np.bincount(which, weights=people)) / int(people.sum())


def _estimated(people: Integers, population_size: int, threshold: float) -> tuple[AttackerRisk, float]:
    sample, total = SampleSizes.of(people), int(people.sum())
    fraction, alone = total / population_size, sample.of_size(1)
    unique = min(float(alone), (uniques(sample, population_size, "dankar") or 0.0) * fraction)
    certain = unique / alone if alone else 0.0
    other_risk = min(0.5, fraction)
    risk: Floats = np.where(people == 1, certain + (1 - certain) * other_risk, fraction / people)
    average = float((people * risk).sum() / total)
    highest = float(risk.max())
    worse = min(highest, max(average, len(people) / population_size))
    above = _estimated_above(sample, fraction, unique, threshold) / total
    return AttackerRisk(highest, worse, above, unique), average


def _estimated_above(sample: SampleSizes, fraction: float, unique: float, threshold: float) -> float:
    """How many people are expected in classes whose risk in the population is above the threshold.

    Those have at most ``most`` people there. A class that shows f has at most so many with the chance that f or more of
    ``most`` people are drawn: its size is f and a negative binomial number (Benedetti and Franconi 1998).
    """
    from scipy.special import bdtrc

    most = math.ceil(1 / threshold) - 1
    if not most:
        return 0.0
    several = (sample.sizes > 1) & (sample.sizes <= most)
    sizes, numbers = sample.sizes[several], sample.numbers[several]
    expected = float((sizes * numbers) @ bdtrc(sizes - 1, most, fraction))
    others = (sample.of_size(1) - unique) * (1 - (1 - fraction) ** (most - 1))
    return unique + others + expected
