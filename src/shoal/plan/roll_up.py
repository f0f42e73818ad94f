"""The first roll-up, where even the distinct combinations are too many for the solver's machine.

The engine takes the finest attribute to the next level before it counts: of the values that are one group there, one
stands for all. Levels nest, so it has the group's label on every higher level too, and the solver, which may not go
below the level that was counted on, finds what it would have found from the whole table with that bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from shoal.hierarchy import BoundHierarchy
from shoal.schema.steps import ColumnStep


@dataclass(frozen=True)
class RollUpStep(ColumnStep):
    """Each value becomes the one that stands for its group; ``labels[i]`` is the group of ``values[i]``."""

    bound: BoundHierarchy
    level: int
    labels: pl.Series = field(repr=False, compare=False)
    values: pl.Series = field(repr=False, compare=False)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        values = frame[self.column.name]
        labels = self.bound.generalise(values, self.level)
        standing = labels.replace_strict(self.labels, self.values, return_dtype=self.values.dtype)
        return frame.with_columns(standing.alias(self.column.name))


@dataclass(frozen=True)
class RollUpLevel:
    """An attribute on the level that it is counted on, with the values that are left there."""

    bound: BoundHierarchy
    values: pl.Series
    level: int = 0
    highest: int = 0
    """The highest level that it may be raised to."""

    def raised(self, lowest: int) -> RollUpLevel | None:
        """On the next level on which there are fewer values, from ``lowest`` on."""
        for level in range(max(lowest, self.level + 1), self.highest + 1):
            standing = self._groups(level)["values"]
            if len(standing) < len(self.values):
                return replace(self, values=standing, level=level)
        return None

    def step_from(self, below: RollUpLevel) -> RollUpStep:
        groups = below._groups(self.level)
        return RollUpStep(self.bound.column, self.bound, self.level, groups["labels"], groups["values"])

    def _groups(self, level: int) -> pl.DataFrame:
        """One line for each label, with the smallest of its values."""
        labels = self.bound.generalise(self.values, level).alias("labels")
        lines = pl.DataFrame([labels, self.values.alias("values")])
        return lines.group_by("labels", maintain_order=True).agg(pl.col("values").min())


@dataclass(frozen=True)
class RollUpState:
    """The attributes that were raised, and all that were looked at."""

    rungs: Mapping[str, RollUpLevel] = field(default_factory=dict)
    known: Mapping[str, RollUpLevel] = field(default_factory=dict)

    def further(
        self, names: tuple[str, ...], first: Callable[[str], RollUpLevel], lowest: Mapping[str, int]
    ) -> tuple[RollUpState, str, RollUpStep] | None:
        """The finest attribute one level higher; None if none can go any higher."""
        known = {name: self.known.get(name) or first(name) for name in names}
        for name in sorted(names, key=lambda name: (-len(known[name].values), name)):
            higher = known[name].raised(lowest.get(name, 0))
            if higher is not None:
                rolled = RollUpState({**self.rungs, name: higher}, {**known, name: higher})
                return rolled, name, higher.step_from(known[name])
        return None
