"""The Polars engine: lazy scan, one-pass counts, rewrite in streamed batches, bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import polars as pl
import pyarrow.ipc

from shoal.engine.polars.batch_source import streaming
from shoal.engine.polars.counting import count, describe_counted
from shoal.engine.polars.record_order import reordered
from shoal.engine.polars.table import PolarsTable
from shoal.engine.protocol import OutputSample
from shoal.errors import DataError
from shoal.io import FileTarget, QuotesNeeded, RecordPicker, Source, Target, refuse_specials
from shoal.kernels.batch_streams import Batches, ahead
from shoal.schema import ROW, Column, Columns, Counts, Scope, Step
from shoal.schema.hidden_columns import HIDDEN, ORIGINAL
from shoal.schema.progress import CancelToken, Progress
from shoal.schema.type_detection import detect

BATCH_ROWS = 100_000
"""Measured: below 50,000 the overhead per batch shows, above 250,000 the cores wait for each other."""


@dataclass(frozen=True)
class ForeseenCounts:
    """What was counted before it was asked for."""

    source: pl.LazyFrame
    counts: Counts

    def answers(self, table: PolarsTable, attributes: tuple[str, ...]) -> bool:
        """Whether these are the combinations that the table has."""
        same = table.source is self.source and attributes == self.counts.attributes
        return same and not table.alters(attributes)


class PolarsEngine:
    name: ClassVar[str] = "polars"

    def __init__(
        self,
        *,
        batch_rows: int = BATCH_ROWS,
        spool: Path | None = None,
        progress: Progress | None = None,
        cancel: CancelToken | None = None,
    ) -> None:
        """``progress`` is told of every batch that is written; ``cancel`` is looked at in every batch that is made."""
        self.batch_rows = batch_rows
        self.spool = spool
        self.progress = progress
        self.cancel = cancel
        self._foreseen: ForeseenCounts | None = None

    def scan(self, source: Source) -> PolarsTable:
        picker = source if isinstance(source, RecordPicker) else None
        return PolarsTable.over(source.scan(), getattr(source, "rows", None), picker)

    def columns(self, table: PolarsTable) -> tuple[str, ...]:
        return tuple(name for name in table.schema if not name.startswith(HIDDEN))

    def schema(self, table: PolarsTable) -> pl.Schema:
        return table.schema

    def describe(
        self, table: PolarsTable, names: Sequence[str], declared: Columns, foreseen: tuple[str, ...] = ()
    ) -> dict[str, Column]:
        """What is counted anyway is counted now, in the pass in which the types of other columns are found."""
        left = tuple(name for name in names if name not in foreseen)
        if not foreseen or table.alters((*foreseen, *left)):
            with self._frame(table, tuple(names)) as frame:
                return detect(frame, names, declared)
        counts, found = describe_counted(table, foreseen, left, declared)
        self._foreseen = ForeseenCounts(table.source, counts)
        return {name: found[name] for name in names}

    def counts(self, table: PolarsTable, attributes: tuple[str, ...], person: str | None = None) -> Counts:
        if person is None and self._foreseen is not None and self._foreseen.answers(table, attributes):
            counts, self._foreseen = self._foreseen.counts, None
            return counts
        return self._counted(table, attributes, person)

    def _counted(self, table: PolarsTable, attributes: tuple[str, ...], person: str | None) -> Counts:
        wanted = attributes if person is None else (*attributes, person)
        with self._frame(table, wanted) as frame:
            return count(frame, attributes, person, table.at_most)

    def map(self, table: PolarsTable, steps: Sequence[Step]) -> PolarsTable:
        for step in steps:
            table = table.after(step)
        return table

    def shuffle(self, table: PolarsTable, step: Step) -> PolarsTable:
        if step.scope is Scope.ORDER:
            return replace(table, order=step)
        if step.scope is Scope.INSERT:
            return replace(table.joined_by(step.inserts), order=step)
        before = [table.nothing(step.reads), *self._batches(table, step.reads)]
        return table.after_whole(step, pl.concat(before))

    def reduce(self, table: PolarsTable, step: Step) -> PolarsTable:
        nothing = step.apply(table.nothing(step.reads))
        partial = [step.apply(batch) for batch in self._batches(table, step.reads)]
        return PolarsTable.over(step.finish(pl.concat([nothing, *partial])).lazy())

    def sink(
        self, table: PolarsTable, target: Target, *, aside: Path | None = None, sample: OutputSample | None = None
    ) -> int:
        visible = self.columns(table)
        if not visible:
            raise DataError("no column is left to write")
        if isinstance(target, FileTarget) and target.delimited:
            return self._write_text(table, visible, target, aside, sample)
        stream = partial(_stream, target)
        return self._write(table, visible, aside, sample, stream)

    def close(self) -> None:
        """Nothing is kept on disk."""
        self._foreseen = None

    def _write_text(
        self,
        table: PolarsTable,
        visible: tuple[str, ...],
        target: FileTarget,
        aside: Path | None,
        sample: OutputSample | None,
    ) -> int:
        def write(schema: pl.Schema, batches: Batches, *, quotes: bool = True) -> None:
            with closing(ahead(batches())) as made:
                target.write_batches(schema, made, quotes=quotes)

        if target.specials and len(visible) > 1:
            with suppress(QuotesNeeded):
                refuse_specials(pl.Series(visible), target.specials)
                check = partial(_refuse_specials, table.suspects(visible, target.specials), target.specials)
                return self._write(table, visible, aside, sample, partial(write, quotes=False), check)
        return self._write(table, visible, aside, sample, write)

    def _write(  # noqa: PLR0913, PLR0917  # what is written, and where each part of it goes
        self,
        table: PolarsTable,
        visible: tuple[str, ...],
        aside: Path | None,
        sample: OutputSample | None,
        write: Callable[[pl.Schema, Batches], None],
        check: Callable[[pl.DataFrame], None] | None = None,
    ) -> int:
        hidden = tuple(name for name in table.schema if _goes_aside(name)) if aside else ()
        sampled = tuple(name for name in table.schema if name.startswith(HIDDEN)) if sample else ()
        columns = tuple(dict.fromkeys((*visible, *hidden, *sampled)))
        written = 0
        if sample:
            sample.restart()

        def batches() -> Iterator[pl.DataFrame]:
            nonlocal written
            for batch in self._ordered(table, columns):
                if check:
                    check(batch)
                put_aside(batch.select(hidden))
                if sample:
                    sample.take(batch)
                written += batch.height
                if self.progress:
                    self.progress(written, None)
                yield batch.select(visible)

        with _HiddenColumnWriter(aside if hidden else None, table.nothing(hidden).drop(ROW)) as put_aside:
            write(table.nothing(visible).drop(ROW).schema, batches)
        return written

    def _batches(self, table: PolarsTable, columns: tuple[str, ...]) -> Iterator[pl.DataFrame]:
        for batch in table.batches(columns, self.batch_rows):
            if self.cancel is not None:
                self.cancel.check()
            yield batch

    @contextmanager
    def _frame(self, table: PolarsTable, columns: tuple[str, ...]) -> Iterator[pl.LazyFrame]:
        """These columns (and maybe others) as a lazy frame, in the order of the source."""
        if not table.alters(columns):
            yield table.source
            return
        with streaming(table.nothing(columns).schema, partial(self._batches, table, columns)) as frame:
            yield frame

    def _ordered(self, table: PolarsTable, columns: tuple[str, ...]) -> Iterator[pl.DataFrame]:
        batches = self._batches(table, columns)
        return reordered(batches, table.order.order_key, self.spool) if table.order else batches


def _goes_aside(name: str) -> bool:
    return name.startswith(HIDDEN) and not name.startswith(ORIGINAL)


def _stream(target: Target, schema: pl.Schema, batches: Batches) -> None:
    with streaming(schema, batches) as frame:
        target.write(frame)


def _refuse_specials(names: tuple[str, ...], specials: str, batch: pl.DataFrame) -> None:
    for name in names:
        refuse_specials(batch[name], specials)


class _HiddenColumnWriter:
    """Hidden columns written batch by batch to an Arrow file of their own; a table of no records gives one too."""

    def __init__(self, path: Path | None, example: pl.DataFrame) -> None:
        self._writer = pyarrow.ipc.new_file(str(path), _arrow(example).schema) if path else None

    def __enter__(self) -> Callable[[pl.DataFrame], None]:
        return self._put

    def _put(self, frame: pl.DataFrame) -> None:
        if self._writer is not None:
            self._writer.write_table(_arrow(frame))

    def __exit__(self, *raised: object) -> None:
        if self._writer is not None:
            self._writer.close()


def _arrow(frame: pl.DataFrame) -> pyarrow.Table:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
