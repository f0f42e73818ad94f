"""What every use case is asked with: a typed request that refuses what can't be, and says which field that is."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from shoal.errors import InputError
from shoal.schema.validation_messages import validation_message


class UseCaseRequest(BaseModel):
    """Holds values, never text that is still to be parsed; whoever has text parses it first."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]
            raise InputError(validation_message(first), field=str((*first["loc"], "request")[0])) from None
