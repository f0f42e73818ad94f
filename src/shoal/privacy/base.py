"""What every formal privacy model is (ISO/IEC 20889, clause 10): a demand on equivalence classes.

Most models look at one class at a time and give it a *figure* (its size, its number of distinct values, its distance
from the whole table), which has to be on the right side of what is required. Some look at the table: then whether a
class may stay depends on the others (``local`` is False).

A model declares what a solver may rely on:

- *monotone under generalisation*: merging classes that meet it gives a class that meets it;
- *monotone under suppression*: taking away whole classes never breaks the others;
- its *minimum class*: sizes without which no class can ever meet it. A class below them is below them in every finer
  partition too, which is what lets a solver leave out most of the search;
- its *retention bounds*: how many records of a class can be kept at most, however finely it is divided.

It declares its words (``title``, ``clause``, ``example``, ``explain``), its line of table A.1 (``properties``) and its
figures (``measured_by``) too. Policies, solvers, measurement, thresholds, reports and the reference page read these
declarations, so a model is one file.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import ClassVar, Self

import numpy as np
from pydantic import Field

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.privacy.classes import Classes, Histograms
from shoal.privacy.figures import Figure, FigureUnit, figure_of_classes
from shoal.schema.parameters import Parameters
from shoal.schema.properties import Lowers, Properties
from shoal.schema.registry import RegistrationError, Registry

Figures = Floats

ROUNDING = 1e-12
"""A class exactly at a bound is judged by the definition, not by the last bit of a quotient or a logarithm."""


@dataclass(frozen=True)
class ModelFinding:
    """What a model says of a set of classes: the figure it asks for, the figure it found, whether that will do."""

    name: str
    required: float
    achieved: float
    met: bool

    def to_dict(self) -> dict[str, str | float | bool | None]:
        """For JSON, which has no infinity: a figure beyond all numbers is null."""
        achieved = self.achieved if isfinite(self.achieved) else None
        return {"name": self.name, "required": self.required, "achieved": achieved, "met": self.met}


@dataclass(frozen=True)
class MinimumClass:
    """The least that a class must have to meet a model at all: necessary, seldom sufficient."""

    people: int = 1
    records: int = 1
    distinct: Mapping[str, int] = field(default_factory=dict)
    """Per sensitive attribute, distinct values."""

    def __or__(self, other: MinimumClass) -> MinimumClass:
        """What both demand."""
        names = {*self.distinct, *other.distinct}
        distinct = {name: max(self.distinct.get(name, 0), other.distinct.get(name, 0)) for name in names}
        return MinimumClass(max(self.people, other.people), max(self.records, other.records), distinct)


@dataclass(frozen=True)
class GlobalRecodingOnly:
    """That a model is followed under global recoding only: when that is so, and what a policy can do about it."""

    condition: str
    remedy: str


def reached_by_generalising(singling_out: Lowers, linking: Lowers, inference: Lowers) -> Properties:
    """The line of table A.1 of a model that solvers reach by generalisation and suppression: records stay true."""
    return Properties(truthful=True, singling_out=singling_out, linking=linking, inference=inference)


class PrivacyModel(Parameters, ABC):
    key: ClassVar[str]
    title: ClassVar[str]
    clause: ClassVar[str]
    example: ClassVar[str] = ""
    """Parameters as a policy writes them, for the reference page."""
    properties: ClassVar[Properties] = reached_by_generalising(Lowers.NO, Lowers.NO, Lowers.NO)
    """What it does for people, as far as it says so."""
    listing_order: ClassVar[int] = 1000
    """Where its figures stand among those of other models: the lower first, equal ones by key."""
    bound: ClassVar[str]
    """The parameter that is the figure it asks for, unless it says otherwise in ``required``."""
    monotone_under_generalisation: ClassVar[bool]
    monotone_under_suppression: ClassVar[bool]
    local: ClassVar[bool] = True
    """Whether a class is judged by itself alone."""
    trims: ClassVar[bool] = False
    """Whether ``most_kept`` says more of a class than that it has so many records."""
    takes_smallest: ClassVar[bool] = False
    """Whether it takes away the smallest classes, the earlier of equal ones first, until the rest will do."""
    one_file_only: ClassVar[bool] = False
    """Whether it holds only of a table that is written as one file, on one machine."""
    more_is_safer: ClassVar[bool] = True
    """Whether the worst class is the one with the lowest figure."""

    @property
    def judges_class_alone(self) -> bool:
        """Whether it needs to know of nothing but the records of a class, not even how the whole table is spread."""
        return False

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        """The figures under which ``measure`` shows it on tables that no policy asked it of."""
        return ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            if not hasattr(cls, "bound") and cls.required is PrivacyModel.required:
                raise RegistrationError(f"the model '{cls.key}' has to say which parameter is the figure it asks for")
            privacy_models.add(cls.key, cls)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes whose values it has to see."""
        return ()

    @property
    def population_table(self) -> str | None:
        """Where the population lies that it compares with, if it does."""
        return None

    @property
    def global_recoding_only(self) -> GlobalRecodingOnly | None:
        """Whether it can't be followed where records are recoded one by one."""
        return None

    def for_table(self, people: int) -> Self:
        """The model for a table of so many people, suppressed ones included."""
        return self

    @property
    def required(self) -> float:
        """The figure it asks for."""
        figure: float = getattr(self, self.bound)
        return figure

    @abstractmethod
    def figures(self, classes: Classes) -> Figures:
        """The figure of each class."""

    @abstractmethod
    def holds(self, classes: Classes) -> Mask:
        """For each class, whether it may stay.

        A model that is not local gives the classes that may stay together: those left meet it as they are.
        """

    @abstractmethod
    def explain(self) -> str:
        """What the model promises, for people."""

    def minimum_class(self, whole: Mapping[str, Integers]) -> MinimumClass:
        """What no class can do without; ``whole`` has the records per value of each sensitive attribute."""
        return MinimumClass()

    def minimum_class_in(self, spread: Mapping[str, Histograms]) -> MinimumClass:
        """The same where the hierarchies of the sensitive attributes are known too."""
        return self.minimum_class({name: histograms.whole for name, histograms in spread.items()})

    def most_kept(self, classes: Classes) -> Integers:
        """For each class, how many of its records can be kept at most, however finely it is divided."""
        return classes.records

    def find(self, classes: Classes) -> ModelFinding:
        """The figure over all kept classes. Where nobody is kept, nobody is at risk: the model is met."""
        there = classes.records > 0
        if not there.any():
            return ModelFinding(self.key, self.required, 0, met=True)
        seen = classes.only(there) if self.local and not there.all() else classes
        real = np.ones(len(seen), dtype=bool) if self.local else there
        figures = self.figures(seen)[real]
        worst = float(figures.min() if self.more_is_safer else figures.max())
        return ModelFinding(self.key, self.required, worst, bool(self.holds(seen)[real].all()))


class SensitiveModel(PrivacyModel):
    """A model that judges a class by how one sensitive attribute is spread in it."""

    properties: ClassVar[Properties] = reached_by_generalising(Lowers.PARTIALLY, Lowers.PARTIALLY, Lowers.PARTIALLY)

    attribute: str = Field(description="The sensitive attribute.")

    @property
    def sensitive(self) -> tuple[str, ...]:
        return (self.attribute,)

    @abstractmethod
    def spread(self, block: Integers, histograms: Histograms) -> Figures:
        """The figure of each row of a dense block (classes × values). No row is empty."""

    @abstractmethod
    def accepts(self, figures: Figures) -> Mask:
        """Which figures will do."""

    def figures(self, classes: Classes) -> Figures:
        return classes.histograms(self.attribute).by_block(self.spread, np.float64)

    def holds(self, classes: Classes) -> Mask:
        return self.accepts(self.figures(classes))

    def retention_bounds(self, block: Integers, histograms: Histograms) -> Integers:
        """Of each row of a dense block, the most records that can be kept, however finely it is divided."""
        return np.asarray(block.sum(axis=1))

    def most_kept(self, classes: Classes) -> Integers:
        return classes.histograms(self.attribute).by_block(self.retention_bounds, np.int64)


class ClosenessModel(SensitiveModel):
    """A model that bounds how far the shares of the values in a class are from those in the whole table."""

    monotone_under_generalisation: ClassVar[bool] = True
    monotone_under_suppression: ClassVar[bool] = True
    more_is_safer: ClassVar[bool] = False
    trims: ClassVar[bool] = True


class ShareModel(PrivacyModel):
    """A model that bounds a share of people, or a mean of chances, from above."""

    properties: ClassVar[Properties] = reached_by_generalising(Lowers.PARTIALLY, Lowers.PARTIALLY, Lowers.NO)
    more_is_safer: ClassVar[bool] = False
    bound: ClassVar[str] = "maximum"

    maximum: float

    @classmethod
    def measured_by(cls) -> tuple[Figure, ...]:
        """A model that has no parameter but the bound can be shown of every table."""
        if set(cls.model_fields) > {cls.bound}:
            return ()
        return (figure_of_classes(cls.key, cls.title, lambda bound: cls(maximum=bound), FigureUnit.SHARE),)


class TableModel(ShareModel):
    """A model on a share of the whole table: the smallest classes are taken away until it is met."""

    local: ClassVar[bool] = False
    takes_smallest: ClassVar[bool] = True
    monotone_under_suppression: ClassVar[bool] = False


def kept_by(models: Sequence[PrivacyModel], classes: Classes) -> Mask:
    """The classes that may stay so that all models are met.

    Each model sees only what the others left. A model that looks at the whole table may have to look again after
    another has taken classes away, so this goes on until nothing changes; every round takes away at least one class.
    A class without records, which only the population has, always stays: there is nothing to take away. Only models
    that look at the whole table see it.
    """
    empty: Mask = classes.records == 0
    kept: Mask = ~empty
    for model in models:
        if model.local and kept.any():
            kept[kept] = model.holds(classes if kept.all() else classes.only(kept))
    others = [model for model in models if not model.local]
    settled = 0
    while settled < len(others) and kept.any():
        model = others[0]
        others = [*others[1:], model]
        seen = kept | empty
        stay = model.holds(classes if seen.all() else classes.only(seen)) | empty[seen]
        settled = settled + 1 if stay.all() else 0
        kept[seen] = stay
        kept &= ~empty
    return kept | empty


privacy_models: Registry[type[PrivacyModel]] = Registry("shoal.privacy.models", "privacy model", "shoal.models")
