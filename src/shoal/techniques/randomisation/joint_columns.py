"""Techniques that treat a column together with others (``with``), inside the strata of further ones (``within``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import model_validator

from shoal.techniques.base import Technique


class JointTechnique(Technique):
    if TYPE_CHECKING:  # each technique declares these where they stand among its own parameters
        with_: tuple[str, ...]
        within: tuple[str, ...]

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if len(set(self.also_reads())) < len(self.also_reads()):
            raise ValueError("a column is named once, either in 'with' or in 'within'")
        return self

    def also_reads(self) -> tuple[str, ...]:
        return (*self.with_, *self.within)

    def also_alters(self) -> tuple[str, ...]:
        return self.with_
