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
    **dict.fromkeys(("dict_type", "model_type"), "has to be a mapping: {{name: value}}, or each name on its own line"),
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
    "too_short": "needs at least {min_length}",
    "too_long": "takes {max_length} at most",
    "string_too_short": "is empty or too short",
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), "has to be a day, e.g. 2027-01-31"),
    **dict.fromkeys(
        ("datetime_type", "datetime_parsing", "datetime_from_date_parsing"),
        "has to be a day and a time, e.g. 2027-01-31T09:30:00+00:00",
    ),
}
"""By the kind of error."""
WRITTEN: Final[Mapping[str, str]] = {
    r"^[\w][\w .-]{0,99}$": "up to 100 letters, digits, spaces, dots and dashes, with a letter or digit first",
    "^[A-Z]{2}$": "the code of a country, e.g. IN",
    r"^[a-z0-9][a-z0-9_-]{0,62}$": "up to 63 small letters, digits, _ and -, with a letter or digit first",
    "^[0-9a-f]{64}$": "a checksum (SHA-256, 64 hexadecimal digits)",
    "^([0-9a-f]{64})?$": "a checksum (SHA-256, 64 hexadecimal digits)",
    "^age1[0-9a-z]{58}$": "a public key of the age format: age1 and 58 small letters and digits",
    r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$": "a domain of mail, e.g. example.org",
}
"""What a pattern asks for."""


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
    if error["type"] == "string_pattern_mismatch":
        return f"has to be {WRITTEN.get(str(error['ctx']['pattern']), 'written otherwise: see the reference')}"
    said = error["msg"].removeprefix("Value error, ")
    return said[:1].lower() + said[1:]
