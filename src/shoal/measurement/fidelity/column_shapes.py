"""How each column is spread in both tables, in bars that can be drawn.

Numbers and dates stand in round bins, categories under their labels. A bar has at least ten records of the original,
and a label is named only where the synthetic table shows it too; the rest is ``others``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import polars as pl

from shoal.measurement.fidelity.base import FidelityComparison, FidelityMeasure
from shoal.measurement.usefulness.attribute_pairs import AttributePair
from shoal.measurement.usefulness.base import FigureReading, MeasuredFigures, lower, mean
from shoal.measurement.usefulness.distances import DistributionDistance, measure_distance
from shoal.measurement.usefulness.distribution_bins import LEAST_RECORDS, MOST_BARS, date_bins, number_bins

OTHERS = "others"

Bar = tuple[str, float, float]
"""The label, the share of the original's records, that of the synthetic ones."""


@dataclass(frozen=True)
class ColumnShape:
    distance: DistributionDistance
    bars: tuple[Bar, ...]


def measure_shape(pair: AttributePair, original: pl.Series, synthetic: pl.Series) -> ColumnShape:
    """``original`` and ``synthetic`` are the columns as they are, the pair is how they are read."""
    if pair.problem is not None:
        return ColumnShape(measure_distance(pair), ())
    dates = all(isinstance(side.dtype, pl.Date | pl.Datetime) for side in (original, synthetic))
    if dates:
        counted = date_bins(original, synthetic)
    elif pair.numeric and len(pair.before.values) > MOST_BARS:
        counted = number_bins(
            *(_typed(side, like) for side, like in ((pair.original, original), (pair.released, synthetic)))
        )
    else:
        counted = _labels(pair)
    return ColumnShape(measure_distance(pair), _bars(counted, len(original), len(synthetic)))


def _typed(numbers: pl.Series, like: pl.Series) -> pl.Series:
    held = like.dtype.is_integer() and bool((numbers.abs() < 2.0**63).all())
    return numbers.cast(pl.Int64) if held else numbers


def _labels(pair: AttributePair) -> pl.DataFrame:
    """The most frequent ones of the original that the synthetic table has too; the rest has no label."""
    counts = [
        pl.DataFrame({"label": _text(coded.values).gather(coded.codes[coded.codes >= 0])})
        .group_by("label")
        .agg(pl.len().cast(pl.Int64).alias(name))
        for coded, name in ((pair.before, "before"), (pair.after, "after"))
    ]
    both = counts[0].join(counts[1], on="label", how="full", coalesce=True).fill_null(0)
    shown = both.filter((pl.col("before") >= LEAST_RECORDS) & (pl.col("after") > 0))
    shown = shown.sort("before", "label", descending=[True, False]).head(MOST_BARS)
    rest = both.filter(~pl.col("label").is_in(shown["label"].implode()))
    pooled = rest.select(pl.lit(OTHERS).alias("label"), pl.col("before", "after").sum())
    return pl.concat([shown, pooled.filter(pl.col("before") + pl.col("after") > 0)])


def _text(values: pl.Series) -> pl.Series:
    whole = values.dtype.is_float() and bool(((values == values.round()) & (values.abs() < 2.0**63)).all())
    return (values.cast(pl.Int64) if whole else values).cast(pl.String)


def _bars(counted: pl.DataFrame, rows: int, others: int) -> tuple[Bar, ...]:
    """What is too small goes into one bar; if that is still small, with the smallest of the others."""
    small = pl.col("before") < LEAST_RECORDS
    kept, rest = (
        counted.filter(~small & (pl.col("label") != OTHERS)),
        counted.filter(small | (pl.col("label") == OTHERS)),
    )
    while kept.height and 0 < rest["before"].sum() < LEAST_RECORDS:
        least = kept["before"].arg_min() or 0
        rest, kept = pl.concat([rest, kept[least : least + 1]]), pl.concat([kept[:least], kept[least + 1 :]])
    bars = [*kept.rows(), (OTHERS, rest["before"].sum(), rest["after"].sum())]
    return tuple((label, before / rows, after / others) for label, before, after in bars if before or after)


class ColumnShapes(FidelityMeasure):
    key = "column_shapes"
    order = 10
    readings: ClassVar[Mapping[str, FigureReading]] = {
        "wasserstein_mean": lower(
            "Number shift", "How far numbers moved as a share of their range, mean over numbers."
        ),
        "missing_difference": lower("Missing cells", "Change of the share of missing cells, mean over columns."),
    }

    def evaluate(self, comparison: FidelityComparison) -> MeasuredFigures:
        shapes = {
            pair.name: measure_shape(pair, *(frame[pair.name] for frame in comparison.sample))
            for pair in comparison.pairs
        }
        distances = [shape.distance for shape in shapes.values()]
        moved = [distance.wasserstein for distance in distances if distance.wasserstein is not None]
        figures = {
            "wasserstein_mean": mean(moved),
            "missing_difference": mean(abs(each.missing_after - each.missing_before) for each in distances),
        }
        return MeasuredFigures(figures, {"wasserstein_mean": "no number can be compared"}, details={"shapes": shapes})
