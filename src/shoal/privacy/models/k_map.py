"""k-map: every released class stands for at least k people of the *population* (ISO/IEC 20889, 10.2; Sweeney 2002).

Whoever knows a person's quasi-identifiers, but not whether that person is in the table, can narrow the search to k
people of the population. It asks less than k-anonymity, which guards against those who do know.

With a population table, its records per class are counted; a class of which the table has more people than that is not
drawn from this population, so it stands for nobody known and counts as 0. Without a population table, classes are
judged by a test: a population class of k people gives a sample class whose size X is about Poisson with mean k·n/N (n
people in the table, N in the population), and at least 1, or it would not be seen. A sample class of f people is
accepted when so many would be improbable with only k in the population, P(X ≥ f | X ≥ 1) ≤ significance, or when
f ≥ k, which leaves no doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import expm1, log
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from shoal.errors import BugError, DataError
from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import Figures, MinimumClass, PrivacyModel, reached_by_generalising
from shoal.privacy.classes import Classes
from shoal.privacy.figures import Figure, FigureUnit, figure_of_population
from shoal.schema.properties import Lowers


class KMap(PrivacyModel):
    """
    With a population table the figure is population records; with its size only, the probability above.

    >>> sizes = np.array([1, 2, 3])
    >>> model = KMap(k=3, population="everyone.csv")
    >>> model.holds(Classes(sizes, sizes, population=np.array([2, 3, 9]))).tolist()
    [False, True, True]
    >>> KMap(k=5, population_size=1000, sample_size=100).least_sample(100)
    4
    """

    key = "k_map"
    title = "k-map"
    clause = "ISO/IEC 20889, 10.2"
    example = "{k: 5, population_size: 1400000}"
    properties = reached_by_generalising(Lowers.PARTIALLY, Lowers.PARTIALLY, Lowers.NO)
    listing_order = 50
    monotone_under_generalisation = True
    monotone_under_suppression = True

    k: int = Field(ge=1, description="The least number of people of the population that a class stands for.")
    population: str | None = Field(default=None, description="A table of the population, with the quasi-identifiers.")
    population_size: int | None = Field(
        default=None, ge=1, description="The people of the population, where no table of them is at hand."
    )
    significance: float = Field(
        default=0.01, gt=0, lt=1, description="With population_size: how probable a class of too few people may be."
    )
    sample_size: int | None = Field(
        default=None,
        ge=1,
        description="With population_size: the people of the table before suppression; without it, those released.",
    )

    @model_validator(mode="after")
    def _one_population(self) -> Self:
        if (self.population is None) == (self.population_size is None):
            raise ValueError("give either population (a table) or population_size (a number)")
        unused = sorted(self.model_fields_set & {"significance", "sample_size"})
        if self.population is not None and unused:
            raise ValueError(f"a population table is counted, it doesn't take {' and '.join(unused)}")
        if self.population_size is not None and (self.sample_size or 0) > self.population_size:
            raise ValueError("population_size is smaller than sample_size")
        return self

    @property
    def local(self) -> bool:  # type: ignore[override]  # the sampling fraction is one of the whole table
        return self.population is not None or self.sample_size is not None

    @property
    def trims(self) -> bool:  # type: ignore[override]  # the minimum class speaks of the sample, not of a population table
        return self.population is not None

    def most_kept(self, classes: Classes) -> Integers:
        """A part stands for no more people than the whole; and of more people than the population has, some go."""
        if self.population is None or classes.population is None:
            return classes.records
        fitting = classes.records - np.maximum(classes.people - classes.population, 0)
        return np.where(classes.population >= self.k, fitting, 0)

    @property
    def more_is_safer(self) -> bool:  # type: ignore[override]  # records are, a probability of error is not
        return self.population is not None

    def for_table(self, people: int) -> Self:
        if self.population_size is None or self.sample_size is not None:
            return self
        if people > self.population_size:
            raise DataError(
                f"k_map: the table has {people} people, the population is said to have {self.population_size}",
                advice="give the size of the population that the table was drawn from",
            )
        return self.model_copy(update={"sample_size": people})

    @property
    def population_table(self) -> str | None:
        return self.population

    @property
    def required(self) -> float:
        return self.k if self.population is not None else self.significance

    def figures(self, classes: Classes) -> Figures:
        if self.population_size is None:
            if classes.population is None:
                raise BugError("the classes were made without their population")
            return np.where(classes.population >= classes.people, classes.population, 0).astype(np.float64)
        tail = self._tail(self.sample_size or int(classes.people.sum()))
        return tail[np.minimum(classes.people, self.k)]

    def holds(self, classes: Classes) -> Mask:
        figures = self.figures(classes)
        return figures >= self.required if self.more_is_safer else figures <= self.required

    def least_sample(self, sample_size: int) -> int:
        """The people that a class of such a sample must have to be accepted."""
        return int(np.argmax(self._tail(sample_size) <= self.significance))

    def _tail(self, sample_size: int) -> Figures:
        """By sample class size f from 0 to k, the probability of at least f; for k itself 0, as there is no doubt."""
        mean = self.k * sample_size / (self.population_size or sample_size) if sample_size else 0.0
        sizes = np.arange(1, self.k)
        tail = np.concatenate(([1.0], np.ones(self.k - 1), [0.0]))
        if len(sizes) > 1 and mean:
            log_chance = sizes * log(mean) - mean - np.cumsum(np.log(sizes)) - log(-expm1(-mean))
            tail[2 : self.k] = np.clip(1 - np.cumsum(np.exp(log_chance))[:-1], 0, 1)
        return tail

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """One person alone never rules out a smaller class. A population table asks nothing of the sample's sizes."""
        if self.population_size is None:
            return MinimumClass()
        return MinimumClass(people=self.least_sample(self.sample_size) if self.sample_size else min(2, self.k))

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (
            figure_of_population("k_map", "k-map: k", lambda k, table: cls(k=k, population=table), FigureUnit.COUNT),
        )

    def explain(self) -> str:
        promise = f"Everyone shares their quasi-identifying values with at least {self.k - 1} other people"
        if self.population is not None:
            return f"{promise} of the population."
        return (
            f"{promise} of the {self.population_size} in the population, as estimated from the table: a smaller group "
            f"passes with a probability of at most {self.significance:.4g}."
        )
