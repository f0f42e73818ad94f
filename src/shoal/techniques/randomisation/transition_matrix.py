"""Transition matrices of PRAM: how likely each category turns into each other one, and how a draw picks among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.exceptions import PolarsError

from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers
from shoal.schema.columns import Column
from shoal.schema.counts import Counts
from shoal.techniques.strata import stratum_codes

MAX_ENTRIES = 20_000_000
"""Of all matrices of one attribute together: about 4 000 categories without strata."""

_LINE, _CODE, _RECORDS = "__shoal_line__", "__shoal_code__", "__shoal_records__"


def transition_matrix(shares: Floats, keep: float, *, invariant: bool) -> Floats:
    """P for categories of the given shares, see ``pram``. A single category stays.

    >>> shares = np.array([0.5, 0.3, 0.2])
    >>> matrix = transition_matrix(shares, keep=0.6, invariant=True)
    >>> np.allclose(shares @ matrix, shares), float(matrix[2, 2])
    (True, 0.6)
    """
    if len(shares) == 1:
        return np.ones((1, 1))
    if invariant:
        matrix = np.tile((1.0 - keep) * shares / (1.0 - shares.min()), (len(shares), 1))
    else:
        matrix = np.full((len(shares), len(shares)), (1.0 - keep) / (len(shares) - 1))
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, np.maximum(1.0 - matrix.sum(axis=1), 0.0))
    return matrix


@dataclass(frozen=True)
class Transitions:
    """All matrix lines of one attribute, one below the other, without their zeros.

    Entry e of line i has the position i + P[i, ≤ e] in ``ends``, so one sorted search serves every record.
    """

    lines: pl.DataFrame = field(repr=False, compare=False)
    """Attribute, strata columns, and the number of the line that applies to them."""
    values: pl.Series = field(repr=False, compare=False)
    ends: Floats = field(repr=False, compare=False)
    last: Integers = field(repr=False, compare=False)
    targets: Integers = field(repr=False, compare=False)

    @classmethod
    def from_counts(cls, counts: Counts, keep: float, *, invariant: bool) -> Transitions:
        """Matrices by stratum; the first attribute of the counts is the one that changes."""
        name, *within = counts.attributes
        seen = _combinations(counts).drop_nulls(name)
        strata = stratum_codes(seen, tuple(within))
        seen, strata = seen[np.argsort(strata, kind="stable")], np.sort(strata)
        records = seen[_RECORDS].to_numpy()
        if lonely := np.count_nonzero(np.bincount(strata, weights=records) == 1):
            raise DataError(
                f"column '{name}': {lonely} record(s) are alone in their stratum, so their value could not change",
                advice="use fewer or coarser columns in 'within'",
            )
        sizes = np.bincount(strata)
        if int((sizes.astype(np.int64) ** 2).sum()) > MAX_ENTRIES:
            raise DataError(f"column '{name}' has too many distinct values for PRAM: generalise it first")
        codes = np.split(seen[_CODE].to_numpy(), np.cumsum(sizes)[:-1])
        weights = np.split(records, np.cumsum(sizes)[:-1])
        lines = (
            (targets, line)
            for targets, weight in zip(codes, weights, strict=True)
            for line in transition_matrix(weight / weight.sum(), keep, invariant=invariant)
        )
        return cls._assembled(seen.select(name, *within), counts.values[0], lines)

    @classmethod
    def given(cls, column: Column, counts: Counts, matrix: Mapping[str, Mapping[str, float]]) -> Transitions:
        """The matrix of the policy. Every value that occurs needs its line."""
        labels = list(dict.fromkeys([*matrix, *(target for line in matrix.values() for target in line)]))
        values = _as_stored(column, labels)
        counted = counts.value_counts(column.name).drop_nulls("value")
        unknown = counted.filter(~pl.col("value").is_in(values.head(len(matrix)).implode()))
        if unknown.height:
            raise DataError(
                f"column '{column.name}': {unknown.height} distinct value(s), {unknown['records'].sum()} record(s), "
                "have no line in the matrix"
            )
        lines = (
            (np.array([labels.index(target) for target in line]), np.array(list(line.values())))
            for line in matrix.values()
        )
        return cls._assembled(pl.DataFrame([values.head(len(matrix))]), values, lines)

    @classmethod
    def _assembled(
        cls,
        keys: pl.DataFrame,
        values: pl.Series,
        lines: Iterable[tuple[NDArray[np.integer], Floats]],
    ) -> Transitions:
        targets, ends, lengths = [], [], []
        for number, (candidates, chances) in enumerate(lines):
            possible = np.flatnonzero(chances > 0)
            targets.append(candidates[possible].astype(np.int64))
            ends.append(number + np.cumsum(chances[possible]))
            lengths.append(len(possible))
        last = np.cumsum(lengths, dtype=np.int64) - 1
        flat_ends = np.concatenate(ends) if ends else np.empty(0)
        flat_targets = np.concatenate(targets) if targets else np.empty(0, dtype=np.int64)
        return cls(keys.with_row_index(_LINE), values, flat_ends, last, flat_targets)

    def draw(self, frame: pl.DataFrame, uniform: Floats) -> pl.Series:
        """New values for the first column of the frame; a value without a line is a DataError."""
        name, *_ = frame.columns
        line = frame.join(self.lines, on=frame.columns, how="left", nulls_equal=True, maintain_order="left")[_LINE]
        there = frame[name].is_not_null()
        if unknown := int((line.is_null() & there).sum()):
            raise DataError(f"column '{name}': {unknown} value(s) were not there when PRAM was prepared")
        known = line.drop_nulls().cast(pl.Int64).to_numpy()
        entry = np.searchsorted(self.ends, known + uniform[there.to_numpy()], side="right")
        # A sum of chances may end a rounding error below 1: such a draw belongs to the line's last entry.
        entry = np.minimum(entry, self.last[known])
        drawn = np.zeros(frame.height, dtype=np.int64)
        drawn[there.to_numpy()] = self.targets[entry]
        return self.values.gather(pl.Series(drawn).set(~there, None)).alias(name)


def _as_stored(column: Column, labels: list[str]) -> pl.Series:
    text = pl.Series(column.name, labels, dtype=pl.String)
    try:
        if column.storage == pl.Boolean():
            return text.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
        return text.cast(column.storage)
    except PolarsError:
        raise DataError(f"column '{column.name}': the matrix names values that don't fit {column.type}") from None


def _combinations(counts: Counts) -> pl.DataFrame:
    """One line per combination: the attributes, the code of the first one, the records."""
    columns = [values.gather(counts.codes[:, at]) for at, values in enumerate(counts.values)]
    named = [column.alias(name) for column, name in zip(columns, counts.attributes, strict=True)]
    return pl.DataFrame([*named, pl.Series(_CODE, counts.codes[:, 0]), pl.Series(_RECORDS, counts.records)])
