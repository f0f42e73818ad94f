"""The circumstances of a release, which turn a risk into a verdict: they change no value of the data."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from shoal.schema.circumstances import Controls, Harm, Motive, Procedure, Purpose
from shoal.schema.parameters import Parameters


class Assess(Parameters):
    """Who might try, what harm could be done, what the data is for."""

    harm: Harm | None = Field(default=None, description="Potential harm of a re-identification: low, medium or high.")
    motive: Motive = Field(default=Motive.HIGH, description="Motivation and resources of an insider.")
    controls: Controls | None = Field(
        default=None,
        description="Controls at the recipient; none: a public release. Unsaid, an attempt is taken to be certain.",
    )
    procedure: Procedure = Field(
        default=Procedure.PDPC,
        description="pdpc: the risk may reach its threshold; meity: it has to be less.",
    )
    acquaintance: float | None = Field(
        default=None, ge=0, le=1, description="Chance that a recipient knows somebody in the table."
    )
    breach: float | None = Field(default=None, ge=0, le=1, description="Chance of a data breach at the recipient.")
    threshold: float | None = Field(
        default=None, gt=0, le=1, description="Highest acceptable risk; else that of the potential harm."
    )
    population_size: int | None = Field(
        default=None, ge=1, description="People in the population that the table was drawn from."
    )
    sampling_fraction: float | None = Field(
        default=None, gt=0, le=1, description="Instead of population_size: the share of the population in the table."
    )
    purpose: Purpose | None = Field(default=None, description="What the data is for; the report tells if it is fit.")
    target: str | None = Field(
        default=None, description="An attribute that is to be predicted, by which usefulness is tried."
    )

    @property
    def public(self) -> bool:
        """Whether anybody may have the data."""
        return self.controls is Controls.NONE

    @property
    def unweighed(self) -> tuple[str, ...]:
        """What is said of attempts where nothing is said of the harm they could do: no verdict comes of it."""
        said = ("motive", "controls", "procedure", "acquaintance", "breach") if self.harm is None else ()
        return tuple(name for name in said if name in self.model_fields_set)

    @field_validator("sampling_fraction")
    @classmethod
    def _says_once_what_was_drawn_from(cls, fraction: float | None, said: ValidationInfo) -> float | None:
        if fraction is not None and said.data.get("population_size") is not None:
            raise ValueError("give either the size of the population or the share that was sampled")
        return fraction
