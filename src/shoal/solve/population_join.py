"""A table beside the population it was drawn from: one set of combinations, with the records of both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.schema import Counts

_TABLE, _POPULATION = "__shoal_table", "__shoal_population"


@dataclass(frozen=True)
class PopulationJoin:
    counts: Counts
    """The combinations of both; those that only the population has stand there with no records."""
    population: Integers
    place: Integers
    """Where each combination of the table lies among them."""


def join_population(table: Counts, population: Counts) -> PopulationJoin:
    names = table.attributes
    mine = table.frame().with_columns(pl.int_range(table.size).alias(_TABLE))
    theirs = _as(population, mine.schema).with_columns(pl.Series(_POPULATION, population.records))
    theirs = theirs.group_by(names).agg(pl.col(_POPULATION).sum())
    both = mine.join(theirs, on=names, how="full", coalesce=True, nulls_equal=True)
    numbered = both.with_row_index("__shoal_records")
    together = Counts.from_frame(numbered, names, "__shoal_records")
    rows = both[together.records]
    here = rows[_TABLE].is_not_null().to_numpy()
    source = rows[_TABLE].fill_null(0).to_numpy()
    place = np.empty(table.size, dtype=np.int64)
    place[source[here]] = np.flatnonzero(here)
    shared = table.shared.copy()
    shared[:, 1] = place[shared[:, 1]]
    counts = Counts(
        names,
        together.values,
        together.codes,
        np.where(here, table.records[source], 0),
        np.where(here, table.people[source], 0),
        shared,
    )
    return PopulationJoin(counts, rows[_POPULATION].fill_null(0).cast(pl.Int64).to_numpy(), place)


def _as(population: Counts, schema: pl.Schema) -> pl.DataFrame:
    """The population's values in the types of the table's."""
    frame = population.frame()
    for name in population.attributes:
        read = frame[name].cast(schema[name], strict=False)
        if read.null_count() > frame[name].null_count():
            raise DataError(f"population: the values of column '{name}' are of another type than the table's")
        frame = frame.with_columns(read)
    return frame
