"""Whether noise and rounding are in proportion to what they are applied to (PDPC guide, annex A, data perturbation).

Too small a base or too little noise protects nobody; too large a one leaves nothing to use. What counts is the range in
which most values lie, from the lowest to the highest twentieth, in the first records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import polars as pl

from shoal.errors import DataError
from shoal.policy import Policy
from shoal.schema import Column
from shoal.schema.type_detection import detect

LOOKED_AT = 20_000
WEAK = 0.005
"""Of the range, below which it hardly hides anything."""
STRONG = 0.5
"""Of the range, above which hardly anything is left."""


def proportion_warnings(policy: Policy, beginning: Callable[[int], pl.LazyFrame]) -> Iterator[str]:
    """A warning for each attribute whose noise or base is out of proportion to its range.

    ``beginning`` gives the first so many records of the source.
    """
    sizes = {
        name: size
        for name, attribute in policy.attributes.items()
        for step in attribute.steps[:1]
        if (size := step.moves_by) is not None
    }
    if not sizes:
        return
    source = beginning(LOOKED_AT)
    present = source.collect_schema().names()
    names = [name for name in sizes if name in present]
    if not names:
        return
    first = source.select(names).collect()
    for name, column in detect(first.lazy(), names).items():
        width = _range(column, first[name])
        if width is not None:
            yield from _out_of_proportion(name, sizes[name], width)


def _range(column: Column, values: pl.Series) -> float | None:
    """Of numbers, or of dates in days."""
    try:
        if column.is_number:
            numbers = column.numbers(values).cast(pl.Float64)
        elif column.is_date:
            numbers = column.dates(values).cast(pl.Date).to_physical().cast(pl.Float64)
        else:
            return None
    except DataError:
        return None
    low, high = numbers.quantile(0.05), numbers.quantile(0.95)
    return None if low is None or high is None or high <= low else float(high - low)


def _out_of_proportion(name: str, size: float, width: float) -> Iterator[str]:
    share = size / width
    if WEAK <= share <= STRONG:
        return
    what = "so little that it hardly hides anything" if share < WEAK else "so much that hardly anything is left"
    yield (
        f"'{name}' is moved by {size:.3g} where most values lie within {width:.3g}: {what}; "
        "take a base or noise in proportion to the range (PDPC annex A)"
    )
