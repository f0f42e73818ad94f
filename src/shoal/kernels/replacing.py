"""Values for other values in a lazy frame, batch by batch."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl


def replaced(
    values: pl.Expr,
    old: Sequence[object] | pl.Series,
    new: Sequence[object] | pl.Series,
    storage: pl.DataType,
    *,
    keep: bool = False,
) -> pl.Expr:
    """Each of the old values as the new one in its place; what is not among them stays or is missing.

    By batches: Polars' own expression would wait for the whole table, and hold it.
    """

    def of_batch(batch: pl.Series) -> pl.Series:
        return batch.replace_strict(old, new, default=batch if keep else None, return_dtype=storage)

    return values.map_batches(of_batch, return_dtype=storage, is_elementwise=True)
