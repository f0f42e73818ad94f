"""What several releases say together, as ``shoal register compose --json`` writes it. No value of any of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from shoal.results.base import Absent, Moment, Number, ResultModel, Words


class CompositionBasis(StrEnum):
    """How people of one release were found in another."""

    PERSON = "person"
    """By a person key: the releases' own, or that of the tables that they were made from."""
    ORIGINAL = "original"
    """By the values in the table that they were made from."""
    RELEASED = "released"
    """By what the releases say alone; how many people are behind that is then an estimate."""


class CompositionOutcome(StrEnum):
    """In rising order."""

    PASS = "pass"  # noqa: S105  # no password
    WARN = "warn"
    SECOND_APPROVAL = "second-approval"
    BLOCK = "block"


class ComposedRelease(ResultModel):
    name: str
    kind: str = "records"
    sha256: str = ""
    records: int | None = None
    k: int | None = None
    """By itself."""
    epsilon: Absent[Number] = None
    recipients: tuple[str, ...] = ()


class PairComposition(ResultModel):
    """The new release beside one earlier one, by what both say."""

    earlier: str
    by: tuple[str, ...]
    """The columns that both have."""
    most: int
    """Some person is one of so many at most, whoever looks."""
    expected_unique: Number
    """People who are to be expected alone in what both say."""
    expected_below: Number
    """The same among fewer than the k that is required."""
    certain: dict[str, int] = Field(default_factory=dict)
    """By sensitive attribute, records in classes where both leave one value and neither does alone."""
    narrowed: dict[str, Number] = Field(default_factory=dict)
    """By quasi-identifier, the share of records of which both together say more than the new release."""
    looked_at: Number = 1.0
    """The share of classes that ``most`` and ``certain`` were looked for in."""


class JointComposition(ResultModel):
    """All releases together, person by person."""

    people: int
    effective_k: int
    unique: int
    below: int
    certain: dict[str, int] = Field(default_factory=dict)
    left_out: int = 0
    left_out_below: int = 0
    unplaced: int = 0
    ambiguous: int = 0


class Collusion(ResultModel):
    """Who would have to put together what they hold."""

    earlier: str
    recipients: tuple[str, ...]
    same: bool
    """Whether one recipient has both already."""


class CompositionReason(ResultModel):
    outcome: CompositionOutcome
    rule: str
    text: Words


class CompositionResult(ResultModel):
    format: Literal[1] = 1
    when: Moment
    release: ComposedRelease
    earlier: tuple[ComposedRelease, ...] = ()
    basis: CompositionBasis
    exact: bool
    """Whether the figures are counted; from releases alone they are expected."""
    k_required: int
    effective_k: int | None = None
    """None where no earlier release has records of people."""
    unique: Number = 0
    """The share of the new release's people whom nobody else fits."""
    below: Number = 0
    """The share whom fewer than ``k_required`` fit."""
    certain: dict[str, int] = Field(default_factory=dict)
    narrowed: dict[str, Number] = Field(default_factory=dict)
    pairs: tuple[PairComposition, ...] = ()
    joint: Absent[JointComposition] = None
    epsilon: Number = 0.0
    """Of all differentially private releases together, which add up."""
    beside_records: bool = False
    """Whether private answers and records of the same people are out together."""
    collusion: tuple[Collusion, ...] = ()
    unread: dict[str, int] = Field(default_factory=dict)
    """By attribute, labels that could not be compared, and ruled nothing out."""
    unfitted: dict[str, int] = Field(default_factory=dict)
    """By release, records that fit nobody of the table that was given as its original."""
    strangers: tuple[str, ...] = ()
    """Earlier releases in which nobody of the new one was found by the person key."""
    outcome: CompositionOutcome = CompositionOutcome.PASS
    reasons: tuple[CompositionReason, ...] = ()

    @property
    def blocks(self) -> bool:
        return self.outcome is CompositionOutcome.BLOCK
