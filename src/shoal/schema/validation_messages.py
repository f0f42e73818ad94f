"""What is wrong with something that a user wrote, in words that need no Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic_core import ErrorDetails

_LIST: Final = "has to be a list: each entry on a line that begins with a dash, or [one, another]"
_PLAINLY: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "tuple_type": _LIST,
    "list_type": _LIST,
    "dict_type": "has to be a mapping of names, e.g. {{age: 2}}",
    "model_type": "has to be a mapping of names, e.g. {{k: 5}}",
    "greater_than": "has to be above {gt}",
    "greater_than_equal": "has to be at least {ge}",
    "less_than": "has to be below {lt}",
    "less_than_equal": "has to be at most {le}",
    "enum": "has to be {expected}",
    "literal_error": "has to be {expected}",
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), "has to be a number"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "has to be a whole number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "has to be true or false"),
    "string_type": "has to be text",
}
"""By the kind of error."""


def validation_message(error: ErrorDetails) -> str:
    """One error of a model.

    >>> from pydantic import TypeAdapter, ValidationError
    >>> from typing import Literal
    >>> try:
    ...     TypeAdapter(Literal["low", "high"]).validate_python("x")
    ... except ValidationError as found:
    ...     validation_message(found.errors()[0])
    "has to be 'low' or 'high'"
    """
    if error["type"] in _PLAINLY:
        about = error.get("ctx", {}).items()
        return _PLAINLY[error["type"]].format_map({k: f"{v:g}" if isinstance(v, float) else v for k, v in about})
    said = error["msg"].removeprefix("Value error, ")
    return said[:1].lower() + said[1:]
