"""Joining combinations of values with combinations of labels that cover them, attribute by attribute.

Both sides are put in order, so that combinations with a common beginning stand together. Pairs of beginnings that agree
are extended by one attribute at a time: either the labels that cover the next value are looked up among the released
ones, or the released ones are tested, whichever is less work. What doesn't agree on the first attributes is never
looked at again. Work is cut into pieces, depth first, so memory stays bounded however many pairs there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from shoal.kernels.arrays import Integers, Mask

Codes = Integers
"""One row for each combination, one column for each attribute."""

PIECE = 1_000_000
"""About as many pairs are in memory at once, for each attribute."""


class Covering(Protocol):
    """What is needed of a Coverage."""

    @property
    def everything(self) -> Mask: ...
    @property
    def of_value(self) -> Integers: ...
    @property
    def of_label(self) -> Integers: ...
    @property
    def first(self) -> Integers: ...
    def covers(self, values: Integers, labels: Integers) -> Mask: ...


@dataclass(frozen=True)
class Trie:
    """Combinations in order; a node of a level is a beginning that some of them share."""

    order: Integers
    code: tuple[Integers, ...]
    """Per level, the last code of each node's beginning."""
    children: tuple[Integers, ...]
    """Per level, where the children of each node of the level above begin, and the end."""
    parent: tuple[Integers, ...]

    @classmethod
    def of(cls, codes: Codes) -> Trie:
        """The rows have to be distinct."""
        order = np.lexsort(codes.T[::-1])
        rows = codes[order]
        above, nodes = np.zeros(len(rows), dtype=np.int64), 1
        code, children, parents = [], [], []
        for level in range(codes.shape[1]):
            column = rows[:, level]
            new = np.ones(len(rows), dtype=bool)
            new[1:] = (column[1:] != column[:-1]) | (above[1:] != above[:-1])
            starts = np.flatnonzero(new)
            parent = above[starts]
            code.append(column[starts])
            parents.append(parent)
            children.append(np.searchsorted(parent, np.arange(nodes + 1)))
            above, nodes = np.cumsum(new) - 1, len(starts)
        return cls(order, tuple(code), tuple(children), tuple(parents))


@dataclass(frozen=True)
class JoinLevel:
    """One attribute's part of the join."""

    coverage: Covering
    targets: tuple[Integers, Integers]
    """Codes of the nodes, and where the children of each node above begin."""
    classes: tuple[Integers, Integers]
    keys: Integers
    """(parent, label) of each node of the classes as one number, in order."""
    wide: Integers
    """The labels that cover everything and are there."""

    @property
    def labels(self) -> int:
        return len(self.coverage.everything)

    def extend(self, targets: Integers, classes: Integers, piece: int) -> Iterator[tuple[Integers, Integers]]:
        """From pairs of nodes of the level above, the pairs of their children that agree."""
        code, children = self.targets
        sizes = children[targets + 1] - children[targets]
        for part in _pieces(sizes, piece):
            pair, child = spread(children[targets[part]], sizes[part])
            above = classes[part][pair]
            few = self._covering(code[child])
            beside = self.classes[1][above + 1] - self.classes[1][above]
            for some in _pieces(np.minimum(few, beside), piece):
                tested = few[some] >= beside[some]
                yield self._test(child[some][tested], above[some][tested])
                yield self._look_up(child[some][~tested], above[some][~tested])

    def _covering(self, values: Integers) -> Integers:
        first = self.coverage.first
        return np.asarray(first[values + 1] - first[values] + len(self.wide))

    def _test(self, child: Integers, above: Integers) -> tuple[Integers, Integers]:
        code, children = self.classes
        pair, node = spread(children[above], children[above + 1] - children[above])
        target = child[pair]
        agree = self.coverage.covers(self.targets[0][target], code[node])
        return target[agree], node[agree]

    def _look_up(self, child: Integers, above: Integers) -> tuple[Integers, Integers]:
        values, first = self.targets[0][child], self.coverage.first
        pair, place = spread(first[values], first[values + 1] - first[values])
        label = self.coverage.of_label[place]
        pair = np.concatenate([pair, np.repeat(np.arange(len(child)), len(self.wide))])
        label = np.concatenate([label, np.tile(self.wide, len(child))])
        asked = above[pair] * self.labels + label
        node = np.searchsorted(self.keys, asked)
        there = np.flatnonzero(self.keys[np.minimum(node, len(self.keys) - 1)] == asked)
        return child[pair[there]], node[there]


def join(
    targets: Codes, classes: Codes, coverages: Sequence[Covering], *, piece: int = PIECE
) -> Iterator[tuple[Integers, Integers]]:
    """Pairs of rows that agree on every attribute. The rows of each side have to be distinct."""
    if not len(targets) or not len(classes):
        return
    order = sorted(range(len(coverages)), key=lambda place: _share(coverages[place]))
    mine, theirs = Trie.of(targets[:, order]), Trie.of(classes[:, order])
    levels = []
    for depth, place in enumerate(order):
        coverage = coverages[place]
        keys = theirs.parent[depth] * len(coverage.everything) + theirs.code[depth]
        levels.append(
            JoinLevel(
                coverage,
                (mine.code[depth], mine.children[depth]),
                (theirs.code[depth], theirs.children[depth]),
                keys,
                _there(coverage.everything, theirs.code[depth]),
            )
        )
    root = np.zeros(1, dtype=np.int64)
    for target, released in _descend(levels, root, root, piece):
        yield mine.order[target], theirs.order[released]


def _there(labels: Mask, codes: Integers) -> Integers:
    """Those of the labels that combinations have."""
    return np.flatnonzero(labels & np.isin(np.arange(len(labels)), codes))


def _descend(
    levels: Sequence[JoinLevel], targets: Integers, classes: Integers, piece: int
) -> Iterator[tuple[Integers, Integers]]:
    if not levels:
        yield targets, classes
        return
    for target, released in levels[0].extend(targets, classes, piece):
        if len(target):
            yield from _descend(levels[1:], target, released, piece)


def _share(coverage: Covering) -> float:
    """How much of the labels covers a value, on average: the less, the more it rules out."""
    values, labels = len(coverage.first) - 1, len(coverage.everything)
    return float((len(coverage.of_value) / max(values, 1) + coverage.everything.sum()) / max(labels, 1))


def spread(starts: Integers, sizes: Integers) -> tuple[Integers, Integers]:
    """For runs that begin at ``starts``: of each member, which run it is of, and the member."""
    run = np.repeat(np.arange(len(sizes)), sizes)
    ends = np.cumsum(sizes)
    within = np.arange(len(run)) - np.repeat(ends - sizes, sizes)
    return run, starts[run] + within


def _pieces(sizes: Integers, piece: int) -> Iterator[slice]:
    """Runs of items whose sizes come to about one piece; an item of its own where it is larger."""
    if not len(sizes):
        return
    number = (np.cumsum(sizes) - sizes) // piece
    edges = np.flatnonzero(np.diff(number)) + 1
    for start, stop in zip([0, *edges], [*edges, len(sizes)], strict=True):
        yield slice(int(start), int(stop))
