"""δ-presence (Nergiz, Atzori and Clifton 2007; ISO/IEC 20889, annex E): nobody can tell who is in the table at all.

Being in some tables (patients, debtors) is the secret. Whoever has the population sees, for each class, how many of its
people are in the table: records ÷ population records is the probability that one of them is. It has to lie between
δ_min and δ_max, for all people of the population.

So with δ_min above 0 a class that only the population has breaks the model: its people are known to be absent, and no
suppression can help, as there is nothing to suppress. Such classes (no records, but a population) are to be handed in
with the others; if there is one, no class may stay, here and in every finer partition. ARX overlooks them where another
model sets a least class size; ``judge_absent: false`` does so too, and then δ_min is promised only to those who look
like somebody in the table.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from pydantic import Field, model_validator

from shoal.errors import BugError
from shoal.kernels.arrays import Integers, Mask
from shoal.privacy.base import Figures, GlobalRecodingOnly, ModelFinding, PrivacyModel, reached_by_generalising
from shoal.privacy.classes import Classes
from shoal.privacy.figures import Figure, FigureUnit, figure_of_population
from shoal.privacy.retention_bounds import SLACK
from shoal.schema.properties import Lowers


class DeltaPresence(PrivacyModel):
    """
    >>> model = DeltaPresence(maximum=0.5, population="everyone.csv")
    >>> sizes = np.array([1, 3])
    >>> model.holds(Classes(sizes, sizes, population=np.array([2, 4]))).tolist()
    [True, False]
    """

    key = "delta_presence"
    title = "δ-presence"
    clause = "ISO/IEC 20889, annex E"
    example = "{maximum: 0.5, population: residents.csv}"
    properties = reached_by_generalising(Lowers.PARTIALLY, Lowers.PARTIALLY, Lowers.NO)
    listing_order = 60
    bound = "maximum"
    monotone_under_suppression = True
    more_is_safer = False
    trims = True

    minimum: float = Field(
        default=0.0, ge=0, le=1, description="δ_min: the least share of a class that is in the table."
    )
    maximum: float = Field(ge=0, le=1, description="δ_max: the largest share of a class that is in the table.")
    population: str = Field(description="A table of the population, with the quasi-identifiers.")
    judge_absent: bool = Field(
        default=True, description="Whether δ_min holds for classes too that nobody of the table belongs to."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.minimum > self.maximum:
            raise ValueError("minimum is above maximum")
        return self

    @property
    def monotone_under_generalisation(self) -> bool:  # type: ignore[override]  # absent people may push it below δ_min
        return not self.minimum or self.judge_absent

    @property
    def local(self) -> bool:  # type: ignore[override]  # classes without records decide about all others
        return not self.minimum or not self.judge_absent

    @property
    def global_recoding_only(self) -> GlobalRecodingOnly | None:
        """Cell by cell, it is not followed what becomes of people whom only the population has."""
        return None if self.local else GlobalRecodingOnly("with a minimum", "with judge_absent: false")

    @property
    def population_table(self) -> str | None:
        return self.population

    def figures(self, classes: Classes) -> Figures:
        """Someone who is not in the population at all is there for certain, and more."""
        population = self._population(classes)
        share = np.where(classes.records > 0, np.inf, 0.0)
        return np.divide(classes.records, population, out=share, where=population > 0)

    def _population(self, classes: Classes) -> Integers:
        if classes.population is None:
            raise BugError("the classes were made without their population")
        return classes.population

    def holds(self, classes: Classes) -> Mask:
        figures = self.figures(classes)
        if not self.local and not figures.all():
            return np.zeros(len(classes), dtype=bool)
        return (figures >= self.minimum) & (figures <= self.maximum)

    def most_kept(self, classes: Classes) -> Integers:
        """No division has room for more than δ_max of the population; what is below δ_min has a part that is too."""
        figures = self.figures(classes)
        if not self.local and not figures.all():
            return np.zeros(len(classes), dtype=np.int64)
        room = np.floor((self.maximum * (1 + SLACK)) * self._population(classes) + SLACK).astype(np.int64)
        short = not self.local and self.minimum > 0
        return np.asarray(np.minimum(classes.records - (short & (figures < self.minimum)), room))

    def find(self, classes: Classes) -> ModelFinding:
        """Of the two bounds, the one that is broken."""
        if not self.local and len(classes) and (classes.records > 0).any() and not self.figures(classes).all():
            return ModelFinding(self.key, self.minimum, 0.0, met=False)
        found = super().find(classes)
        if found.met or found.achieved > self.maximum:
            return found
        share = self.figures(classes)[classes.records > 0].min()
        return ModelFinding(self.key, self.minimum, float(share), met=False)

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        return (
            figure_of_population(
                "delta_presence",
                "δ-presence: δ_max",
                lambda most, table: cls(maximum=most, population=table),
                FigureUnit.SHARE,
            ),
        )

    def explain(self) -> str:
        share = f"at most {self.maximum:.4g}"
        if self.minimum:
            share = f"between {self.minimum:.4g} and {self.maximum:.4g}"
        return (
            f"Whoever knows the whole population can say of a person only that they are here with probability {share}."
        )
