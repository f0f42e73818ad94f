"""A value of the data as it is written in a policy.

YAML turns unquoted words into other things (``no`` is a boolean, ``1.50`` a number); their text is then lost, and a
hierarchy would not find the value. Whole numbers keep their text; everything else has to be quoted.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema


def _read(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"write the value in quotes: YAML reads it as {type(value).__name__}")


Word = Annotated[str, BeforeValidator(_read), WithJsonSchema({"type": ["string", "integer"]})]
