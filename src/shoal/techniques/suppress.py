"""Attribute suppression (ISO/IEC 20889, 9.3; MeitY 2.2.1): the whole attribute is left out of the output.

Nothing of the attribute remains, so nothing of it can be singled out, linked or inferred from — except through
attributes derived from it, which have to be suppressed too.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.schema.columns import Column
from shoal.techniques.base import ANY_ROLE, ANY_TYPE, Context, Facts, Lowers, Missing, Step, Technique


class Suppress(Technique):
    key = "suppress"
    facts = Facts(
        title="Attribute suppression",
        clause="ISO/IEC 20889, 9.3.1",
        truthful=True,
        types=ANY_TYPE,
        roles=ANY_ROLE,
        singling_out=Lowers.YES,
        linking=Lowers.YES,
        inference=Lowers.YES,
        missing=Missing.REPLACED,
    )

    def bind(self, column: Column, context: Context) -> SuppressStep:
        return SuppressStep(column.name)


@dataclass(frozen=True)
class SuppressStep(Step):
    """
    >>> SuppressStep("name").apply(pl.DataFrame({"name": ["Asha"], "age": [34]})).columns
    ['age']
    """

    attribute: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.attribute,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.drop(self.attribute)
