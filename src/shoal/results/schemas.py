"""JSON Schemas of what Shoal writes, made from the models themselves."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from shoal.results.attack_results import AttackReportResult, MultiTableAttackResult
from shoal.results.composition_result import CompositionResult
from shoal.results.exploration_result import ExplorationResult
from shoal.results.history import History
from shoal.results.manifest import Manifest
from shoal.results.measurement_result import MeasurementResult, MultiTableMeasurementResult
from shoal.results.multi_table_manifest import MultiTableManifest
from shoal.results.synthesis import SyntheticAssessment, SyntheticTablesAssessment

SCHEMA_VERSION: Final = 1
"""Grows when what is written can no longer be read by the schema before it; a further key is no reason."""

SCHEMAS: Final[dict[str, tuple[Any, str]]] = {
    "release": (Manifest, "`release.json` of one table; `shoal run --json`"),
    "release-tables": (MultiTableManifest, "`release.json` of several tables; `shoal run --json` with several tables"),
    "measure": (MeasurementResult, "`shoal measure --json`"),
    "measure-tables": (MultiTableMeasurementResult, "`shoal measure --json` with several tables"),
    "attack": (AttackReportResult, "`shoal attack --json`"),
    "attack-tables": (MultiTableAttackResult, "`shoal attack --json` with several tables"),
    "synthetic": (SyntheticAssessment, "`shoal measure --json` and `shoal attack --json` of a synthetic release"),
    "synthetic-tables": (SyntheticTablesAssessment, "several synthetic tables, judged"),
    "explore": (ExplorationResult, "`shoal explore --json`"),
    "composition": (CompositionResult, "`shoal register compose --json`"),
    "history": (History, "`history.json` of a release folder"),
}
"""By name of the file: the model, and where it is written."""


def json_schema(name: str) -> dict[str, Any]:
    """One of ``SCHEMAS``, by the draft of 2020-12."""
    model, where = SCHEMAS[name]
    schema = TypeAdapter(model).json_schema(by_alias=True)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": f"version {SCHEMA_VERSION}",
        **schema,
        "title": where.replace("`", ""),
    }
