"""First part of the cell search: rows without a class look for company, the cheapest pattern of levels first.

A pattern is one level per attribute: the cells that a row would have. Rows that look alike on a pattern form a class if
enough of them take it. Among patterns of one price the rows choose: a group counts the more, the fewer other groups its
people could go to, so nobody is stranded by neighbours who had a choice.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod

import numpy as np

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.schema.progress import Progress
from shoal.solve.cells.table import SAME_PRICE, CellTable, Pattern

MOST_PATTERNS = 1 << 14
"""Patterns looked at one by one; with more of them, the costlier ones are left to the chain."""
MOST_AT_ONCE = 128


def pattern_count(table: CellTable) -> int:
    return prod(len(levels) for levels in table.allowed)


def settle_by_pattern(table: CellTable, progress: Progress | None = None) -> int:
    """Goes through the patterns until every row has a class; how many were looked at."""
    checked = 0
    total = min(pattern_count(table), MOST_PATTERNS)
    for tier in _tiers(table):
        if checked >= MOST_PATTERNS or not len(table.unsettled):
            break
        while len(tier) > 1 and _settle_by_choice(table, tier):
            pass
        for pattern in tier:
            _settle(table, pattern)
        checked += len(tier)
        if progress:
            progress(min(checked, total), total)
    return checked


def settle_by_chain(table: CellTable) -> None:
    """From no change upwards, each time by the step that lets most records into classes, the cheapest among equals."""
    pattern = table.lowest
    while len(rows := table.unsettled):
        steps = [step for step in _steps_up(table, pattern) if not table.blank(step)]
        if not steps:
            return
        mean = {step: float(table.price(rows, step).mean()) for step in steps}
        pattern = max(steps, key=lambda step: (_could_settle(table, step), -mean[step]))
        _settle(table, pattern)


def _settle_by_choice(table: CellTable, tier: Sequence[Pattern]) -> int:
    """Every row takes the pattern of its best group, if enough others do so too; how many rows are settled by that."""
    rows = table.unsettled
    grouped = [_sized(table, rows, pattern) for pattern in tier]
    possible = np.stack([size >= table.least for _, size in grouped], axis=1)
    people = table.mass[rows]
    need = people / np.maximum(1, possible.sum(axis=1))
    urgency = np.stack([np.bincount(member, weights=need)[member] / size for member, size in grouped], axis=1)
    choice = np.where(possible, urgency, -1.0).argmax(axis=1)
    settling = np.zeros(len(rows), dtype=bool)
    for place, (member, _) in enumerate(grouped):
        chosen = (choice == place) & possible[:, place]
        takers = np.bincount(member, weights=people * chosen)
        settling |= chosen & (takers[member] >= table.least)
    return table.move(rows[settling], np.array(tier, dtype=np.int8)[choice[settling]])


def _settle(table: CellTable, pattern: Pattern) -> None:
    rows = table.unsettled
    table.move(rows[_enough(table, rows, pattern)], pattern)


def _could_settle(table: CellTable, pattern: Pattern) -> int:
    """The records without a class that would be in groups large enough."""
    rows = table.unsettled
    return int(table.problem.counts.records[rows[_enough(table, rows, pattern)]].sum())


def _enough(table: CellTable, rows: Integers, pattern: Pattern) -> Mask:
    _, size = _sized(table, rows, pattern)
    return size >= table.least


def _sized(table: CellTable, rows: Integers, pattern: Pattern) -> tuple[Integers, Floats]:
    """The group of each row on a pattern, and how many people that group has."""
    member, number = table.groups(rows, pattern)
    size = np.bincount(member, weights=table.mass[rows], minlength=number).astype(np.float64)
    return member, size[member]


def _tiers(table: CellTable) -> Iterator[list[Pattern]]:
    """Patterns of equal mean price over the risky rows, from the cheapest up, without the bare and the blank one."""
    rows = np.flatnonzero(table.risky)
    shares = table.problem.counts.records[rows] / max(1, table.problem.counts.records[rows].sum())
    means = [
        [float(prices[level][codes[rows]] @ shares) for level in range(len(prices))]
        for prices, codes in zip(table.prices, table.codes, strict=True)
    ]
    tier: list[Pattern] = []
    price = 0.0
    for mean, pattern in _by_mean(table, means):
        if table.blank(pattern) or pattern == table.lowest:
            continue
        if len(tier) == MOST_AT_ONCE or (tier and mean > price + SAME_PRICE):
            yield tier
            tier = []
        price = price if tier else mean
        tier.append(pattern)
    if tier:
        yield tier


def _by_mean(table: CellTable, means: list[list[float]]) -> Iterator[tuple[float, Pattern]]:
    def mean(pattern: Pattern) -> float:
        return sum(of[level] for of, level in zip(means, pattern, strict=True))

    waiting = [(mean(table.lowest), sum(table.lowest), table.lowest)]
    seen = {table.lowest}
    while waiting:
        price, _, pattern = heapq.heappop(waiting)
        yield price, pattern
        for above in _steps_up(table, pattern):
            if above not in seen:
                seen.add(above)
                heapq.heappush(waiting, (mean(above), sum(above), above))


def _steps_up(table: CellTable, pattern: Pattern) -> Iterator[Pattern]:
    for place, levels in enumerate(table.allowed):
        for here, above in pairwise(levels):
            if pattern[place] == here:
                yield (*pattern[:place], above, *pattern[place + 1 :])
