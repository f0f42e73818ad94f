"""One of some values that the schema lists, evenly or with weights of one's own."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import numpy as np
import polars as pl
from pydantic import BeforeValidator, Field, model_validator

from shoal.synth.test_data.base import Assurance, ListGenerator, Standing
from shoal.synth.test_data.draws import Draws


def _as_text(value: object) -> object:
    """Numbers and truth values as YAML reads them are written as they stand there."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


class Categories(ListGenerator):
    """
    >>> Categories(values=["north", "south"]).write(np.array([1, 0])).to_list()
    ['south', 'north']
    """

    key = "category"
    title = "One of some values"
    shorthand = "values"
    stands_for: ClassVar = {"sex": {"values": ["F", "M"]}}

    values: tuple[Annotated[str, BeforeValidator(_as_text)], ...] = Field(min_length=1, max_length=1_000_000)
    weights: tuple[Annotated[float, Field(ge=0, le=1e9)], ...] = ()
    """How often each comes, relative to the others; without, all the same."""

    @model_validator(mode="after")
    def _weighed(self) -> Self:
        if len(set(self.values)) < len(self.values):
            raise ValueError("a value is listed more than once")
        if self.weights and (len(self.weights) != len(self.values) or not sum(self.weights)):
            raise ValueError("as many weights as values, and not all of them 0")
        return self

    @property
    def listed(self) -> pl.Series:
        return pl.Series(self.values)

    @property
    def distinct(self) -> int:
        return 0 if self.weights else self.size

    @property
    def assurance(self) -> Assurance:
        return Assurance(Standing.IMPERSONAL, "one of the values that the schema lists")

    def draw(self, draws: Draws) -> pl.Series:
        if not self.weights:
            return super().draw(draws)
        steps = np.cumsum(self.weights)
        drawn = (draws.words() >> np.uint64(11)).astype(np.float64) * 2.0**-53 * steps[-1]
        return self.write(np.minimum(np.searchsorted(steps, drawn, side="right"), len(steps) - 1).astype(np.int64))
