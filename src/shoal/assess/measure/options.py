"""What is to be measured beyond the classes of a table, and in which circumstances."""

from __future__ import annotations

from typing import Any

from pydantic import Field, ValidationError

from shoal.assess.measure.unsafe_rule import UnsafeRule
from shoal.assess.use_case import UseCaseRequest
from shoal.errors import FieldName, FieldText, InputError
from shoal.measurement.risk.attacker_risks import THRESHOLD
from shoal.measurement.risk.key_frequencies import Missing
from shoal.measurement.risk.reidentification import NOT_FOR_PUBLIC, THRESHOLDS
from shoal.policy.assessment import Assess
from shoal.schema.circumstances import Procedure
from shoal.schema.validation_messages import validation_message

_DRAWN = ("population_size", "sampling_fraction")
"""Two ways to say one thing."""


class AssessmentOptions(UseCaseRequest):
    circumstances: Assess = Field(default_factory=Assess)
    suda: bool = False
    weight: str | None = None
    """The column of sampling weights, where the table is a sample of people."""
    household: str | None = None
    missing: Missing | None = None
    """How a missing cell is read: as a value of its own, or as one that could be any. None: as the policy says."""
    log_linear: bool = False
    unsafe: UnsafeRule | None = None
    records: bool = False
    """Whether figures are wanted record by record."""
    public: bool = False
    """Whether anybody may have the data, whatever is said of controls."""

    def model_post_init(self, _: Any) -> None:
        if self.household is not None and self.weight is None:
            raise InputError(
                "the risk in households needs sampling weights",
                field="household",
                advice=FieldText("give ", FieldName("weight"), " too"),
            )

    def within(self, policy: Assess) -> AssessmentOptions:
        """What the caller says; where that is nothing, what the policy says."""
        said = self.circumstances.model_dump(exclude_unset=True)
        if said.keys() & {*_DRAWN}:
            said = dict.fromkeys(_DRAWN) | said
        return self.model_copy(update={"circumstances": policy.model_copy(update=said)})

    def need_harm(self) -> None:
        """Refuse what would be passed over."""
        if passed_over := self.circumstances.unweighed:
            raise InputError(
                "comes to nothing without the potential harm",
                field=passed_over[0],
                advice=FieldText("give ", FieldName("harm"), " too"),
            )

    def drawn_from(self, population_size: int | None) -> AssessmentOptions:
        """With the size of the population that the table was drawn from."""
        own = self.circumstances.model_copy(update={"population_size": population_size})
        return self.model_copy(update={"circumstances": own})

    @property
    def of_records(self) -> tuple[str, ...]:
        """The options that look at single records, and take each for a person."""
        asked = {"suda": self.suda, "weight": self.weight, "log_linear": self.log_linear, "unsafe": self.unsafe}
        return tuple(name for name, given in asked.items() if given)

    @property
    def not_assessed(self) -> str | None:
        """Why the circumstances come to no verdict, where they don't."""
        own = self.circumstances
        if own.harm is None or own.procedure is not Procedure.PDPC:
            return None
        return NOT_FOR_PUBLIC if self.public or own.public else None

    @property
    def threshold(self) -> float:
        own = self.circumstances
        if own.threshold is not None:
            return own.threshold
        return THRESHOLD if own.harm is None else THRESHOLDS[own.harm]


def circumstances(**said: object) -> Assess:
    """What is not said is left open; what can't be is refused with the choices."""
    given = {name: value for name, value in said.items() if value is not None}
    try:
        return Assess.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(validation_message(first), field=str(first["loc"][0])) from None
