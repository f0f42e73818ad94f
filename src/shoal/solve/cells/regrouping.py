"""Second part of the cell search: what the first part left or did too much of.

- `regroup`: rows move to cheaper patterns, and helpers from classes with people to spare join them where that pays.
- `join_nearest`: rows still alone are merged with the class that is nearest to them, which loses cells too.
- `put_back`: cells go back, attribute by attribute, wherever the models still hold.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.solve.cells.table import SAME_PRICE, CellTable, Levels, Pattern, blank_rows

TRIES = 8
"""Classes tried for one row, nearest first, where the models want more than size."""


def regroup(table: CellTable) -> int:
    """One round over the patterns in use, cheapest first; the number of rows moved."""
    used = [tuple(int(level) for level in levels) for levels in np.unique(table.levels[table.risky], axis=0)]
    risky = np.flatnonzero(table.risky)
    used.sort(key=lambda pattern: float(table.price(risky, pattern).mean()))
    moved = 0
    for pattern in used:
        if pattern != table.lowest and not table.blank(pattern):
            rows = _worth_moving(table, risky, pattern)
            moved += table.move(rows, pattern)
    return moved


def join_nearest(table: CellTable, allowed: int) -> None:
    """Merges rows that are still alone with the classes nearest to them, where that costs less than suppressing them.

    Combinations that were safe from the start are drawn in only while more records than allowed are alone, and then at
    any price.
    """
    records = table.problem.counts.records
    rows = table.unsettled
    for row in rows[np.argsort(-records[rows], kind="stable")]:
        joined = _join(table, int(row), table.settled & table.risky, float(records[row]))
        if not joined and table.unsettled_records > allowed:
            _join(table, int(row), table.settled, np.inf)


def put_back(table: CellTable) -> int:
    """Lowers cells again, the heaviest attribute first, whole classes at a time; the number of rows changed."""
    changed = 0
    for place in np.argsort(-table.problem.weights, kind="stable"):
        for level in table.allowed[place][:-1]:
            rows = np.flatnonzero(table.settled & (table.levels[:, place] > level))
            lowered = table.levels[rows]
            lowered[:, place] = level
            changed += table.move(rows, lowered)
    return changed


def _worth_moving(table: CellTable, rows: Integers, pattern: Pattern) -> Integers:
    """Rows that would cost less on this pattern, and just enough helpers where those alone are too few.

    A class gives away no more than it can spare. A helper may lose, but a group as a whole has to gain.
    """
    here = (table.levels[rows] == np.array(pattern, dtype=np.int8)).all(axis=1) & table.settled[rows]
    movers = rows[~here]
    gain = table.paid[movers] - table.price(movers, pattern)
    movers, gain = _spared(table, movers, gain)
    member, number = table.groups(np.concatenate((movers, rows[here])), pattern)
    group, inside = member[: len(movers)], member[len(movers) :]
    order = np.lexsort((-gain, group))
    movers, gain, group = movers[order], gain[order], group[order]
    mass = table.mass[movers]
    inside_mass = np.bincount(inside, weights=table.mass[rows[here]], minlength=number)
    before = _running(group, mass) - mass + inside_mass[group]
    taken = (gain > 0) | (before < table.least)
    gains = gain * table.problem.counts.records[movers]
    net = np.bincount(group, weights=gains * taken, minlength=number)
    size = np.bincount(group, weights=mass * taken, minlength=number) + inside_mass
    found: Integers = movers[taken & (net[group] > SAME_PRICE) & (size[group] >= table.least)]
    return found


def _spared(table: CellTable, rows: Integers, gain: Floats) -> tuple[Integers, Floats]:
    """Those that their classes can spare, those that gain most first; rows without a class are free."""
    mass = np.bincount(table.member, weights=table.mass)
    spare = np.where(table.settled[rows], mass[table.member[rows]] - table.least, np.inf)
    order = np.lexsort((-gain, table.member[rows]))
    free = np.empty(len(rows), dtype=bool)
    free[order] = _running(table.member[rows][order], table.mass[rows][order]) <= spare[order]
    return rows[free], gain[free]


def _running(group: Integers, amount: Integers) -> Integers:
    """The running sum within each run of equal groups."""
    total = np.cumsum(amount)
    first = np.ones(len(group), dtype=bool)
    first[1:] = group[1:] != group[:-1]
    before: Integers = np.maximum.accumulate(np.where(first, total - amount, 0))
    return total - before


def _join(table: CellTable, row: int, among: Mask, worth: float) -> bool:
    """Merges a row with the class for which the two together lose least, if that is less than it is worth."""
    number, where = np.unique(table.member[among], return_index=True)
    levels, cost = _meeting(table, row, np.flatnonzero(among)[where])
    for place in np.argsort(cost, kind="stable")[:TRIES]:
        if cost[place] >= worth:
            return False
        rows = np.append(np.flatnonzero(table.settled & (table.member == number[place])), row)
        if table.move(rows, levels[place]) == len(rows):
            return True
    return False


def _meeting(table: CellTable, row: int, heads: Integers) -> tuple[Levels, Floats]:
    """The lowest levels on which a row looks like each class (given by one of its rows), and what both lose by that."""
    records = table.problem.counts.records
    held = table.settled
    size = np.bincount(table.member[held], weights=records[held]).astype(np.float64)[table.member[heads]]
    levels = np.zeros((len(heads), len(table.codes)), dtype=np.int8)
    cost = -size * table.paid[heads]
    for place, (ladder, codes) in enumerate(zip(table.problem.ladders, table.codes, strict=True)):
        extra = np.full(len(heads), np.inf)
        for level in reversed(table.allowed[place]):
            groups, prices = ladder.groups[level], table.prices[place][level]
            meets = (groups[codes[heads]] == groups[codes[row]]) & (table.levels[heads, place] <= level)
            levels[meets, place] = level
            extra[meets] = (size * prices[codes[heads]])[meets] + records[row] * prices[codes[row]]
        cost += extra
    cost[blank_rows(table.problem, levels)] = np.inf
    return levels, cost
