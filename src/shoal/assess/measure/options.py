"""What is to be measured beyond the classes of a table, and in which circumstances."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import Field, ValidationError

from shoal.assess.measure.unsafe_rule import UnsafeRule
from shoal.errors import FieldName, FieldText, InputError
from shoal.measurement import Measurement
from shoal.measurement.risk.attacker_risks import THRESHOLD
from shoal.measurement.risk.key_frequencies import Missing
from shoal.measurement.risk.reidentification import NOT_FOR_PUBLIC, THRESHOLDS
from shoal.policy.assessment import Assess
from shoal.schema.circumstances import Procedure
from shoal.schema.requests import UseCaseRequest
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

    def drawn_as(self, measured: Measurement) -> AssessmentOptions:
        """With the size of the population that a table of this many people was drawn from: as it was said, else as the
        share says that was sampled."""
        own = self.circumstances
        if own.population_size is not None or own.sampling_fraction is None:
            return self
        people = max(measured.people, int(measured.classes.people.sum()))
        size = max(people, round(people / own.sampling_fraction))
        return self.model_copy(update={"circumstances": own.model_copy(update={"population_size": size})})

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


def parse_missing(said: str | None) -> Missing | None:
    """What is not said is left to the policy."""
    for reading in get_args(Missing):
        if said == reading:
            return reading  # type: ignore[no-any-return]  # one of the literals
    if said is None:
        return None
    raise InputError(f"unknown reading '{said}'", field="missing", advice="a missing cell is a 'value' or a 'wildcard'")


def circumstances(**said: object) -> Assess:
    """What is not said is left open; what can't be is refused with the choices."""
    given = {name: value for name, value in said.items() if value is not None}
    try:
        return Assess.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(validation_message(first), field=str(first["loc"][0])) from None
