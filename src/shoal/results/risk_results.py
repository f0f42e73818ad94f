"""How risky a table is, as results have it: its classes, its models, three attackers, the assessment."""

from __future__ import annotations

from shoal.results.base import Absent, Bounded, Number, ResultModel, Words


class RiskResult(ResultModel):
    k: int
    """The smallest class; 0 where there are no classes."""
    prosecutor_max: Number = 0.0
    prosecutor_average: Number = 0.0
    journalist_max: Number = 0.0
    marketer: Number = 0.0
    uniques: int = 0
    k_by_value: Absent[int] = None
    """Where a missing cell counts as any value: k where it is a value of its own."""
    uniques_by_value: Absent[int] = None


class ReleasedRisk(RiskResult):
    k_effective: int | None = None
    """k after what other released columns tell was put back; None where nobody looked."""


class ModelResult(ResultModel):
    """A privacy model or a threshold: what was asked, what was found."""

    name: Words
    required: Number
    achieved: Bounded = None
    """None where it is beyond all numbers."""
    met: bool


class AttackerRiskResult(ResultModel):
    max: Number
    average: Number
    above: Number
    """Share of the records whose risk is above the threshold."""
    uniques: Number
    strict_average: Number
    """The average, or the highest where somebody is at more risk than an average may hide."""


class AttackersResult(ResultModel):
    prosecutor: AttackerRiskResult
    journalist: AttackerRiskResult
    marketer: Number
    threshold: Number
    basis: str
    """What is known of the population."""
    basis_in_words: str
    beyond: int = 0
    """Classes with more people in the table than in the population."""


class AssessmentResult(ResultModel):
    """The risk with the chance of an attempt in it, against what the declared harm allows (PDPC, annex D)."""

    k: int
    harm: str
    motive: str
    controls: str | None
    procedure: str
    parts: dict[str, Number | None]
    """The probability of an attempt by scenario; None where it was not given."""
    attempt: Number
    success: Number
    probability: Number
    threshold: Number
    within: bool
    words: tuple[str, ...]


class SudaResult(ResultModel):
    """Special uniques (SUDA2): figures only."""

    keys: tuple[str, ...]
    max_size: int
    fraction: Number
    fraction_from: Absent[str] = None
    records: int
    alone: int
    """Records that nobody else looks like."""
    scored: int
    score_max: Number
    dis_max: Number
    dis_quantiles: dict[str, Number]
    dis_above: dict[str, int]
    attributes: dict[str, Number]
    """Per key, the percentage of all scores that comes from sets with the key."""
    minimal_uniques: dict[str, int]


class UnsafeTableResult(ResultModel):
    keys: tuple[str, ...]
    threshold: int
    cells: int
    unsafe_cells: int
    unsafe_records: int


class SampleRiskResult(ResultModel):
    records: int
    expected_reidentifications: Number
    share: Number
    uniques: int
    pairs: int
    highest: Number
    expected_in_households: Number | None
    share_in_households: Number | None
    light_weights: int


class GlobalRiskResult(ResultModel):
    records: int
    uniques: int
    population_uniques: Number
    expected_matches: Number
    share: Number
    cells: int


class LogLinearResult(ResultModel):
    independent: GlobalRiskResult
    pairs: GlobalRiskResult | None
    left_out: str | None


class AssessedRisk(ResultModel):
    """What the classes of a table mean in its circumstances; each part is there where it was asked for."""

    attackers: Absent[AttackersResult] = None
    assessment: Absent[AssessmentResult] = None
    """Only where the potential harm was said."""
    not_assessed: Absent[Words] = None
    """Why there is no assessment although the potential harm was said."""
    population_uniques: Absent[dict[str, Number | None]] = None
    suda: Absent[SudaResult] = None
    sample_risk: Absent[SampleRiskResult] = None
    log_linear: Absent[LogLinearResult] = None
    unsafe: Absent[tuple[UnsafeTableResult, ...]] = None
