"""``release.json`` of several tables: how they belong together, and what is left of k where they are joined."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from shoal.policy.release_kind import ReleaseKind
from shoal.results.base import Absent, Moment, ResultModel
from shoal.results.manifest import FurtherFile
from shoal.results.risk_results import ModelResult
from shoal.results.synthesis.tables_result import SyntheticTablesResult


class KeyGroupResult(ResultModel):
    """Columns that tables can be joined by."""

    columns: tuple[str, ...]
    names_people: bool


class JoinedGroupResult(ResultModel):
    """What one kind of key leaves of k."""

    columns: tuple[str, ...]
    tables: tuple[str, ...]
    k: int
    people: int
    alone: int
    exact: bool


class JoinedRiskResult(ResultModel):
    k: int | None = None
    """None where nothing joins, or where it could not be counted."""
    people: int | None = None
    alone: int | None = None
    tables: tuple[str, ...] = ()
    required: int | None = None
    met: bool | None = None
    """None where nothing is asked of the joined tables."""
    accepted: str | None = None
    """Why it need not be met."""
    counted: bool = True
    keys: tuple[KeyGroupResult, ...] | None = None
    """None where it doesn't say what the tables are joined by."""
    by_key: tuple[JoinedGroupResult, ...] = ()
    models: tuple[ModelResult, ...] = ()


class ReferenceResult(ResultModel):
    child: str = Field(alias="from")
    parent: str = Field(alias="to")
    kept: bool
    orphans: int | None
    left_out: int | None
    found: str | None
    """Why it is taken for a reference, where nobody declared it."""


def _readable(given: Any, read: ValidatorFunctionWrapHandler) -> JoinedRiskResult | None:
    """What joins tables can be told by a policy too, so that a damaged part alone refuses nothing."""
    try:
        found: JoinedRiskResult = read(given)
    except ValidationError:
        return None
    return found


class MultiTableManifest(ResultModel):
    shoal: str = "0"
    """The version that wrote it."""
    kind: ReleaseKind = ReleaseKind.TABLES
    created: Moment | None = None
    name: str = ""
    policy_sha256: str = ""
    tables: dict[str, str]
    """By name, where the manifest of each lies."""
    references: tuple[ReferenceResult, ...] = ()
    joined: Annotated[JoinedRiskResult | None, WrapValidator(_readable)] = None
    warnings: tuple[str, ...] = ()
    synthesis: Absent[SyntheticTablesResult] = None
    """How synthetic tables were made, and what that guarantees."""
    models: tuple[ModelResult, ...] = ()
    """What was required of synthetic tables together."""
    files: tuple[FurtherFile, ...] = ()
    """What lies beside the tables."""

    @property
    def is_synthetic(self) -> bool:
        return self.synthesis is not None
