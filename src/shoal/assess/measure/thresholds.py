"""What may be required of a measured table: one figure, and the bound that it may not be on the wrong side of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import NoReturn

from pydantic import ValidationError

from shoal.errors import FieldName, FieldText, InputError
from shoal.measurement.formal_models import (
    DECLARED,
    POPULATION,
    SENSITIVE,
    WHOLE,
    FormalFigures,
    measure_figure,
    why_not_measured,
)
from shoal.measurement.risk.linear_sensitivity import SensitiveCells
from shoal.privacy import Classes, ModelFinding
from shoal.schema import Column
from shoal.schema.registry import did_you_mean
from shoal.schema.validation_messages import validation_message

_OTHERS = tuple(figure.name for figure in DECLARED if not figure.sensitive)
"""Of the whole table, from models that say themselves how they are measured."""
AT_LEAST = (
    "k",
    "k_effective",
    "k_map",
    "class_size_min",
    "class_size_average",
    *(name for name in _OTHERS if WHOLE[name].more_is_safer),
)
AT_MOST = (
    "prosecutor_max",
    "prosecutor_average",
    "strict_average",
    "journalist_max",
    "marketer",
    "uniques",
    "suppressed",
    "records_above",
    "reidentification",
    "delta_presence",
    *(name for name in WHOLE if name not in AT_LEAST),
)
CELLS = "sensitive_cells"
NAMES = (*AT_LEAST, *AT_MOST, *SENSITIVE, CELLS)

_RULED = FieldText(FieldName("rules"), " and numbers under ", FieldName("sensitive"))
_SENSITIVE = FieldText("a sensitive attribute, as ", FieldName("sensitive", "diagnosis"))


@dataclass(frozen=True)
class ThresholdEvidence:
    """What thresholds are held against."""

    figures: Mapping[str, float]
    """Those of the whole table, by name."""
    classes: Classes
    formal: FormalFigures
    columns: Mapping[str, Column]
    sensitivity: Mapping[str, SensitiveCells]
    not_assessed: str | None = None
    """Why the circumstances come to no verdict."""


@dataclass(frozen=True)
class FigureThreshold:
    """A figure of the table, or of its sensitive attributes: of all of them, or of the one named after a dot."""

    name: str
    bound: float
    attribute: str | None = None

    @classmethod
    def parse(cls, text: str) -> FigureThreshold:
        """
        >>> FigureThreshold.parse("distinct_l.diagnosis=3")
        Threshold(name='distinct_l', bound=3.0, attribute='diagnosis')
        """
        asked, _, number = text.rpartition("=")
        name, _, attribute = (asked or text).partition(".")
        if name not in NAMES:
            raise InputError(
                f"unknown figure '{name}'{did_you_mean(name, NAMES)}",
                field="require",
                advice=f"one of {', '.join(NAMES)}",
            )
        if attribute and name not in (*SENSITIVE, CELLS):
            raise InputError(f"'{name}' is a figure of the whole table, not of '{attribute}'", field="require")
        found = cls(name, _number(name, number if asked else ""), attribute or None)
        found._refuse_senseless_bound()
        return found

    def _refuse_senseless_bound(self) -> None:
        """What the model itself refuses as its parameter; what no figure can come to, as a percentage for a share."""
        if self.name in AT_LEAST and self.name not in _OTHERS and self.bound < 1:
            self._refuse("has to be at least 1")
        if self.bound < 0:
            self._refuse("has to be at least 0")
        if self.name in AT_MOST and self.name not in ("uniques", *_OTHERS) and self.bound > 1:
            self._refuse("is a share: has to be at most 1")
        if self.name not in SENSITIVE:
            return
        try:
            SENSITIVE[self.name].model(self.attribute or "any", self.bound, 1)
        except ValidationError as error:
            self._refuse(validation_message(error.errors()[0]))

    def _refuse(self, why: str) -> NoReturn:
        raise InputError(f"{self.name}={self.bound:g}: {why}", field="require") from None

    def check(self, evidence: ThresholdEvidence) -> tuple[ModelFinding, ...]:
        """One finding; for a figure of sensitive attributes one of each."""
        if self.name == CELLS:
            among = self._among(tuple(evidence.sensitivity), _RULED)
            return tuple(self._few_cells(name, evidence.sensitivity[name]) for name in among)
        if self.name in SENSITIVE:
            among = self._among(tuple(evidence.classes.sensitive), _SENSITIVE)
            return tuple(self._by_model(name, evidence) for name in among)
        if self.name in POPULATION and self.name not in evidence.figures:
            raise self._lacks("a table of the population, as ", FieldName("population", "register.csv"))
        if self.name not in evidence.figures:
            raise self._lacks("the original, as ", FieldName("original", "DATA"), ", or a release folder")
        achieved = evidence.figures[self.name]
        if self.name == "reidentification" and evidence.not_assessed:
            raise InputError(f"there is no probability of re-identification: {evidence.not_assessed}", field="require")
        if self.name == "reidentification" and achieved == inf:
            raise InputError(
                FieldText(
                    "the probability of re-identification needs the potential harm, as ", FieldName("harm", "high")
                ),
                field="require",
            )
        met = achieved >= self.bound if self.name in AT_LEAST else achieved <= self.bound
        return (ModelFinding(self.name, self.bound, achieved, met),)

    def _among(self, measured: tuple[str, ...], needs: FieldText) -> tuple[str, ...]:
        if not measured:
            raise self._lacks(needs)
        if self.attribute is None:
            return measured
        if self.attribute not in measured:
            near = did_you_mean(self.attribute, measured)
            raise InputError(f"{self.name} was not measured of '{self.attribute}'{near}", field="require")
        return (self.attribute,)

    def _lacks(self, *what: str | FieldName) -> InputError:
        return InputError(FieldText(f"{self.name} needs ", *what), field="require")

    def _few_cells(self, attribute: str, found: SensitiveCells) -> ModelFinding:
        return ModelFinding(f"{self.name}.{attribute}", self.bound, found.sensitive, found.sensitive <= self.bound)

    def _by_model(self, attribute: str, evidence: ThresholdEvidence) -> ModelFinding:
        """Whether it is met is for the model to say; some bounds may be reached, others may not."""
        classes = evidence.classes
        if reason := why_not_measured(self.name, classes, attribute, evidence.columns.get(attribute)):
            raise InputError(f"{self.name} can't be measured of '{attribute}': {reason}", field="require")
        achieved = evidence.formal.attributes[attribute].get(self.name)
        if achieved is None:
            achieved = measure_figure(self.name, classes, attribute)
        model = SENSITIVE[self.name].model(attribute, self.bound, int(classes.people.min()))
        return ModelFinding(f"{self.name}.{attribute}", self.bound, achieved, bool(model.holds(classes).all()))


def _number(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = inf
    if not isfinite(number):
        raise InputError(f"'{name}' needs a number, as in {name}=5", field="require")
    return number
