"""What a released label says of the original values: it is spread evenly over those it stands for, its *leaves*.

The leaves are the values that went to the label where that is known; for a range, the numbers in it; for a label that
is an original value, that value. A suppressed cell stands for every value. So does a label of which nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.hierarchy.labels import Spans
from shoal.kernels.arrays import Floats, Integers, Mask, places_among
from shoal.measurement.usefulness.attribute_pairs import AttributePair


def leaves_of(pair: AttributePair) -> pl.DataFrame:
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


def leaf_shares(pair: AttributePair) -> pl.DataFrame:
    """The released distribution over the original values: columns ``label`` (the value) and ``share``."""
    present = pair.codes[pair.codes >= 0]
    records = np.bincount(present, minlength=len(pair.labels))
    leaves = leaves_of(pair).with_columns(weight=1 / pl.len().over("place"))
    weighed = leaves.with_columns(share=pl.col("weight") * pl.Series(records)[leaves["place"]] / max(len(present), 1))
    return weighed.group_by(pl.col("value").alias("label")).agg(pl.col("share").sum())


@dataclass(frozen=True)
class Leaves:
    """Released labels of a category, each spread evenly over the values that it stands for."""

    label: Integers
    """Of each label and value that it stands for, the place of the label …"""
    value: Integers
    """… and of the value among the distinct original ones."""
    number: Integers
    """How many values each label stands for."""

    @classmethod
    def of(cls, pair: AttributePair) -> Leaves:
        listed = leaves_of(pair)
        label = listed["place"].to_numpy()
        value = places_among(listed["value"], pair.before.text).to_numpy()
        return cls(label, value, np.bincount(label, minlength=len(pair.labels)))

    def shares(self, wanted: Mask) -> Floats:
        """Of each label, the share of its values that are wanted."""
        return np.bincount(self.label, wanted[self.value], minlength=len(self.number)) / self.number


@dataclass(frozen=True)
class Ranges:
    """Released ranges of numbers, each spread evenly over all numbers in it, not only over those that occur.

    Whole numbers are counted, others measured. A range of one number, as one with noise is, lies within or not.
    """

    spans: Spans
    unit: float
    """1 for whole numbers, 0 for others."""
    wide: Integers
    """Which of them hold more than one number."""

    @classmethod
    def of(cls, spans: Spans, values: Floats) -> Ranges:
        """``values``: the original numbers, in order. A label of which nothing is known stands for all of them."""
        everything = Spans(*(np.full(len(spans.low), end) for end in (values[0], values[-1])))
        known = spans.or_else(everything)
        return cls(known, float((values % 1 == 0).all()), np.flatnonzero(known.low != known.high))

    def shares(self, least: float, greatest: float) -> Floats:
        """Of each range, the share from one number to another."""
        low, high = self.spans.low, self.spans.high
        shares = ((low >= least) & (high <= greatest)).astype(np.float64)
        low, high = low[self.wide], high[self.wide]
        common = np.minimum(high, greatest) - np.maximum(low, least) + self.unit
        shares[self.wide] = np.clip(common / (high - low + self.unit), 0.0, 1.0)
        return shares
