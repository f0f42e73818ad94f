"""What all results have in common: typed, frozen, the same in Python and as JSON.

A result is what Shoal writes for others to read, in files and with ``--json``. Whoever reads one may be older or newer
than who wrote it: a key that is not known is passed over, one that older versions did not write has a default. Where a
key is there, it has to be what it says.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from enum import Enum
from math import isfinite
from typing import Annotated, Any, TypeVar

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    FiniteFloat,
    PlainSerializer,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from shoal.errors import FieldText
from shoal.schema.field_docs import DocumentedFields

Part = TypeVar("Part")


def _is_none(value: object) -> bool:
    return value is None


def _number_or_none(value: object) -> object:
    """JSON has no infinity: a figure beyond all numbers is null."""
    return None if isinstance(value, float) and not isfinite(value) else value


def _to_seconds(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _kept(value: Any, read: ValidatorFunctionWrapHandler) -> str:
    text: str = value if isinstance(value, FieldText) else read(value)
    return text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        return _to_seconds(value) if isinstance(value, datetime) else value.isoformat()
    return value


Number = int | FiniteFloat
"""A figure as it was found: whole numbers stay whole."""
Bounded = Annotated[int | FiniteFloat | None, BeforeValidator(_number_or_none)]
"""A figure that may be beyond all numbers, and is None then."""
Words = Annotated[str, WrapValidator(_kept)]
"""A sentence. Inputs that it names are written as the door that shows it writes them."""
Moment = Annotated[datetime, PlainSerializer(_to_seconds, return_type=str, when_used="json")]
"""A point in time, to the second."""
Absent = Annotated[Part | None, Field(default=None, exclude_if=_is_none)]
"""A part that is left out where there is nothing to say of it."""


class ResultModel(DocumentedFields):
    model_config = ConfigDict(
        frozen=True, extra="ignore", from_attributes=True, populate_by_name=True, defer_build=True
    )

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, in plain types."""
        plain: dict[str, Any] = _plain(self.model_dump(by_alias=True))
        return plain

    def to_json(self) -> str:
        """As it is written."""
        return json_text(self.to_dict())


def json_text(plain: dict[str, Any]) -> str:
    """Keys sorted, a line break at the end."""
    return json.dumps(plain, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
