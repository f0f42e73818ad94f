"""What a measure of usefulness declares: its figures, how each is read, and what it needs to be taken.

A new measure is one new file of this folder, or one in another distribution under the entry point ``shoal.measures``.
Its figures are at once in JSON, on the screen and in the report.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
import polars as pl

from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.randomness import Randomness
from shoal.schema.circumstances import Purpose
from shoal.schema.registry import RegistrationError, Registry


class Better(StrEnum):
    LOWER = "lower"
    HIGHER = "higher"
    NEAR_ONE = "near one"


@dataclass(frozen=True)
class FigureReading:
    """How a figure is read."""

    title: str
    meaning: str
    better: Better
    purposes: Mapping[Purpose, int] = field(default_factory=dict)
    """The uses that stand or fall with it, and its place among their figures; equal ones in the order of measures."""
    in_short: int = 0
    """Its place among the few that are shown where no purpose is declared; 0 if it is not one of them."""


def lower(
    title: str, meaning: str, *, purposes: Mapping[Purpose, int] | None = None, in_short: int = 0
) -> FigureReading:
    return FigureReading(title, meaning, Better.LOWER, purposes or {}, in_short)


def higher(
    title: str, meaning: str, *, purposes: Mapping[Purpose, int] | None = None, in_short: int = 0
) -> FigureReading:
    return FigureReading(title, meaning, Better.HIGHER, purposes or {}, in_short)


class Need(StrEnum):
    """What has to be known for a measure to be taken; the text is the reason why its figures are missing otherwise."""

    ALIGNED = "rows can't be paired with those of the original"
    TARGET = "no target was named"


@dataclass(frozen=True)
class TableComparison:
    """Two tables and what is known of them."""

    original: pl.DataFrame
    released: pl.DataFrame
    pairs: Sequence[AttributePair]
    """The attributes of both, the target too."""
    compared: Sequence[AttributePair]
    """Those that were asked for."""
    target: str | None
    aligned: bool
    """Whether row i of both tables is the same record."""
    randomness: Randomness

    def has(self, need: Need) -> bool:
        return self.aligned if need is Need.ALIGNED else self.target is not None


@dataclass(frozen=True)
class MeasuredFigures:
    figures: Mapping[str, float | None]
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a figure may be missing, for each that may."""
    notes: tuple[str, ...] = ()
    """What was sampled or left out by intention."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What is behind the figures, by the fields of ``Usefulness``."""


class UsefulnessMeasure(ABC):
    key: ClassVar[str]
    order: ClassVar[int] = 1000
    """The place of its figures; equal ones by key."""
    readings: ClassVar[Mapping[str, FigureReading]]
    """Of every figure, by its name in JSON."""
    needs: ClassVar[frozenset[Need]] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            if not getattr(cls, "readings", None):
                raise RegistrationError(f"the measure '{cls.key}' has to say how its figures are read")
            usefulness_measures.add(cls.key, cls)

    @abstractmethod
    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        """Every figure that it declares, None where it can't be had."""

    def missing(self, need: Need) -> MeasuredFigures:
        """What is told where a need is not met."""
        return MeasuredFigures(dict.fromkeys(self.readings), dict.fromkeys(self.readings, str(need)))


usefulness_measures: Registry[type[UsefulnessMeasure]] = Registry(
    "shoal.measurement.usefulness", "usefulness measure", "shoal.measures"
)


def measures() -> tuple[type[UsefulnessMeasure], ...]:
    """All that are there, in their order; no two may have a figure in common."""
    return usefulness_measures.in_order(lambda one: one.order, lambda one: one.readings, "a figure")


def readings() -> dict[str, FigureReading]:
    """Of every figure, by its name in JSON."""
    return {name: reading for one in measures() for name, reading in one.readings.items()}


def figures_in_short() -> tuple[str, ...]:
    """The few that are shown where no purpose is declared."""
    shown = {name: reading.in_short for name, reading in readings().items() if reading.in_short}
    return tuple(sorted(shown, key=lambda name: shown[name]))


def mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return float(np.mean(found)) if found else None
