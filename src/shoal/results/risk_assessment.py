"""What the classes of a table mean in its circumstances: attackers, the assessment, the sample, special records."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import polars as pl

from shoal.measurement.risk.attacker_risks import Attackers
from shoal.measurement.risk.global_risk import GlobalRisk
from shoal.measurement.risk.individual_risk import SampleRisk
from shoal.measurement.risk.reidentification import Reidentification
from shoal.measurement.risk.suda import Suda
from shoal.measurement.risk.unsafe_combinations import UnsafeTable


@dataclass(frozen=True)
class RiskAssessment:
    attackers: Attackers
    assessment: Reidentification | None = None
    """Only where the potential harm was said: without it a probability is neither high nor low."""
    not_assessed: str | None = None
    """Why there is none although the potential harm was said."""
    population_uniques: dict[str, float | None] | None = None
    special: Suda | None = None
    sample: SampleRisk | None = None
    share: SamplingFraction | None = None
    """Of the population that the table is taken for, by what looks at single records."""
    log_linear: LogLinearRisk | None = None
    unsafe: tuple[UnsafeTable, ...] = ()
    records: pl.DataFrame | None = field(default=None, repr=False, compare=False)
    """Figures only, a line per record."""

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {"attackers": self.attackers.to_dict()}
        if self.assessment is not None:
            found["assessment"] = self.assessment.to_dict()
        if self.not_assessed is not None:
            found["not_assessed"] = self.not_assessed
        if self.population_uniques is not None:
            found["population_uniques"] = self.population_uniques
        if self.special is not None:
            found["suda"] = self.special.to_dict()
            if self.share is not None:
                found["suda"]["fraction_from"] = str(self.share.known)
        if self.sample is not None:
            found["sample_risk"] = self.sample.to_dict()
        if self.log_linear is not None:
            found["log_linear"] = self.log_linear.to_dict()
        if self.unsafe:
            found["unsafe"] = [table.to_dict() for table in self.unsafe]
        return found


class FractionBasis(StrEnum):
    """Where the share comes from."""

    SAID = "said"
    SIZE = "population size"
    TABLE = "population table"
    WEIGHTS = "weights"
    SUPPOSED = "supposed"


@dataclass(frozen=True)
class SamplingFraction:
    """Of the population that is in the table."""

    fraction: float
    known: FractionBasis


@dataclass(frozen=True)
class LogLinearRisk:
    """The global risk by two models. Neither is a bound: where they differ, the higher figure is the cautious one."""

    independent: GlobalRisk
    """Each attribute has an effect of its own."""
    pairs: GlobalRisk | None
    """Each pair of them has one too."""
    left_out: str | None = None
    """Why there is no model with pairs."""

    def to_dict(self) -> dict[str, Any]:
        pairs = None if self.pairs is None else self.pairs.to_dict()
        return {"independent": self.independent.to_dict(), "pairs": pairs, "left_out": self.left_out}
