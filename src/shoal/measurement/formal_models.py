"""The formal models measured on any table: for each, the figures that its classes reach, whatever was asked of them.

Which figures there are is declared by the models themselves (``PrivacyModel.measured_by``), those of plug-ins too. A
model is met by a parameter on the right side of its figure. Most figures depend on nothing else; of those that do,
``parameters`` says what they were measured with.

A figure beyond all numbers (no parameter will do) is null in JSON. One that makes no sense for the table is left out,
and the reason is said. Classes are those of equal cells, also where a policy takes a star for any value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from shoal.errors import FieldName, FieldText
from shoal.privacy import Classes, Figure, FigureUnit, privacy_models
from shoal.privacy.figures import by_name
from shoal.schema import Column

MOST_CELLS = 30_000_000
"""Classes × values, or classes × sets of attributes, beyond which a figure is left out."""

Values = dict[str, float]

_BY_LISTING_ORDER = sorted((model for _, model in privacy_models), key=lambda model: model.listing_order)
FIGURES: dict[str, Figure] = by_name(figure for model in _BY_LISTING_ORDER for figure in model.measured_by())
"""All that models declare."""
WHOLE: dict[str, Figure] = {
    name: figure for name, figure in FIGURES.items() if not figure.sensitive and not figure.population
}
"""Figures of the classes themselves."""
POPULATION: dict[str, Figure] = {
    name: figure for name, figure in FIGURES.items() if not figure.sensitive and figure.population
}
"""Figures of the classes beside a table of the population."""
SENSITIVE: dict[str, Figure] = {name: figure for name, figure in FIGURES.items() if figure.sensitive}
"""Figures of one sensitive attribute."""


@dataclass(frozen=True)
class FormalFigures:
    whole: Values
    attributes: Mapping[str, Values] = field(default_factory=dict)
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Per attribute and figure, why there is none."""
    parameters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """What a figure was measured for, where that matters and was not too much to count."""

    @property
    def shown_parameters(self) -> dict[str, int]:
        """Parameters that stand among the figures of the table, by their names there."""
        return {
            name: self.parameters[figure][parameter]
            for figure in self.parameters
            for parameter, name in SENSITIVE[figure].shown_parameters.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; null is beyond all numbers."""
        found: dict[str, Any] = {name: _plain(name, value) for name, value in self.whole.items()}
        found |= self.shown_parameters
        if self.attributes:
            found["attributes"] = {
                attribute: {name: _plain(name, value) for name, value in values.items()}
                for attribute, values in self.attributes.items()
            }
            found["left_out"] = {name: dict(reasons) for name, reasons in self.left_out.items() if reasons}
            found["parameters"] = {name: dict(given) for name, given in self.parameters.items()}
        return found


def measure_formal(classes: Classes, columns: Mapping[str, Column] | None = None) -> FormalFigures:
    """The figures of all models that need nothing but the table, and, where the classes have a population, of those
    that compare with it; ``columns`` says which attributes have an order.

    >>> import numpy as np
    >>> sizes = np.array([2, 4])
    >>> measure_formal(Classes(sizes, sizes)).to_dict()
    {'k': 2, 'maximum_risk': 0.5, 'average_risk': 0.3333333333333333, 'sample_uniqueness': 0.0}
    """
    whole_table = WHOLE if classes.population is None else WHOLE | POPULATION
    whole = {name: figure.of(classes) for name, figure in whole_table.items()}
    attributes, left_out = {}, {}
    for name in classes.sensitive:
        reasons = dict(_senseless(classes, name, (columns or {}).get(name)))
        attributes[name] = {one: figure.of(classes, name) for one, figure in SENSITIVE.items() if one not in reasons}
        left_out[name] = reasons
    return FormalFigures(whole, attributes, left_out, dict(_parameters(classes)) if attributes else {})


def _senseless(classes: Classes, attribute: str, column: Column | None) -> Iterator[tuple[str, str]]:
    cells = len(classes) * len(classes.histograms(attribute).whole)
    for name, figure in SENSITIVE.items():
        reason = figure.obstacle(classes, attribute, column)
        if reason is None and cells > MOST_CELLS:
            reason = FieldText(
                "too many classes and values to go through unasked; ", FieldName("require"), " asks for it"
            )
        if reason is None and max(cells, len(classes)) * _regroupings(figure, classes) > MOST_CELLS:
            reason = FieldText(
                "too many classes and sets of attributes to go through unasked; ", FieldName("require"), " asks for it"
            )
        if reason is not None:
            yield name, reason


def _parameters(classes: Classes) -> Iterator[tuple[str, Mapping[str, int]]]:
    for name, figure in SENSITIVE.items():
        if figure.parameters is not None and 0 < _regroupings(figure, classes) * len(classes) <= MOST_CELLS:
            yield name, figure.parameters(classes)


def _regroupings(figure: Figure, classes: Classes) -> int:
    return 1 if figure.regroupings is None else figure.regroupings(classes)


def _plain(name: str, value: float) -> float | None:
    if not isfinite(value):
        return None
    return int(value) if FIGURES[name].unit is FigureUnit.COUNT else value
