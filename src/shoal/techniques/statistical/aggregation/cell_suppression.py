"""Which groups of macrodata must be withheld: the sensitive ones (ISO/IEC 20889, 10.4), and those that give them away.

Works on the lines of ``tally``, in a fixed order: one per group, and one per total where there are any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import DataError
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.techniques.statistical.aggregation.complementary_suppression import ProtectionDemand, protect
from shoal.techniques.statistical.aggregation.group_statistics import PEOPLE, GroupTally, is_total, value_of
from shoal.techniques.strata import stratum_codes

MAX_CELLS = 1_000_000
"""Groups and totals, empty ones included, of a table that is protected as a whole."""

_TOTAL_PRICE = 10.0
"""How much dearer a withheld total is than a group with as many people."""


@dataclass(frozen=True)
class PrimarySuppressionRule:
    """When a group is sensitive, and how well it has to be hidden."""

    minimum: int
    protection: float
    share: float
    """Of the largest contributions, where those are kept."""

    def sensitive(self, tally: GroupTally, groups: pl.DataFrame) -> Mask:
        found = _numbers(groups, PEOPLE) < self.minimum
        for at, column in enumerate(tally.columns):
            givers = _numbers(groups, f"givers.{at}")
            found |= (givers > 0) & (givers < self.minimum)
            if tally.largest and at in tally.summed:
                if (groups[f"min.{at}"] < 0).any():
                    raise DataError(f"dominance needs values of at least 0; column '{column.name}' has others")
                found |= self._excess(groups, at) > 0
        return found

    def demands(
        self, tally: GroupTally, groups: pl.DataFrame, sensitive: Mask
    ) -> Iterator[tuple[Floats, Floats, bool]]:
        """Per line: what it can lose, how far it must be able to move, and whether upwards."""
        # A group that is shown at all has a person in it, and everyone knows that.
        yield *self._people(tally, _numbers(groups, PEOPLE), known=1), True
        for at in range(len(tally.columns)):
            yield *self._people(tally, _numbers(groups, f"givers.{at}"), known=0), True
        for at in sorted(tally.summed):
            if (groups[f"min.{at}"] < 0).any() and (groups[f"max.{at}"] > 0).any():
                continue  # sums of either sign have no bound from which their parts could be reckoned
            size = np.abs(_numbers(groups, f"sum.{at}"))
            need = np.where(sensitive, np.maximum(self.protection * size, 1.0), 0.0)
            excess = np.where(sensitive, self._excess(groups, at), 0.0) if tally.largest else need
            yield size, np.maximum(need, excess), True
            yield size, np.minimum(need, size), False

    def _people(self, tally: GroupTally, people: Floats, known: int) -> tuple[Floats, Floats]:
        short = (people > 0) & (people < self.minimum)
        if tally.person is None:
            return np.maximum(people - known, 0.0), np.where(short, self.minimum - people, 0.0)
        # Small groups may share their people, so only one that is large by itself can hide another.
        return np.where(people < self.minimum, 0.0, self.minimum), np.where(short, float(self.minimum), 0.0)

    def _excess(self, groups: pl.DataFrame, at: int) -> Floats:
        """How much larger a sum would have to be for its largest parts not to dominate it."""
        top = groups[f"top.{at}"].list.sum().cast(pl.Float64).to_numpy()
        return np.asarray(top / self.share - _numbers(groups, f"sum.{at}"))


@dataclass(frozen=True)
class CellGrid:
    """The place of each line in an array with one axis per attribute, whose last place is the total."""

    shape: tuple[int, ...]
    places: Integers

    @classmethod
    def of(cls, groups: pl.DataFrame, attributes: int) -> CellGrid:
        codes, shape = [], []
        for at in range(attributes):
            single = ~groups[is_total(at)].to_numpy()
            code = stratum_codes(groups.filter(single), (value_of(at),))
            size = int(code.max(initial=-1)) + 1
            codes.append(np.full(groups.height, size))
            codes[-1][single] = code
            shape.append(size + 1)
        if prod(shape) > MAX_CELLS:
            raise DataError(
                f"a table of {prod(shape)} groups and totals is too large to be protected",
                advice="use fewer or coarser attributes in 'by', or leave out the totals",
            )
        return cls(tuple(shape), np.ravel_multi_index(codes, shape).astype(np.int64))

    def spread(self, lines: NDArray[np.generic], empty: float = 0.0) -> Floats:
        dense = np.full(self.shape, empty)
        dense.flat[self.places] = lines
        return dense


@dataclass(frozen=True)
class SuppressedCells:
    """For each line: whether it is withheld, and whether anything under it is."""

    withheld: Mask
    covers_withheld: Mask


def suppress_groups(
    rule: PrimarySuppressionRule, tally: GroupTally, groups: pl.DataFrame, *, totals_known: bool
) -> SuppressedCells:
    """The lines to withhold. With totals among the lines, none can be computed from the others."""
    attributes = len(tally.by)
    sensitive = rule.sensitive(tally, groups)
    levels = groups.select(pl.sum_horizontal(is_total(at) for at in range(attributes))).to_series().to_numpy()
    if not levels.any():
        return SuppressedCells(sensitive, sensitive)
    price = _numbers(groups, PEOPLE) * _TOTAL_PRICE**levels
    if totals_known:
        sensitive, price = sensitive & (levels == 0), np.where(levels > 0, np.inf, price)
    grid = CellGrid.of(groups, attributes)
    demands = [
        ProtectionDemand(grid.spread(holds), grid.spread(np.where(sensitive, need, 0.0)), upward)
        for holds, need, upward in rule.demands(tally, groups, sensitive)
    ]
    withheld, exposed = protect(grid.spread(sensitive) > 0, grid.spread(price, empty=np.inf), demands)
    if exposed:
        raise DataError(
            f"{exposed} small group(s) can be computed from totals that are known",
            advice="use fewer or coarser attributes in 'by'",
        )
    return SuppressedCells(withheld.flat[grid.places], _covering(withheld).flat[grid.places])


def _covering(withheld: Mask) -> Mask:
    """Whether a cell is withheld or, for a total, anything that it sums."""
    covering = withheld.copy()
    for axis in range(withheld.ndim):
        parts = np.moveaxis(covering, axis, 0)
        parts[-1] |= parts[:-1].any(axis=0)
    return covering


def _numbers(groups: pl.DataFrame, name: str) -> Floats:
    return groups[name].cast(pl.Float64).to_numpy()
