"""How far the joint distributions of two and of three attributes have moved.

The total variation ½ Σ |p − q| of a marginal is the share of records that would have to change their cell. Its mean
over all sets of two (three) attributes is the figure by which methods of synthesis are compared (McKenna et al. 2021).

A perfect synthesiser does not come to 0: two samples of one population differ by chance, and the more cells there are,
the more. What chance comes to is ½ Σ √(2 p (1 − p) (1 ÷ n + 1 ÷ m) ÷ π) for n and m records, with the mean absolute
deviation of a normal distribution; a cell adds no more than its own share.

Bounded: at most a million cells at once, ``MOST_SETS`` sets of attributes drawn by lot, two million records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, pi
from typing import ClassVar

import numpy as np

from shoal.kernels.arrays import Floats
from shoal.measurement.fidelity.base import FidelityComparison, FidelityMeasure
from shoal.measurement.fidelity.cell_codes import CellCodes, CodedColumn
from shoal.measurement.usefulness.base import FigureReading, MeasuredFigures, lower
from shoal.measurement.usefulness.row_sampling import sample_rows
from shoal.randomness import Stream

MOST_SETS = 400
"""Of two, and of three attributes."""
MOST_RECORDS = 2_000_000
MOST_CELLS = 1_000_000
MOST_COLUMNS = 200
"""Attributes that sets are drawn from; of a wider table the first ones by lot."""


@dataclass(frozen=True)
class MarginalDistance:
    attributes: tuple[str, ...]
    total_variation: float
    chance: float
    """What two samples of one population would come to."""


def marginal_distance(columns: Sequence[CodedColumn]) -> MarginalDistance:
    """Of the joint distribution of these columns."""
    cells = int(np.prod([column.size for column in columns]))
    before, after = (_counts(columns, side, cells) for side in ("before", "after"))
    rows = before.sum(), after.sum()
    return MarginalDistance(
        tuple(column.name for column in columns),
        float(np.abs(before / rows[0] - after / rows[1]).sum() / 2),
        _chance((before + after) / sum(rows), *rows),
    )


def _counts(columns: Sequence[CodedColumn], side: str, cells: int) -> Floats:
    first: CellCodes = getattr(columns[0], side)
    for column in columns[1:]:
        first = first * np.int32(column.size) + getattr(column, side)
    return np.bincount(first, minlength=cells).astype(np.float64)


def _chance(shares: Floats, rows: float, others: float) -> float:
    apart = np.sqrt(2 * shares * (1 - shares) * (1 / rows + 1 / others) / pi)
    return float(np.minimum(apart, 2 * shares).sum() / 2)


def measure_marginals(
    columns: Sequence[CodedColumn], size: int, stream: Stream, most: int = MOST_SETS
) -> list[MarginalDistance]:
    """Of all sets of so many columns, or of a random part of them; those with too many cells are left out."""
    chosen = _sets(len(columns), size, stream, most)
    picked = ([columns[place] for place in each] for each in chosen)
    return [marginal_distance(each) for each in picked if np.prod([one.size for one in each]) <= MOST_CELLS]


def _sets(columns: int, size: int, stream: Stream, most: int) -> list[tuple[int, ...]]:
    if comb(columns, size) <= most:
        return list(combinations(range(columns), size))
    draws = np.stack([np.sort(stream.permutation(columns, 1 + number)[:size]) for number in range(2 * most)])
    return [tuple(int(place) for place in each) for each in dict.fromkeys(map(tuple, draws.tolist()))][:most]


class MarginalDistances(FidelityMeasure):
    key = "marginals"
    order = 30
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "tv1_mean": lower("Single columns", "Share of records in the wrong place, mean over columns.", in_short=1),
        "tv1_max": lower("Worst column", "The same for the column that moved most."),
        "tv1_chance": lower("Single columns, by chance", "What another sample of the same people would come to."),
        "tv2_mean": lower("Pairs of columns", "Share of records in the wrong cell, mean over pairs.", in_short=2),
        "tv2_max": lower("Worst pair", "The same for the pair that moved most."),
        "tv2_chance": lower("Pairs, by chance", "What another sample of the same people would come to."),
        "tv3_mean": lower("Three columns", "Share of records in the wrong cell, mean over triples.", in_short=3),
        "tv3_max": lower("Worst triple", "The same for the triple that moved most."),
        "tv3_chance": lower("Triples, by chance", "What another sample of the same people would come to."),
    }

    def evaluate(self, comparison: FidelityComparison) -> MeasuredFigures:
        stream = comparison.randomness.stream("fidelity", "marginals")
        names = [pair.name for pair in comparison.pairs]
        if len(names) > MOST_COLUMNS:
            names = [names[place] for place in np.sort(stream.permutation(len(names), 3)[:MOST_COLUMNS])]
        rows = [
            sample_rows(stream, frame.height, MOST_RECORDS, lane=lane)
            for lane, frame in enumerate((comparison.original, comparison.synthetic))
        ]
        columns = [
            CodedColumn.of(name, comparison.original[name].gather(rows[0]), comparison.synthetic[name].gather(rows[1]))
            for name in names
        ]
        figures: dict[str, float | None] = {}
        found = {}
        for size in (1, 2, 3):
            found[size] = measure_marginals(columns, size, comparison.randomness.stream("fidelity", f"{size} columns"))
            distances = [each.total_variation for each in found[size]]
            figures |= {
                f"tv{size}_mean": float(np.mean(distances)) if distances else None,
                f"tv{size}_max": max(distances, default=None),
                f"tv{size}_chance": float(np.mean([each.chance for each in found[size]])) if distances else None,
            }
        reasons = {name: f"there are fewer than {name[2]} columns to compare" for name in figures}
        notes = [
            f"marginals: {len(found[size]):,} of {comb(len(comparison.pairs), size):,} sets of {size} columns, by lot"
            for size in (1, 2, 3)
            if 0 < len(found[size]) < comb(len(comparison.pairs), size)
        ]
        if max(comparison.original.height, comparison.synthetic.height) > MOST_RECORDS:
            notes.append(f"marginals: a random sample of {MOST_RECORDS:,} records")
        details = {
            "column_distances": {each.attributes[0]: each for each in found[1]},
            "pair_distances": {each.attributes: each for each in found[2]},
        }
        return MeasuredFigures(figures, reasons, tuple(notes), details)
