"""Columns as a learning machine reads them, coded alike on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, Mask
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.row_sampling import Rows

_LARGE = 1e140
"""Numbers beyond it are made smaller before they are squared."""


@dataclass(frozen=True)
class Features:
    """One column per attribute: the number, or the code of the label; NaN where it is missing."""

    matrix: Floats
    categories: Mask


def side_by_side(
    pairs: Sequence[AttributePair], before: Rows, after: Rows, most_labels: int
) -> tuple[Features, Features]:
    """The original in the released labels, and the release, in the same code."""
    coded = [
        coded_alike(pair.recoded.gather(before), pair.released.gather(after), most_labels=most_labels) for pair in pairs
    ]
    kinds = np.array([not pair.numeric for pair in pairs], dtype=np.bool_)
    return Features(_stacked([old for old, _ in coded], len(before)), kinds), Features(
        _stacked([new for _, new in coded], len(after)), kinds
    )


def in_own_words(pairs: Sequence[AttributePair], rows: Rows, most_labels: int) -> Features:
    """The original with its own values."""
    coded = [coded_alike(pair.original.gather(rows), most_labels=most_labels)[0] for pair in pairs]
    return Features(_stacked(coded, len(rows)), np.array([not pair.numeric for pair in pairs], dtype=np.bool_))


def as_released(pair: AttributePair) -> pl.Series:
    """The original as it would look in the release: in its labels, a number as the middle of the range it lies in."""
    if pair.spans is None or not pair.spans.known.any():
        return pair.recoded
    order = np.argsort(pair.spans.low)
    low, high, middle = (ends[order] for ends in (pair.spans.low, pair.spans.high, pair.spans.middle))
    numbers = pair.numbers()[0]
    place = np.searchsorted(low[~np.isnan(low)], numbers, side="right") - 1
    inside = (place >= 0) & (numbers <= high[place])
    return pl.Series(np.where(inside, middle[place], numbers), dtype=pl.Float64).fill_nan(None)


def coded_alike(*columns: pl.Series, most_labels: int) -> list[Floats]:
    """Numbers as they are; labels as 0, 1, 2 … by how frequent they are, the rarest under one code of their own."""
    if columns[0].dtype.is_float():
        return [column.fill_null(np.nan).to_numpy() for column in columns]
    every = pl.concat([column.alias("label") for column in columns]).drop_nulls()
    order = every.value_counts(name="records").sort("records", "label", descending=[True, False])
    order = order.with_columns(code=pl.int_range(pl.len()).clip(upper_bound=most_labels - 1).cast(pl.Float64))
    codes = order.select("label", "code")
    return [
        column.alias("label")
        .to_frame()
        .join(codes, on="label", how="left", maintain_order="left")["code"]
        .fill_null(np.nan)
        .to_numpy()
        for column in columns
    ]


def design(before: Features, after: Features) -> Floats:
    """Both, one below the other, for a linear model: numbers in units of their spread with a column that tells where
    they are missing, labels as one column each but for the most frequent. Columns without spread are left out."""
    stacked = np.vstack((before.matrix, after.matrix))
    columns: list[Floats] = []
    for place, category in enumerate(before.categories):
        column = stacked[:, place]
        gone = np.isnan(column)
        columns.append(gone.astype(np.float64))
        if category:
            columns += [(column == code).astype(np.float64) for code in np.unique(column[~gone])[1:]]
        else:
            columns.append(np.where(gone, np.nanmean(column) if not gone.all() else 0.0, column))
    matrix = np.column_stack(columns) if columns else np.empty((len(stacked), 0))
    matrix = matrix / np.maximum(np.abs(matrix).max(axis=0, initial=0) / _LARGE, 1)
    spread = matrix.std(axis=0)
    kept = spread > 1e-12
    scaled: Floats = (matrix[:, kept] - matrix[:, kept].mean(axis=0)) / spread[kept]
    return scaled


def _stacked(columns: Sequence[Floats], rows: int) -> Floats:
    return np.column_stack(columns) if columns else np.empty((rows, 0))
