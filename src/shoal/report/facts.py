"""What a report is made from: figures and words only, never a value from the data.

The report computes nothing about risk or usefulness itself; whoever fills these facts has measured them, on the file
that was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from shoal.kernels.arrays import Integers
from shoal.results.evidence_facts import (
    AssessmentFacts,
    AttackerFacts,
    AttackFacts,
    DistributionFacts,
    FigureTable,
    UsefulnessFacts,
)
from shoal.results.exploration import Exploration

ClassSizes: TypeAlias = "Sequence[int] | Integers | Mapping[int, int]"
"""People per equivalence class, one by one, or how many classes there are of each size."""


@dataclass(frozen=True)
class AttributeFacts:
    """One attribute of the source and what became of it."""

    name: str
    role: str
    done: tuple[str, ...]
    """In words, in order: "generalised to level 2 of 4", "masked, last 4 kept"."""
    clause: tuple[str, ...]
    """The clauses behind it: "ISO/IEC 20889, 9.6"."""
    released: bool
    """False when the attribute was suppressed."""

    @property
    def untouched(self) -> bool:
        return self.released and not self.done


@dataclass(frozen=True)
class RiskFacts:
    """The risk of re-identification of one table; ``k`` is 0 where there are no classes to measure."""

    k: int
    people: int
    records: int
    """Records spoken of, suppressed ones included."""
    suppressed: int
    prosecutor_max: float
    prosecutor_average: float
    uniques: int
    class_sizes: ClassSizes
    strict_average: float | None = None
    """The average, or the highest where somebody is at more risk than an average may hide."""


@dataclass(frozen=True)
class ModelFacts:
    """A formal privacy model: what was asked, what was found."""

    title: str
    explanation: str
    clause: str
    required: float
    achieved: float
    met: bool


@dataclass(frozen=True)
class FileFacts:
    """A file that the release has beside the data."""

    path: str
    records: int
    sha256: str
    about: str
    """What it is and whom it is for."""
    for_recipient: bool


@dataclass(frozen=True)
class ReadBackFacts:
    """What other released columns tell of what was generalised."""

    k: int
    """What is left of k once it is put back."""
    k_open: int
    """What is left of it by all that the policy does not accept."""
    accepted: tuple[str, ...]
    """What it accepts, and why."""
    tellings: tuple[str, ...]
    """In words, each for one set of columns and one attribute."""
    suppressed_cells: int
    records: int
    share: float
    """The rule: a value tells another if it stands in so many records, of which this share has the other."""
    lower_bound: bool = False


@dataclass(frozen=True)
class ReportFacts:
    """Everything that the report of one release says."""

    name: str
    use_case: str | None
    created: datetime
    version: str
    policy_sha256: str
    data_path: str
    """The released file."""
    data_sha256: str
    records: int
    """Records in the released file."""
    before: RiskFacts
    after: RiskFacts
    models: tuple[ModelFacts, ...]
    attributes: tuple[AttributeFacts, ...]
    utility: Mapping[str, float]
    levels: Mapping[str, int]
    loss: float
    optimal: bool
    nodes_checked: int
    nodes_total: int
    warnings: tuple[str, ...]
    person: bool
    """Whether k counts people rather than records."""
    read_back: ReadBackFacts | None = None
    recoding: str = "global"
    """How the levels were chosen: one per attribute (global), or cell by cell."""
    assessment: AssessmentFacts | None = None
    attackers: tuple[AttackerFacts, ...] = ()
    attacks: tuple[AttackFacts, ...] = ()
    unjudged: tuple[str, ...] = ()
    """Attacks that may have found something, which nobody could tell."""
    distributions: tuple[DistributionFacts, ...] = ()
    usefulness: tuple[UsefulnessFacts, ...] = ()
    purpose: str | None = None
    """What the release is for, in words; a recipient is told."""
    tables: tuple[FigureTable, ...] = ()
    exploration: Exploration | None = None
    limits: tuple[str, ...] = ()
    """Limits of the evidence besides those that the page knows of itself."""
    files: tuple[FileFacts, ...] = ()
    """What the release has beside the data."""
    state: str = ""
    """In which state the data is, whether it is still personal and why, in a sentence."""
    state_in_brief: str = ""
    """The same without the reason, for recipients."""
    still_personal: bool = False
    guidance: str = ""
    """What the use case asks for around the data, in a sentence."""
    not_assessed: str | None = None
    """Why the declared harm comes to no verdict."""
    nothing_left: bool = False
    """Whether no quasi-identifying value of the file tells records apart any more."""
    heights: Mapping[str, int] = field(default_factory=dict)
    """The level of each quasi-identifier that is a star."""
