"""Which attributes go together, before and after.

Two numbers: *Pearson's* correlation. Two categories: *Cramér's V* = √(χ² ÷ (n · min(r − 1, c − 1))) (Cramér 1946), with
the bias correction of Bergsma (2013) if wanted, and *Theil's U* (Theil 1972), the share of the uncertainty about one
attribute that knowing the other takes away, in both directions. A category and a number: the *correlation ratio* η
(Fisher 1925), the root of the share of the number's variance that lies between the categories.

Each is worked out within one table, so labels need not agree: the original has its own values, the release its labels,
and the difference is what the generalisation costs. Pairs of cells with one missing are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import ClassVar, Final

import numpy as np
import polars as pl

from shoal.kernels.arrays import Floats, Integers
from shoal.measurement.usefulness.attribute_pairs import AttributePair, CodedLabels, Codes
from shoal.measurement.usefulness.base import (
    FigureReading,
    MeasuredFigures,
    TableComparison,
    UsefulnessMeasure,
    lower,
)
from shoal.schema.circumstances import Purpose

_LARGE: Final = 1e140
"""Numbers beyond it are made smaller before they are squared."""

MOST_LABELS = 500
"""A category with more is a name rather than a group; nothing is said of it."""


class AssociationMeasure(StrEnum):
    PEARSON = "pearson"
    CRAMERS_V = "cramers_v"
    THEILS_U = "theils_u"
    CORRELATION_RATIO = "correlation_ratio"


@dataclass(frozen=True)
class Association:
    measure: AssociationMeasure
    first: str
    """For Theil's U the attribute that is explained, for the correlation ratio the number."""
    second: str
    before: float | None
    after: float | None
    """None where an attribute has one value only, or no two cells."""

    @property
    def difference(self) -> float | None:
        return None if self.before is None or self.after is None else abs(self.after - self.before)


@dataclass(frozen=True)
class _Side:
    """One attribute in one table."""

    numbers: Floats | None = None
    codes: Codes | None = None
    labels: int = 0


def measure_associations(pairs: Sequence[AttributePair], *, corrected: bool = False) -> tuple[Association, ...]:
    """All pairs of attributes; ``corrected`` takes Bergsma's form of V."""
    usable = [pair for pair in pairs if pair.numeric or _few_labels(pair)]
    befores = {pair.name: _side(pair.original, pair.before, numeric=pair.numeric) for pair in usable}
    afters = {pair.name: _side(pair.released, pair.after, numeric=pair.numeric) for pair in usable}
    found: list[Association] = []
    for first, second in combinations(befores, 2):
        measured = zip(
            _measured(first, second, befores, corrected=corrected),
            _measured(first, second, afters, corrected=corrected),
            strict=True,
        )
        found += [Association(measure, a, b, old, new) for (measure, a, b, old), (*_, new) in measured]
    return tuple(found)


def mean_difference(associations: Sequence[Association], measure: AssociationMeasure | None = None) -> float | None:
    """The mean absolute difference over the pairs that have both figures; None if there are none."""
    wanted = (association for association in associations if measure in {None, association.measure})
    differences = [association.difference for association in wanted if association.difference is not None]
    return float(np.mean(differences)) if differences else None


def pearson(x: Floats, y: Floats) -> float | None:
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return None
    x, y = _centred(x), _centred(y)
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(np.clip((x @ y) / scale, -1, 1)) if scale else None


def _centred(numbers: Floats) -> Floats:
    """Without their mean, and never so large that squares overflow."""
    scaled = numbers / max(1.0, float(np.abs(numbers).max()) / _LARGE)
    centred: Floats = scaled - scaled.mean()
    return centred


def cramers_v(table: Integers, *, corrected: bool = False) -> float | None:
    """Of a contingency table; None where a row or a column is alone.

    >>> cramers_v(np.array([[30, 10], [10, 30]]))
    0.5
    """
    table = _filled(table)
    n = int(table.sum())
    if min(table.shape) < 2:
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi2 = float(((table - expected) ** 2 / expected).sum()) / n
    rows, columns = (float(side) for side in table.shape)
    if corrected:
        if n < 2:
            return None
        phi2 = max(0.0, phi2 - (rows - 1) * (columns - 1) / (n - 1))
        rows, columns = (side - (side - 1) ** 2 / (n - 1) for side in (rows, columns))
    least = min(rows, columns) - 1
    return float(min(1.0, np.sqrt(phi2 / least))) if least > 0 else None


def theils_u(table: Integers) -> float | None:
    """The share of the rows' entropy that the columns take away; None where there is one row only.

    >>> theils_u(np.array([[2, 0], [0, 2]]))
    1.0
    """
    table = _filled(table)
    if table.shape[0] < 2:
        return None
    rows, columns, both = (_entropy(part) for part in (table.sum(axis=1), table.sum(axis=0), table.ravel()))
    return float(np.clip((rows + columns - both) / rows, 0, 1))


def correlation_ratio(numbers: Floats, codes: Codes, labels: int) -> float | None:
    both = ~np.isnan(numbers) & (codes >= 0)
    numbers, codes = numbers[both], codes[both]
    if len(numbers) < 2 or numbers.min() == numbers.max():
        return None
    centred = _centred(numbers)
    sizes = np.bincount(codes, minlength=labels)
    sums = np.bincount(codes, centred, minlength=labels)[sizes > 0]
    sizes = sizes[sizes > 0]
    if len(sizes) < 2:
        return None
    total = float(centred @ centred)
    return float(np.sqrt(min(1.0, (sums**2 / sizes).sum() / total))) if total else None


def _measured(
    first: str, second: str, sides: dict[str, _Side], *, corrected: bool
) -> Iterator[tuple[AssociationMeasure, str, str, float | None]]:
    a, b = sides[first], sides[second]
    if a.numbers is not None and b.numbers is not None:
        yield AssociationMeasure.PEARSON, first, second, pearson(a.numbers, b.numbers)
    elif a.numbers is not None and b.codes is not None:
        yield AssociationMeasure.CORRELATION_RATIO, first, second, correlation_ratio(a.numbers, b.codes, b.labels)
    elif b.numbers is not None and a.codes is not None:
        yield AssociationMeasure.CORRELATION_RATIO, second, first, correlation_ratio(b.numbers, a.codes, a.labels)
    elif a.codes is not None and b.codes is not None:
        table = _contingency(a.codes, b.codes, (a.labels, b.labels))
        yield AssociationMeasure.CRAMERS_V, first, second, cramers_v(table, corrected=corrected)
        yield AssociationMeasure.THEILS_U, first, second, theils_u(table)
        yield AssociationMeasure.THEILS_U, second, first, theils_u(table.T)


def _few_labels(pair: AttributePair) -> bool:
    return len(pair.before.values) <= MOST_LABELS and len(pair.after.values) <= MOST_LABELS


def _side(column: pl.Series, coded: CodedLabels, *, numeric: bool) -> _Side:
    if numeric:
        return _Side(numbers=column.fill_null(np.nan).to_numpy())
    return _Side(codes=coded.codes, labels=len(coded.values))


def _contingency(first: Codes, second: Codes, shape: tuple[int, int]) -> Integers:
    if first.min(initial=0) < 0 or second.min(initial=0) < 0:
        both = (first >= 0) & (second >= 0)
        first, second = first[both], second[both]
    cells = first * np.int32(shape[1]) + second
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def _filled(table: Integers) -> Integers:
    """Without the rows and columns that hold nothing."""
    table = table[table.sum(axis=1) > 0]
    return table[:, table.sum(axis=0) > 0]


def _entropy(counts: Integers) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


class AssociationChanges(UsefulnessMeasure):
    key = "associations"
    order = 40
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "pearson_difference": lower(
            "Correlation change", "Mean change of the correlation of two numbers.", purposes={Purpose.RESEARCH: 2}
        ),
        "cramers_v_difference": lower("Association change", "Mean change of Cramér's V of two categories."),
        "theils_u_difference": lower("Predictability change", "Mean change of how far one category tells another."),
        "correlation_ratio_difference": lower(
            "Group effect change", "Mean change of how far a category tells a number."
        ),
        "association_difference": lower(
            "All associations change",
            "Mean change over all pairs of attributes.",
            purposes={Purpose.RESEARCH: 1, Purpose.ANALYTICS: 5},
            in_short=5,
        ),
    }

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        found = measure_associations(comparison.pairs)
        each = {f"{measure}_difference": mean_difference(found, measure) for measure in AssociationMeasure}
        return MeasuredFigures(
            {**each, "association_difference": mean_difference(found)}, _REASONS, details={"associations": found}
        )


_REASONS: Final = {
    "pearson_difference": "no two numbers vary in both tables",
    "cramers_v_difference": "no two categories vary in both tables",
    "theils_u_difference": "no two categories vary in both tables",
    "correlation_ratio_difference": "no category and number vary in both tables",
    "association_difference": "no two attributes vary in both tables",
}
