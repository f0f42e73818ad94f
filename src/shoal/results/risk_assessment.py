"""What the classes of a table mean in its circumstances: attackers, the assessment, the sample, special records."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import polars as pl

from shoal.measurement.risk.attacker_risks import Attackers
from shoal.results.risk_results import AssessedRisk

if TYPE_CHECKING:
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

    def result(self) -> AssessedRisk:
        share = {} if self.share is None else {"fraction_from": str(self.share.known)}
        return AssessedRisk(
            attackers=self.attackers,
            assessment=self.assessment,
            not_assessed=self.not_assessed,
            population_uniques=self.population_uniques,
            suda=None if self.special is None else self.special.to_dict() | share,
            sample_risk=None if self.sample is None else self.sample.to_dict(),
            log_linear=None if self.log_linear is None else self.log_linear.to_dict(),
            unsafe=self.unsafe or None,
        )


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
