"""PRAM, the post-randomisation method (ISO/IEC 20889, 9.7.1; Gouweleeuw and others, 1998): categories change at random.

Each value i of the attribute is replaced by j with probability P[i, j]; every row of P sums to 1. With c categories of
frequency π (in the stratum, where ``within`` names columns):

- ``keep: p`` — P[i, i] = p, and (1 − p)/(c − 1) for every other category. Frequencies drift towards equal shares;
  an analyst who is told P corrects for it.
- ``keep: p, invariant: true`` — P[i, j] = (1 − p) · π[j] / (1 − min π) for j ≠ i, the rest stays. Then πP = π: expected
  frequencies are what they were, without correction. The rarest value stays with probability p, others more often.
- ``matrix: {value: {value: probability}}`` — P as given, in full.

``within: [columns]`` draws only categories that occur in the record's own stratum, so that no impossible pair arises.
PRAM protects because a rare value may be a change, and so no longer proves who the record is about; ``keep`` near 1
protects little. Where all records of a stratum hold one value nothing can change (it is common knowledge); a stratum
of a single record is refused.

Missing values are kept and are no category.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
import polars as pl
from pydantic import BeforeValidator, Field, model_validator

from shoal.randomness import Stream
from shoal.schema.column_names import ColumnNames
from shoal.schema.columns import ROW, Column
from shoal.schema.roles import Role
from shoal.schema.values import ValueType
from shoal.techniques.base import EACH_PARTIALLY, Context, Step, Technique, table_a1
from shoal.techniques.randomisation.transition_matrix import Transitions

_TOLERANCE = 1e-9


def _as_text(label: object) -> object:
    """YAML reads unquoted 5 and true as a number and a truth value; categories are text."""
    return str(label).lower() if isinstance(label, bool) else str(label) if isinstance(label, int) else label


Label = Annotated[str, BeforeValidator(_as_text)]


class Pram(Technique):
    key = "pram"
    facts = table_a1(
        "Post-randomisation (PRAM)",
        "9.7.1",
        EACH_PARTIALLY,
        truthful=False,
        types=frozenset({ValueType.TEXT, ValueType.BOOLEAN, ValueType.INTEGER}),
        roles=frozenset({Role.DIRECT, Role.QUASI, Role.SENSITIVE}),
        random=True,
    )

    keep: float | None = Field(default=None, ge=0, lt=1)
    invariant: bool = False
    within: ColumnNames = ()
    matrix: Mapping[Label, Mapping[Label, float]] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.keep is None) == (self.matrix is None):
            raise ValueError("give either keep or matrix")
        if self.matrix is None:
            return self
        if self.invariant or self.within:
            raise ValueError("a matrix stands alone, without invariant and within")
        rows = [np.array(list(row.values())) for row in self.matrix.values()]
        if any((row < 0).any() or abs(row.sum() - 1) > _TOLERANCE for row in rows):
            raise ValueError("each row of the matrix holds probabilities that sum to 1")
        return self

    def also_reads(self) -> tuple[str, ...]:
        return self.within

    def wants(self, attribute: str) -> tuple[tuple[str, ...], ...]:
        return ((attribute, *self.within),)

    def refuse(self, column: Column) -> str | None:
        if column.name in self.within:
            return f"column '{column.name}' can't be changed within itself"
        return super().refuse(column)

    def bind(self, column: Column, context: Context) -> PramStep:
        counts = context.counts[(column.name, *self.within)]
        if self.matrix is not None:
            transitions = Transitions.given(column, counts, self.matrix)
        else:
            transitions = Transitions.from_counts(counts, self.keep or 0.0, invariant=self.invariant)
        return PramStep(column.name, self.within, transitions, context.stream)


@dataclass(frozen=True)
class PramStep(Step):
    attribute: str
    within: tuple[str, ...]
    transitions: Transitions
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.attribute, *self.within)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        draws = self.stream.uniform(frame[ROW].to_numpy())
        return frame.with_columns(self.transitions.draw(frame.select(self.reads), draws))
