"""A step: a bound technique as engines see it. Frozen, picklable, a pure function from a frame to a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.schema.columns import Column


class Scope(StrEnum):
    """How much of the table a step must see at once."""

    ROW = "row"
    """Each record by itself: mapped over batches of any size."""
    TABLE = "table"
    """The columns it reads, whole and in order; only those are held in memory."""
    REDUCE = "reduce"
    """Batches to partial results (``apply``), all partial results to one (``finish``)."""
    ORDER = "order"
    """The records in another order, by ``order_key``; ``apply`` does it to a table that is in memory."""
    INSERT = "insert"
    """Records of its own, ``inserts``, among those of the table, all in the order of ``order_key``: no place tells."""


SidecarShape = Callable[[pl.LazyFrame], pl.LazyFrame]


@dataclass(frozen=True)
class SidecarFile:
    """A further file of the release, made of the hidden columns that a step has put aside, record beside record.

    ``columns`` says which hidden column becomes which column of the file. ``shape`` makes the table of it, as by
    counting or by sorting, so that the order of its rows tells nothing; without one the rows stay as the records are.
    Files of the same name that have no shape become one, their columns side by side. A ``table`` is a file that is
    ready as it is and needs no hidden column.
    """

    file: str
    """Without an ending, below the release folder: ``shares/party-1``."""
    columns: Mapping[str, str] = field(default_factory=dict)
    shape: SidecarShape | None = None
    about: str = ""
    """For the manifest and the report: what it is and whom it is for."""
    ending: str | None = None
    """The format that it needs, as ``parquet`` for binary values; otherwise it has that of the data file."""
    table: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    for_recipient: bool = False
    """Whether whoever gets the data gets it too; only then the recipient's report tells of it."""


@dataclass(frozen=True)
class RankRule:
    """What a TABLE step does, told by ranks, so that no two records have to meet. Records rank by ``order_key``.

    Either the n-th record of the table gets the ``deals`` columns of the record with the n-th key, or only the records
    with the smallest keys stay, as many as ``draws`` says of the number of all. Equal keys rank by position.
    """

    deals: tuple[str, ...] = ()
    draws: Callable[[int], int] | None = None


@dataclass(frozen=True)
class FirstRecordRule:
    """Records with one value in ``column`` stay or go together, as the ``step`` decides of the first of them.

    A record that has no value there is the first of its own.
    """

    column: str
    step: Step


@dataclass(frozen=True)
class Step(ABC):
    """``apply`` is pure; frames carry the record's position in the source in the column ``ROW``."""

    scope: ClassVar[Scope] = Scope.ROW
    drops_records: ClassVar[bool] = False
    """Whether ``apply`` may return fewer records than it was given."""
    leaves_what_it_reads: ClassVar[bool] = False
    """ROW only: whether it only adds columns, so that whoever asks for those it reads need not run it."""

    @property
    @abstractmethod
    def reads(self) -> tuple[str, ...]:
        """The columns whose values it needs (without ROW). A column that is only dropped need not be read."""

    @property
    def adds(self) -> frozenset[str] | None:
        """The characters that may stand in its text besides those it read, and never an empty text; None if unknown.

        A writer can save itself the search for cells that need quotes.
        """
        return None

    @property
    def keeps_one_of(self) -> int | None:
        """ROW only: of how many records it keeps one, by position alone, so that the others need not be read."""
        return None

    @property
    def apart(self) -> tuple[str, ...] | None:
        """TABLE only: records that differ in these columns have no influence on each other; None if all may have.

        Then a cluster can apply it to parts of the table, as long as records that are alike there are in one part.
        """
        return None

    @property
    def ranks(self) -> RankRule | None:
        """TABLE only: the same step told by ranks, where that can be done."""
        return None

    @property
    def leads(self) -> FirstRecordRule | None:
        """TABLE only: the same step told by the first record of each person, where that can be done."""
        return None

    @abstractmethod
    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with its columns replaced, added, dropped, or with fewer records. Other columns stay as they are.

        ROW and TABLE steps keep the order of the records that stay.
        """

    def order_key(self, rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """ORDER, INSERT and ``ranks``: the records are to be sorted by this key, ties by their position."""
        return rows

    @property
    def inserts(self) -> pl.DataFrame:
        """INSERT only: the records that it adds, with every column of the table but ROW. They are few."""
        return pl.DataFrame()

    @property
    def report_note(self) -> str:
        """What was found out while it was bound and a reader of the report should know, in a few words."""
        return ""

    @property
    def sidecar_files(self) -> tuple[SidecarFile, ...]:
        """Further files of the release that its hidden columns make."""
        return ()

    def merge(self, partial: pl.DataFrame) -> pl.DataFrame:
        """REDUCE only: some partial results, one below the other, to one that says the same in fewer lines."""
        return partial

    def finish(self, partial: pl.DataFrame) -> pl.DataFrame:
        """REDUCE only: all partial results, one below the other, to the final table."""
        return partial


@dataclass(frozen=True)
class AttributeStep(Step):
    """A step that needs the values of one attribute."""

    attribute: str

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.attribute,)


@dataclass(frozen=True)
class ColumnStep(Step):
    """A step that needs the values of one column, and to know what they are."""

    column: Column

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column.name,)
