"""What other released columns tell of the quasi-identifiers, and what was done about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from shoal.measurement.read_back import ReadBack
from shoal.policy.read_back_rules import AcceptedDisclosure
from shoal.results.read_back.result import AcceptedResult, ReadBackResult
from shoal.schema import Step

NAMED = 4
"""Tellings that a warning names, at most."""


@dataclass(frozen=True)
class ReadBackOutcome:
    found: ReadBack
    suppression: Step | None = None
    """What has to be suppressed for k to hold, where the policy says so and anything has."""
    cells: Mapping[str, int] = field(default_factory=dict)
    """How many that is, by column."""
    k_firm: int = 0
    """k by what is neither accepted nor the sensitive attributes themselves."""
    k_open: int = 0
    """k by all that is not accepted."""
    accepted: tuple[AcceptedDisclosure, ...] = ()

    def warnings(self, k: int) -> Iterator[str]:
        if self.k_open < k:
            told = "; ".join(one.words for one in self.found.tellings[:NAMED])
            more = len(self.found.tellings) - NAMED
            further = f"; and {more} more" if more > 0 else ""
            yield f"other released columns leave k = {self.found.k} of {k}: {told}{further}"
        for one in self.accepted:
            yield f"accepted: {' with '.join(one.columns)} tells {one.tells}, because {one.because}"
        if self.accepted and self.found.k < self.k_open:
            yield f"whoever reads back what was accepted is left with k = {self.found.k} of {k}"

    def result(self) -> ReadBackResult:
        return ReadBackResult.model_validate(self.found).model_copy(
            update={
                "suppressed_cells": sum(self.cells.values()),
                "accepted": tuple(
                    AcceptedResult(columns=one.columns, tells=one.tells, because=one.because) for one in self.accepted
                ),
            }
        )
