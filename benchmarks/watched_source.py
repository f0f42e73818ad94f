"""A table in memory of which every pass over its records is counted where it is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from shoal.kernels.batch_streams import streamed


@dataclass
class WatchedSource:
    table: pl.DataFrame
    slice_rows: int
    label: str = "people"
    passes: int = 0
    rows: int = field(init=False)

    def __post_init__(self) -> None:
        self.rows = self.table.height

    def scan(self) -> pl.LazyFrame:
        return streamed(self._batches, self.table.schema)

    def _batches(self) -> Iterator[pl.DataFrame]:
        self.passes += 1
        yield from self.table.iter_slices(self.slice_rows)
