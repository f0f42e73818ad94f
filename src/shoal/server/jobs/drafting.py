"""From a person's choices to a policy, by the same use cases as `shoal suggest`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from shoal.errors import ShoalError
from shoal.policy import UseCase
from shoal.schema import Role
from shoal.server.jobs.level_choices import Setting, checked_setting

if TYPE_CHECKING:
    from shoal.discover.suggestion.policy_draft import Suggestion
    from shoal.io import Source
    from shoal.schema.progress import Monitor


class PolicyChoices(BaseModel):
    """What a person has decided about a source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    use_case: UseCase = UseCase.EXTERNAL_SHARING
    k: int | None = Field(None, ge=2, le=100_000)
    suppression_limit: float | None = Field(None, ge=0, le=1)
    roles: dict[str, Role] = Field(default_factory=dict, max_length=10_000)
    """Of columns whose role is another one than was proposed."""
    hierarchies: dict[str, str | dict[str, Any]] = Field(default_factory=dict, max_length=10_000)
    """Levels of columns whose levels are others than were proposed, as a policy names them."""

    @field_validator("hierarchies")
    @classmethod
    def _known(cls, given: dict[str, Setting]) -> dict[str, Setting]:
        try:
            return {name: checked_setting(one) for name, one in given.items()}
        except ShoalError as error:
            raise ValueError(str(error)) from None


@dataclass(frozen=True)
class DraftedPolicy:
    suggestion: Suggestion
    source: Source


def open_upload(file: Path) -> Source:
    from shoal.io.frames import source_at

    return source_at({"path": str(file)})


def draft_policy(file: Path, choices: PolicyChoices, monitor: Monitor) -> DraftedPolicy:
    from shoal.discover.suggestion.policy_draft import PolicyWishes, suggest
    from shoal.release.suggestion_trial import try_out
    from shoal.scan.policy_suggestion import policy_name, profiled

    table = profiled(str(file), open_upload(file), monitor=monitor)
    with monitor.phase("draft"):
        draft = partial(
            suggest,
            table.profile,
            name=policy_name(file.name),
            use_case=choices.use_case,
            source=table.source_setting(file.parent),
            wishes=PolicyWishes(choices.roles, choices.k, choices.suppression_limit, choices.hierarchies),
        )
        return DraftedPolicy(try_out(draft(), draft, table.source), table.source)
