"""Where the records of a release come from: a model, or a real table of which a part was drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import polars as pl

from shoal.randomness import Randomness
from shoal.synth.conditional_sampling import DrawCondition, batches_balanced, batches_where
from shoal.synth.method import (
    BLOCK,
    GuaranteeStatement,
    SynthesisModel,
    batches,
    default_rows,
    synthesis_method,
)
from shoal.synth.mixed_table import MixedTable
from shoal.synthetic_release.request import SynthesisRequest


class RecordDraw(Protocol):
    """Records of one table, and what is promised of them."""

    @property
    def method(self) -> str: ...

    @property
    def guarantee(self) -> GuaranteeStatement: ...

    @property
    def model(self) -> SynthesisModel | None:
        """What more can be drawn from; None where that is real records."""

    @property
    def needs_data(self) -> bool: ...

    @property
    def rows(self) -> int: ...

    def replaced(self) -> Mapping[str, int] | None:
        """Of each column how many values were drawn, where rows are those of real people; else None."""

    def inspect(self) -> Mapping[str, Any]:
        """Shapes and constraints, as far as there are any."""

    def schema(self) -> pl.Schema: ...

    def batches(self, randomness: Randomness) -> Iterator[pl.DataFrame]: ...


@dataclass(frozen=True)
class ModelDraw:
    """Records that are drawn from a model: all alike, those that meet a condition, or each value equally often."""

    model: SynthesisModel
    guarantee: GuaranteeStatement
    request: SynthesisRequest
    never: tuple[str, ...] = ()
    """Conditions that no record meets."""

    @property
    def method(self) -> str:
        return self.model.method

    @property
    def needs_data(self) -> bool:
        return synthesis_method(self.model.method).needs_data

    @property
    def rows(self) -> int:
        return self.request.rows or default_rows(self.model)

    def replaced(self) -> None:
        return None

    def inspect(self) -> Mapping[str, Any]:
        return self.model.inspect()

    def schema(self) -> pl.Schema:
        return self.model.sample(0, Randomness(0)).schema

    def batches(self, randomness: Randomness) -> Iterator[pl.DataFrame]:
        wanted, balance = DrawCondition(self.request.where, self.never), self.request.balance
        if balance is not None:
            return batches_balanced(self.model, balance, self.rows, randomness, wanted)
        if wanted != DrawCondition():
            return batches_where(self.model, wanted, self.rows, randomness)
        return batches(self.model, self.rows, randomness)


@dataclass(frozen=True)
class MixedDraw:
    """Records of real people that were changed: there are as many as in the source."""

    method: str
    mixed: MixedTable
    guarantee: GuaranteeStatement
    described: Mapping[str, Any] = field(default_factory=dict)
    model: None = None
    needs_data: bool = True

    @property
    def rows(self) -> int:
        return self.mixed.frame.height

    def replaced(self) -> Mapping[str, int]:
        return self.mixed.replaced

    def inspect(self) -> Mapping[str, Any]:
        return self.described

    def schema(self) -> pl.Schema:
        return self.mixed.frame.schema

    def batches(self, randomness: Randomness) -> Iterator[pl.DataFrame]:
        """Drawn already, with the randomness of the request."""
        del randomness
        yield from self.mixed.frame.iter_slices(BLOCK)
