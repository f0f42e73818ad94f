"""What a release is good for, as results have it."""

from __future__ import annotations

from pydantic import ConfigDict, Field, JsonValue

from shoal.results.base import Number, ResultModel, Words


class QueriesResult(ResultModel):
    number: int
    mean_interval: tuple[Number, Number] | None = None
    median_interval: tuple[Number, Number] | None = None


class AssociationResult(ResultModel):
    first: str
    second: str
    measure: str
    before: Number | None
    after: Number | None
    difference: Number | None


class UsefulnessResult(ResultModel):
    """Its figures are keys of their own beside these: a number, or null where ``reasons`` says why there is none."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    rows_original: int
    rows_released: int
    aligned: bool
    """Whether row i of both tables was taken for the same record."""
    purpose: str | None
    for_purpose: tuple[str, ...]
    attributes: dict[str, dict[str, JsonValue]]
    queries: QueriesResult
    associations: tuple[AssociationResult, ...]
    reasons: dict[str, Words]
    warnings: tuple[Words, ...]
    notes: tuple[Words, ...]

    @property
    def figures(self) -> dict[str, float | None]:
        known = (self.model_extra or {}).items()
        return {name: value for name, value in known if value is None or isinstance(value, int | float)}
