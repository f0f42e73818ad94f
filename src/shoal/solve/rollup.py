"""The classes of a lattice node, rolled up from those of a node below it. No combination is looked at twice in vain.

Levels nest, so the classes of a node are unions of the classes of any node below: from a node with few classes the next
one is a matter of microseconds. Tables of nodes that were looked at are kept, the smallest that lies below is taken.

Numbering the classes needs no sort: every row writes its position into a table at its key and reads back who wrote
last, which names one representative per key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shoal.kernels.arrays import Integers, sums_by
from shoal.privacy import Histograms
from shoal.solve.problem import Problem, SensitiveCounts

Node = tuple[int, ...]

KEPT_TABLES = 96
KEPT_ENTRIES = 20_000_000
"""Numbers held in kept tables, all together."""
TABLE_KEYS = 1 << 20
FEW_CELLS = 100_000
"""Cells of histograms up to which making all and taking some is quicker than leaving the others out."""
REMEMBERED, REMEMBERED_LEVELS = 20_000, 2
"""Classes of a table up to which its codes on higher levels are kept too, and how many levels that are about."""


@dataclass(frozen=True)
class ClassTable:
    """The classes at a node: ``codes[a]`` is the group of attribute a, class by class."""

    node: Node
    codes: tuple[Integers, ...]
    records: Integers
    people: Integers
    origin: tuple[ClassTable, Integers] | None = None
    """The table it was rolled up from, and the class here of each class there; None where each combination is one."""

    @property
    def number(self) -> int:
        return len(self.records)

    @cached_property
    def member(self) -> Integers:
        """The class of each combination of the counts."""
        if self.origin is None:
            return np.arange(self.number)
        below, groups = self.origin
        return groups[below.member]

    @cached_property
    def cells(self) -> Integers:
        return np.column_stack(self.codes) if self.codes else np.zeros((self.number, 0), dtype=np.int64)

    def histograms(self, name: str, tally: SensitiveCounts, places: Integers) -> Histograms:
        """How a sensitive attribute is spread in some of the classes; ``places`` rise."""
        if self.origin is None:
            below, groups = tally, self.member
        else:
            below, groups = self.origin[0].tally(name, tally), self.origin[1]
        if len(places) == self.number:
            return below.within(groups, self.number)
        if self.number * below.values <= FEW_CELLS:
            return below.within(groups, self.number).at(places)
        place = np.full(self.number, -1, dtype=np.int64)
        place[places] = np.arange(len(places))
        return below.within(place[groups], len(places), some=True)

    def tally(self, name: str, tally: SensitiveCounts) -> SensitiveCounts:
        """The same by class of this table, which is shorter; made once, for all tables that are rolled up from it."""
        if self.origin is None:
            return tally
        if name not in self._tallies:
            below, groups = self.origin
            self._tallies[name] = below.tally(name, tally).merged(groups, self.number)
        return self._tallies[name]

    @cached_property
    def raised(self) -> dict[tuple[int, int], Integers]:
        """By attribute and level, the codes on that level: see ``Rollup``."""
        return {}

    @cached_property
    def _tallies(self) -> dict[str, SensitiveCounts]:
        return {}


class Rollup:
    """``upwards``: whether nodes are asked for from low to high, so that those asked for serve the later ones."""

    def __init__(self, problem: Problem, *, upwards: bool = True) -> None:
        self.problem = problem
        self._upwards = upwards
        self._grouping = _Grouping()
        self._upward: dict[tuple[int, int, int], Integers] = {}
        counts = problem.counts
        self._kept = _Tables()
        self._anchors = _Tables()
        self._nodes = np.zeros((0, len(problem.ladders)), dtype=np.int64)
        self._sizes = np.zeros(0, dtype=np.int64)
        self._plain = not len(counts.shared)
        bottom = tuple(ladder.lowest for ladder in problem.ladders)
        identity = np.arange(counts.size)
        raw = ClassTable(
            tuple(0 for _ in bottom),
            tuple(counts.codes[:, place].astype(np.int64) for place in range(len(bottom))),
            counts.records,
            counts.people if self._plain else counts.people_in(identity, counts.size),
        )
        self._first = raw
        if any(bottom):
            self._first = self._up(raw, bottom)

    def at(self, node: Node) -> ClassTable:
        """The classes at a node; the table is kept for the nodes above it."""
        below = self._smallest_below(node)
        anchor = self._anchor_of(node)
        if any(level < low for level, low in zip(below.node, anchor, strict=True)):
            below = self._anchor(anchor)
        if below.node == node:
            return below
        table = self._up(below, node)
        if self._upwards:
            self._keep(table)
        return table

    def _anchor_of(self, node: Node) -> Node:
        """A node some way below, with levels that its neighbours share: they can all be rolled up from there."""
        return tuple(low + (level - low) // 2 * 2 for low, level in zip(self._first.node, node, strict=True))

    def _anchor(self, node: Node) -> ClassTable:
        if node not in self._anchors.by_node:
            self._anchors.add(self._up(self._smallest_below(node), node))
        return self._anchors.by_node[node]

    def _smallest_below(self, node: Node) -> ClassTable:
        if not self._kept.by_node:
            return self._first
        below = (self._nodes <= node).all(axis=1)
        sizes = np.where(below, self._sizes, self._first.number)
        place = int(sizes.argmin())
        if sizes[place] >= self._first.number:
            return self._first
        return self._kept.by_node[tuple(self._nodes[place].tolist())]

    def _keep(self, table: ClassTable) -> None:
        self._kept.add(table)
        left = len(self._kept.by_node) - 1
        self._nodes = np.vstack((self._nodes[len(self._nodes) - left :], table.node))
        self._sizes = np.append(self._sizes[len(self._sizes) - left :], table.number)

    def _up(self, below: ClassTable, node: Node) -> ClassTable:
        columns = [self._column(below, place, level) for place, level in enumerate(node)]
        sizes = [ladder.size(level) for ladder, level in zip(self.problem.ladders, node, strict=True)]
        groups, first = self._grouping.number(columns, sizes, below.number)
        number = len(first)
        records = sums_by(groups, below.records, number)
        if self._plain:
            people = records if below.people is below.records else sums_by(groups, below.people, number)
        else:
            people = self.problem.counts.people_in(groups[below.member], number)
        return ClassTable(node, tuple(column[first] for column in columns), records, people, (below, groups))

    def _column(self, below: ClassTable, place: int, level: int) -> Integers:
        """The groups of an attribute on a level, class by class of a table; neighbours ask for the same ones again."""
        known = below.raised.get((place, level))
        if known is None:
            codes, low = below.codes[place], below.node[place]
            known = codes if low == level else self._step(place, low, level)[codes]
            if below.number <= REMEMBERED:
                below.raised[place, level] = known
        return known

    def _step(self, place: int, low: int, high: int) -> Integers:
        """For each group of an attribute on one level, its group on a higher one."""
        key = (place, low, high)
        if key not in self._upward:
            ladder = self.problem.ladders[place]
            onto = np.zeros(ladder.size(low), dtype=np.int64)
            onto[ladder.groups[low]] = ladder.groups[high]
            self._upward[key] = onto
        return self._upward[key]


class _Tables:
    """The newest tables, as many as the allowance has room for: neighbours are looked at one after the other."""

    def __init__(self) -> None:
        self.by_node: dict[Node, ClassTable] = {}
        self.held = 0

    def add(self, table: ClassTable) -> None:
        self.by_node[table.node] = table
        self.held += _entries(table)
        while len(self.by_node) > 1 and (len(self.by_node) > KEPT_TABLES or self.held > KEPT_ENTRIES // 2):
            self.held -= _entries(self.by_node.pop(next(iter(self.by_node))))


def _entries(table: ClassTable) -> int:
    """Numbers that a table holds: codes, those on higher levels too if they are remembered, sizes, its origin."""
    columns = len(table.codes) * (1 + REMEMBERED_LEVELS * (table.number <= REMEMBERED))
    return table.number * (columns + 2) + (0 if table.origin is None else table.origin[0].number)


class _Grouping:
    """Rows with equal keys get one number, from 0 in the order of their first appearance."""

    def __init__(self) -> None:
        self._table = np.zeros(0, dtype=np.int64)
        self._places = np.zeros(0, dtype=np.int64)

    def number(self, columns: Sequence[Integers], sizes: Sequence[int], rows: int) -> tuple[Integers, Integers]:
        """The group of each row, and one row of each group. ``columns[a]`` holds numbers below ``sizes[a]``."""
        key, space = np.zeros(rows, dtype=np.int64), 1
        first = None
        for column, size in zip(columns, sizes, strict=True):
            if size <= 1:
                continue
            if space * size > TABLE_KEYS and space > 1:
                key, first = self._dense(key, space)
                space = len(first)
            if space > 1:
                key *= size
                key += column
            else:
                key = column.copy()
            space *= size
            first = None
        return (key, first) if first is not None else self._dense(key, space)

    def _dense(self, key: Integers, space: int) -> tuple[Integers, Integers]:
        if space > TABLE_KEYS:
            _, first, groups = np.unique(key, return_index=True, return_inverse=True)
            return groups.astype(np.int64, copy=False), first
        if len(self._table) < space:
            self._table = np.zeros(min(TABLE_KEYS, 2 * space), dtype=np.int64)
        if len(self._places) < len(key):
            self._places = np.arange(len(key))
        table, places = self._table, self._places[: len(key)]
        table[key] = places
        first = np.flatnonzero(table[key] == places)
        table[key[first]] = places[: len(first)]
        return table[key], first
