"""What is asked of attacks on a release."""

from __future__ import annotations

from typing import Any

from pydantic import SkipValidation

from shoal.attack.ground_truth.targets import TRIALS
from shoal.errors import InputError
from shoal.io import Source
from shoal.results.attack_roles import AttackRoles
from shoal.schema.requests import UseCaseRequest


class AttackRequest(UseCaseRequest):
    original: str | SkipValidation[Source]
    """The table that the release was made from: it judges the attacks."""
    roles: AttackRoles
    """What the attacker knows, and wants to know."""
    auxiliary: str | SkipValidation[Source] | None = None
    """Another table about people, to link with."""
    control: str | SkipValidation[Source] | None = None
    """People who are not in the original, to compare with."""
    trials: int = TRIALS
    """People that each attack is tried on, at most."""
    seed: int | None = None

    def model_post_init(self, _: Any) -> None:
        if self.trials < 1:
            raise InputError("at least one person has to be tried", field="trials")
