"""Junction trees: which attributes stand together in one table, so that sums over all others are exact and cheap.

A distribution that is a product of tables over a few attributes each (Lauritzen, Spiegelhalter 1988). The graph in
which attributes of one table are neighbours is triangulated; its cliques form a tree, and messages along it, up and
down once, give every clique its exact marginal. The work is the number of cells in all cliques, so that is what is
bounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scope = tuple[int, ...]
"""Attributes, by their places, in rising order."""
Table = NDArray[np.float64]
"""A number for every combination of codes of a scope: one axis for each attribute."""


@dataclass(frozen=True)
class TreeEdge:
    """A clique, the one that it hangs on (none for the root), and the attributes that both have."""

    child: int
    parent: int | None
    separator: Scope


@dataclass(frozen=True)
class JunctionTree:
    """Cliques of a triangulated graph, and the edges between them, parents before children.

    >>> tree = JunctionTree.over((2, 3, 4), [(0, 1), (1, 2)])
    >>> sorted(tree.cliques), tree.cells
    ([(0, 1), (1, 2)], 18)
    """

    sizes: tuple[int, ...]
    """How many codes each attribute has."""
    cliques: tuple[Scope, ...]
    edges: tuple[TreeEdge, ...]

    @classmethod
    def over(cls, sizes: Sequence[int], scopes: Iterable[Scope]) -> JunctionTree:
        """A tree in which each scope, and each single attribute, is within a clique."""
        cliques = _triangulated(sizes, scopes)
        return cls(tuple(sizes), cliques, _spanning(cliques) if cliques else ())

    @property
    def cells(self) -> int:
        return sum(prod(self.sizes[one] for one in clique) for clique in self.cliques)

    @cached_property
    def _hosts(self) -> dict[Scope, int | None]:
        return {}

    def host(self, scope: Scope) -> int | None:
        """The smallest clique that has all attributes of a scope; None where no clique has them all."""
        if scope not in self._hosts:
            having = [place for place, clique in enumerate(self.cliques) if set(scope) <= set(clique)]
            smallest = min(having, key=lambda place: prod(self.sizes[one] for one in self.cliques[place]), default=None)
            self._hosts[scope] = smallest
        return self._hosts[scope]

    @cached_property
    def neighbours(self) -> dict[int, list[tuple[int, Scope]]]:
        """Of each clique, the cliques beside it and what it shares with them."""
        found: dict[int, list[tuple[int, Scope]]] = {place: [] for place in range(len(self.cliques))}
        for edge in self.edges:
            if edge.parent is not None:
                found[edge.parent].append((edge.child, edge.separator))
                found[edge.child].append((edge.parent, edge.separator))
        return found

    def spread(self, table: Table, scope: Scope, place: int) -> Table:
        """A table over a scope, shaped so that it is broadcast over the clique at that place."""
        return table.reshape([self.sizes[one] if one in scope else 1 for one in self.cliques[place]])

    def calibrated(self, potentials: Mapping[Scope, Table]) -> CalibratedTree:
        """The distribution in proportion to exp of the sum of all potentials, by messages up the tree and down."""
        logs = [np.zeros([self.sizes[one] for one in clique]) for clique in self.cliques]
        for scope, table in potentials.items():
            place = self.host(scope)
            if place is None:
                raise ValueError(f"no clique has the attributes {scope}")
            logs[place] = logs[place] + self.spread(table, scope, place)
        upwards: dict[int, Table] = {}
        for edge in reversed(self.edges):
            if edge.parent is not None:
                upwards[edge.child] = _log_sum(logs[edge.child], self._others(edge.child, edge.separator))
                logs[edge.parent] = logs[edge.parent] + self.spread(upwards[edge.child], edge.separator, edge.parent)
        return self._downwards(logs, upwards)

    def _downwards(self, logs: Sequence[Table], upwards: Mapping[int, Table]) -> CalibratedTree:
        if not self.edges:
            return CalibratedTree(self, 0.0, ())
        root = self.edges[0].child
        total = float(_log_sum(logs[root], tuple(range(logs[root].ndim))))
        marginals: dict[int, Table] = {root: np.exp(logs[root] - total)}
        for edge in self.edges[1:]:
            child, parent = edge.child, edge.parent
            if parent is None:
                raise ValueError("a tree has one root")
            above = marginals[parent].sum(axis=self._others(parent, edge.separator))
            within = np.exp(logs[child] - self.spread(upwards[child], edge.separator, child))
            marginals[child] = within * self.spread(above, edge.separator, child)
        return CalibratedTree(self, total, tuple(marginals[place] for place in range(len(self.cliques))))

    def _others(self, place: int, kept: Scope) -> tuple[int, ...]:
        """The axes of a clique whose attributes are not among those that are kept."""
        return tuple(axis for axis, one in enumerate(self.cliques[place]) if one not in kept)


@dataclass(frozen=True)
class CalibratedTree:
    """A distribution: of every clique the exact marginal."""

    tree: JunctionTree
    log_partition: float
    """Log of the sum of exp(potentials) over all combinations."""
    marginals: tuple[Table, ...]
    """In the order of the cliques; each sums to 1."""

    def marginal(self, scope: Scope) -> Table:
        """Of any attributes, whether or not one clique has them all."""
        place = self.tree.host(scope)
        if place is not None:
            within: Table = self.marginals[place].sum(axis=self.tree._others(place, scope))
            return within
        start = max(range(len(self.tree.cliques)), key=lambda at: len(set(scope) & set(self.tree.cliques[at])))
        table, names = self._gathered(start, None, frozenset(scope))
        return np.transpose(table, [names.index(one) for one in scope])

    def _gathered(self, place: int, behind: int | None, wanted: frozenset[int]) -> tuple[Table, Scope]:
        """The table over what is wanted of a clique and of everything beyond it, and what leads back."""
        clique = self.tree.cliques[place]
        factors: list[tuple[Table, Scope]] = [(self.marginals[place], clique)]
        back: Scope = ()
        for neighbour, separator in self.tree.neighbours[place]:
            if neighbour == behind:
                back = separator
            elif (self._beyond(neighbour, place) & wanted) - set(clique):
                table, names = self._gathered(neighbour, place, wanted)
                shared = self.marginals[place].sum(axis=self.tree._others(place, separator))
                factors += [(table, names), (_inverse(shared), separator)]
        present = {one for _, names in factors for one in names}
        kept = tuple(sorted(present & (wanted | set(back))))
        label = {one: place for place, one in enumerate(sorted(present))}  # einsum knows 52 of them
        operands: list[Any] = [part for table, names in factors for part in (table, [label[one] for one in names])]
        return np.einsum(*operands, [label[one] for one in kept], optimize=len(factors) > 2), kept

    def _beyond(self, place: int, behind: int) -> frozenset[int]:
        """All attributes of a clique and of those on the far side of it."""
        found = set(self.tree.cliques[place])
        for neighbour, _ in self.tree.neighbours[place]:
            if neighbour != behind:
                found |= self._beyond(neighbour, place)
        return frozenset(found)


def _inverse(table: Table) -> Table:
    return np.divide(1.0, table, out=np.zeros_like(table), where=table > 0)


def _log_sum(logs: Table, axes: tuple[int, ...]) -> Table:
    if not axes:
        return logs
    largest = logs.max(axis=axes, keepdims=True)
    summed: Table = np.log(np.exp(logs - largest).sum(axis=axes))
    total: Table = summed + largest.reshape(summed.shape)
    return total


def cells_over(sizes: Sequence[int], scopes: Iterable[Scope]) -> int:
    """How many cells the cliques of such a tree have.

    >>> cells_over((2, 3, 4), [(0, 1), (1, 2)])
    18
    """
    return sum(prod(sizes[one] for one in clique) for clique in _triangulated(sizes, scopes))


def _triangulated(sizes: Sequence[int], scopes: Iterable[Scope]) -> tuple[Scope, ...]:
    """Attributes are taken out one after the other, first those that leave the smallest clique behind."""
    neighbours: dict[int, set[int]] = {one: set() for one in range(len(sizes))}
    for scope in scopes:
        for first, second in combinations(scope, 2):
            neighbours[first].add(second)
            neighbours[second].add(first)
    cliques: list[frozenset[int]] = []
    costs = {one: sizes[one] * prod(sizes[other] for other in beside) for one, beside in neighbours.items()}
    having: dict[int, list[frozenset[int]]] = {one: [] for one in neighbours}
    while neighbours:
        leaving = min(costs, key=lambda one: (costs[one], one))
        beside = neighbours.pop(leaving)
        del costs[leaving]
        clique = frozenset(beside | {leaving})
        if not any(clique <= other for other in having[leaving]):
            cliques.append(clique)
            for one in clique:
                having[one].append(clique)
        for other in beside:
            neighbours[other] |= beside - {other}
            neighbours[other].discard(leaving)
            costs[other] = sizes[other] * prod(sizes[one] for one in neighbours[other])
    return tuple(tuple(sorted(clique)) for clique in cliques)


def _spanning(cliques: Sequence[Scope]) -> tuple[TreeEdge, ...]:
    """A tree of the largest separators, which is a junction tree (Jensen, Jensen 1994)."""
    members = [frozenset(clique) for clique in cliques]
    edges = [TreeEdge(0, None, ())]
    nearest = {child: (len(members[child] & members[0]), 0) for child in range(1, len(cliques))}
    while nearest:
        child = max(nearest, key=lambda one: (nearest[one][0], -one))
        _, parent = nearest.pop(child)
        edges.append(TreeEdge(child, parent, tuple(sorted(members[child] & members[parent]))))
        for other, (shared, _) in nearest.items():
            found = len(members[other] & members[child])
            if found > shared:
                nearest[other] = (found, child)
    return tuple(edges)
