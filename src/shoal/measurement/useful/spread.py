"""What a released label says of the original values: it is spread evenly over those it stands for, its *leaves*.

The leaves are the values that went to the label where that is known; for a range, the original values in it; for a
label that is an original value, that value. A suppressed cell stands for every value. So does a label of which nothing
is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.hierarchy.labels import Spans
from shoal.measurement.useful.comparable import Codes, Pair
from shoal.schema.arrays import Floats, Mask


def leaves_of(pair: Pair) -> pl.DataFrame:
    """Of a category: one row per released ``label`` (its ``place``) and ``value`` that it stands for."""
    labels = pl.DataFrame({"label": pair.labels, "place": np.arange(len(pair.labels))})
    values = pl.DataFrame({"value": pair.original.drop_nulls().unique().sort()})
    itself = values.with_columns(label=pl.col("value"))
    listed = itself
    if pair.recode is not None:
        listed = pair.recode.join(values, on="value", how="semi")
        unlisted = itself.join(pair.recode, on="value", how="anti")
        listed = pl.concat([listed.select("value", "label"), unlisted])
    known = labels.join(listed, on="label", how="inner")
    unknown = labels.join(listed, on="label", how="anti").join(values, how="cross")
    columns = ("label", "place", "value")
    return pl.concat([known.select(columns), unknown.select(columns)])


def leaf_shares(pair: Pair) -> pl.DataFrame:
    """The released distribution over the original values: columns ``label`` (the value) and ``share``."""
    present = pair.codes[pair.codes >= 0]
    records = np.bincount(present, minlength=len(pair.labels))
    leaves = leaves_of(pair).with_columns(weight=1 / pl.len().over("place"))
    weighed = leaves.with_columns(share=pl.col("weight") * pl.Series(records)[leaves["place"]] / max(len(present), 1))
    return weighed.group_by(pl.col("value").alias("label")).agg(pl.col("share").sum())


def category_weights(leaves: pl.DataFrame, labels: int, wanted: pl.Series) -> Floats:
    """For each label, the share of its leaves that are among the wanted values."""
    hits = leaves["value"].is_in(wanted.implode()).to_numpy().astype(np.float64)
    places = leaves["place"].to_numpy()
    return np.bincount(places, hits, minlength=labels) / np.bincount(places, minlength=labels)


@dataclass(frozen=True)
class SpanPlaces:
    """Where spans lie among the original numbers (sorted, distinct): each holds those from ``first`` to before ``end``.

    A span without an original number, as a number with noise is, counts where its middle lies. A span that is unknown
    holds every number.
    """

    first: Codes
    end: Codes
    empty: Mask

    @classmethod
    def of(cls, spans: Spans, values: Floats) -> SpanPlaces:
        known, middle = spans.known, spans.middle
        first = np.where(known, np.searchsorted(values, spans.low, side="left"), 0)
        end = np.where(known, np.searchsorted(values, spans.high, side="right"), len(values))
        empty = first >= end
        # The middle of an empty span lies between two numbers; a range that has both of them has it too.
        between = np.searchsorted(values, middle, side="left")
        first, end = np.where(empty, between - 1, first), np.where(empty, between + 1, end)
        return cls(first.astype(np.int32), end.astype(np.int32), empty)

    def weights(self, first: int, last: int) -> Floats:
        """For each span, the share of its numbers that are among those at the places from ``first`` to ``last``."""
        hits = np.minimum(self.end, last + 1) - np.maximum(self.first, first)
        size = self.end - self.first
        shares: Floats = np.where(self.empty, hits == size, np.maximum(hits, 0) / size)
        return shares
