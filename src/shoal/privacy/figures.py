"""What a privacy model declares of itself to whoever measures tables that no policy asked it of.

A ``Figure`` is the parameter that a table just meets, such as the l of l-diversity. It says under which name it is
reported, how it is found from the classes, where it makes no sense, and which model a threshold on it asks for:
``--require distinct_l=3`` is met exactly where the model that ``Figure.model`` makes of 3 holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.privacy.base import PrivacyModel
    from shoal.privacy.classes import Classes
    from shoal.schema import Column

NEUTRAL = 1
"""A parameter to ask a model with whose figure doesn't depend on it."""
ANY_ATTRIBUTE = "any"
POPULATION_AT_HAND = "given"
"""Stands for the path of a population whose records are in the classes already."""


class FigureUnit(StrEnum):
    """What kind of number a figure is; of the classes themselves, also which thresholds make sense."""

    COUNT = "count"
    """A whole number; of classes at least 1."""
    SHARE = "share"
    """From 0 to 1."""
    NUMBER = "number"


def no_obstacle(_classes: Classes, _attribute: str, _column: Column | None) -> str | None:
    """It makes sense for every attribute."""
    return None


Obstacle: TypeAlias = "Callable[[Classes, str, Column | None], str | None]"


@dataclass(frozen=True)
class Figure:
    """A figure that is measured of any table, whatever was asked of it, and that a threshold can be set for."""

    name: str
    title: str
    model: Callable[[str, float, int], PrivacyModel]
    """The model that asks for it: of an attribute, with the figure as its parameter, and the k of the table."""
    sensitive: bool = True
    """Of a sensitive attribute in the classes; otherwise of the classes themselves, and the attribute says nothing."""
    population: bool = False
    """Of classes that are compared with a population; not measured without one."""
    unit: FigureUnit = FigureUnit.NUMBER
    lower_bound: bool | None = None
    """Whether a threshold on it is a lower bound, where the model's own figure is another one."""
    measure: Callable[[Classes, str], float] | None = None
    """How it is found where it is not what the worst class has by the model."""
    obstacle: Obstacle = no_obstacle
    """Why it makes no sense for an attribute, however much work it may be; None where it does."""
    parameters: Callable[[Classes], Mapping[str, int]] | None = None
    """Further parameters of the model that it was measured with."""
    shown_parameters: Mapping[str, str] = field(default_factory=dict)
    """Those of them that stand among the figures of the table too, and under which name there."""
    regroupings: Callable[[Classes], int] | None = None
    """How many times the classes are grouped anew to find it; None where they are taken as they are."""

    @property
    def more_is_safer(self) -> bool:
        """Whether a threshold on it is a lower bound."""
        if self.lower_bound is not None:
            return self.lower_bound
        return self.model(ANY_ATTRIBUTE, NEUTRAL, NEUTRAL).more_is_safer

    def of(self, classes: Classes, attribute: str = ANY_ATTRIBUTE) -> float:
        """The figure itself. Every class has records."""
        if self.measure is not None:
            return self.measure(classes, attribute)
        return worst_figure(self.model(attribute, NEUTRAL, int(classes.people.min())), classes)


def worst_figure(model: PrivacyModel, classes: Classes) -> float:
    """What `PrivacyModel.find` finds, without asking whether it will do. Every class has records."""
    figures = model.figures(classes)
    return float(figures.min() if model.more_is_safer else figures.max())


def figure_of_classes(name: str, title: str, model: Callable[[float], PrivacyModel], unit: FigureUnit) -> Figure:
    """A figure of the classes themselves, for which the bound alone makes the model."""
    return Figure(name, title, lambda _name, bound, _k: model(bound), sensitive=False, unit=unit)


def figure_of_population(
    name: str, title: str, model: Callable[[float, str], PrivacyModel], unit: FigureUnit
) -> Figure:
    """A figure of classes and their population, for which the bound and the population's table make the model."""
    of_bound = figure_of_classes(name, title, lambda bound: model(bound, POPULATION_AT_HAND), unit)
    return replace(of_bound, population=True)


def figure_beside_k(
    name: str, title: str, model: Callable[[str, float, int], PrivacyModel], unit: FigureUnit
) -> Figure:
    """A figure of a model that asks for k people too: measured with those that the smallest class has."""
    return Figure(name, title, model, unit=unit, parameters=_people_in_smallest_class)


def _people_in_smallest_class(classes: Classes) -> Mapping[str, int]:
    return {"k": int(classes.people.min())}


def by_name(figures: Iterable[Figure]) -> dict[str, Figure]:
    """Figures by the name that they are reported under, which no two may share."""
    named: dict[str, Figure] = {}
    for figure in figures:
        if figure.name in named:
            raise InputError(
                f"two privacy models declare a figure '{figure.name}'", advice="rename that of the plug-in"
            )
        named[figure.name] = figure
    return named
