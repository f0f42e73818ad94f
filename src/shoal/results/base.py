"""What all results have in common: typed, frozen, the same in Python and as JSON.

A result is what Shoal writes for others to read, in files and with ``--json``. Whoever reads one may be older or newer
than who wrote it: a key that is not known is passed over, one that older versions did not write has a default. Where a
key is there, it has to be what it says.
"""

from __future__ import annotations

import json
from datetime import datetime
from math import isfinite
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, FiniteFloat, PlainSerializer

Part = TypeVar("Part")


def _is_none(value: object) -> bool:
    return value is None


def _number_or_none(value: object) -> object:
    """JSON has no infinity: a figure beyond all numbers is null."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _to_seconds(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


Number = int | FiniteFloat
"""A figure as it was found: whole numbers stay whole."""
Bounded = Annotated[int | FiniteFloat | None, BeforeValidator(_number_or_none)]
"""A figure that may be beyond all numbers, and is None then."""
Moment = Annotated[datetime, PlainSerializer(_to_seconds, return_type=str, when_used="json")]
"""A point in time, to the second."""
Absent = Annotated[Part | None, Field(default=None, exclude_if=_is_none)]
"""A part that is left out where there is nothing to say of it."""


class ResultModel(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", from_attributes=True, populate_by_name=True, use_attribute_docstrings=True
    )

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, in plain types."""
        return self.model_dump(mode="json", by_alias=True)

    def to_json(self) -> str:
        """As it is written: keys sorted, a line break at the end."""
        return json.dumps(self.to_dict(), indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
