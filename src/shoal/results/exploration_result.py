"""What ``shoal explore --json`` prints."""

from __future__ import annotations

from shoal.results.base import Number, ResultModel


class TrialResult(ResultModel):
    """One setting and what came of it; figures are null where nothing meets what it asks."""

    k: int
    limit: Number
    """Share of the records that may be suppressed."""
    recoding: str
    policy: bool
    """Whether this is what the policy itself asks for."""
    feasible: bool
    reason: str | None
    """Why nothing was found."""
    seconds: Number
    pareto: bool
    """Whether nothing that was tried is as safe and loses less."""
    levels: dict[str, int] | None = None
    loss: Number | None = None
    objective: Number | None = None
    optimal: bool | None = None
    suppressed: int | None = None
    suppressed_share: Number | None = None
    smallest_class: int | None = None
    average_class_size: Number | None = None
    prosecutor_max: Number | None = None
    prosecutor_average: Number | None = None


class ExplorationResult(ResultModel):
    policy: str
    """Its name."""
    data: str
    records: int
    complete: bool
    """Whether all was tried that was to be tried."""
    tries: tuple[TrialResult, ...]
    advice: tuple[str, ...]
