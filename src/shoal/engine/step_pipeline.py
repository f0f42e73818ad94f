"""The steps that a table goes through, known before anything is read: its columns afterwards, and which steps matter.

Only what is needed is read: going backwards from the wanted columns, a step that neither writes one of them nor drops
records is left out, and so are the source columns that only such steps read. Both engines keep their tables this way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from shoal.errors import BugError
from shoal.schema import ROW, Step
from shoal.schema.hidden_columns import ORIGINAL

Transform = Callable[[pl.DataFrame], pl.DataFrame]


@dataclass(frozen=True)
class Operation:
    """What is done to every batch, and what the pipeline has to know of it. Picklable, as steps are."""

    name: str
    apply: Transform
    touched: frozenset[str]
    """The columns it reads or writes."""
    drops_records: bool
    adds: frozenset[str] | None = None
    """The characters that it may add to what it reads, where that is known."""
    only_read: frozenset[str] = frozenset()
    """The columns that it leaves as they are."""
    keeps_one_of: int | None = None
    """It keeps one record of so many, by position alone."""


@dataclass(frozen=True)
class StepPipeline:
    source: pl.Schema
    schema: pl.Schema
    operations: tuple[Operation, ...] = ()
    empty: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    """A table of this schema without records: of many columns it takes long to make one for every step."""

    @classmethod
    def over(cls, source: pl.Schema) -> StepPipeline:
        return cls(source, source)

    def after(self, step: Step, outcome: Transform | None = None, *, dropped: bool = False) -> StepPipeline:
        """With one more step. A TABLE step was applied already: ``outcome`` says what it does to a batch.

        What a step writes is found by giving it nothing but the columns it reads; so a column that it overwrites
        unread counts as touched too, and can't pass by it.
        """
        empty = empty_frame(self.schema) if self.empty is None else self.empty
        written = step.apply(empty.select(*dict.fromkeys(step.reads), ROW)).columns
        operation = Operation(
            name=type(step).__name__,
            apply=outcome or step.apply,
            touched=frozenset((*step.reads, *written)) - {ROW},
            drops_records=step.drops_records or dropped,
            adds=step.adds,
            only_read=frozenset(step.reads if step.leaves_what_it_reads else ()),
            keeps_one_of=step.keeps_one_of,
        )
        left = step.apply(empty)
        schema = left.drop(ROW).schema
        return replace(self, schema=schema, operations=(*self.operations, operation), empty=left.clear())

    def live(self, columns: Sequence[str]) -> tuple[tuple[Operation, ...], tuple[str, ...]]:
        """The operations and source columns that the wanted columns depend on."""
        needed = set(columns)
        kept: list[Operation] = []
        for operation in reversed(self.operations):
            if operation.drops_records or (operation.touched - operation.only_read) & needed:
                needed |= operation.touched
                kept.append(operation)
        return tuple(reversed(kept)), tuple(name for name in self.source if name in needed)


def run(operations: Sequence[Operation], frame: pl.DataFrame) -> pl.DataFrame:
    """The frame after the operations. One that drops records without having said so might be left out elsewhere."""
    for operation in operations:
        result = operation.apply(frame)
        if result.height != frame.height and not operation.drops_records:
            raise BugError(f"{operation.name} changed the number of records without declaring it")
        frame = result
    return frame


def fitting(records: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Records to be inserted into a table, in its columns and types. Nothing is the original of an invented record."""
    absent = [pl.lit(None).alias(name) for name in schema if name.startswith(ORIGINAL)]
    records = records.with_columns(absent)
    if set(records.columns) != set(schema):
        raise BugError("records to insert must have the columns of the table")
    return records.select(schema.names()).cast(schema)


def empty_frame(schema: pl.Schema) -> pl.DataFrame:
    return pl.DataFrame(schema={**schema, ROW: pl.UInt64()})
