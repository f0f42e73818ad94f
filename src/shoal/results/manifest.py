"""``release.json``: what was released, how it was reached, how risky and how useful it is. No original value.

A run builds a ``Manifest`` and writes it; whoever has the folder reads the same object back. Reading is lenient about
what is missing, since older versions wrote less, and strict about what is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field, ValidationError, model_validator

from shoal.errors import SourceError
from shoal.io.json_files import read_json
from shoal.policy.data_state import CLAUSE, DataState, StateOfData
from shoal.policy.release_kind import ReleaseKind
from shoal.policy.treatment import Treatment
from shoal.results.attack_results import AttackResult
from shoal.results.base import Absent, Moment, Number, ResultModel, Words, json_text
from shoal.results.column_results import ColumnResult, InfluenceResult
from shoal.results.edit_rule_results import EditRuleResult
from shoal.results.read_back.result import ReadBackResult
from shoal.results.record_counts import GroupSuppression, RecordCounts
from shoal.results.risk_results import AssessedRisk, ModelResult, ReleasedRisk, RiskResult
from shoal.results.synthesis.fidelity_result import FidelityResult
from shoal.results.synthesis.synthesis_result import SynthesisResult
from shoal.results.usefulness_result import UsefulnessResult
from shoal.schema import Role
from shoal.schema.steps import SidecarFile

MANIFEST = "release.json"
_STATE = ("still_personal", "because", "controls_needed", "steps", "shred_on")


class Timing(ResultModel):
    """Seconds."""

    count_s: Number = 0.0
    solve_s: Number = 0.0
    rewrite_s: Number = 0.0
    read_back_s: Number = 0.0
    """What other columns tell."""
    report_s: Number = 0.0
    """Evidence and reports, after the recount."""


class DataPart(ResultModel):
    path: str
    """Below the folder of parts."""
    rows: int
    sha256: str


class DataFile(ResultModel):
    path: str
    rows: int | None = None
    sha256: str | None = None
    parts: Absent[tuple[DataPart, ...]] = None
    """Where it is a folder; ``sha256`` is then the checksum of the list of theirs."""


class FurtherFile(ResultModel):
    """A file that a technique put beside the data."""

    path: str
    rows: int
    sha256: str
    about: str
    """What it is and whom it is for."""


class SourceIdentity(ResultModel):
    """Which data it was made from, as far as a file can be told by its checksum."""

    name: str
    """Without the folders that it lay in."""
    sha256: str
    """Of a folder of parts, the checksum of the list of theirs."""
    modified: Absent[Moment] = None
    """When the file, or the last part, was written."""


class SolutionResult(ResultModel):
    recoding: str | None = None
    levels: dict[str, int] = Field(default_factory=dict)
    """Per quasi-identifier; where cells differ, the highest that occurs."""
    heights: dict[str, int] = Field(default_factory=dict)
    """Per quasi-identifier, the level on which its cells are starred."""
    loss: Number | None = None
    objective: Number | None = None
    optimal: bool = False
    nodes_total: int = 0
    nodes_checked: int = 0
    bound: Number | None = None
    """No transformation of this kind has a lower objective, where that is proven."""


class StateResult(ResultModel):
    """The state of the data by ISO/IEC 20889, table B.2."""

    qualifier: DataState
    clause: str
    still_personal: bool
    because: str
    controls_needed: bool | None = None
    steps: tuple[int, ...] = ()
    """Of the PDPC guide."""
    shred_on: date | None = None
    """When what leads back to people is to be destroyed."""

    @classmethod
    def of(cls, state: StateOfData) -> StateResult:
        return cls(qualifier=state.state, clause=CLAUSE, **{name: getattr(state, name) for name in _STATE})

    @property
    def brief(self) -> str:
        """One sentence, without the reason."""
        return self._state.brief

    @property
    def words(self) -> str:
        """One sentence, with the reason."""
        return self._state.words

    @property
    def _state(self) -> StateOfData:
        return StateOfData(self.qualifier, **{name: getattr(self, name) for name in _STATE})


class DecoysResult(ResultModel):
    records: int | None = None
    """How many of the records are invented."""
    k_without: int | None = None
    """What is left of k for whoever can tell them from real ones."""


class SuppressedResult(ResultModel):
    records: int = 0
    cells: int = 0


class PersonResult(ResultModel):
    """How people are behind the records."""

    attribute: str
    most_records: int
    """Of one person."""


class DiversityResult(ResultModel):
    """The least that any class has."""

    distinct: int
    largest_share: Number


class AnatomyResult(DiversityResult):
    """Where sensitive columns were cut off: what their classes were found to have, together and one by one."""

    classes: int
    attributes: dict[str, DiversityResult]


class LastLookResult(ResultModel):
    """What the written output was searched for before it was committed."""

    rows: int
    looked_at: int
    sampled: bool
    identifiers: tuple[str, ...]
    columns: int
    hits: int


class EarlierReleasesResult(ResultModel):
    """What it cost to have earlier releases of the same people in view."""

    names: tuple[str, ...]
    k: int
    """The fewest people who are alike in this release and in all of those."""
    left_out: int
    """Records that are not released for that."""
    loss_alone: Number
    """Of the table solved by itself."""
    loss: Number
    """With what is left out, which is lost whole."""


class GuaranteeResult(ResultModel):
    """How a differentially private table was made, which its recipients may know."""

    epsilon: Number
    delta: Number
    sampling: Absent[Number] = None
    """β, the chance of each record to be drawn; counts scale by its inverse. Of tables that were drawn."""
    smallest_group: Absent[int] = None
    """k, the fewest drawn records of a released group. Of the same."""
    unit: Absent[str] = None
    """Whose records the guarantee covers: one record, or all of a person."""
    seeded: bool = False
    """Whether the draw can be repeated: then nothing is guaranteed."""


_PUBLISHED = (
    *("shoal", "kind", "created", "name", "use_case", "state", "policy_sha256", "purpose", "responsible", "versions"),
    *("engine", "data", "files", "risk", "roles", "treatment", "person", "models", "differential_privacy", "solution"),
    *("method", "synthesis"),
)
"""What a manifest says that follows from the policy and the released data alone."""


class Manifest(AssessedRisk):
    shoal: str = "0"
    """The version that wrote it."""
    kind: ReleaseKind = ReleaseKind.RECORDS
    created: Moment | None = None
    name: str = ""
    use_case: str | None = None
    state: StateResult | None = None
    policy_sha256: str = ""
    purpose: Absent[str] = None
    """What the release is for, as the policy says it."""
    responsible: Absent[str] = None
    """Who answers for it, as the policy says it."""
    versions: Absent[dict[str, str]] = None
    """What it was made with: the policy's format, Python, libraries, by name."""
    engine: Absent[str] = None
    """Which engine read and wrote it."""
    source: SourceIdentity | None = None
    """None of a database, a table in memory, or where an older version wrote the manifest."""
    withdrawn: Absent[int] = None
    """How many people had withdrawn when it was made; none of their records was read."""
    data: DataFile
    files: tuple[FurtherFile, ...] = ()
    """What techniques put beside the data, by path."""
    solution: SolutionResult | None = None
    """None of a synthetic table."""
    method: Absent[str] = None
    """Of synthesis, by the name that it is registered by."""
    synthesis: Absent[SynthesisResult] = None
    """How a synthetic table was made, and what that guarantees."""
    fidelity: Absent[FidelityResult] = None
    """How much of its source a synthetic table still tells."""
    decoys: DecoysResult | None = None
    records: RecordCounts | None = None
    """What became of the source's records; None where a record of the data is a group of them."""
    suppressed: SuppressedResult = SuppressedResult()
    suppressed_by_group: Absent[dict[str, tuple[GroupSuppression, ...]]] = None
    """By quasi-identifier, what privacy models took from whom; left out where they took nothing."""
    risk: ReleasedRisk | None = None
    risk_before: RiskResult | None = None
    roles: dict[str, Role] = Field(default_factory=dict)
    """Of the attributes that are in the release."""
    treatment: dict[str, Treatment] = Field(default_factory=dict)
    """What became of each of them."""
    pseudonyms: dict[str, Number] = Field(default_factory=dict)
    """Direct identifiers of which something unique is left, and for what share of people."""
    person: PersonResult | None = None
    """None where each record is a person's own."""
    models: tuple[ModelResult, ...] = ()
    differential_privacy: Absent[GuaranteeResult] = None
    """Where it was asked for. What is written then leaves out whatever was computed from the source."""
    utility: dict[str, Number] = Field(default_factory=dict)
    columns: Absent[dict[str, ColumnResult]] = None
    """By quasi-identifier, what it lost."""
    drivers: Absent[tuple[InfluenceResult, ...]] = None
    """What each quasi-identifier adds to the risk, the strongest first."""
    timing: Timing = Timing()
    peak_rss_mb: Number | None = None
    warnings: tuple[Words, ...] = ()
    read_back: Absent[ReadBackResult] = None
    """What other released columns tell of the quasi-identifiers."""
    anatomy: Absent[AnatomyResult] = None
    last_look: Absent[LastLookResult] = None
    earlier: Absent[EarlierReleasesResult] = None
    """Where the run had earlier releases in view."""
    rules: Absent[tuple[EditRuleResult, ...]] = None
    """How often each edit rule is broken."""
    usefulness: Absent[UsefulnessResult] = None
    attacks: Absent[tuple[AttackResult, ...]] = None
    attacks_skipped: Absent[dict[str, Words]] = None
    """Attack → why it was not tried or judged."""
    attacks_unjudged: Absent[tuple[str, ...]] = None
    """Those of them that may find something."""

    @model_validator(mode="before")
    @classmethod
    def _tell_kind(cls, given: Any) -> Any:
        """Older versions did not write the kind; their aggregates have no records."""
        if not isinstance(given, Mapping) or "kind" in given:
            return given
        aggregate = "records" in given and given["records"] is None
        return {**given, "kind": ReleaseKind.AGGREGATE if aggregate else ReleaseKind.RECORDS}

    @classmethod
    def load(cls, place: str | Path) -> Manifest:
        """From a release folder or its ``release.json``; a SourceError where there is none, or a damaged one."""
        path = Path(place)
        return parse_manifest(path / MANIFEST if path.is_dir() else path)

    def comparable_quasi(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Of the data's columns, those by which it sorts people into classes: an altered value fits by chance only."""
        quasi = (name for name in columns if self.roles.get(name) is Role.QUASI)
        return tuple(name for name in quasi if self.treatment.get(name) is not Treatment.ALTERED)

    def with_role(self, role: Role) -> tuple[str, ...]:
        return tuple(name for name, own in self.roles.items() if own is role)

    @property
    def says_who(self) -> bool:
        """Whether it says how people are behind the records; older versions said nothing."""
        return "person" in self.model_fields_set

    @property
    def met(self) -> bool:
        return all(model.met for model in self.models)

    def published(self) -> Manifest:
        """As others may see it. Of a differentially private table, only what its data and its policy tell: exact
        figures of the source, of all who were drawn or of what was suppressed are outside the guarantee.
        """
        if self.differential_privacy is None:
            return self
        solution = self.solution
        levels = solution and SolutionResult(
            recoding=solution.recoding, levels=solution.levels, heights=solution.heights
        )
        models = self.models if self.synthesis is None else ()  # gates of a synthesis are figures of the source
        told = {name: getattr(self, name) for name in _PUBLISHED}
        return Manifest(**told | {"solution": levels, "models": models})

    def to_published_json(self) -> str:
        """As it is written: what may not be told is left out, not nought."""
        told = self.published().to_dict()
        return json_text(told if self.differential_privacy is None else {k: told[k] for k in told if k in _PUBLISHED})

    def warned(self, warnings: Iterable[str]) -> Manifest:
        """With these too."""
        return self.model_copy(update={"warnings": (*self.warnings, *warnings)})

    def timed(self, report_s: float) -> Manifest:
        """With the seconds that evidence and reports took."""
        return self.model_copy(update={"timing": self.timing.model_copy(update={"report_s": report_s})})


def parse_manifest(path: Path) -> Manifest:
    read = read_manifest(path)
    if isinstance(read.get("tables"), dict):
        tables = ", ".join(str(path.parent / name) for name in sorted(read["tables"]))
        raise SourceError(f"{path.parent}: is a release of several tables", advice=f"name one of them: {tables}")
    try:
        return Manifest.model_validate(read)
    except ValidationError:
        raise no_manifest(path) from None


def read_manifest(path: Path) -> dict[str, Any]:
    """The JSON object in the file, whatever it says."""
    try:
        read = read_json(path)
    except (ValueError, OSError):
        raise no_manifest(path) from None
    if not isinstance(read, dict):
        raise no_manifest(path)
    return read


def no_manifest(path: Path) -> SourceError:
    return SourceError(f"{path}: is not the manifest of a release")


@dataclass(frozen=True)
class WrittenFile:
    """A further file with its content, read anew."""

    beside: SidecarFile
    told: FurtherFile
    frame: pl.LazyFrame
