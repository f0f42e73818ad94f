"""Trees that tell the codes of one column by those of others (CART, Breiman et al. 1984; Reiter 2005).

A tree splits records by what predicts the column, as long as a split tells more than chance would: twice the gain in
log-likelihood has to exceed ``_PENALTY`` for each further code of the column (chance gives about 1, AIC asks for 2),
and more where many splits are tried. So few leaves hold a few people's peculiarities. In a leaf, codes are drawn in the
proportions of its records, systematically: each gets its expected number, rounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers
from shoal.kernels.thread_limits import one_blas_thread
from shoal.randomness import Stream
from shoal.synth.graphical_model.drawing import systematic

Arrays = Mapping[str, NDArray[np.generic]]

_SPLIT_ON: Final = 100_000
"""Records, evenly taken, on which splits are found; the leaves count all."""
_COMPARED: Final = 2_000
"""Records on which predictors are chosen where there are more than ``_MOST_PREDICTORS``."""
_MOST_PREDICTORS: Final = 40
_SMALLEST_LEAF, _PENALTY = 10, 1.5
_TRIED: Final = 3
"""Splits by one predictor that are different enough to count as several."""
_NOT_ALONE: Final = 3
"""Records of a leaf that share a name, from which on it is theirs together."""
_ARRAYS: Final = ("splits", "leaf", "shares")


@dataclass(frozen=True)
class ConditionalTree:
    """How the codes of a column depend on those of others. Of inner nodes the split, of leaves the shares of codes."""

    target: int
    """The column whose codes it tells, by its place."""
    predictors: tuple[int, ...]
    ranks: tuple[Integers, ...]
    """Of each predictor's codes, the place in the order in which this tree splits them."""
    splits: Integers
    """Of each inner node the predictor that it asks, a rank, and the nodes up to that rank and above it."""
    leaf: Integers
    """Of each node the row in ``shares``, -1 for an inner one."""
    shares: NDArray[np.float32]

    def leaves(self, codes: Integers) -> Integers:
        """The leaf of each record."""
        node = np.zeros(len(codes), dtype=np.int64)
        ranked = [ranks[codes[:, place]] for place, ranks in zip(self.predictors, self.ranks, strict=True)]
        if ranked:
            matrix = np.stack(ranked, axis=1)
            moving = np.flatnonzero(self.leaf[node] < 0)
            while len(moving):
                at = node[moving]
                above = matrix[moving, self.splits[at, 0]] > self.splits[at, 1]
                node[moving] = np.where(above, self.splits[at, 3], self.splits[at, 2])
                moving = moving[self.leaf[node[moving]] < 0]
        return self.leaf[node]

    def draw(self, codes: Integers, stream: Stream, places: NDArray[np.uint64], lane: int) -> Integers:
        return systematic(self.shares.astype(np.float64), self.leaves(codes), stream, places, lane)


def trees_saved(trees: Sequence[ConditionalTree]) -> tuple[list[dict[str, Any]], dict[str, NDArray[np.generic]]]:
    """What JSON can hold, and arrays."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for at, tree in enumerate(trees):
        parts = {field: getattr(tree, field) for field in _ARRAYS}
        parts |= {f"ranks{place}": ranks for place, ranks in enumerate(tree.ranks)}
        arrays |= {f"tree{at}_{name}": part for name, part in parts.items()}
    return [{"target": tree.target, "predictors": list(tree.predictors)} for tree in trees], arrays


def trees_loaded(states: Sequence[Mapping[str, Any]], arrays: Arrays) -> tuple[ConditionalTree, ...]:
    trees = []
    for at, tree in enumerate(states):
        parts: dict[str, Any] = {field: arrays[f"tree{at}_{field}"] for field in _ARRAYS}
        ranks = tuple(arrays[f"tree{at}_ranks{place}"] for place in range(len(tree["predictors"])))
        trees.append(ConditionalTree(tree["target"], tuple(tree["predictors"]), ranks, **parts))  # type: ignore[arg-type]
    return tuple(trees)


@dataclass(frozen=True)
class TreeFitting:
    """Codes of a table, and trees over them."""

    codes: Integers
    some: Integers
    """The records on which splits are found."""
    sizes: tuple[int, ...]
    ordered: Sequence[bool]
    people: Integers | None = None
    """Whose each record is, by numbers; without it each is another person's."""

    @classmethod
    def of(
        cls, codes: Integers, sizes: Sequence[int], ordered: Sequence[bool], people: Integers | None = None
    ) -> TreeFitting:
        chosen = np.unique(np.linspace(0, len(codes) - 1, min(len(codes), _SPLIT_ON)).astype(np.int64))
        return cls(codes, codes[chosen], tuple(sizes), ordered, people)

    @one_blas_thread
    def tree(self, target: int, before: Sequence[int]) -> ConditionalTree:
        size = self.sizes[target]
        varying = [place for place in before if self.sizes[place] > 1] if size > 1 else []
        predictors = self._strongest(target, varying)
        if not predictors:
            counts = np.bincount(self.codes[:, target], minlength=size)[None].astype(np.float32)
            return ConditionalTree(
                target, (), (), np.zeros((1, 4), dtype=np.int64), np.zeros(1, dtype=np.int64), counts
            )
        ranks = tuple(self._ranks(place, target) for place in predictors)
        return self._counted(self._split(target, predictors, ranks))

    def _split(self, target: int, predictors: tuple[int, ...], ranks: tuple[Integers, ...]) -> ConditionalTree:
        from sklearn.tree import DecisionTreeClassifier

        matrix = np.stack([of[self.some[:, place]] for place, of in zip(predictors, ranks, strict=True)], axis=1)
        grown = DecisionTreeClassifier(
            criterion="entropy",
            min_samples_leaf=_SMALLEST_LEAF,
            min_impurity_decrease=self._least(target, predictors) / (2 * np.log(2) * len(self.some)),
            random_state=0,
        ).fit(matrix.astype(np.float32), self.some[:, target])
        nodes = grown.tree_
        is_leaf = nodes.children_left < 0
        splits = [nodes.feature, np.floor(nodes.threshold), nodes.children_left, nodes.children_right]
        return ConditionalTree(
            target,
            predictors,
            ranks,
            np.stack(splits, axis=1).astype(np.int64),
            np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int64),
            np.zeros((int(is_leaf.sum()), self.sizes[target]), dtype=np.float32),
        )

    def _least(self, target: int, predictors: Sequence[int]) -> float:
        """What twice the gain of a split has to come to. Of many that are tried one looks good by chance: half of how
        far the best of so many lies above the usual one (Laurent, Massart 2000) is asked for too.
        """
        more = self.sizes[target] - 1
        tried = np.log(sum(min(self.sizes[one] - 1, _TRIED) for one in predictors))
        return float(max(_PENALTY * more, more + np.sqrt(more * tried) + tried))

    def _counted(self, tree: ConditionalTree) -> ConditionalTree:
        size = self.sizes[tree.target]
        leaves = tree.leaves(self.codes)
        cells = leaves * size + self.codes[:, tree.target]
        tree.shares[:] = np.bincount(cells, minlength=tree.shares.size).reshape(tree.shares.shape)
        if not self.ordered[tree.target]:
            tree.shares[:] = _without_lone(tree.shares)
        if self.people is not None:
            tree.shares[:] = _of_crowds(tree, leaves, self.people)
        return tree

    def _ranks(self, place: int, target: int) -> Integers:
        """Of codes without an order: by the first axis of a correspondence analysis with the target."""
        size = self.sizes[place]
        if self.ordered[place] or size < 3:
            return np.arange(size)
        table = _crossed(self.some, place, target, self.sizes)
        rows, expected = table.sum(axis=1, keepdims=True), table.sum(axis=0) / table.sum()
        apart = (table / np.maximum(rows, 1) - expected) / np.sqrt(np.maximum(expected, 1e-12))
        _, _, axes = np.linalg.svd(apart * np.sqrt(rows), full_matrices=False)
        return np.argsort(np.argsort(np.round(apart @ axes[0], 9), kind="stable"), kind="stable").astype(np.int64)

    def _strongest(self, target: int, before: Sequence[int]) -> tuple[int, ...]:
        if len(before) <= _MOST_PREDICTORS:
            return tuple(before)
        some = self.some[:: max(1, len(self.some) // _COMPARED)]
        gains = [_information(_crossed(some, place, target, self.sizes)) for place in before]
        return tuple(before[at] for at in sorted(np.argsort(gains, kind="stable")[-_MOST_PREDICTORS:]))


def _crossed(codes: Integers, first: int, second: int, sizes: Sequence[int]) -> NDArray[np.float64]:
    cells = codes[:, first] * sizes[second] + codes[:, second]
    counts = np.bincount(cells, minlength=sizes[first] * sizes[second])
    return counts.reshape(sizes[first], sizes[second]).astype(np.float64)


def _information(table: NDArray[np.float64]) -> float:
    """The gain in log-likelihood by knowing the rows, less what chance gives."""
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    there = table > 0
    codes = [(np.count_nonzero(table.sum(axis=axis)) - 1) for axis in (0, 1)]
    return float((table[there] * np.log(table[there] / expected[there])).sum()) - codes[0] * codes[1] / 2


def _without_lone(counts: NDArray[np.float32]) -> NDArray[np.float32]:
    """Counts without names that hardly anybody in a leaf has, though many elsewhere do: such a pair is somebody's.

    What is lost is made up for in other leaves, so that names stay as frequent, and leaves as large.
    """
    lone = (counts > 0) & (counts < _NOT_ALONE)
    kept = np.where(lone, 0, counts).astype(np.float64)
    thin = kept.max(axis=0, initial=0) < _SMALLEST_LEAF  # frequent nowhere: no leaf is odd
    kept[:, thin] = counts[:, thin]
    empty = kept.sum(axis=1) == 0
    kept[empty] = counts[empty]
    names, leaves = counts.sum(axis=0), counts.sum(axis=1, keepdims=True)
    for _ in range(3):
        kept *= names / np.maximum(kept.sum(axis=0), 1e-9)
        kept *= leaves / np.maximum(kept.sum(axis=1, keepdims=True), 1e-9)
    return kept.astype(np.float32)


def _of_crowds(tree: ConditionalTree, leaves: Integers, people: Integers) -> NDArray[np.float32]:
    """Shares in which a leaf of too few people has those of the smallest node above it that has enough."""
    above = np.full(len(tree.leaf), -1)
    inner = np.flatnonzero(tree.leaf < 0)
    above[tree.splits[inner, 2]] = above[tree.splits[inner, 3]] = inner
    node_of = np.flatnonzero(tree.leaf >= 0)
    within: list[set[int]] = [set() for _ in tree.leaf]
    for leaf in np.unique(leaves).tolist():
        within[node_of[leaf]] = set(np.unique(people[leaves == leaf])[: _SMALLEST_LEAF * 4].tolist())
    counts = np.zeros((len(tree.leaf), tree.shares.shape[1]), dtype=np.float32)
    counts[node_of] = tree.shares
    for node in range(len(tree.leaf) - 1, 0, -1):  # nodes come after those above them
        counts[above[node]] += counts[node]
        within[above[node]] |= within[node]
    found = tree.shares.copy()
    for leaf, start in enumerate(node_of.tolist()):
        node = start
        while len(within[node]) < _SMALLEST_LEAF and above[node] >= 0:
            node = int(above[node])
        found[leaf] = counts[node]
    return found
