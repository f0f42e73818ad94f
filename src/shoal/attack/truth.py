"""Which released record is whose: what the attacker doesn't know, and the judge has to."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.schema.arrays import Integers


def own_records(
    release: pl.DataFrame, targets: pl.DataFrame, *, aligned: bool, truth: str | None = None
) -> tuple[Integers, Integers]:
    """Targets and released records that belong together, as row numbers beside each other.

    >>> own_records(pl.DataFrame({"id": [7, 8]}), pl.DataFrame({"id": [8, 9]}), aligned=False, truth="id")
    (array([0]), array([1]))
    """
    if truth is not None:
        if truth not in release.columns or truth not in targets.columns:
            raise DataError(f"column '{truth}' should say whose record it is, but is not in both tables")
        mine = targets.select(pl.col(truth).alias("key")).with_row_index("person")
        theirs = release.select(pl.col(truth).alias("key")).with_row_index("record")
        both = mine.join(theirs, on="key", how="inner", maintain_order="left")
        return both["person"].to_numpy().astype(np.int64), both["record"].to_numpy().astype(np.int64)
    if not aligned:
        raise DataError(
            "the attack can't be judged: nothing says which released record is whose",
            advice="release in the order of the original, or name a column that both tables share",
        )
    if release.height != targets.height:
        raise DataError(
            f"the release has {release.height} rows and the original {targets.height}: row i of one can't be row i of "
            "the other"
        )
    rows = np.arange(targets.height)
    return rows, rows
