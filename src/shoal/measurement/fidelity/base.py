"""What a measure of fidelity declares: its figures, how each is read, and what it finds in two tables.

Fidelity is usefulness where no row stems from a row: both tables are samples, and what is compared is what they say of
a population. A new measure is one new file of this folder, or one in another distribution under the entry point
``shoal.fidelity_measures``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.base import FigureReading, MeasuredFigures
from shoal.randomness import Randomness
from shoal.schema.registry import RegistrationError, Registry

MOST_RECORDS = 200_000
"""Of each table that most measures look at; a larger one is sampled."""


@dataclass(frozen=True)
class FidelityComparison:
    """Two tables with the same columns, and what is known of them."""

    original: pl.DataFrame
    synthetic: pl.DataFrame
    control: pl.DataFrame | None
    """Real records that the synthetic table was not made from."""
    sample: tuple[pl.DataFrame, pl.DataFrame]
    """Of both, as many records as most measures look at."""
    pairs: Sequence[AttributePair]
    """The attributes of the sample."""
    targets: Sequence[str]
    """Attributes that are going to be predicted; empty where nobody said."""
    randomness: Randomness


class FidelityMeasure(ABC):
    key: ClassVar[str]
    order: ClassVar[int] = 1000
    """The place of its figures; equal ones by key."""
    readings: ClassVar[Mapping[str, FigureReading]]
    """Of every figure, by its name in JSON."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "key" in cls.__dict__:
            if not getattr(cls, "readings", None):
                raise RegistrationError(f"the measure '{cls.key}' has to say how its figures are read")
            registered_fidelity_measures.add(cls.key, cls)

    @abstractmethod
    def evaluate(self, comparison: FidelityComparison) -> MeasuredFigures:
        """Every figure that it declares, None where it can't be had."""


registered_fidelity_measures: Registry[type[FidelityMeasure]] = Registry(
    "shoal.measurement.fidelity", "fidelity measure", "shoal.fidelity_measures"
)


def fidelity_measures() -> tuple[type[FidelityMeasure], ...]:
    """All that are there, in their order; no two may have a figure in common."""
    return registered_fidelity_measures.in_order(lambda one: one.order, lambda one: one.readings, "a figure")


def fidelity_readings() -> dict[str, FigureReading]:
    """Of every figure, by its name in JSON."""
    return {name: reading for one in fidelity_measures() for name, reading in one.readings.items()}
