"""Distinct combinations with their counts, in one streaming pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from shoal.engine.polars.table import PolarsTable
from shoal.kernels.group_counts import count_and_summarise, count_groups
from shoal.randomness import Randomness
from shoal.schema import Column, Columns, Counts
from shoal.schema.type_detection import TypeSearch, detect_counted

RECORDS = "__shoal_records"
PERSON = "__shoal_who"


def count(frame: pl.LazyFrame, attributes: tuple[str, ...], person: str | None, at_most: int | None = None) -> Counts:
    if not attributes:
        return _total(frame, person)
    if person is None:
        return Counts.from_frame(count_groups(frame, attributes, RECORDS, at_most=at_most), attributes, RECORDS)
    keys = frame.select(*attributes, _fingerprint(pl.col(person)).alias(PERSON))
    counted = count_groups(keys, (*attributes, PERSON), RECORDS, at_most=at_most)
    return Counts.from_pairs(counted, attributes, PERSON, RECORDS)


def describe_counted(
    table: PolarsTable, attributes: tuple[str, ...], others: Sequence[str], declared: Columns
) -> tuple[Counts, dict[str, Column]]:
    """The combinations, and the value types of the attributes and of other columns, in one pass.

    Attributes have few distinct values, whose types are found without another look at all records.
    """
    frame, at_most = table.source, table.at_most
    search = TypeSearch.begin(frame, others, declared, beginning=table.beginning) if others else None
    if search is None or search.screened_all:
        counts, found = count(frame, attributes, None, at_most), search.found() if search else {}
    else:
        counted, facts = count_and_summarise(frame, attributes, RECORDS, search, at_most=at_most)
        counts, found = Counts.from_frame(counted, attributes, RECORDS), search.found(facts.row(0, named=True))
    return counts, found | {name: detect_counted(counts, name, declared) for name in attributes}


def _total(frame: pl.LazyFrame, person: str | None) -> Counts:
    people = pl.len() if person is None else pl.col(person).n_unique()
    counted = frame.select(pl.len().alias(RECORDS), people.alias(PERSON)).collect(engine="streaming")
    total = Counts.from_frame(counted, (), RECORDS)
    return replace(total, people=counted[PERSON].cast(pl.Int64).to_numpy())


def _fingerprint(person: pl.Expr) -> pl.Expr:
    """64 bits instead of the identifier itself: less memory, and no identifier is held longer.

    Two people with one fingerprint would count as one: the safe side.
    """
    seed = int(Randomness().stream("person").words(np.zeros(1, dtype=np.uint64))[0, 0])
    return pl.when(person.is_not_null()).then(person.hash(seed))
