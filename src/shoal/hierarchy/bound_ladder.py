"""The hierarchy of a finite list of values, each with its label on every level (taxonomies, CSV files, ordered groups).

Loss of a cell: (values with the same label − 1) ÷ (values listed − 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import polars as pl

from shoal.hierarchy.base import TOP, BoundHierarchy, quotient
from shoal.kernels.arrays import Floats
from shoal.schema.columns import Column

_EXAMPLES = 3
"""Groups that a description names."""


@dataclass(frozen=True)
class BoundLadder(BoundHierarchy):
    """``rungs[0]`` lists the values, ``rungs[l]`` the label of each on level l; the top is left out."""

    rungs: tuple[pl.Series, ...] = field(repr=False, compare=False)
    lists_missing: bool = False
    """The empty text is one of the values listed, and a missing value follows it."""

    @classmethod
    def build(
        cls,
        column: Column,
        rungs: Sequence[Sequence[str] | pl.Series],
        distinct: pl.DataFrame,
        *,
        lists_missing: bool = False,
    ) -> Self:
        """The ladder, once every distinct value of the data is found on it."""
        bound = cls(column, tuple(pl.Series("rung", rung, dtype=pl.String) for rung in rungs), lists_missing)
        keys = bound._keys(distinct["value"])
        missing = keys.is_not_null() & ~keys.is_in(bound.rungs[0].implode())
        if missing.any():
            raise bound.unknown(int(missing.sum()), int(distinct["records"].filter(missing).sum()))
        return bound

    @property
    def height(self) -> int:
        return len(self.rungs)

    @property
    def leaf_count(self) -> int:
        return len(self.rungs[0])

    def describe(self, level: int) -> str:
        """
        >>> rungs = [["Pune", "Thane", "Goa"], ["Maharashtra", "Maharashtra", "Goa"]]
        >>> known = pl.DataFrame({"value": ["Pune"], "records": [1]})
        >>> BoundLadder.build(Column("city"), rungs, known).meaning(1)
        '2 groups, such as Maharashtra'
        """
        groups = self.rungs[level].drop_nulls().unique(maintain_order=True)
        named = groups.filter(~groups.is_in(self.rungs[0].implode())).head(_EXAMPLES)
        such = f", such as {', '.join(named)}" if len(named) else ""
        return f"{len(groups)} group{'' if len(groups) == 1 else 's'}{such}"

    def label(self, values: pl.Series, level: int) -> pl.Series:
        return self._look_up(values, self.rungs[level])

    def share(self, values: pl.Series, level: int) -> Floats:
        return self._look_up(values, shares(self.rungs[level])).fill_null(0.0).to_numpy()

    def _keys(self, values: pl.Series) -> pl.Series:
        text = values.cast(pl.String)
        return text.fill_null("") if self.lists_missing else text

    def _look_up(self, values: pl.Series, entries: pl.Series) -> pl.Series:
        keys = self._keys(values)
        table = pl.DataFrame({"key": self.rungs[0], "entry": entries})
        # A join is a fifth faster than replace_strict here, and more so for many distinct values.
        found = pl.DataFrame({"key": keys}).join(table, on="key", how="left", maintain_order="left")["entry"]
        if found.null_count() > keys.null_count():
            lost = keys.filter(found.is_null() & keys.is_not_null())
            raise self.unknown(lost.n_unique(), len(lost))
        return found


class StarredLadder(BoundLadder):
    """A ladder on which some values have no label: their rungs say ``*``, and they are starred on every level."""

    def generalise(self, values: pl.Series, level: int) -> pl.Series:
        """A star of the data is none of ours."""
        found = super().generalise(values, level)
        if not 0 < level < self.height:
            return found
        alone = (self.label(values, level) == TOP) & (values.cast(pl.String) != TOP)
        return found.set(alone.fill_null(value=False), TOP)

    def share(self, values: pl.Series, level: int) -> Floats:
        return np.where(self.label(values, level) == TOP, 1.0, super().share(values, level))


def shares(labels: pl.Series) -> pl.Series:
    """(leaves under each leaf's label − 1) ÷ (leaves − 1), where ``labels`` has one entry for each leaf."""
    sizes = pl.DataFrame({"label": labels}).select(pl.len().over("label").cast(pl.Int64)).to_series()
    return quotient(sizes - 1, max(len(labels) - 1, 1))


def two_parents(children: Sequence[str], parents: Sequence[str]) -> tuple[int, int] | None:
    """The first two positions where one child has different parents, so that the levels don't nest."""
    first_seen: dict[str, int] = {}
    for position, child in enumerate(children):
        first = first_seen.setdefault(child, position)
        if parents[first] != parents[position]:
            return first, position
    return None
