"""Individual risk: the chance that a record of a sample file is linked to the right person of the population.

Whoever knows a person's keys finds fk records in the sample, which stand for about Fk people. Given fk, Fk follows a
negative binomial distribution with success probability p = fk ÷ Fk (estimated by the weights), and the risk is the mean
of 1 ÷ Fk (Benedetti & Franconi 1998). In closed form, with q = 1 − p (Franconi & Polettini 2004):

    r = p^f ÷ f · ₂F₁(f, f; f + 1; q)  =  p ÷ f · ₂F₁(1, 1; f + 1; q)

The second form (Euler's transformation) neither overflows nor cancels at large f. For one and two records it is

    f = 1:  r = p ÷ q · ln(1 ÷ p)              f = 2:  r = p ÷ q² · (p · ln p + q)

*approximate* takes p ÷ (f − q) from three records on, as the tools of statistical offices do; it is never below
the exact figure. *exact* takes the function throughout. A combination that the weights make rarer in the population
than it is in the sample (weights below 1) counts as the whole of its population: p = 1, the safe side.

In a household one member found is all members found: 1 − Π (1 − r) over its members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from shoal.errors import InputError
from shoal.kernels.arrays import Floats, Integers
from shoal.measurement.risk.key_frequencies import (
    Frequencies,
    KeyCombinations,
    Missing,
    check_keys,
    check_weights,
    combine,
    frequencies,
)

Form = Literal["approximate", "exact"]

_CLOSED_BELOW = 3
_SERIES_FROM, _TERMS = 20, 60
"""The series' last term is below 1 ÷ C(80, 20), which no double shows beside 1."""
_DIGITS = 12
_RISK, _SAFE = "__shoal_risk", "__shoal_log_safe"


def individual_risk(sample: ArrayLike, population: ArrayLike, form: Form = "approximate") -> Floats:
    """The risk of records with frequencies fk in the sample and Fk in the population.

    >>> individual_risk([1, 2, 3], [10, 20, 30]).round(4).tolist()
    [0.2558, 0.0827, 0.0476]
    """
    if form not in ("approximate", "exact"):
        raise InputError(f"unknown form '{form}' of individual risk", advice="it is 'approximate' or 'exact'")
    counted, estimated = np.asarray(sample, dtype=np.float64), np.asarray(population, dtype=np.float64)
    if not (
        np.isfinite(counted).all() and np.isfinite(estimated).all() and (counted > 0).all() and (estimated > 0).all()
    ):
        raise InputError("frequencies have to be numbers above 0")
    fraction = np.minimum(counted / estimated, 1.0)
    missed = 1 - fraction
    if form == "exact":
        return _exact(counted, fraction)
    few = counted < _CLOSED_BELOW
    risk = fraction / np.where(few, 1.0, counted - missed)
    risk[few] = _exact(counted[few], fraction[few])
    return np.asarray(risk)


def _exact(counted: Floats, fraction: Floats) -> Floats:
    """p ÷ f · ₂F₁(1, 1; f + 1; q). The library's function fails from f = 100 on; there the series is short."""
    from scipy.special import hyp2f1

    missed = 1 - fraction
    series = np.ones_like(counted)
    for term in range(_TERMS, 0, -1):
        series = 1 + term * missed / (counted + term) * series
    few = counted < _SERIES_FROM
    series[few] = hyp2f1(1, 1, counted[few] + 1, missed[few])
    return np.asarray(np.minimum(fraction / counted * series, 1.0))


def household_risk(risk: ArrayLike, household: ArrayLike | pl.Series) -> Floats:
    """The risk that a member of the record's household is found, per record. A missing household is one of its own.

    >>> household_risk([0.5, 0.5, 0.25], ["a", "a", "b"]).tolist()
    [0.75, 0.75, 0.25]
    """
    figures = np.asarray(risk, dtype=np.float64)
    belongs = household if isinstance(household, pl.Series) else pl.Series(np.asarray(household).tolist())
    if len(figures) != len(belongs):
        raise InputError("risks and households have to be as many")
    if not len(figures):
        return figures
    group = belongs.rank("dense").fill_null(0).cast(pl.Int64).to_numpy().copy()
    alone = np.flatnonzero(group == 0)
    group[alone] = group.max() + 1 + np.arange(len(alone))
    safe = np.ones(int(group.max()) + 1)
    np.multiply.at(safe, group, 1 - figures)
    return np.asarray(1 - safe[group])


@dataclass(frozen=True)
class RecordRisks:
    """The figures of each record of a sample file, in the order of the records."""

    frequencies: Frequencies
    individual: Floats
    in_household: Floats | None = None
    """None without households."""


@dataclass(frozen=True)
class SampleRisk:
    """The risk of a sample file: figures only, nothing that was in it."""

    records: int
    expected: float
    """Expected re-identifications if all records are tried."""
    uniques: int
    """Records whose combination nobody else in the sample has."""
    pairs: int
    """Records whose combination one other has."""
    highest: float
    expected_in_households: float | None = None
    """The same where finding one member finds the household; None without households."""
    light_weights: int = 0
    """Records with a weight below 1, which stand for less than themselves."""
    steps: tuple[Floats, Integers] = field(
        default_factory=lambda: (np.empty(0), np.empty(0, dtype=np.int64)), repr=False, compare=False
    )
    """The distinct risks, rising, and how many records have each."""

    @property
    def share(self) -> float:
        """Expected re-identifications per record."""
        return self.expected / self.records if self.records else 0.0

    @property
    def share_in_households(self) -> float | None:
        if self.expected_in_households is None:
            return None
        return self.expected_in_households / self.records if self.records else 0.0

    def above(self, threshold: float) -> int:
        """Records whose own risk is greater."""
        risks, numbers = self.steps
        return int(numbers[np.searchsorted(risks, threshold, side="right") :].sum())

    def to_dict(self) -> dict[str, Any]:
        return {
            "records": self.records,
            "expected_reidentifications": _rounded(self.expected),
            "share": _rounded(self.share),
            "uniques": self.uniques,
            "pairs": self.pairs,
            "highest": _rounded(self.highest),
            "expected_in_households": _rounded(self.expected_in_households),
            "share_in_households": _rounded(self.share_in_households),
            "light_weights": self.light_weights,
        }


def measure_sample(  # noqa: PLR0913  # all that describes a sample file
    frame: pl.LazyFrame,
    keys: Sequence[str],
    weight: str,
    household: str | None = None,
    missing: Missing = "value",
    *,
    alpha: float = 1.0,
    form: Form = "approximate",
) -> SampleRisk:
    """The risk of a sample file with sampling weights, by distinct combinations of its keys.

    Weights that are missing, not a number, 0 or negative can't be used. Those below 1 are counted and taken as they
    are; no combination counts as rarer in the population than in the sample.
    """
    check_keys(frame, keys, weight, household)
    light = check_weights(frame, weight)
    combinations = combine(frame, keys, weight, missing, alpha)
    fk, records = combinations.frequencies.sample, combinations.records
    risk = individual_risk(fk, combinations.frequencies.population, form)
    order = np.argsort(risk)
    return SampleRisk(
        int(records.sum()),
        fsum(records * risk),
        int(records[fk == 1].sum()),
        int(records[fk == 2].sum()),
        float(risk.max(initial=0.0)),
        None if household is None else _in_households(frame, combinations, risk, household),
        light,
        (risk[order], records[order]),
    )


def record_risks(
    frame: pl.LazyFrame, keys: Sequence[str], weight: str, household: str | None = None, missing: Missing = "value"
) -> RecordRisks:
    """The same record by record, for who has to know which ones are at risk."""
    check_keys(frame, keys, weight, household)
    check_weights(frame, weight)
    found = frequencies(frame, keys, weight, missing)
    risk = individual_risk(found.sample, found.population)
    if household is None:
        return RecordRisks(found, risk)
    homes = frame.select(household).collect()[household]
    return RecordRisks(found, risk, household_risk(risk, homes))


def _in_households(frame: pl.LazyFrame, combinations: KeyCombinations, risk: Floats, household: str) -> float:
    """Expected re-identifications where a household is found by any member; records without one are on their own."""
    with np.errstate(divide="ignore"):
        safe = np.log1p(-risk)
    keys = combinations.cells.columns
    table = combinations.cells.with_columns(pl.Series(_RISK, risk), pl.Series(_SAFE, safe)).lazy()
    rows = frame.join(table, on=keys, how="left", nulls_equal=True).select(household, _RISK, _SAFE)
    found = 1 - pl.col(_SAFE).sum().exp()
    together = rows.drop_nulls(household).group_by(household).agg((pl.len() * found).alias(_RISK))
    homes = together.sort(household).collect(engine="streaming")
    alone = rows.filter(pl.col(household).is_null()).select(_RISK).collect(engine="streaming")
    return fsum(homes[_RISK]) + fsum(alone[_RISK])


def _rounded(figure: float | None) -> float | None:
    """Without the last digits, which depend on the order of summing."""
    return None if figure is None else float(f"{figure:.{_DIGITS}g}")
