"""How children hang on parents in several tables: how many each has, and whether any hangs on nobody."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, Integers
from shoal.measurement.fidelity.column_shapes import Bar

MOST_CHILDREN = 50
"""Parents with more are one cell."""
MOST_RANGES, FEWEST = 10, 10
"""Of a drawing: how many ranges it has, and how many real ones each of them holds."""
_DAY = 86_400_000_000


@dataclass(frozen=True)
class ChildCounts:
    parents: int
    children: int
    mean: float
    deviation: float
    none: float
    """The share of parents without a child."""
    most: int
    orphans: float
    """The share of children whose parent is not there."""


@dataclass(frozen=True)
class KeyStatistics:
    original: ChildCounts
    synthetic: ChildCounts
    total_variation: float
    """Of the number of children per parent."""
    bars: tuple[Bar, ...] = ()
    """Parents by how many children they have, in both."""


@dataclass(frozen=True)
class SequenceStatistics:
    """How far the records of one parent follow each other in the same way."""

    original: float | None
    """The median distance between two that follow each other, in days where they are dated; None where none do."""
    synthetic: float | None
    total_variation: float | None
    """Of these distances, in ranges of equally many real ones."""
    bars: tuple[Bar, ...] = ()


def measure_keys(original: tuple[pl.Series, pl.Series], synthetic: tuple[pl.Series, pl.Series]) -> KeyStatistics:
    """Of the parents' keys and the children's references, in both sets of tables."""
    counts = [_per_parent(*side) for side in (original, synthetic)]
    shares = [np.bincount(np.minimum(each, MOST_CHILDREN), minlength=MOST_CHILDREN + 1) / len(each) for each in counts]
    apart = float(np.abs(shares[0] - shares[1]).sum() / 2)
    bars = _bars(counts[0].astype(np.float64), counts[1].astype(np.float64))
    return KeyStatistics(_told(counts[0], *original), _told(counts[1], *synthetic), apart, bars)


def measure_sequence(
    original: tuple[pl.Series, pl.Series], synthetic: tuple[pl.Series, pl.Series]
) -> SequenceStatistics:
    """Of the children's references and what they are ordered by, in both sets of tables."""
    before, after = (_distances(*side) for side in (original, synthetic))
    bars = _bars(before, after)
    apart = sum(abs(one[1] - one[2]) for one in bars) / 2 if bars and len(after) else None
    return SequenceStatistics(_median(before), _median(after), apart, bars)


def _median(values: Floats) -> float | None:
    return float(np.median(values)) if len(values) else None


def _distances(references: pl.Series, order: pl.Series) -> Floats:
    """Between each record of a parent and the one before it.

    >>> _distances(pl.Series(["a", "b", "a"]), pl.Series([5, 9, 2])).tolist()
    [3.0]
    """
    if isinstance(order.dtype, pl.String):
        order = _dated(order)
    if isinstance(order.dtype, pl.Date | pl.Datetime):
        moments = order.dt.replace_time_zone(None) if isinstance(order.dtype, pl.Datetime) else order
        numbers = moments.cast(pl.Datetime("us")).to_physical() / _DAY
    else:
        numbers = order.cast(pl.Float64, strict=False)
    ordered = pl.DataFrame({"key": references.cast(pl.String), "at": numbers}).drop_nulls().sort("key", "at")
    return ordered.select(pl.col("at").diff().over("key"))["at"].drop_nulls().to_numpy()


def _dated(order: pl.Series) -> pl.Series:
    """Text files hold dates as text."""
    moments = order.str.replace("Z$", "").str.to_datetime(time_unit="us", strict=False)
    days = order.str.slice(0, 10).str.to_date(strict=False)
    return days if moments.null_count() > days.null_count() else moments


def _bars(before: Floats, after: Floats) -> tuple[Bar, ...]:
    """Ranges of about equally many real ones, at least ten each.

    >>> _bars(np.repeat([0.0, 1.0, 5.0], 10), np.array([0.0, 7.0]))
    (('0', 0.3333333333333333, 0.5), ('1', 0.3333333333333333, 0.0), ('5 or more', 0.3333333333333333, 0.5))
    """
    if len(before) < FEWEST:
        return ()
    least = max(FEWEST, len(before) // MOST_RANGES)
    values, counts = np.unique(before, return_counts=True)
    starts, filled = [values[0]], 0
    for value, many in zip(values, counts, strict=True):
        if filled >= least:
            starts.append(value)
            filled = 0
        filled += many
    if filled < FEWEST and len(starts) > 1:
        starts.pop()
    shares = [np.diff([*np.searchsorted(np.sort(side), starts[1:]), len(side)], prepend=0) for side in (before, after)]
    totals = [max(1, len(side)) for side in (before, after)]
    lasts = [values[np.searchsorted(values, start) - 1] for start in starts[1:]]
    labels = [_span(start, last) for start, last in zip(starts, lasts, strict=False)]
    labels.append(f"{starts[-1]:.4g} or more" if len(starts) > 1 else "all")
    ends = zip(labels, shares[0], shares[1], strict=True)
    return tuple((label, float(one) / totals[0], float(other) / totals[1]) for label, one, other in ends)


def _span(start: float, last: float) -> str:
    return f"{start:.4g}" if start == last else f"{start:.4g} to {last:.4g}"


def _per_parent(keys: pl.Series, references: pl.Series) -> Integers:
    """
    >>> _per_parent(pl.Series([1, 2, 3]), pl.Series([1, 1, 3, 9])).tolist()
    [2, 0, 1]
    """
    counted = references.drop_nulls().cast(pl.String).alias("key").value_counts(name="children")
    parents = keys.cast(pl.String).alias("key").to_frame()
    joined = parents.join(counted, on="key", how="left", maintain_order="left")
    return joined["children"].fill_null(0).cast(pl.Int64).to_numpy()


def _told(counts: Integers, keys: pl.Series, references: pl.Series) -> ChildCounts:
    known = references.drop_nulls().cast(pl.String).is_in(keys.cast(pl.String).implode()).to_numpy()
    return ChildCounts(
        len(counts),
        len(references),
        float(counts.mean()) if len(counts) else 0.0,
        float(counts.std()) if len(counts) else 0.0,
        float((counts == 0).mean()) if len(counts) else 0.0,
        int(counts.max(initial=0)),
        float(1 - known.mean()) if len(known) else 0.0,
    )
