"""``release.json``: what was released, how it was reached, how risky and how useful it is. No original value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import polars as pl

from shoal import __version__
from shoal.io import PartFile
from shoal.measurement import Measurement, Risk
from shoal.measurement.risk.anatomy import Anatomy
from shoal.measurement.risk.identifier_leaks import IdentifierLeaks
from shoal.policy.data_state import StateOfData
from shoal.privacy import ModelFinding
from shoal.results.read_back_outcome import ReadBackOutcome
from shoal.results.record_counts import RecordCounts
from shoal.schema.steps import SidecarFile
from shoal.solve import Solution


@dataclass(frozen=True)
class Timing:
    count_s: float = 0.0
    solve_s: float = 0.0
    rewrite_s: float = 0.0
    read_back_s: float = 0.0
    """What other columns tell."""
    report_s: float = 0.0
    """Evidence and reports, after the recount."""


@dataclass(frozen=True)
class DataFile:
    path: str
    rows: int
    sha256: str
    parts: tuple[PartFile, ...] = ()
    """Where it is a folder; ``sha256`` is then the checksum of the list of theirs."""

    def to_dict(self) -> dict[str, Any]:
        whole: dict[str, Any] = {"path": self.path, "rows": self.rows, "sha256": self.sha256}
        return whole | {"parts": [asdict(part) for part in self.parts]} if self.parts else whole


@dataclass(frozen=True)
class FurtherFile:
    """A file that a technique put beside the data."""

    path: str
    rows: int
    sha256: str
    about: str
    """What it is and whom it is for."""
    for_recipient: bool = False

    def to_dict(self) -> dict[str, str | int]:
        return {"path": self.path, "rows": self.rows, "sha256": self.sha256, "about": self.about}


@dataclass(frozen=True)
class Manifest:
    name: str
    policy_sha256: str
    data: DataFile
    solution: Solution
    before: Measurement
    after: Measurement
    models: tuple[ModelFinding, ...]
    utility: dict[str, float]
    timing: Timing
    peak_rss_mb: float
    use_case: str | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    """Of the attributes that are in the release."""
    treatment: Mapping[str, str] = field(default_factory=dict)
    """What became of each of them."""
    person: Mapping[str, str | int] | None = None
    """By which attribute people are counted, and the most records of one; None where each record is a person's own."""
    warnings: tuple[str, ...] = ()
    suppressed_by_rule: int = 0
    suppressed_cells: int = 0
    k_without_decoys: int | None = None
    read_back: ReadBackOutcome | None = None
    """What other released columns tell of the quasi-identifiers."""
    state: StateOfData | None = None
    heights: Mapping[str, int] = field(default_factory=dict)
    """Per quasi-identifier, the level on which its cells are starred."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """Attackers, assessment, usefulness, attacks: what ``release.evidence`` gathered."""
    files: tuple[FurtherFile, ...] = ()
    """What techniques put beside the data, by path."""
    anatomy: Anatomy | None = None
    """Where sensitive columns were cut off: what their classes were found to have."""
    pseudonyms: Mapping[str, float] = field(default_factory=dict)
    """Direct identifiers of which something unique is left, and for what share of people."""
    last_look: IdentifierLeaks | None = None
    """What the written output was searched for before it was committed."""
    shoal: str = field(default=__version__)

    @property
    def suppressed_records(self) -> int:
        """Those that fail a model and those that a rule of the policy takes out, as counted in what was written."""
        return self.after.suppressed_records or self.suppressed_by_rule

    @property
    def nothing_left(self) -> bool:
        """Whether k holds only because no quasi-identifying value tells records apart any more."""
        return bool(self.heights) and bool(self.utility) and len(self.before.classes) > 1 >= len(self.after.classes)

    @property
    def records(self) -> dict[str, int] | None:
        """What became of the source's records; None where a record of the data is a group of them."""
        return RecordCounts.measured(self.after).to_dict() if self.utility else None

    @property
    def k_effective(self) -> int:
        """k after what other released columns tell was put back."""
        return self.after.k if self.read_back is None else self.read_back.found.k

    @property
    def met(self) -> bool:
        return all(finding.met for finding in self.models)

    def warned(self, warnings: Iterable[str]) -> Manifest:
        """With these too."""
        return replace(self, warnings=(*self.warnings, *warnings))

    def to_dict(self) -> dict[str, Any]:
        return {
            "shoal": self.shoal,
            "name": self.name,
            "use_case": self.use_case,
            "state": None if self.state is None else self.state.to_dict(),
            "policy_sha256": self.policy_sha256,
            "data": self.data.to_dict(),
            "files": [file.to_dict() for file in sorted(self.files, key=lambda file: file.path)],
            "solution": {
                "recoding": self.solution.recoding,
                "levels": self.solution.levels,
                "heights": dict(self.heights),
                "loss": self.solution.loss,
                "objective": self.solution.objective,
                "optimal": self.solution.optimal,
                "nodes_total": self.solution.nodes_total,
                "nodes_checked": self.solution.nodes_checked,
                "bound": self.solution.bound,
            },
            "decoys": {"records": self.solution.decoys, "k_without": self.k_without_decoys},
            "records": self.records,
            "suppressed": {"records": self.suppressed_records, "cells": self.suppressed_cells},
            "risk": risk_dict(self.after.risk) | {"k_effective": self.k_effective},
            "risk_before": risk_dict(self.before.risk),
            "roles": dict(self.roles),
            "treatment": dict(self.treatment),
            "pseudonyms": dict(self.pseudonyms),
            "person": None if self.person is None else dict(self.person),
            "models": [finding.to_dict() for finding in self.models],
            "utility": self.utility,
            "timing": asdict(self.timing),
            "peak_rss_mb": self.peak_rss_mb,
            "warnings": list(self.warnings),
            **({"read_back": self.read_back.to_dict()} if self.read_back else {}),
            **({"anatomy": self.anatomy.to_dict()} if self.anatomy else {}),
            **({"last_look": self.last_look.to_dict()} if self.last_look else {}),
            **self.evidence,
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def risk_dict(risk: Risk) -> dict[str, float]:
    return asdict(risk)


@dataclass(frozen=True)
class WrittenFile:
    """A further file with its content, read anew."""

    beside: SidecarFile
    told: FurtherFile
    frame: pl.LazyFrame
