"""How many records share a record's keys: in the sample (fk), and in the population it stands for (Fk).

Fk is the sum of the sampling weights of the records counted in fk, the usual estimate from a sample file (Benedetti &
Franconi 1998). A missing cell is read in one of two ways:

- *value*: missing is a value like any other, equal to itself only.
- *wildcard*: it could be anything. A record matches all that agree with it wherever both have a value. A match counts
  in full where the other record has all that this one has, and ``alpha`` (from 0 to 1) where only the other's missing
  cells let it through. With alpha = 0 the others' missing cells match nothing.

A wildcard match is not transitive, so the combinations with missing cells can't be grouped with others. Combinations
are compared pattern by pattern instead: for each set of keys that some combination has, the others are put together
by the keys of it that they have too, and looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import polars as pl

from shoal.errors import DataError, InputError
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.schema.registry import did_you_mean

Codes = Integers
Missing = Literal["value", "wildcard"]

_RECORDS, _WEIGHT, _PLACE = "__shoal_records", "__shoal_weight", "__shoal_combination"


@dataclass(frozen=True)
class Frequencies:
    """fk and Fk, one each per record (or per combination)."""

    sample: Floats
    population: Floats


@dataclass(frozen=True)
class KeyCombinations:
    """The distinct combinations of the keys, with the records that have each and its frequencies."""

    cells: pl.DataFrame
    records: Integers
    frequencies: Frequencies

    def __len__(self) -> int:
        return len(self.records)

    def places(self, frame: pl.LazyFrame) -> Codes:
        """The combination of each record, in the order of the records."""
        return places_in(self.cells, frame)


def places_in(cells: pl.DataFrame, frame: pl.LazyFrame) -> Codes:
    """For each record, in the order of the records, the row of the distinct cells that has its keys.

    Each record is led to the first with the same keys, so that only the first ones have to be looked up: several
    times faster than looking up all.
    """
    keys = cells.columns
    table = frame.select(keys).collect()
    first = table.with_row_index(_PLACE).select(pl.col(_PLACE).min().over(keys))[_PLACE].to_numpy()
    leads = np.zeros(table.height, dtype=np.bool_)
    leads[first] = True
    known = cells.with_row_index(_PLACE)
    found = table.filter(leads).join(known, on=keys, how="left", nulls_equal=True, maintain_order="left")
    there = found[_PLACE].cast(pl.Int64).to_numpy()
    return np.asarray(there[(np.cumsum(leads) - 1)[first]])


def frequencies(
    frame: pl.LazyFrame, keys: Sequence[str], weight: str | None = None, missing: Missing = "value", alpha: float = 1.0
) -> Frequencies:
    """fk and Fk of each record, in the order of the records.

    >>> table = pl.LazyFrame({"sex": ["f", "f", None], "w": [10, 20, 5]})
    >>> frequencies(table, ["sex"], "w", missing="wildcard", alpha=0.5)
    Frequencies(sample=array([2.5, 2.5, 3. ]), population=array([32.5, 32.5, 35. ]))
    """
    combinations = combine(frame, keys, weight, missing, alpha)
    found, places = combinations.frequencies, combinations.places(frame)
    return Frequencies(found.sample[places], found.population[places])


def combine(
    frame: pl.LazyFrame, keys: Sequence[str], weight: str | None = None, missing: Missing = "value", alpha: float = 1.0
) -> KeyCombinations:
    """The same per distinct combination. Without a weight a record stands for itself alone: Fk = fk."""
    check_keys(frame, keys, weight)
    _check_reading(missing, alpha)
    people = pl.col(weight).cast(pl.Float64).sum() if weight else pl.len().cast(pl.Float64)
    sums = (pl.len().cast(pl.Int64).alias(_RECORDS), people.alias(_WEIGHT))
    table = frame.group_by(keys).agg(*sums).sort(keys, nulls_last=True).collect(engine="streaming")
    cells, records = table.select(keys), table[_RECORDS].to_numpy()
    found = np.column_stack((records, table[_WEIGHT].to_numpy())).astype(np.float64)
    if missing == "wildcard":
        found = _matched(cells, found, alpha)
    return KeyCombinations(cells, records, Frequencies(found[:, 0].copy(), found[:, 1].copy()))


def check_keys(frame: pl.LazyFrame, keys: Sequence[str], *others: str | None) -> None:
    """There are keys, each named once, and all columns are there; one that isn't is named with the nearest that is."""
    there = tuple(frame.collect_schema().names())
    for name in (*keys, *others):
        if name is not None and name not in there:
            raise DataError(f"the data has no column '{name}'{did_you_mean(name, there)}")
    if not keys:
        raise InputError("frequencies need at least one key")
    if len(set(keys)) < len(keys):
        raise InputError("a key is named twice")


def check_weights(frame: pl.LazyFrame, weight: str) -> int:
    """All weights can be used; returns how many are below 1."""
    if not frame.collect_schema()[weight].is_numeric():
        raise DataError(f"the weights in '{weight}' are not numbers")
    number = pl.col(weight).cast(pl.Float64)
    unusable = number.is_null() | ~number.is_finite() | (number <= 0)
    found = frame.select(unusable.sum().alias("unusable"), (number < 1).sum().alias("light")).collect(
        engine="streaming"
    )
    if count := found["unusable"].item():
        raise DataError(
            f"weights in '{weight}' that are missing, not a number, 0 or negative: {count}",
            advice="a sampling weight says how many people of the population a record stands for",
        )
    return int(found["light"].item() or 0)


def _check_reading(missing: Missing, alpha: float) -> None:
    if missing not in get_args(Missing):
        raise InputError(f"unknown reading of missing cells '{missing}'", advice="it is 'value' or 'wildcard'")
    if not 0 <= alpha <= 1:
        raise InputError("alpha has to be from 0 to 1")


def _matched(cells: pl.DataFrame, own: Floats, alpha: float) -> Floats:
    """What matches each combination, given what it has of its own: columns are summed alike."""
    has = np.column_stack([cells[name].is_not_null().to_numpy() for name in cells.columns])
    if has.all():
        return own
    codes = np.column_stack([_coded(cells[name]) for name in cells.columns])
    patterns, pattern = np.unique(has, axis=0, return_inverse=True)
    pattern = pattern.reshape(-1)
    found = np.zeros_like(own)
    for place, mine in enumerate(patterns):
        here = np.flatnonzero(pattern == place)
        for common, theirs in _by_common_keys(mine, patterns):
            share = 1.0 if common.sum() == mine.sum() else alpha
            if share:
                others = np.flatnonzero(theirs[pattern])
                found[here] += share * _sums(codes[:, common], own, here, others)
    return found


def _by_common_keys(mine: Mask, patterns: Mask) -> Iterator[tuple[Mask, ...]]:
    """The keys in common with the patterns, and which patterns have just these in common."""
    shared, which = np.unique(patterns & mine, axis=0, return_inverse=True)
    for place, common in enumerate(shared):
        yield common, which.reshape(-1) == place


def _sums(codes: Codes, own: Floats, here: Codes, others: Codes) -> Floats:
    """For each combination here, the sum over the others with the same codes."""
    asked, group = _numbered(codes, here, others)
    number = int(max(asked.max(initial=-1), group.max(initial=-1))) + 1
    sums = (np.bincount(group, weights=own[others, column], minlength=number) for column in range(own.shape[1]))
    return np.column_stack([column[asked] for column in sums])


def _numbered(codes: Codes, here: Codes, others: Codes) -> tuple[Codes, Codes]:
    """Rows numbered so that equal rows have equal numbers."""
    rows = np.concatenate((here, others))
    number = np.zeros(len(rows), dtype=np.int64)
    for column in codes.T:
        # Numbered anew after each key, so that the product stays below rows × values.
        _, number = np.unique(number * (int(column.max(initial=0)) + 1) + column[rows], return_inverse=True)
    return number[: len(here)], number[len(here) :]


def _coded(column: pl.Series) -> Codes:
    """A whole number for each value, 0 for a missing one."""
    return column.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
