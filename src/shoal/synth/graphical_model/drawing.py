"""Records drawn from a calibrated tree, clique by clique, with as little chance as a draw can have.

Among the records that agree on what was drawn before, codes are drawn systematically: each combination gets its
expected number of records, rounded up or down at random. These records are sorted by what else is known of them, and
neighbours get draws that lie far apart, so combinations with other attributes come out evenly too. So a table that is
drawn lies closer to its model than one in which every record is drawn for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shoal.randomness import Stream
from shoal.synth.graphical_model.junction_tree import CalibratedTree, Scope, Table

Codes = NDArray[np.int64]
_GOLDEN: Final = (5**0.5 - 1) / 2
_SORTED_BY: Final = 4
"""Other attributes, the latest ones, by which records are sorted before they are drawn for."""


def drawn(model: CalibratedTree, rows: int, stream: Stream, *, first: int = 0) -> Codes:
    """Codes of new records, one column for each attribute. ``first`` is the number of records drawn before."""
    tree = model.tree
    places = np.arange(first, first + rows, dtype=np.uint64)
    codes = np.zeros((rows, len(tree.sizes)), dtype=np.int64)
    done: set[int] = set()
    for lane, edge in enumerate(tree.edges):
        clique = tree.cliques[edge.child]
        known = tuple(one for one in clique if one in done)
        new = tuple(one for one in clique if one not in done)
        shares = _conditional(model.marginals[edge.child], clique, known, new)
        within = codes[:, known] @ _strides(tree.sizes, known) if known else np.zeros(rows, dtype=np.int64)
        beside = [codes[:, one] for one in done if one not in clique][-_SORTED_BY:]
        combination = systematic(shares, within, stream, places, lane, beside)
        codes[:, new] = np.stack(np.unravel_index(combination, [tree.sizes[one] for one in new]), axis=1)
        done.update(new)
    return codes


def systematic(  # noqa: PLR0913, PLR0917  # what is drawn, for whom, by which chance
    shares: Table,
    within: Codes,
    stream: Stream,
    places: NDArray[np.uint64],
    lane: int,
    beside: Sequence[Codes] = (),
) -> NDArray[np.int64]:
    """For each record a column of ``shares``, by the row that ``within`` names, in the proportions of that row.

    ``beside`` are codes that have nothing to do with the draw, among which it is spread evenly.

    >>> stream = __import__("shoal.randomness").randomness.Randomness(seed=1).stream("doc")
    >>> places = np.arange(10, dtype=np.uint64)
    >>> found = systematic(np.array([[0.3, 0.7]]), np.zeros(10, dtype=np.int64), stream, places, 0)
    >>> np.bincount(found).tolist()
    [3, 7]
    """
    if not len(within):
        return np.zeros(0, dtype=np.int64)
    order = np.lexsort((stream.words(places, 2 * lane)[:, 0], *beside, within))
    rows, starts, counts = np.unique(within[order], return_index=True, return_counts=True)
    offsets = stream.uniform(places[starts], 2 * lane + 1)
    group = np.repeat(np.arange(len(rows)), counts)
    rank = np.arange(len(within)) - starts[group]
    if beside:
        order = order[np.lexsort((np.modf(rank * _GOLDEN)[0], group))]
    levels = np.cumsum(shares[rows], axis=1)
    levels /= levels[:, -1:]
    points = (rank + offsets[group]) / counts[group]
    flat = (levels + np.arange(len(rows))[:, None]).ravel()
    found = np.searchsorted(flat, points + group, side="right") - group * shares.shape[1]
    out = np.empty(len(within), dtype=np.int64)
    out[order] = np.clip(found, 0, shares.shape[1] - 1)
    return out


def _conditional(marginal: Table, clique: Scope, known: Scope, new: Scope) -> Table:
    """A row for each combination of what is known, a column for each of what is new. Impossible rows are even."""
    moved = np.transpose(marginal, [clique.index(one) for one in (*known, *new)])
    table = moved.reshape(prod(moved.shape[: len(known)]), -1)
    empty = table.sum(axis=1, keepdims=True) <= 0
    return np.where(empty, 1.0, table)


def _strides(sizes: tuple[int, ...], scope: Scope) -> NDArray[np.int64]:
    """What a code of each attribute adds to the number of a combination."""
    return np.array([prod(sizes[other] for other in scope[place + 1 :]) for place in range(len(scope))], dtype=np.int64)
