"""What the classes of a table mean in its circumstances: three attackers, the PDPC assessment, special records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from pydantic import ValidationError

from shoal.errors import InputError
from shoal.measurement import Measurement
from shoal.measurement.attackers import THRESHOLD, Attackers, attackers_of, population_uniques
from shoal.measurement.individual import SampleRisk, measure_sample
from shoal.measurement.reidentification import THRESHOLDS, Reidentification, assess
from shoal.measurement.suda import Suda, suda
from shoal.policy.assessment import Assess
from shoal.schema.detect import detect


@dataclass(frozen=True)
class Wanted:
    """What is to be measured beyond the classes."""

    circumstances: Assess = field(default_factory=Assess)
    suda: bool = False
    weight: str | None = None
    """The column of sampling weights, where the table is a sample of people."""
    household: str | None = None

    def __post_init__(self) -> None:
        if self.household is not None and self.weight is None:
            raise InputError("--household: the risk in households needs sampling weights", advice="give --weight too")

    def within(self, policy: Assess) -> Wanted:
        """What the command line says; where it says nothing, what the policy says."""
        said = self.circumstances.model_dump(exclude_unset=True)
        return replace(self, circumstances=policy.model_copy(update=said))

    @property
    def threshold(self) -> float:
        own = self.circumstances
        if own.threshold is not None:
            return own.threshold
        return THRESHOLD if own.harm is None else THRESHOLDS[own.harm]


@dataclass(frozen=True)
class Assessed:
    attackers: Attackers
    assessment: Reidentification | None = None
    """Only where the potential harm was said: without it a probability is neither high nor low."""
    population_uniques: dict[str, float | None] | None = None
    special: Suda | None = None
    sample: SampleRisk | None = None

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"attackers": self.attackers.to_dict()}
        if self.assessment is not None:
            found["assessment"] = self.assessment.to_dict()
        if self.population_uniques is not None:
            found["population_uniques"] = self.population_uniques
        if self.special is not None:
            found["suda"] = self.special.to_dict()
        if self.sample is not None:
            found["sample_risk"] = self.sample.to_dict()
        return found


def assess_table(frame: pl.LazyFrame | None, measured: Measurement, quasi: tuple[str, ...], wanted: Wanted) -> Assessed:
    """``frame`` is needed for figures of single records only."""
    own = wanted.circumstances
    people = measured.classes.people
    size = own.population_size
    special = sample = None
    if frame is not None and quasi:
        special = suda(frame, quasi) if wanted.suda else None
        sample = None if wanted.weight is None else _sample(frame, quasi, wanted.weight, wanted.household)
    return Assessed(
        attackers_in(measured, wanted),
        None if own.harm is None else _assessment(measured.k, own),
        None if size is None else population_uniques(people, size),
        special,
        sample,
    )


def _sample(frame: pl.LazyFrame, quasi: tuple[str, ...], weight: str, household: str | None) -> SampleRisk:
    """Weights that a text file holds are read as the numbers they are."""
    if weight in frame.collect_schema() and detect(frame, [weight])[weight].is_number:
        frame = frame.with_columns(pl.col(weight).cast(pl.Float64))
    return measure_sample(frame, quasi, weight, household)


def attackers_in(measured: Measurement, wanted: Wanted) -> Attackers:
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
    )


def circumstances(**said: object) -> Assess:
    """From the command line: what is not said is left open; what can't be is refused with the choices."""
    given = {name: value for name, value in said.items() if value is not None}
    try:
        return Assess.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        option = "--" + str(first["loc"][0]).replace("_", "-")
        raise InputError(f"{option}: {first['msg']}") from None
