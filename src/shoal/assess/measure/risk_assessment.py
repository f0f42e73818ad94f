"""What the classes of a table mean in its circumstances: three attackers, the PDPC assessment, special records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import polars as pl
from pydantic import ValidationError

from shoal.assess.measure.record_figures import record_figures
from shoal.assess.measure.sampling_fraction import (
    estimate_sampling_fraction,
    log_linear,
    size_of_population,
    weighted,
    with_gaps,
)
from shoal.assess.measure.unsafe_rule import UnsafeRule
from shoal.errors import FieldName, FieldText, InputError
from shoal.measurement import Measurement
from shoal.measurement.risk.attacker_risks import THRESHOLD, Attackers, attackers_of, population_uniques
from shoal.measurement.risk.individual_risk import measure_sample, record_risks
from shoal.measurement.risk.key_frequencies import Missing
from shoal.measurement.risk.reidentification import NOT_FOR_PUBLIC, THRESHOLDS, Reidentification, assess
from shoal.measurement.risk.suda import suda
from shoal.measurement.risk.unsafe_combinations import unsafe_combinations
from shoal.policy.assessment import Assess
from shoal.results.risk_assessment import RiskAssessment
from shoal.schema.circumstances import Procedure
from shoal.schema.validation_messages import validation_message

_DRAWN = ("population_size", "sampling_fraction")
"""Two ways to say one thing."""


@dataclass(frozen=True)
class AssessmentOptions:
    """What is to be measured beyond the classes."""

    circumstances: Assess = field(default_factory=Assess)
    suda: bool = False
    weight: str | None = None
    """The column of sampling weights, where the table is a sample of people."""
    household: str | None = None
    missing: Missing | None = None
    """How a missing cell is read: as a value of its own, or as one that could be any. None: as the policy says."""
    log_linear: bool = False
    unsafe: UnsafeRule | None = None
    records: bool = False
    """Whether figures are wanted record by record."""
    public: bool = False
    """Whether anybody may have the data, whatever is said of controls."""

    def __post_init__(self) -> None:
        if self.household is not None and self.weight is None:
            raise InputError(
                "the risk in households needs sampling weights",
                field="household",
                advice=FieldText("give ", FieldName("weight"), " too"),
            )

    def within(self, policy: Assess) -> AssessmentOptions:
        """What the command line says; where it says nothing, what the policy says."""
        said = self.circumstances.model_dump(exclude_unset=True)
        if said.keys() & {*_DRAWN}:
            said = dict.fromkeys(_DRAWN) | said
        return replace(self, circumstances=policy.model_copy(update=said))

    def need_harm(self) -> None:
        """Refuse what would be passed over."""
        if passed_over := self.circumstances.unweighed:
            raise InputError(
                "comes to nothing without the potential harm",
                field=passed_over[0],
                advice=FieldText("give ", FieldName("harm"), " too"),
            )

    def drawn_as(self, measured: Measurement) -> AssessmentOptions:
        """With the size of the population that a table of this many people was drawn from."""
        size = size_of_population(self.circumstances, measured)
        return replace(self, circumstances=self.circumstances.model_copy(update={"population_size": size}))

    @property
    def of_records(self) -> tuple[str, ...]:
        """The options that look at single records, and take each for a person."""
        asked = {"suda": self.suda, "weight": self.weight, "log_linear": self.log_linear, "unsafe": self.unsafe}
        return tuple(name for name, given in asked.items() if given)

    @property
    def not_assessed(self) -> str | None:
        """Why the circumstances come to no verdict, where they don't."""
        own = self.circumstances
        if own.harm is None or own.procedure is not Procedure.PDPC:
            return None
        return NOT_FOR_PUBLIC if self.public or own.public else None

    @property
    def threshold(self) -> float:
        own = self.circumstances
        if own.threshold is not None:
            return own.threshold
        return THRESHOLD if own.harm is None else THRESHOLDS[own.harm]


def assess_table(
    frame: pl.LazyFrame | None, measured: Measurement, quasi: tuple[str, ...], wanted: AssessmentOptions
) -> RiskAssessment:
    """``frame`` is needed for figures of single records only."""
    own = wanted.circumstances
    size = own.population_size
    found = RiskAssessment(
        attackers_in(measured, wanted),
        None if own.harm is None or wanted.not_assessed else _assessment(measured.k, own),
        wanted.not_assessed,
        None if size is None else population_uniques(measured.classes.people, size),
    )
    asked = (*wanted.of_records, *(("records",) if wanted.records else ()))
    if frame is None or not asked:
        return found
    if not quasi:
        raise InputError("without quasi-identifiers no record differs from another", field=asked[0])
    return _by_records(frame, measured, quasi, wanted, found)


def _by_records(
    frame: pl.LazyFrame, measured: Measurement, quasi: tuple[str, ...], wanted: AssessmentOptions, found: RiskAssessment
) -> RiskAssessment:
    """What looks at single records. Two records of one person would hide each other, so each person may have one."""
    if wanted.of_records and measured.people != measured.rows:
        raise InputError(
            "counts records, so each person may have one record only",
            field=wanted.of_records[0],
            advice=FieldText(FieldName("by_records"), " takes each record for a person"),
        )
    weight, missing = wanted.weight, wanted.missing or "value"
    frame = weighted(frame, weight)
    share = estimate_sampling_fraction(measured, wanted.circumstances, frame, weight)
    special = suda(frame, quasi, fraction=share.fraction) if wanted.suda else None
    sample = risks = None
    if weight is not None:
        gaps = with_gaps(frame, quasi, missing)
        sample = measure_sample(gaps, quasi, weight, wanted.household, missing)
        risks = record_risks(gaps, quasi, weight, wanted.household, missing) if wanted.records else None
    rule = wanted.unsafe
    return replace(
        found,
        special=special,
        sample=sample,
        share=share,
        log_linear=log_linear(frame, quasi, weight, share) if wanted.log_linear else None,
        unsafe=() if rule is None else unsafe_combinations(frame, quasi, rule.threshold, rule.most_keys),
        records=record_figures(frame, measured, risks, special) if wanted.records else None,
    )


def attackers_in(measured: Measurement, wanted: AssessmentOptions) -> Attackers:
    size = wanted.circumstances.population_size
    return attackers_of(measured.beside_population(), population_size=size, threshold=wanted.threshold)


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


def circumstances(**said: object) -> Assess:
    """From the command line: what is not said is left open; what can't be is refused with the choices."""
    given = {name: value for name, value in said.items() if value is not None}
    try:
        return Assess.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(validation_message(first), field=str(first["loc"][0])) from None
