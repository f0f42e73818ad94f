"""What ``shoal measure --json`` prints."""

from __future__ import annotations

from pydantic import ConfigDict, Field, JsonValue

from shoal.results.base import Absent, Number, ResultModel, Words
from shoal.results.multi_table_manifest import JoinedRiskResult
from shoal.results.read_back.result import ReadBackResult
from shoal.results.record_counts import CountBasis, RecordCounts
from shoal.results.risk_results import AssessedRisk, AttackersResult, ModelResult, ReleasedRisk, RiskResult
from shoal.results.usefulness_result import UsefulnessResult


class ClassSizeResult(ResultModel):
    min: int
    average: Number
    max: int


class FormalResult(ResultModel):
    """What each formal model reaches on the table; figures of the whole table are keys of their own beside these."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    attributes: Absent[dict[str, dict[str, Number | None]]] = None
    """Sensitive attribute → figure; null where no parameter will do."""
    left_out: Absent[dict[str, dict[str, str]]] = None
    parameters: Absent[dict[str, dict[str, int]]] = None


class SensitiveCellsResult(ResultModel):
    """Groups whose sum tells too much of a contribution."""

    cells: int
    sensitive: int
    by_rule: dict[str, int]


class MeasurementResult(AssessedRisk):
    rows: int
    counted: CountBasis
    """What the sizes of classes are numbers of."""
    suppressed: int
    records: RecordCounts
    classes: int
    class_size: ClassSizeResult
    risk: ReleasedRisk
    diversity: dict[str, int]
    """Per sensitive attribute, the fewest distinct values in a class."""
    models: tuple[ModelResult, ...]
    utility: dict[str, Number]
    read_back: Absent[ReadBackResult] = None
    not_measured: Absent[dict[str, Words]] = None
    """Models that could not be measured, and why; they are not met."""
    formal: Absent[FormalResult] = None
    sensitivity: Absent[dict[str, SensitiveCellsResult]] = None
    sensitivity_left_out: Absent[tuple[str, ...]] = None
    risk_before: Absent[RiskResult] = None
    doubts: Absent[tuple[Words, ...]] = None
    """What speaks against the two tables belonging together."""
    attackers_before: Absent[AttackersResult] = None
    utility_reasons: Absent[dict[str, Words]] = None
    usefulness: Absent[UsefulnessResult] = None


class MultiTableMeasurementResult(ResultModel):
    """The same of several tables: each by itself, and all of them joined."""

    joined: JoinedRiskResult
    tables: dict[str, MeasurementResult]
    without_quasi_identifiers: tuple[str, ...]
    models: tuple[ModelResult, ...]
