"""What a measurement came to, as people and programs read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.kernels.arrays import Integers
from shoal.measurement import Measurement
from shoal.measurement.formal_models import FormalFigures
from shoal.measurement.read_back import ReadBack
from shoal.measurement.risk.attacker_risks import Attackers
from shoal.measurement.risk.linear_sensitivity import SensitiveCells
from shoal.measurement.usefulness import Usefulness
from shoal.measurement.usefulness.information_loss import class_figures
from shoal.privacy import ModelFinding
from shoal.results.measurement_result import ClassSizeResult, MeasurementResult
from shoal.results.number_format import number, percent
from shoal.results.record_counts import CountBasis, RecordCounts
from shoal.results.risk_assessment import RiskAssessment
from shoal.results.risk_results import ReleasedRisk, RiskResult
from shoal.schema.notebook_html import card, grid, listing, short, tick

CELL_FIGURES = ("loss", "precision", "detail_kept", "entropy", "entropy_lost")


@dataclass(frozen=True)
class CellFigures:
    """Loss, precision and entropy of the quasi-identifying cells, or why not."""

    figures: Mapping[str, float] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def unknown(cls, why: str) -> CellFigures:
        return cls(reasons=dict.fromkeys(CELL_FIGURES, why))


@dataclass(frozen=True)
class MeasuredTable:
    """A measurement with what was required of it."""

    measurement: Measurement
    models: tuple[ModelFinding, ...]
    before: Measurement | None = None
    assessed: RiskAssessment | None = None
    usefulness: Usefulness | None = None
    cells: CellFigures = field(default_factory=CellFigures)
    """Loss, precision and entropy, where an original and the hierarchies of a policy say what cells stand for."""
    formal: FormalFigures | None = None
    sensitivity: Mapping[str, SensitiveCells] = field(default_factory=dict)
    """Per sensitive attribute that is a number, where rules were given."""
    attackers_before: Attackers | None = None
    doubts: tuple[str, ...] = ()
    """Whether the original and the release belong together."""
    counted: CountBasis = CountBasis.RECORDS
    """What the sizes of classes are numbers of."""
    not_measured: Mapping[str, str] = field(default_factory=dict)
    """Models of the policy that could not be measured, and why; they are not met."""
    read_back: ReadBack | None = None
    """What other columns tell of the quasi-identifiers, where an original or the manifest says so."""

    @property
    def k(self) -> int:
        return self.measurement.k

    @property
    def k_effective(self) -> int | None:
        """k after what other columns tell was put back; None where nothing says what was taken out."""
        return None if self.read_back is None else self.read_back.k

    @property
    def records(self) -> pl.DataFrame:
        """Figures of every record in the order of the table, where they were wanted; no value of the data."""
        if self.assessed is None or self.assessed.records is None:
            raise InputError("figures of single records were not asked for")
        return self.assessed.records

    @property
    def no_numbers(self) -> tuple[str, ...]:
        """The sensitive attributes that rules on sums could not look at."""
        return tuple(name for name in self.measurement.classes.sensitive if name not in self.sensitivity)

    @property
    def met(self) -> bool:
        return all(finding.met for finding in self.models)

    def __repr__(self) -> str:
        """Figures alone: the classes that they come from are made of values."""
        return short("MeasuredTable", "", self._figures())

    def _repr_html_(self) -> str:
        rows = [(one.name, number(one.required), number(one.achieved), tick(met=one.met)) for one in self.models]
        verdicts = grid(("what", "required", "achieved", ""), rows)
        risk = self.measurement.risk
        risks = {
            "prosecutor, highest": risk.prosecutor_max,
            "prosecutor, average": risk.prosecutor_average,
            "journalist, highest": risk.journalist_max,
            "marketer": risk.marketer,
        }
        shown = grid(("risk", ""), [(name, percent(share)) for name, share in risks.items()])
        return card("Measured", self._figures(), verdicts, shown, listing("Doubts", self.doubts))

    def _figures(self) -> dict[str, str]:
        figures = {
            "records": f"{self.measurement.rows:,}",
            "k": str(self.k),
            "classes": f"{len(self.measurement.classes.people):,}",
            "uniques": f"{self.measurement.risk.uniques:,}",
        }
        return figures if self.k_effective is None else figures | {"k with what columns tell": str(self.k_effective)}

    def result(self) -> MeasurementResult:
        risk = RiskResult.model_validate(self.measurement.risk)
        return MeasurementResult(
            rows=self.measurement.rows,
            counted=self.counted,
            suppressed=self.measurement.suppressed_records,
            records=RecordCounts.measured(self.measurement),
            classes=len(self.measurement.classes.people),
            class_size=_sizes(self.measurement.classes.people),
            risk=ReleasedRisk(**dict(risk), k_effective=self.k_effective),
            diversity=self.measurement.diversity,
            models=self.models,
            utility={**class_figures(self.measurement), **self.cells.figures},
            read_back=self.read_back,
            not_measured=self.not_measured or None,
            formal=None if self.formal is None else self.formal.to_dict(),
            sensitivity={name: found.to_dict() for name, found in self.sensitivity.items()} or None,
            sensitivity_left_out=self.no_numbers if self.sensitivity else None,
            risk_before=None if self.before is None else self.before.risk,
            doubts=None if self.before is None else self.doubts,
            attackers_before=self.attackers_before,
            utility_reasons=None if self.usefulness is None else self.cells.reasons,
            usefulness=None if self.usefulness is None else self.usefulness.to_dict(),
            **({} if self.assessed is None else dict(self.assessed.result())),
        )

    def to_dict(self) -> dict[str, Any]:
        return self.result().to_dict()


def _sizes(people: Integers) -> ClassSizeResult:
    if not len(people):
        return ClassSizeResult(min=0, average=0.0, max=0)
    return ClassSizeResult(min=int(people.min()), average=float(people.mean()), max=int(people.max()))
