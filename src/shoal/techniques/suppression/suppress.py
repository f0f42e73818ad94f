"""Attribute suppression (ISO/IEC 20889, 9.3.2; MeitY 2.2.1; PDPC step 2): the whole attribute is left out.

Nothing of the attribute remains, so nobody can be singled out by it. What is left in the record can still be linked,
and attributes derived from the suppressed one (a stay from its entry and exit times) still tell it: suppress them too.
ISO counts the removal of attributes as masking; the facts are those of that line of table A.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.schema.columns import Column
from shoal.techniques.base import Context, Lowered, Lowers, Missing, Step, Technique, table_a1


class Suppress(Technique):
    key = "suppress"
    facts = table_a1(
        "Attribute suppression", "9.3.2", Lowered(Lowers.YES, Lowers.PARTIALLY, Lowers.NO), missing=Missing.REPLACED
    )

    @property
    def removes(self) -> bool:
        return True

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
        return ()

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        """An engine that reads only what is needed hands over a frame in which the attribute is missing already."""
        return frame.drop(self.attribute, strict=False)
