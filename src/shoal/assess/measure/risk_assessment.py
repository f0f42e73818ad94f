"""What the classes of a table mean in its circumstances: three attackers, the PDPC assessment, special records."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from shoal.assess.measure.options import AssessmentOptions
from shoal.errors import FieldName, FieldText, InputError
from shoal.measurement import Measurement
from shoal.measurement.risk.attacker_risks import Attackers, attackers_of, population_uniques
from shoal.measurement.risk.reidentification import Reidentification, assess
from shoal.policy.assessment import Assess
from shoal.results.risk_assessment import RiskAssessment


def assess_table(
    frame: pl.LazyFrame | None, measured: Measurement, quasi: tuple[str, ...], options: AssessmentOptions
) -> RiskAssessment:
    """``frame`` is needed for figures of single records only."""
    own = options.circumstances
    size = own.population_size
    found = RiskAssessment(
        attackers_in(measured, options),
        None if own.harm is None or options.not_assessed else _assessment(measured.k, own),
        options.not_assessed,
        None if size is None else population_uniques(measured.classes.people, size),
    )
    asked = (*options.of_records, *(("records",) if options.records else ()))
    if frame is None or not asked:
        return found
    if not quasi:
        raise InputError("without quasi-identifiers no record differs from another", field=asked[0])
    return _by_records(frame, measured, quasi, options, found)


def _by_records(
    frame: pl.LazyFrame,
    measured: Measurement,
    quasi: tuple[str, ...],
    options: AssessmentOptions,
    found: RiskAssessment,
) -> RiskAssessment:
    """What looks at single records. Two records of one person would hide each other, so each person may have one."""
    from shoal.assess.measure.record_figures import record_figures
    from shoal.assess.measure.sampling_fraction import estimate_sampling_fraction, log_linear, weighted, with_gaps
    from shoal.measurement.risk.individual_risk import measure_sample, record_risks
    from shoal.measurement.risk.suda import suda
    from shoal.measurement.risk.unsafe_combinations import unsafe_combinations

    if options.of_records and measured.people != measured.rows:
        raise InputError(
            "counts records, so each person may have one record only",
            field=options.of_records[0],
            advice=FieldText(FieldName("by_records"), " takes each record for a person"),
        )
    weight, missing = options.weight, options.missing or "value"
    frame = weighted(frame, weight)
    share = estimate_sampling_fraction(measured, options.circumstances, frame, weight)
    special = suda(frame, quasi, fraction=share.fraction) if options.suda else None
    sample = risks = None
    if weight is not None:
        gaps = with_gaps(frame, quasi, missing)
        sample = measure_sample(gaps, quasi, weight, options.household, missing)
        risks = record_risks(gaps, quasi, weight, options.household, missing) if options.records else None
    rule = options.unsafe
    return replace(
        found,
        special=special,
        sample=sample,
        share=share,
        log_linear=log_linear(frame, quasi, weight, share) if options.log_linear else None,
        unsafe=() if rule is None else unsafe_combinations(frame, quasi, rule.threshold, rule.most_keys),
        records=record_figures(frame, measured, risks, special) if options.records else None,
    )


def attackers_in(measured: Measurement, options: AssessmentOptions) -> Attackers:
    size = options.circumstances.population_size
    return attackers_of(measured.beside_population(), population_size=size, threshold=options.threshold)


def _assessment(k: int, own: Assess) -> Reidentification:
    if own.harm is None:
        raise InputError("the potential harm has to be said: low, medium or high")
    return assess(
        k,
        harm=own.harm,
        motive=own.motive,
        controls=own.controls,
        acquaintance=own.acquaintance,
        breach=own.breach,
        threshold=own.threshold,
        procedure=own.procedure,
    )
