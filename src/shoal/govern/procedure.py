"""The procedure as data: which steps there are, which a use case needs, and what a release model demands."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from importlib.resources import files

import yaml

from shoal.policy.presets import PRESETS, UseCase
from shoal.schema.parameters import Parameters


class ReleaseModel(StrEnum):
    """To whom data goes (MeitY 3.2.1, step 2)."""

    PUBLIC = "public"
    LIMITED = "limited"


class ProcedureStep(Parameters):
    title: str
    pdpc: int
    """The step of the PDPC guide that asks for the same work."""
    always: bool = False


class ApprovalRule(Parameters):
    """What it takes before data of a release model may leave."""

    number: int
    """Of people who approve, all different, none of whom asked."""
    roles: tuple[str, ...]
    """Of which each has one."""
    tester: bool
    """Whether an independent tester has to have found nothing."""
    attacks: bool
    """Whether the release has to have been attacked in vain."""


class Procedure(Parameters):
    source: str
    steps: dict[int, ProcedureStep]
    approvals: dict[ReleaseModel, ApprovalRule]

    def needed(self, use_case: UseCase) -> tuple[int, ...]:
        """The steps without which nothing of this use case may be released."""
        guide = PRESETS[use_case].steps
        return tuple(number for number, step in self.steps.items() if step.always or step.pdpc in guide)


@cache
def procedure() -> Procedure:
    text = files("shoal.govern").joinpath("procedure.yaml").read_text(encoding="utf-8")
    return Procedure.model_validate(yaml.safe_load(text))
