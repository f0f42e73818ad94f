"""Which record of the source a released record was made from, carried beside the table so that attacks can be judged.

Records may be shuffled, left out, sampled or invented on the way. The hidden column never reaches an output.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.schema import ROW, Step
from shoal.schema.hidden_columns import HIDDEN

ORIGIN = f"{HIDDEN}origin__"


@dataclass(frozen=True)
class TagOrigin(Step):
    """
    >>> frame = pl.DataFrame({"age": [34, 41], ROW: pl.Series([7, 9], dtype=pl.UInt64)})
    >>> TagOrigin().apply(frame)[ORIGIN].to_list()
    [7, 9]
    """

    @property
    def reads(self) -> tuple[str, ...]:
        return ()

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(pl.col(ROW).alias(ORIGIN))
