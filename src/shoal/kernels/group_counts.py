"""Counting the records of each distinct combination, in memory that grows with combinations and not with records.

Polars' streaming group-by keeps a small table of groups and sets aside the records that don't fit, until the end: with
more than a few thousand combinations that is nearly all of them. So the table is taken in segments, each grouped by
Polars, and their counts are added up. Measured with 200,000 combinations: 2.8 GB for 60 million records at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Protocol

import polars as pl

from shoal.kernels.batch_streams import streamed, told_batches

WHOLE_RECORDS = 8_000_000
"""A table known to have no more is grouped at once."""
SEGMENT_RECORDS = 4_000_000
BATCH_RECORDS = 100_000


class TableSummary(Protocol):
    """Something that is known of a table from one row of figures, and of a whole from those of its parts."""

    @property
    def columns(self) -> tuple[str, ...]: ...

    def summarised(self, source: pl.LazyFrame) -> pl.LazyFrame:
        """The row."""

    def together(self, parts: pl.DataFrame) -> pl.DataFrame:
        """The row, from those of the parts."""


def count_groups(
    frame: pl.LazyFrame,
    keys: Sequence[str],
    records: str,
    *,
    at_most: int | None = None,
    segment_records: int = SEGMENT_RECORDS,
) -> pl.DataFrame:
    """One row per distinct combination of the keys, in no particular order, with its number of records.

    ``at_most`` is how many records there can be, where that is known: a small table is not cut.

    >>> table = pl.LazyFrame({"city": ["Pune", "Delhi", "Pune"]})
    >>> count_groups(table, ["city"], "n", segment_records=2).sort("city").rows()
    [('Delhi', 1), ('Pune', 2)]
    """
    if is_grouped_at_once(at_most):
        return grouped(frame, keys, records).collect(engine="streaming")
    narrow = frame.select(keys)
    batches = told_batches(narrow, BATCH_RECORDS)
    return _in_segments(batches, narrow.collect_schema(), keys, records, segment_records)


def count_and_summarise(
    frame: pl.LazyFrame,
    keys: Sequence[str],
    records: str,
    summary: TableSummary,
    *,
    at_most: int | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The same combinations, and in that one pass the summary of other columns."""
    # A scan is shared by queries that read the same columns of it.
    narrow = frame.select(*dict.fromkeys((*keys, *summary.columns)))
    if is_grouped_at_once(at_most):
        queries = [grouped(narrow, keys, records), summary.summarised(narrow)]
        counted, row = pl.collect_all(queries, engine="streaming")
        return counted, row
    parts: list[pl.DataFrame] = []

    def seen() -> Iterator[pl.DataFrame]:
        for batch in told_batches(narrow, BATCH_RECORDS):
            parts.append(summary.summarised(batch.lazy()).collect())
            yield batch.select(keys)

    counted = _in_segments(seen(), frame.select(keys).collect_schema(), keys, records, SEGMENT_RECORDS)
    return counted, summary.together(pl.concat(parts, how="vertical_relaxed"))


def is_grouped_at_once(at_most: int | None) -> bool:
    """Whether a table of so many records is not cut."""
    return at_most is not None and at_most <= WHOLE_RECORDS


def grouped(frame: pl.LazyFrame, keys: Sequence[str], records: str) -> pl.LazyFrame:
    return frame.group_by(keys).agg(pl.len().cast(pl.UInt64).alias(records))


def count_separately(
    frame: pl.LazyFrame, names: Sequence[str], records: str, *, segment_records: int = 5 * BATCH_RECORDS
) -> dict[str, pl.DataFrame]:
    """Of each of the columns, its distinct values with their number of records, in one pass over all of them.

    >>> found = count_separately(pl.LazyFrame({"city": ["Pune", "Pune"], "sex": ["F", "M"]}), ["city", "sex"], "n")
    >>> found["city"].rows(), sorted(found["sex"].rows())
    ([('Pune', 2)], [('F', 1), ('M', 1)])
    """
    narrow = frame.select(names)
    schema = narrow.collect_schema()
    counted = {name: pl.DataFrame(schema={name: schema[name], records: pl.UInt64()}) for name in names}
    batches = narrow.collect_batches(chunk_size=BATCH_RECORDS, maintain_order=False, engine="streaming")
    while segment := list(_run(batches, segment_records)):
        whole = pl.concat(segment)
        for name in names:
            here = whole.group_by(name).agg(pl.len().cast(pl.UInt64).alias(records))
            counted[name] = pl.concat([counted[name], here]).group_by(name).agg(pl.col(records).sum())
    return counted


def _in_segments(
    batches: Iterator[pl.DataFrame], schema: pl.Schema, keys: Sequence[str], records: str, segment_records: int
) -> pl.DataFrame:
    counted = _count(_run(batches, segment_records), schema, keys, records)
    while (first := next(batches, None)) is not None:
        # Adding up costs as much as the combinations are many, so segments grow with them.
        segment = _run(chain([first], batches), max(segment_records, 4 * counted.height))
        both = pl.concat([counted, _count(segment, schema, keys, records)])
        counted = both.group_by(keys).agg(pl.col(records).sum())
    return counted


def _count(segment: Iterator[pl.DataFrame], schema: pl.Schema, keys: Sequence[str], records: str) -> pl.DataFrame:
    return grouped(streamed(lambda: segment, schema), keys, records).collect(engine="streaming")


def _run(batches: Iterator[pl.DataFrame], records: int) -> Iterator[pl.DataFrame]:
    """The next batches, until there are as many records."""
    for batch in batches:
        yield batch
        records -= batch.height
        if records <= 0:
            return


TOGETHER = 0.5
"""The share of repeated values that follow an equal one, from which on they stand together."""


def are_clustered(keys: pl.Series) -> bool:
    """Whether most records with the same key follow each other, so that their order tells which belong together.

    >>> are_clustered(pl.Series(["a", "a", "b", "b", "b"])), are_clustered(pl.Series(["a", "b", "a", "b"]))
    (True, False)
    """
    keys = keys.drop_nulls()
    repeated = len(keys) - keys.n_unique()
    return repeated > 0 and int((keys == keys.shift(1)).sum()) >= TOGETHER * repeated
