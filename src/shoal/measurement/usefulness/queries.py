"""How wrong are counts that somebody takes from the release?

A workload of random counting queries ("how many records have an age from 20 to 45 and one of these three towns?") over
one to three attributes is answered from both tables. The relative error is |estimate − truth| ÷ max(truth, bound), the
sanity bound of 0.1 % of the records keeping tiny counts from ruling the mean (Vitter and Wang 1999; Xiao and Tao 2006).
A released label counts with the share of its leaves that the query asks for, as if spread evenly over them: a range
counts with the share of the numbers in it, whether they occur or not, since nobody sees that in the release.

Counts are taken as they are: a release with half the records answers half the counts.

What is asked depends on the randomness and on the values of the original alone, attributes being taken in the order of
their names: with the same randomness, releases of one original that show the same attributes are asked the same. The
intervals say how far another thousand queries might lead, at 95 % confidence: that of the mean by its standard error,
that of the median by the ranks of the errors (David and Nagaraja 2003).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.hierarchy.labels import Spans
from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.base import (
    FigureReading,
    MeasuredFigures,
    TableComparison,
    UsefulnessMeasure,
    lower,
)
from shoal.measurement.usefulness.label_spread import Leaves, Ranges
from shoal.measurement.usefulness.row_sampling import Rows, sample_rows
from shoal.randomness import Randomness, Stream
from shoal.schema.circumstances import Purpose

Weights = NDArray[np.float32]
Interval = tuple[float, float]

QUERIES = 1000
MOST_RECORDS = 2_000_000
"""A larger table is sampled. Of tables in different order different records are sampled, and chance alone makes small
counts differ; so this is as much as time allows."""
MOST_ALIGNED = 200_000
"""The same for tables in the same order, where the same records are sampled."""
MOST_VALUES = 10_000
"""A category with more values is a name or a number of somebody; nobody counts sets of those."""
SANITY_BOUND = 0.001
_MOST_ATTRIBUTES = 3
_DEVIATIONS = 1.96
"""Either side of the middle of a normal distribution, within which 95 % of it lie."""


@dataclass(frozen=True)
class QueryError:
    mean: float | None = None
    median: float | None = None
    mean_interval: Interval | None = None
    median_interval: Interval | None = None
    queries: int = 0
    sampled: int = 0
    """Records that were looked at, where not all were."""
    problem: str | None = None

    @classmethod
    def of(cls, errors: Floats, sampled: int = 0) -> QueryError:
        """
        >>> QueryError.of(np.array([0.3, 0.1, 0.2, 0.4, 0.0])).median_interval
        (0.0, 0.4)
        """
        number, mean = len(errors), float(errors.mean())
        off = _DEVIATIONS * float(errors.std()) / max(number - 1, 1) ** 0.5
        ranked, ranks = np.sort(errors), _DEVIATIONS / 2 * number**0.5
        low, high = max(0, floor(number / 2 - ranks) - 1), min(number - 1, ceil(number / 2 + ranks))
        return cls(
            mean,
            float(np.median(errors)),
            (max(0.0, mean - off), mean + off),
            (float(ranked[low]), float(ranked[high])),
            number,
            sampled,
        )


@dataclass(frozen=True)
class _Askable:
    """An attribute that queries can ask for."""

    values: Floats
    """The distinct original numbers, in order; of a category, their places."""
    before: Integers
    """Original rows: the place of the value; −1 where it is missing."""
    after: Integers
    """Released rows: the place of the label, then one place for suppressed and one for absent cells."""
    leaves: Leaves | Ranges

    def draw(self, stream: Stream, lane: int) -> tuple[Mask, Weights]:
        """A random range or set: which original rows are in it, and the weight of each released row."""
        number = len(self.values)
        if isinstance(self.leaves, Ranges):
            ends = (stream.uniform(np.arange(2, dtype=np.uint64), lane) * number).astype(np.int64)
            first, last = int(ends.min()), int(ends.max())
            inside = (self.before >= first) & (self.before <= last)
            weights = self.leaves.shares(float(self.values[first]), float(self.values[last]))
        else:
            size = 1 + int(stream.uniform(np.array([number], dtype=np.uint64), lane)[0] * max(number // 2, 1))
            wanted = np.zeros(number + 1, dtype=np.bool_)
            wanted[stream.permutation(number, lane)[:size]] = True
            inside = wanted.take(self.before)
            weights = np.append(self.leaves.shares(wanted), size / number)
        return inside, np.append(weights, 0.0).astype(np.float32).take(self.after)


def measure_queries(
    pairs: Sequence[AttributePair],
    *,
    randomness: Randomness,
    aligned: bool = False,
    queries: int = QUERIES,
    most: int | None = None,
) -> QueryError:
    """Attributes that can't be compared are not asked for."""
    usable = [pair for pair in pairs if pair.problem is None and len(pair.before.values) <= _most_values(pair)]
    if not usable:
        return QueryError(problem="no attribute can be asked for")
    usable.sort(key=lambda pair: pair.name)
    most = most or (MOST_ALIGNED if aligned else MOST_RECORDS)
    stream = randomness.stream("usefulness", "queries")
    before = sample_rows(stream, len(usable[0].original), most)
    after = before if aligned else sample_rows(stream, len(usable[0].released), most, lane=1)
    scales = len(usable[0].original) / len(before), len(usable[0].released) / len(after)
    askable = [_askable(pair, before, after) for pair in usable]
    bound = SANITY_BOUND * len(usable[0].original)
    errors = np.array([_error(askable, stream, number, scales, bound) for number in range(queries)])
    return QueryError.of(errors, len(before) if max(scales) > 1 else 0)


def _error(
    askable: Sequence[_Askable], stream: Stream, number: int, scales: tuple[float, float], bound: float
) -> float:
    lane = 2 + number * (_MOST_ATTRIBUTES + 1)
    most = min(_MOST_ATTRIBUTES, len(askable))
    attributes = 1 + int(stream.uniform(np.array([0], dtype=np.uint64), lane)[0] * most)
    chosen = stream.permutation(len(askable) + 1, lane)
    chosen = chosen[chosen < len(askable)][:attributes]
    inside, weights = askable[int(chosen[0])].draw(stream, lane + 1)
    for place, attribute in enumerate(chosen[1:], start=2):
        also, by = askable[int(attribute)].draw(stream, lane + place)
        inside &= also
        weights *= by
    truth = int(np.count_nonzero(inside)) * scales[0]
    estimate = float(weights.sum(dtype=np.float64)) * scales[1]
    return abs(estimate - truth) / max(truth, bound)


def _most_values(pair: AttributePair) -> float:
    return np.inf if pair.numeric else MOST_VALUES


def _with_stars(spans: Spans) -> Spans:
    """And one more, of which nothing is known, for suppressed cells."""
    return Spans(np.append(spans.low, np.nan), np.append(spans.high, np.nan))


def _askable(pair: AttributePair, before: Rows, after: Rows) -> _Askable:
    labels = len(pair.after.values)
    absent = np.where(pair.suppressed, labels, labels + 1)
    codes = np.where(pair.codes >= 0, pair.codes, absent)[after].astype(np.int64)
    places = pair.before.codes[before].astype(np.int64)
    if pair.spans is None:
        return _Askable(np.arange(len(pair.before.values), dtype=np.float64), places, codes, Leaves.of(pair))
    values = pair.before.values.to_numpy()
    return _Askable(values, places, codes, Ranges.of(_with_stars(pair.spans), values))


class CountingQueries(UsefulnessMeasure):
    key = "queries"
    order = 60
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "query_error_mean": lower(
            "Count error, mean", "Relative error of counts taken from the release.", purposes={Purpose.STATISTICS: 2}
        ),
        "query_error_median": lower(
            "Count error, typical",
            "Half of the counts are at most this far off.",
            purposes={Purpose.STATISTICS: 1, Purpose.ANALYTICS: 6},
            in_short=6,
        ),
    }

    def evaluate(self, comparison: TableComparison) -> MeasuredFigures:
        found = measure_queries(comparison.compared, randomness=comparison.randomness, aligned=comparison.aligned)
        figures = {"query_error_mean": found.mean, "query_error_median": found.median}
        reasons = dict.fromkeys(figures, found.problem or "no query was asked")
        rows = max(comparison.original.height, comparison.released.height)
        return MeasuredFigures(figures, reasons, tuple(_notes(found, rows)), details={"queries": found})


def _notes(found: QueryError, rows: int) -> Iterator[str]:
    if found.sampled:
        yield f"count error: a random sample of {found.sampled:,} of {rows:,} records"
    if found.mean_interval is not None and found.median_interval is not None:
        (low, high), (least, most) = found.mean_interval, found.median_interval
        yield f"count error: {found.queries:,} random counts, the same in every run"
        yield f"count error, mean: 95 % interval {low:.3g} to {high:.3g}"
        yield f"count error, typical: 95 % interval {least:.3g} to {most:.3g}"
