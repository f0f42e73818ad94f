"""Quasi-identifiers as they were, carried beside the table so that it can be measured what other columns tell of them.

The hidden columns are never written: the engine samples them in memory while it writes the released ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from shoal.schema import Step
from shoal.schema.hidden_columns import ORIGINAL


def original_of(name: str) -> str:
    return f"{ORIGINAL}{name}"


@dataclass(frozen=True)
class KeepOriginals(Step):
    """
    >>> KeepOriginals(("age",)).apply(pl.DataFrame({"age": [34]})).columns
    ['age', '__shoal_original__age']
    """

    leaves_what_it_reads: ClassVar[bool] = True

    attributes: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        return self.attributes

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col(name).alias(original_of(name)) for name in self.attributes)
