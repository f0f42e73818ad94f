"""From a solution with a level for every cell to the step that writes it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchy import TOP, BoundHierarchy
from shoal.schema import Counts
from shoal.techniques.generalisation.local_recoding import RecodeStep


def recode_cells(
    counts: Counts,
    hierarchies: Mapping[str, BoundHierarchy],
    levels: NDArray[np.int8],
    withheld: NDArray[np.bool_],
    *,
    drop: bool,
) -> RecodeStep:
    """Each combination of the counts with the label of each of its cells; withheld ones are starred or left out."""
    gone = pl.Series(withheld)
    cells = pl.DataFrame(
        [
            labels_of(hierarchies[name], counts.values[place], counts.codes[:, place], levels[:, place])
            .set(gone, TOP)
            .alias(name)
            for place, name in enumerate(counts.attributes)
        ]
    )
    return RecodeStep(counts.attributes, counts.frame(), cells, gone if drop and withheld.any() else None)


def labels_of(
    hierarchy: BoundHierarchy, values: pl.Series, codes: NDArray[np.int32], levels: NDArray[np.int8]
) -> pl.Series:
    """The label of each cell, given its value and its level."""
    by_level = [hierarchy.generalise(values, level).cast(pl.String) for level in range(hierarchy.height + 1)]
    return pl.concat(by_level).gather(levels.astype(np.int64) * len(values) + codes)
