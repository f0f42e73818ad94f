"""The whole contract between Shoal and an engine. It fits on this page; both engines have the same file names.

A table is lazy: nothing is read before ``counts`` or ``sink``. Every record carries its position in the source
(column ``ROW``), which is what randomness is tied to; so results don't depend on batches, threads or partitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol, TypeVar

import polars as pl

from shoal.errors import DataError
from shoal.io import Source, Target
from shoal.schema import Column, Columns, Counts, Step

TableT = TypeVar("TableT")


class TooManyCombinationsError(DataError):
    """More of them than the engine hands over at once; coarser ones may do."""


@dataclass
class OutputSample:
    """Every n-th record as it is written, with its hidden columns, kept in memory."""

    every: int
    batches: list[pl.DataFrame] = field(default_factory=list, repr=False)
    _seen: int = 0

    def restart(self) -> None:
        self.batches, self._seen = [], 0

    def take(self, batch: pl.DataFrame) -> None:
        """The next records of the table, in the order in which they are written."""
        first = -self._seen % self.every
        self._seen += batch.height
        if first < batch.height:
            self.batches.append(batch[first:].gather_every(self.every) if self.every > 1 else batch)

    @property
    def frame(self) -> pl.DataFrame:
        return pl.concat(self.batches, rechunk=True) if self.batches else pl.DataFrame()


class Engine(Protocol[TableT]):
    name: ClassVar[str]

    def scan(self, source: Source) -> TableT:
        """A lazy table over a source."""

    def columns(self, table: TableT) -> tuple[str, ...]:
        """The visible columns, in order."""

    def schema(self, table: TableT) -> pl.Schema:
        """All columns, hidden ones too, with their types."""

    def describe(
        self, table: TableT, names: Sequence[str], declared: Columns, foreseen: tuple[str, ...] = ()
    ) -> dict[str, Column]:
        """Value types of columns as the steps so far leave them, by every value; declared ones are taken as said.

        Combinations of ``foreseen`` columns will probably be counted later: an engine may do so now, and learn from it.
        """

    def counts(self, table: TableT, attributes: tuple[str, ...], person: str | None = None) -> Counts:
        """Distinct combinations with records and people, in one pass; or TooManyCombinationsError."""

    def map(self, table: TableT, steps: Sequence[Step]) -> TableT:
        """The table after ROW steps, one after the other."""

    def shuffle(self, table: TableT, step: Step) -> TableT:
        """The table after a TABLE step, which sees its columns whole, or an INSERT or ORDER step, which come last.

        Records that a step inserts take the positions after the source's last.
        """

    def reduce(self, table: TableT, step: Step) -> TableT:
        """The table that a REDUCE step makes of this one."""

    def sink(
        self, table: TableT, target: Target, *, aside: Path | None = None, sample: OutputSample | None = None
    ) -> int:
        """Write the visible columns to the target; the number of records.

        Hidden columns but those of originals go to ``aside`` (Arrow IPC, a file or a folder of files), record beside
        record. A ``sample`` takes some of the records, with all hidden columns. A cluster may write in any order.
        """

    def close(self) -> None:
        """Remove what is kept for tables, in memory and on disks. None of them can be read any more."""
