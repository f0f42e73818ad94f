"""A table as a sample: what share of the population it is, and what its weights tell of single records and of all.

A chance that a match is right grows with the share of the population that the table shows. So the share is taken from
the best that is known: what was said of it or of the population's size, a table of the population, sampling weights.
"""

from __future__ import annotations

from itertools import combinations

import polars as pl

from shoal.errors import FieldName, FieldText, InputError
from shoal.measurement import Measurement
from shoal.measurement.risk.equivalence_classes import SUPPRESSED
from shoal.measurement.risk.global_risk import measure_global
from shoal.measurement.risk.key_frequencies import Missing, check_weights
from shoal.policy.assessment import Assess
from shoal.results.risk_assessment import FractionBasis, LogLinearRisk, SamplingFraction
from shoal.schema.type_detection import detect

SUPPOSED = 0.01
"""Where nothing is known; what statistical offices' tools suppose."""
_WEIGHT = "__shoal_weight"


def estimate_sampling_fraction(
    measured: Measurement, own: Assess, frame: pl.LazyFrame, weight: str | None
) -> SamplingFraction:
    """Of a table whose weights are numbers already. Suppressed people were drawn too."""
    if own.sampling_fraction is not None:
        return SamplingFraction(own.sampling_fraction, FractionBasis.SAID)
    if own.population_size is not None:
        return SamplingFraction(_share(measured.people, own.population_size), FractionBasis.SIZE)
    if measured.population is not None:
        return SamplingFraction(_share(measured.people, int(measured.population["records"].sum())), FractionBasis.TABLE)
    if weight is not None:
        check_weights(frame, weight)
        total = frame.select(pl.col(weight).sum()).collect(engine="streaming").item()
        return SamplingFraction(_share(measured.rows, total), FractionBasis.WEIGHTS)
    return SamplingFraction(SUPPOSED, FractionBasis.SUPPOSED)


def weighted(frame: pl.LazyFrame, weight: str | None) -> pl.LazyFrame:
    """Weights that a text file holds are read as the numbers they are."""
    if weight is not None and weight in frame.collect_schema() and detect(frame, [weight])[weight].is_number:
        return frame.with_columns(pl.col(weight).cast(pl.Float64))
    return frame


def with_gaps(frame: pl.LazyFrame, quasi: tuple[str, ...], missing: Missing) -> pl.LazyFrame:
    """Where a missing cell matches anything, a starred one is missing."""
    if missing == "value":
        return frame
    texts = [name for name in quasi if frame.collect_schema()[name] == pl.String()]
    return frame.with_columns(pl.when(pl.col(texts) != SUPPRESSED).then(pl.col(texts)))


def log_linear(
    frame: pl.LazyFrame, quasi: tuple[str, ...], weight: str | None, share: SamplingFraction
) -> LogLinearRisk:
    """By the weights, or by one weight for all where only the share is known."""
    if weight is None:
        if share.known is FractionBasis.SUPPOSED:
            raise InputError(
                "nothing is known of the population",
                field="log_linear",
                advice=FieldText(
                    "give ",
                    FieldName("weight"),
                    ", ",
                    FieldName("population_size"),
                    " or ",
                    FieldName("sampling_fraction"),
                ),
            )
        weight = _WEIGHT
        frame = frame.with_columns(pl.lit(1 / share.fraction).alias(weight))
    independent = measure_global(frame, quasi, weight)
    try:
        return LogLinearRisk(independent, measure_global(frame, quasi, weight, pairs=tuple(combinations(quasi, 2))))
    except InputError as error:
        return LogLinearRisk(independent, None, error.message)


def _share(here: float, among: float) -> float:
    """A table can't be more than its population, whatever light weights say."""
    return min(1.0, here / among) if among else 1.0
