"""A lazy table: a scanned source and the pipeline that its batches go through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.engine.step_pipeline import Operation, StepPipeline, empty_frame, fitting, run
from shoal.errors import BugError
from shoal.io import RecordPicker
from shoal.schema import ROW, Step

FEW = 100
"""One record of so many, or fewer, is picked out of the source instead of read among all others."""


@dataclass(frozen=True)
class Overlay:
    """The outcome of a TABLE step, looked up by record position: new columns, dropped columns, dropped records."""

    rows: pl.Series
    columns: pl.DataFrame
    dropped: tuple[str, ...]

    @classmethod
    def of(cls, before: pl.DataFrame, after: pl.DataFrame) -> Overlay:
        if not after[ROW].is_sorted():
            raise BugError("a TABLE step changed the order of the records")
        dropped = tuple(name for name in before.columns if name not in after.columns)
        return cls(after[ROW], after.drop(ROW), dropped)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        kept, wanted = self.rows.to_numpy(), frame[ROW].to_numpy()
        places = np.searchsorted(kept, wanted)
        places[places == len(kept)] = 0
        found = kept[places] == wanted if len(kept) else np.zeros(len(wanted), dtype=bool)
        if not found.all():
            frame, places = frame.filter(pl.Series(found)), places[found]
        frame = frame.drop(self.dropped, strict=False)
        return frame.with_columns(self.columns[places.astype(np.int64)]) if self.columns.width else frame


@dataclass(frozen=True)
class PolarsTable:
    source: pl.LazyFrame
    pipeline: StepPipeline
    order: Step | None = None
    at_most: int | None = None
    """How many records the source has, where it says so."""
    picker: RecordPicker | None = None
    """The source, where it may hand out some records without all of them being read."""
    inserted: PolarsTable | None = None
    """Records that a step has added, a table of their own. They come last, and go through all steps after that."""

    @classmethod
    def over(cls, source: pl.LazyFrame, at_most: int | None = None, picker: RecordPicker | None = None) -> PolarsTable:
        return cls(source, StepPipeline.over(source.collect_schema()), at_most=at_most, picker=picker)

    @property
    def schema(self) -> pl.Schema:
        return self.pipeline.schema

    def after(self, step: Step) -> PolarsTable:
        inserted = self.inserted and self.inserted.after(step)
        return replace(self, pipeline=self.pipeline.after(step), inserted=inserted)

    def after_whole(self, step: Step, before: pl.DataFrame) -> PolarsTable:
        """After a TABLE step, which is applied here and now to the columns it reads."""
        after = step.apply(before)
        return self._overlaid(step, Overlay.of(before, after), dropped=after.height < before.height)

    def _overlaid(self, step: Step, overlay: Overlay, *, dropped: bool) -> PolarsTable:
        inserted = self.inserted and self.inserted._overlaid(step, overlay, dropped=dropped)
        return replace(self, pipeline=self.pipeline.after(step, overlay.apply, dropped=dropped), inserted=inserted)

    def joined_by(self, records: pl.DataFrame) -> PolarsTable:
        """With these records at the end."""
        joining = fitting(records, self.schema)
        at_most = None if self.at_most is None else self.at_most + records.height
        if self.inserted is not None:
            return replace(self, inserted=self.inserted.joined_by(records), at_most=at_most)
        return replace(self, inserted=PolarsTable.over(joining.lazy(), records.height), at_most=at_most)

    def alters(self, columns: tuple[str, ...]) -> bool:
        """Whether these columns differ from those of the source, or have other records."""
        return self.inserted is not None or bool(self.pipeline.live(columns)[0])

    def suspects(self, columns: tuple[str, ...], specials: str) -> tuple[str, ...]:
        """Those of the columns that hold text into which a step may have put one of the characters."""
        suspect = set(columns if self.inserted else ())
        for operation in self.pipeline.operations:
            if operation.adds is None or not operation.adds.isdisjoint(specials):
                suspect |= operation.touched
        return tuple(name for name in columns if name in suspect and self.schema[name] == pl.String())

    def nothing(self, columns: tuple[str, ...]) -> pl.DataFrame:
        """These columns and ROW, without a record."""
        return empty_frame(self.schema).select(*dict.fromkeys((*columns, ROW)))

    def batches(self, columns: tuple[str, ...], batch_rows: int, position: int = 0) -> Iterator[pl.DataFrame]:
        """The wanted columns and ROW, batch after batch, in the order of the source, whose first is at ``position``."""
        operations, read = self.pipeline.live(columns)
        if (picked := self._picked(operations)) is not None:
            yield run(operations, picked).select(*dict.fromkeys((*columns, ROW)))
            return
        # A table of no columns would have no records either.
        source = self.source.select(read or tuple(self.pipeline.source)[:1])
        for batch in source.collect_batches(chunk_size=batch_rows, maintain_order=True, engine="streaming"):
            rows = pl.int_range(position, position + batch.height, dtype=pl.UInt64, eager=True)
            position += batch.height
            yield run(operations, batch.with_columns(rows.alias(ROW))).select(*dict.fromkeys((*columns, ROW)))
        if self.inserted:
            yield from self.inserted.batches(columns, batch_rows, position)

    def beginning(self, records: int) -> pl.LazyFrame:
        """The first records of the source."""
        first = self.picker.beginning(records) if self.picker else None
        return self.source.head(records) if first is None else first.lazy()

    def _picked(self, operations: Sequence[Operation]) -> pl.DataFrame | None:
        """The records that the first operation keeps, where the source hands them out without being read whole."""
        every = operations[0].keeps_one_of if operations else None
        if every is None or every < FEW or self.picker is None or self.at_most is None or self.inserted:
            return None
        places = np.arange(0, self.at_most, every)
        picked = self.picker.pick(places)
        return None if picked is None else picked.with_columns(pl.Series(ROW, places, dtype=pl.UInt64))
