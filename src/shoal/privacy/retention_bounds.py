"""How many records of a class can be kept at most, however it is divided.

A model that is monotone under generalisation holds for the union of the parts it holds for. So of a class that fails,
no division keeps more records than the largest part of it that would hold as a whole. Where the bound of a model is on
shares of values, that part is found exactly, values counted as if they could be divided; in whole records it is no
larger.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shoal.kernels.arrays import Floats, Integers

NOTHING_FITS = 1e18
STEPS = 4
"""Of Newton's method. Stopped early, the bound is higher than it need be, and still a bound."""
SLACK = 1e-9
"""Relative. The bound may be too high by this much, and must not be too low."""


def within_caps(block: Integers, caps: Floats) -> Integers:
    """The most records N of each row (classes × values) such that no value has more than ``caps`` × N of them.

    >>> within_caps(np.array([[8, 2], [1, 1]]), np.array([0.5, 1.0])).tolist()
    [4, 2]
    """
    size = block.sum(axis=1).astype(np.float64)
    for _ in range(block.shape[1] + 1):
        full = block > caps * size[:, None] * (1 + SLACK)
        open_records = np.where(full, 0, block).sum(axis=1)
        taken = np.where(full, caps, 0.0).sum(axis=1)
        # Capped values fill the share ``taken``; the others have to fill the rest.
        fitting = np.where(taken < 1, open_records / np.maximum(1 - taken, SLACK), size)
        smaller = np.minimum(size, fitting)
        if not (smaller < size * (1 - SLACK)).any():
            break
        size = smaller
    return _whole(size)


def within_distance(size: Integers, blocks: Sequence[Integers], shares: Sequence[Floats], most: float) -> Integers:
    """The most records N of each row such that, on average over the levels, Σ max(0, share − records ÷ N) ≤ ``most``.

    One block and one set of shares per level; ``size`` is what a row has to begin with. The sum is what the values
    lack, half of the sum of all differences.

    >>> within_distance(np.array([10]), [np.array([[9, 1]])], [np.array([0.5, 0.5])], 0.25).tolist()
    [4]
    """
    goal = (most + SLACK) * len(blocks)
    if len(blocks) == 1:
        return _on_one_level(blocks[0], shares[0], size, goal)
    # Values go down the columns here: sums over many short rows are slow.
    columns = [np.ascontiguousarray(block.T, dtype=np.float64) for block in blocks]
    inverse = 1 / np.maximum(size, 1.0)
    lacking, slope = _lacking(columns, shares, inverse)
    rows = np.flatnonzero(lacking > goal)
    lacking, slope = lacking[rows], slope[rows]
    columns = [column[:, rows] for column in columns]
    found = inverse[rows]
    for _ in range(STEPS):
        if not len(rows):
            break
        # What is lacking falls, convex and piecewise linear, with 1 ÷ N: Newton's steps don't pass the root.
        step = np.divide(lacking - goal, slope, out=np.full(len(rows), NOTHING_FITS), where=slope > 0)
        found += np.maximum(step, 0)
        lacking, slope = _lacking(columns, shares, found)
    inverse[rows] = found
    return np.asarray(np.minimum(_whole(1 / inverse), size))


def _on_one_level(block: Integers, known: Floats, size: Integers, goal: float) -> Integers:
    """The same for one level. What any values lack together is their share − their records ÷ N, which bounds N.

    The tightest bound is that of the values with the fewest records for their share; those that lack something at one
    bound give the next, lower one.
    """
    counted, found = block.astype(np.float64), size.astype(np.float64)
    for _ in range(STEPS):
        lacks = (counted < known * found[:, None]).astype(np.float64)
        share = np.maximum(lacks @ known - goal, SLACK / NOTHING_FITS)
        held = np.einsum("ij,ij->i", counted, lacks)
        found = np.minimum(found, (held + SLACK) / share)
    return _whole(found)


def _lacking(blocks: Sequence[Floats], shares: Sequence[Floats], inverse: Floats) -> tuple[Floats, Floats]:
    """What the values of each class lack together when it has 1 ÷ ``inverse`` records, and how fast that falls."""
    lacking, slope = np.zeros(len(inverse)), np.zeros(len(inverse))
    for block, known in zip(blocks, shares, strict=True):
        short = known[:, None] - block * inverse
        lacks = short > 0
        lacking += (short * lacks).sum(axis=0)
        slope += (block * lacks).sum(axis=0)
    return lacking, slope


def _whole(size: Floats) -> Integers:
    return np.floor(size * (1 + SLACK) + SLACK).astype(np.int64)
