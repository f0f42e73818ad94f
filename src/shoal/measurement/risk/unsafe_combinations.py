"""Unsafe combinations: cells of the cross tables of up to m keys that few records are in.

The rule of statistical offices for files that are handed out (μ-ARGUS; Hundepool et al. 2012, chapter 3): whoever knows
up to m of a person's attributes must find more than a threshold of records that have them. A cell with as many as the
threshold is unsafe too. Empty cells identify nobody and don't count. A missing value is a value of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from shoal.errors import InputError
from shoal.kernels.group_counts import count_groups
from shoal.measurement.risk.key_frequencies import check_keys
from shoal.schema import Counts

_RECORDS = "__shoal_records"


@dataclass(frozen=True)
class UnsafeTable:
    """The cross table by some of the keys, and what is unsafe in it."""

    keys: tuple[str, ...]
    threshold: int
    cells: int
    """All that have records."""
    unsafe_cells: int
    unsafe_records: int
    """Records in unsafe cells."""


@dataclass(frozen=True)
class BySize:
    """All tables by the same number of keys, taken together."""

    keys: int
    tables: int
    unsafe_tables: int
    unsafe_cells: int
    worst: UnsafeTable
    """The one with most records in unsafe cells."""


def by_size(tables: Sequence[UnsafeTable]) -> tuple[BySize, ...]:
    """What people read instead of a line per table."""
    sizes = sorted({len(table.keys) for table in tables})
    return tuple(_together([table for table in tables if len(table.keys) == size]) for size in sizes)


def _together(tables: Sequence[UnsafeTable]) -> BySize:
    return BySize(
        len(tables[0].keys),
        len(tables),
        sum(table.unsafe_cells > 0 for table in tables),
        sum(table.unsafe_cells for table in tables),
        max(tables, key=lambda table: table.unsafe_records),
    )


def unsafe_combinations(
    frame: pl.LazyFrame, keys: Sequence[str], threshold: int | Sequence[int], most_keys: int = 3
) -> tuple[UnsafeTable, ...]:
    """Every table by 1 up to ``most_keys`` of the keys, those by fewer keys first.

    ``threshold`` is the same for all tables, or one for each number of keys.

    >>> table = pl.LazyFrame({"sex": ["f", "f", "m"], "town": ["A", "A", "A"]})
    >>> [(found.keys, found.unsafe_cells) for found in unsafe_combinations(table, ["sex", "town"], 1)]
    [(('sex',), 1), (('town',), 0), (('sex', 'town'), 1)]
    """
    check_keys(frame, keys)
    if most_keys < 1:
        raise InputError("tables need at least one key")
    dimensions = range(1, min(most_keys, len(keys)) + 1)
    limits = [threshold] * len(dimensions) if isinstance(threshold, int) else list(threshold)
    if len(limits) < len(dimensions):
        raise InputError(f"{len(limits)} thresholds for tables by up to {len(dimensions)} keys")
    if min(limits) < 1:
        raise InputError("a threshold has to be at least 1")
    counts = Counts.from_frame(count_groups(frame, keys, _RECORDS), tuple(keys), _RECORDS)
    return tuple(
        _table(counts, chosen, limit)
        for number, limit in zip(dimensions, limits, strict=False)
        for chosen in combinations(keys, number)
    )


def _table(counts: Counts, keys: tuple[str, ...], threshold: int) -> UnsafeTable:
    records = counts.project(keys)[0].records
    unsafe = records <= threshold
    return UnsafeTable(keys, threshold, len(records), int(unsafe.sum()), int(records[unsafe].sum()))
