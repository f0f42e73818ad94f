"""Complementary (secondary) cell suppression: what published totals would give away is withheld too.

A table over k attributes is an array with one more place per attribute for the total over it. A withheld cell can be
recovered by subtraction wherever the other cells of a line are published, so more cells have to go.

**Boxes.** Take the cell to be protected and a second cell that differs from it in every attribute: the 2^k cells that
mix their coordinates are a box. Moving an amount δ around the box, up in some corners and down in the others, keeps
every line true to its total: along an attribute two groups move in opposite directions, a group and the total in the
same. If all corners are withheld, no one can tell the table before from the table after, so the cell might hold δ more
(or less), as far as no corner falls below what is known to be possible. Boxes add up. This is the hypercube method
(Repsilber, 1994), with totals as corners and with the movement as a proof of how well each cell is hidden.

**Enough.** A ``ProtectionDemand`` says how far each sensitive cell must be able to move. Boxes are chosen by price
per progress until the demands are met; what is withheld already costs nothing. The box whose other corners are totals
can move up without limit, so there is always a solution unless totals can't be withheld. A later box never undoes an
earlier one: the more is withheld, the more is possible. The result is safe, not the least possible.

What can be computed is safe too: a sum of withheld cells that follows from what is published is the same in every
possible table, so it is at least what any one of its cells might be, and every box around one of its cells has a
falling corner among the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from shoal.kernels.arrays import Floats, Mask

Cell = tuple[int, ...]


@dataclass(frozen=True)
class ProtectionDemand:
    """For one published quantity: what each cell can lose, and how far each must be able to move (0: not at all)."""

    holds: Floats
    need: Floats
    upward: bool


@dataclass
class _Open:
    """A demand of one cell that is not met yet, with the movements so far taken into account."""

    holds: Floats
    rest: float
    falling: int
    """The sign of the corners that limit the movement: −1 when the cell shall rise."""


def protect(sensitive: Mask, price: Floats, demands: Sequence[ProtectionDemand]) -> tuple[Mask, int]:
    """Which cells are withheld, and how many sensitive ones could not be protected.

    ``price`` is what withholding a cell costs, above 0; infinite where a cell is empty or known anyway.

    >>> counts = np.array([1.0, 7.0, 9.0, 17.0])  # three groups and their total
    >>> must_rise = ProtectionDemand(holds=counts, need=np.array([4.0, 0.0, 0.0, 0.0]), upward=True)
    >>> protect(counts < 5, counts, [must_rise])
    (array([ True,  True, False, False]), 0)
    """
    prices = np.where(sensitive, 0.0, price)
    exposed = 0
    for place in np.argwhere(sensitive):
        cell = tuple(int(at) for at in place)
        wanted = [
            _Open(demand.holds.copy(), float(demand.need[cell]), -1 if demand.upward else 1)
            for demand in demands
            if demand.need[cell] > 0
        ]
        exposed += not _hide(cell, prices, wanted)
    return prices == 0, exposed


def _hide(cell: Cell, prices: Floats, wanted: list[_Open]) -> bool:
    """Withhold boxes around the cell until its demands are met."""
    while any(demand.rest > 0 for demand in wanted):
        opposite = _best_box(cell, prices, [demand for demand in wanted if demand.rest > 0])
        if opposite is None:
            return False
        corners, signs = zip(*_corners(cell, opposite, prices.shape), strict=True)
        for corner in corners:
            prices[corner] = 0.0
        for demand in wanted:
            _move(demand, corners, signs)
    return True


def _move(demand: _Open, corners: Sequence[Cell], signs: Sequence[int]) -> None:
    falling = [demand.holds[corner] for corner, sign in zip(corners, signs, strict=True) if sign == demand.falling]
    step = min([demand.rest, *falling])
    for corner, sign in zip(corners, signs, strict=True):
        demand.holds[corner] += -step if sign == demand.falling else step
    demand.rest -= step


def _best_box(cell: Cell, prices: Floats, wanted: list[_Open]) -> Cell | None:
    """The opposite corner of the box that costs least for the progress it makes."""
    cost = _sum_of_corners(cell, prices)
    progress = np.ones(prices.shape)
    for demand in wanted:
        progress = np.minimum(progress, _movement(cell, demand) / demand.rest)
    ratio = np.full(prices.shape, np.inf)
    np.divide(cost, progress, out=ratio, where=(progress > 0) & np.isfinite(cost))
    if not np.isfinite(ratio.min()):
        return None
    best = np.argmax(np.where(ratio == ratio.min(), progress, 0.0))
    return tuple(int(at) for at in np.unravel_index(best, prices.shape))


def _sum_of_corners(cell: Cell, prices: Floats) -> Floats:
    """The price of the box for every choice of the opposite corner."""
    total = np.zeros(prices.shape)
    for mixed in product((False, True), repeat=len(cell)):
        total = total + prices[_mix(cell, mixed)]
    for axis, at in enumerate(cell):
        total[(slice(None),) * axis + (at,)] = np.inf
    return total


def _movement(cell: Cell, demand: _Open) -> Floats:
    """How far the cell can move around the box, for every choice of the opposite corner."""
    limit = np.full(demand.holds.shape, np.inf)
    for mixed in product((False, True), repeat=len(cell)):
        sign = np.ones((1,) * len(cell))
        for axis, free in enumerate(mixed):
            sign = sign * _along(axis, cell[axis], demand.holds.shape) if free else sign
        limit = np.minimum(limit, np.where(sign == demand.falling, demand.holds[_mix(cell, mixed)], np.inf))
    return limit


def _mix(cell: Cell, mixed: Sequence[bool]) -> tuple[slice, ...]:
    return tuple(slice(None) if free else slice(at, at + 1) for at, free in zip(cell, mixed, strict=True))


def _along(axis: int, at: int, shape: tuple[int, ...]) -> Floats:
    """−1 where a step along the axis goes from one group to another, +1 where it goes to or from the total."""
    size = shape[axis]
    sign = np.full(size, 1.0 if at == size - 1 else -1.0)
    sign[size - 1] = 1.0
    return sign.reshape((1,) * axis + (size,) + (1,) * (len(shape) - axis - 1))


def _corners(cell: Cell, opposite: Cell, shape: tuple[int, ...]) -> Iterator[tuple[Cell, int]]:
    """The corners of one box, each with the direction it moves in when the cell rises."""
    for mixed in product((False, True), repeat=len(cell)):
        corner = tuple(other if free else at for at, other, free in zip(cell, opposite, mixed, strict=True))
        turns = sum(
            at < size - 1 and other < size - 1
            for at, other, size, free in zip(cell, opposite, shape, mixed, strict=True)
            if free
        )
        yield corner, -1 if turns % 2 else 1
