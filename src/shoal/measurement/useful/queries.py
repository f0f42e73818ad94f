"""How wrong are counts that somebody takes from the release?

A workload of random counting queries ("how many records have an age from 20 to 45 and one of these three towns?") over
one to three attributes is answered from both tables. The relative error is |estimate − truth| ÷ max(truth, bound), the
sanity bound of 0.1 % of the records keeping tiny counts from ruling the mean (Vitter and Wang 1999; Xiao and Tao 2006).
A released label counts with the share of its leaves that the query asks for, as if spread evenly over them: a range
counts with the share of the numbers in it, whether they occur or not, since nobody sees that in the release.

Counts are taken as they are: a release with half the records answers half the counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.hierarchy.labels import Spans
from shoal.measurement.useful.comparable import Codes, Pair
from shoal.measurement.useful.rows import Rows, sample_rows
from shoal.measurement.useful.spread import Ranges, category_weights, leaves_of
from shoal.randomness import Randomness, Stream
from shoal.schema.arrays import Mask

Weights = NDArray[np.float32]

QUERIES = 100
MOST_RECORDS = 2_000_000
"""A larger table is sampled. Of tables in different order different records are sampled, and chance alone makes small
counts differ; so this is as much as time allows."""
MOST_ALIGNED = 200_000
"""The same for tables in the same order, where the same records are sampled."""
MOST_VALUES = 10_000
"""A category with more values is a name or a number of somebody; nobody counts sets of those."""
SANITY_BOUND = 0.001
_MOST_ATTRIBUTES = 3


@dataclass(frozen=True)
class QueryError:
    mean: float | None = None
    median: float | None = None
    queries: int = 0
    sampled: int = 0
    """Records that were looked at, where not all were."""
    problem: str | None = None


@dataclass(frozen=True)
class _Askable:
    """An attribute that queries can ask for."""

    values: pl.Series
    """The distinct original ones, in order."""
    before: Codes
    """Original rows: the place of the value; −1 where it is missing."""
    after: Codes
    """Released rows: the place of the label, then one place for suppressed and one for absent cells."""
    labels: int
    leaves: pl.DataFrame | Ranges

    def draw(self, stream: Stream, lane: int) -> tuple[Mask, Weights]:
        """A random range or set: which original rows are in it, and the weight of each released row."""
        number = len(self.values)
        wanted = np.zeros(number + 1, dtype=np.bool_)
        if isinstance(self.leaves, Ranges):
            ends = (stream.uniform(np.arange(2, dtype=np.uint64), lane) * number).astype(np.int64)
            first, last = int(ends.min()), int(ends.max())
            wanted[first : last + 1] = True
            weights = self.leaves.shares(float(self.values[first]), float(self.values[last]))
        else:
            size = 1 + int(stream.uniform(np.array([number], dtype=np.uint64), lane)[0] * max(number // 2, 1))
            chosen = stream.permutation(number, lane)[:size]
            wanted[chosen] = True
            weights = np.append(
                category_weights(self.leaves, self.labels, self.values.gather(chosen)), wanted.sum() / number
            )
        by_label = np.append(weights, 0.0).astype(np.float32)
        return wanted[self.before], by_label[self.after]


def measure_queries(
    pairs: Sequence[Pair],
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
    most = most or (MOST_ALIGNED if aligned else MOST_RECORDS)
    stream = randomness.stream("usefulness", "queries")
    before = sample_rows(stream, len(usable[0].original), most)
    after = before if aligned else sample_rows(stream, len(usable[0].released), most, lane=1)
    scales = len(usable[0].original) / len(before), len(usable[0].released) / len(after)
    askable = [_askable(pair, before, after) for pair in usable]
    bound = SANITY_BOUND * len(usable[0].original)
    errors = [_error(askable, stream, number, scales, bound) for number in range(queries)]
    return QueryError(float(np.mean(errors)), float(np.median(errors)), queries, len(before) if max(scales) > 1 else 0)


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
        inside, weights = inside & also, weights * by
    truth = int(np.count_nonzero(inside)) * scales[0]
    estimate = float(weights.sum(dtype=np.float64)) * scales[1]
    return abs(estimate - truth) / max(truth, bound)


def _most_values(pair: Pair) -> float:
    return np.inf if pair.numeric else MOST_VALUES


def _with_stars(spans: Spans) -> Spans:
    """And one more, of which nothing is known, for suppressed cells."""
    return Spans(np.append(spans.low, np.nan), np.append(spans.high, np.nan))


def _askable(pair: Pair, before: Rows, after: Rows) -> _Askable:
    labels = len(pair.after.values)
    absent = np.where(pair.suppressed, labels, labels + 1)
    codes = np.where(pair.codes >= 0, pair.codes, absent)[after].astype(np.int32)
    values = pair.before.values if pair.numeric else pair.before.text
    leaves = leaves_of(pair) if pair.spans is None else Ranges.of(_with_stars(pair.spans), values.to_numpy())
    return _Askable(values, pair.before.codes[before], codes, labels, leaves)
