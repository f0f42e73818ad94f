"""Global risk of a sample file by a log-linear model: how many sample uniques are unique in the population too.

The people of cell k of the cross table of all keys are Poisson with mean λₖ, of which the sample shows each with
probability πₖ. Then the people of the cell that the sample doesn't show are Poisson with mean vₖ = λₖ (1 − πₖ), and for
a sample unique (Skinner & Holmes 1998; Elamir & Skinner 2006)

    P(F = 1 | f = 1) = exp(−v)               E(1 ÷ F | f = 1) = (1 − exp(−v)) ÷ v

Their sums over the sample uniques are τ₁, the expected number of population uniques among them, and τ₂, the expected
number of right matches (Rinott & Shlomo 2006). λ comes from a Poisson regression of the sample's counts, which lends a
rare cell the strength of its neighbours: πₖλₖ is the product of an effect of each key, of pairs of keys where asked,
or of a trend where a key is a number. πₖ is 1 ÷ the mean weight of the cell. Empty cells are part of the table.

A model that is too simple misses what keys say only together, one that is too rich follows the chance of the sample.
Which way either is wrong depends on the data; two-way pairs are the usual choice (Skinner & Shlomo 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import DataError, InputError
from shoal.kernels.arrays import Floats, places_among
from shoal.measurement.risk.key_frequencies import check_keys, check_weights, combine

Pairs = Sequence[tuple[str, str]]

MOST_CELLS = 1 << 22
MOST_FIGURES = 1 << 25
"""Cells × effects that a model may have (a quarter of a gigabyte)."""
_ROUNDS, _CHANGE = 200, 1e-10
"""Means that go to 0 get there step by step: a closer end would wait for numbers that rounding no longer tells."""


@dataclass(frozen=True)
class CrossTable:
    """All cells of the keys' cross table, empty ones too, the last key's values changing fastest."""

    values: dict[str, pl.Series]
    records: Floats
    weights: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(values) for values in self.values.values())

    @property
    def inclusion(self) -> Floats:
        """The share of its people that a cell shows; of an empty cell, the share of the whole file."""
        whole = self.records.sum() / self.weights.sum() if len(self.records) else 1.0
        share = np.divide(self.records, self.weights, out=np.full(len(self.records), whole), where=self.weights > 0)
        return np.asarray(np.minimum(share, 1.0))


@dataclass(frozen=True)
class GlobalRisk:
    """The risk of a sample file: figures only, nothing that was in it."""

    records: int
    uniques: int
    """Sample uniques."""
    population_uniques: float
    """τ₁: how many of them are expected to be unique in the population."""
    expected_matches: float
    """τ₂: how many of them an attacker is expected to match rightly."""
    cells: int
    """Of the cross table, with records."""

    @property
    def share(self) -> float:
        """Expected right matches per record of the file."""
        return self.expected_matches / self.records if self.records else 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "records": self.records,
            "uniques": self.uniques,
            "population_uniques": float(f"{self.population_uniques:.9g}"),
            "expected_matches": float(f"{self.expected_matches:.9g}"),
            "share": float(f"{self.share:.9g}"),
            "cells": self.cells,
        }


def measure_global(
    frame: pl.LazyFrame, keys: Sequence[str], weight: str, *, pairs: Pairs = (), trend: Sequence[str] = ()
) -> GlobalRisk:
    """τ₁ and τ₂ of a sample file with sampling weights."""
    table = cross_table(frame, keys, weight)
    unique = table.records == 1
    alone = both = np.empty(0)
    if unique.any():
        inclusion = table.inclusion
        shown = fitted_means(table, pairs=pairs, trend=trend, offset=np.log(inclusion))
        alone, both = unique_risk(shown[unique] / inclusion[unique], inclusion[unique])
    number, filled = int(table.records.sum()), int((table.records > 0).sum())
    return GlobalRisk(number, int(unique.sum()), float(alone.sum()), float(both.sum()), filled)


def unique_risk(mean: Floats, inclusion: Floats | float) -> tuple[Floats, Floats]:
    """P(F = 1 | f = 1) and E(1 ÷ F | f = 1) of sample uniques, by their cells' mean people and inclusion probability.

    >>> [figures.round(4).tolist() for figures in unique_risk(np.array([0.0, 2.0]), 0.5)]
    [[1.0, 0.3679], [1.0, 0.6321]]
    """
    hidden = mean * (1 - np.asarray(inclusion, dtype=np.float64))
    match = np.divide(-np.expm1(-hidden), hidden, out=np.ones_like(hidden), where=hidden > 0)
    return np.exp(-hidden), match


def cross_table(frame: pl.LazyFrame, keys: Sequence[str], weight: str) -> CrossTable:
    """The counts and the weights of all cells. A missing value is a value of its own."""
    check_keys(frame, keys, weight)
    check_weights(frame, weight)
    found = combine(frame, keys, weight)
    values = {name: found.cells[name].unique().sort(nulls_last=True) for name in keys}
    shape = tuple(len(known) for known in values.values())
    if prod(shape) > MOST_CELLS:
        raise InputError("the cross table of the keys has too many cells", advice="take fewer keys or coarser values")
    codes = [places_among(found.cells[name], known).to_numpy() for name, known in values.items()]
    cell = np.ravel_multi_index(codes, shape) if len(found) else np.empty(0, dtype=np.int64)
    records, weights = np.zeros(prod(shape)), np.zeros(prod(shape))
    records[cell], weights[cell] = found.frequencies.sample, found.frequencies.population
    return CrossTable(values, records, weights)


def fitted_means(
    table: CrossTable, *, pairs: Pairs = (), trend: Sequence[str] = (), offset: Floats | None = None
) -> Floats:
    """The expected records of each cell under the model of greatest likelihood."""
    names = tuple(table.values)
    paired = {name for pair in pairs for name in pair}
    unknown = {*trend, *paired} - {*names}
    if unknown:
        raise InputError(f"'{min(unknown)}' is not one of the keys")
    places = dict(zip(names, np.indices(table.shape).reshape(len(names), -1), strict=True))
    terms = [places[name] for name in names if name not in (*trend, *paired)]
    terms += [places[one] * len(table.values[other]) + places[other] for one, other in pairs]
    possible = np.ones(len(table.records), dtype=np.bool_)
    for term in terms:
        possible &= np.bincount(term, weights=table.records)[term] > 0
    trends = [_trend(name, table.values[name])[places[name]][possible] for name in trend]
    number, groups = int(possible.sum()), [np.unique(term[possible], return_inverse=True)[1] for term in terms]
    width = 1 + len(trends) + sum(int(group.max(initial=0)) for group in groups)
    if width * number > MOST_FIGURES:
        raise InputError("the model has too many effects for so many cells", advice="take fewer keys or pairs")
    # One column for each group of a term but the first, 1 where a cell is of it.
    indicators = [np.eye(int(group.max(initial=0)) + 1)[group][:, 1:] for group in groups]
    design = np.column_stack((np.ones(number), *indicators, *trends))
    start = np.zeros(len(possible)) if offset is None else offset
    fitted = np.zeros(len(possible))
    fitted[possible] = _regressed(design, table.records[possible], start[possible])
    return fitted


def _regressed(design: Floats, counts: Floats, offset: Floats) -> Floats:
    """Poisson regression by iteratively reweighted least squares (McCullagh & Nelder 1989, 2.5)."""
    mean = counts + 0.1
    last = np.inf
    for _ in range(_ROUNDS):
        working = np.log(mean) - offset + (counts - mean) / mean
        weighted = design * mean[:, None]
        effects = np.linalg.lstsq(design.T @ weighted, weighted.T @ working)[0]
        mean = np.exp(np.clip(design @ effects + offset, -100, 100))
        deviance = float((mean - counts * np.log(mean)).sum())
        if abs(deviance - last) <= _CHANGE * (abs(deviance) + 1):
            return np.asarray(mean)
        last = deviance
    raise DataError("the log-linear model doesn't settle on this data", advice="take fewer pairs, or no trend")


def _trend(name: str, values: pl.Series) -> Floats:
    """A key's values as numbers, around 0 and of spread 1, so that the equations are well conditioned."""
    if not values.dtype.is_numeric() or values.null_count():
        raise DataError(f"'{name}' can't be a trend: it has values that are missing or not numbers")
    figures = values.cast(pl.Float64).to_numpy()
    return np.asarray((figures - figures.mean()) / (figures.std() or 1.0))
