"""Methods of synthesis: one file each in ``methods``, or in another distribution (``shoal.synthesis_methods``).

A method is fitted once, and gives a model from which any number of records is drawn. A model holds no record; it can be
looked at, saved and loaded (see ``model_files``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Final, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.randomness import Randomness
from shoal.schema.parameters import Parameters
from shoal.schema.progress import Monitor
from shoal.schema.registry import Registry
from shoal.synth.table_coding import TableDescription

BLOCK: Final = 65_536
"""Records that are drawn at once. Draws agree whether all blocks are asked for together or one by one."""

Arrays = Mapping[str, NDArray[np.generic]]


class SynthesisModel(Protocol):
    """What is known of a table, and nothing of its records."""

    @property
    def method(self) -> str:
        """The name by which its method is registered."""

    def sample(self, rows: int, randomness: Randomness, first: int = 0) -> pl.DataFrame:
        """New records, of which ``first`` were drawn before."""

    def inspect(self) -> dict[str, Any]:
        """What the model keeps, in words and numbers that JSON can hold."""

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        """All of it: what JSON can hold, and arrays."""


@dataclass(frozen=True)
class FitOptions:
    """What a method is told beside the table. What a method has no use for, it leaves alone."""

    description: Any = field(default_factory=TableDescription)
    """A ``TableDescription``, unless the method wants another."""
    epsilon: float | None = None
    """What a private method may spend; it needs one."""
    delta: float = 1e-9
    rows_per_person: int = 1
    """At most so many of a person's records are learnt from by a private method, which draws where there are more.
    Who a record is of says ``description.person``; without it each record is a person."""
    workload: tuple[tuple[str, ...], ...] = ()
    """Sets of columns whose counts matter most; empty for all alike."""
    targets: tuple[str, ...] = ()
    """Columns that are going to be predicted from the others."""
    randomness: Randomness = field(default_factory=Randomness)
    """For what a fit leaves to chance. Never for noise that protects, which no seed may repeat."""
    monitor: Monitor = field(default_factory=Monitor)

    def private_budget(self) -> tuple[float, float]:
        """ε and δ, for a method that is private; an InputError where they are none."""
        if self.epsilon is None:
            raise InputError("a private method needs to know how much it may tell, as 1", field="epsilon")
        if not (isfinite(self.epsilon) and self.epsilon > 0):
            raise InputError("has to be a number above 0, as 1", field="epsilon")
        if not 0 < self.delta < 1:
            raise InputError("has to be above 0 and far below 1, as 1e-9", field="delta")
        if self.rows_per_person < 1:
            raise InputError("has to be at least 1", field="rows_per_person")
        return float(self.epsilon), float(self.delta)


@dataclass(frozen=True)
class GuaranteeStatement:
    """What a synthesis promises to a person whose records were learnt from, in plain words."""

    guaranteed: tuple[str, ...]
    """Empty where nothing is."""
    not_guaranteed: tuple[str, ...]
    epsilon: float | None = None
    delta: float | None = None
    """Where the promise is differential privacy."""


@dataclass(frozen=True)
class SynthesisMethod:
    fit: Callable[[pl.DataFrame, FitOptions], SynthesisModel]
    """A method that needs no data is given a table without records, or one without columns."""
    load: Callable[[Mapping[str, Any], Arrays], SynthesisModel]
    """A model from what it ``saved``."""
    guarantee: Callable[[FitOptions, SynthesisModel], GuaranteeStatement]
    is_private: bool = False
    """Whether models are differentially private at the ε and δ of the options, so that they may be shared."""
    needs_data: bool = True
    budget_optional: bool = False
    """Of a private method: whether it can be fitted without ε, and guarantees nothing then."""
    description_type: type[Parameters] = TableDescription
    """What ``FitOptions.description`` is, and a file with a description is read as."""


synthesis_methods: Registry[SynthesisMethod] = Registry(
    "shoal.synth.methods", "method of synthesis", "shoal.synthesis_methods"
)


def synthesis_method(name: str) -> SynthesisMethod:
    found = synthesis_methods.get(name)
    if found is None:
        raise InputError(synthesis_methods.unknown(name))
    return found


def default_rows(model: SynthesisModel) -> int:
    """How many records are drawn where nobody says: as many as it learnt from, or what a private model has for that."""
    known: int = getattr(model, "rows", None) or model.inspect()["records"]
    return max(1, known)


def blocks(rows: int, first: int = 0) -> Iterator[tuple[int, int]]:
    """Where each block of records begins, and how many it has.

    >>> list(blocks(70_000, first=65_000))
    [(65000, 536), (65536, 65536), (131072, 3928)]
    """
    end = first + rows
    while first < end:
        until = min(end, (first // BLOCK + 1) * BLOCK)
        yield first, until - first
        first = until


def in_blocks(
    draw: Callable[[int, Randomness, int], pl.DataFrame], rows: int, randomness: Randomness, first: int = 0
) -> pl.DataFrame:
    """Records of which ``draw`` makes so many from a place on: block by block, so that draws agree."""
    parts = [draw(size, randomness, start) for start, size in blocks(rows, first)]
    return pl.concat(parts) if parts else draw(0, randomness, first)


def batches(model: SynthesisModel, rows: int, randomness: Randomness) -> Iterator[pl.DataFrame]:
    """Records block by block: memory does not grow with their number."""
    for first, size in blocks(rows):
        yield model.sample(size, randomness, first)
