"""What a person asks of a synthesis, within what a studio can make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.io import Source
    from shoal.schema.progress import Monitor


class SynthesisChoices(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Literal["sequential", "marginals", "network"] = "sequential"
    rows: int | None = Field(None, ge=1, le=10_000_000)
    epsilon: float | None = Field(None, gt=0, le=100)
    """Of the private methods, which need one."""

    def checked(self) -> SynthesisChoices:
        private = self.method != "sequential"
        if private and self.epsilon is None:
            raise InputError("a private method needs one", field="epsilon")
        if not private and self.epsilon is not None:
            raise InputError("this method is not private: it has none", field="epsilon")
        return self


def synthesise(source: Source, choices: SynthesisChoices, folder: Path, seed: int | None, monitor: Monitor) -> None:
    from shoal.synthetic_release.request import SynthesisRequest
    from shoal.synthetic_release.run import SyntheticRun

    asked = choices.checked().model_dump()
    SyntheticRun(SynthesisRequest(data=source, seed=seed, output=folder, **asked), monitor).execute()
