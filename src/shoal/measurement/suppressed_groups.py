"""Who is suppressed most: records and cells that are gone, by group of each quasi-identifier, from counts alone.

A group is a label on the finest level that has few of them and that the release shows. It is named only where enough
people with that label are still in the release, so that nothing is named that the release does not show; all others are
one group without a name.

>>> from shoal.hierarchy.kinds.flat import FlatHierarchy
>>> from shoal.schema import Column
>>> seen = pl.DataFrame({"sex": ["f", "m", "x"], "n": [60, 50, 4]})
>>> counts = Counts.from_frame(seen, ("sex",), "n")
>>> bound = FlatHierarchy().bind(Column("sex"), counts.value_counts("sex"))
>>> gone = SuppressedParts(np.array([False, False, True]), np.zeros((3, 1), dtype=np.int8), np.zeros(3, dtype=np.int64))
>>> [(one.label, one.records, one.suppressed) for one in suppressed_groups(counts, "sex", bound, gone, fewest=10)]
[('f', 60, 0), ('m', 50, 0), (None, 4, 4)]
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchy import BoundHierarchy
from shoal.kernels.arrays import Integers, Mask, sums_by
from shoal.schema import Counts

MOST_GROUPS = 12
"""Labels of an attribute up to which a level is taken; of more, the largest are named."""
NO_VALUE = "(no value)"


@dataclass(frozen=True)
class SuppressedParts:
    """What became of each combination of the counts."""

    withheld: Mask
    """Whether its records are suppressed as a whole."""
    levels: NDArray[np.int8]
    """The level of each of its cells."""
    starred: Integers = field(repr=False)
    """How many of its cells are starred, where the record is not suppressed."""


@dataclass(frozen=True)
class SuppressedGroup:
    label: str | None
    """None of all groups that are not named."""
    records: int
    suppressed: int
    cells: int
    """Starred in records that are not suppressed."""


def suppressed_groups(
    counts: Counts, attribute: str, bound: BoundHierarchy, parts: SuppressedParts, *, fewest: int
) -> tuple[SuppressedGroup, ...]:
    """The largest first, the unnamed ones last; nothing where the release tells no groups of it apart."""
    place = counts.attributes.index(attribute)
    values, codes, levels = counts.values[place], counts.codes[:, place], parts.levels[:, place]
    finest = int(levels[~parts.withheld].min(initial=bound.height))
    level = _coarse_level(values, bound, finest)
    if level is None:
        return ()
    labels = bound.generalise(values, level).cast(pl.String).fill_null(NO_VALUE)
    names = labels.unique(maintain_order=True)
    groups = labels.replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64()).to_numpy()[codes]
    named = _named(counts, groups, len(names), shown=~parts.withheld & (levels <= level), fewest=fewest)
    if not named:
        return ()
    where = np.full(len(names), len(named))
    where[named] = np.arange(len(named))
    told = where[groups]
    figures = [
        sums_by(told, counted, len(named) + 1)
        for counted in (counts.records, counts.records * parts.withheld, counts.records * parts.starred)
    ]
    texts = [*(names[one] for one in named), None]
    found = (SuppressedGroup(text, *map(int, one)) for text, *one in zip(texts, *figures, strict=True))
    return tuple(one for one in found if one.label is not None or one.records)


def _coarse_level(values: pl.Series, bound: BoundHierarchy, finest: int) -> int | None:
    """The first of the released levels with few labels, else the last before the star."""
    below = range(finest, bound.height)
    few = (level for level in below if bound.generalise(values, level).n_unique() <= MOST_GROUPS)
    return next(few, bound.height - 1) if below else None


def _named(counts: Counts, groups: Integers, number: int, *, shown: Mask, fewest: int) -> list[int]:
    """Groups that enough people are released in with this label or a finer one, the largest first."""
    people = counts.people_in(np.where(shown, groups, number), number + 1)[:number]
    ranked = sorted(range(number), key=lambda group: (-people[group], group))
    return [group for group in ranked[:MOST_GROUPS] if people[group] >= fewest]
