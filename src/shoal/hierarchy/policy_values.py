"""A value of the data as it is written in a policy.

YAML turns unquoted words into other things (``no`` is a boolean, ``1.50`` a number); their text is then lost, and a
hierarchy would not find the value. Whole numbers keep their text; everything else has to be quoted.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

WORD_SCHEMA = {"type": ["string", "integer"]}


def read_policy_value(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"write the value in quotes: YAML reads it as {type(value).__name__}")


def read_policy_values(value: object, where: str) -> tuple[str, ...]:
    """A list of words; ``where`` it stands goes before what is wrong with it."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{where}: has to be a list of values")  # noqa: TRY004 - pydantic collects ValueError
    words = []
    for place, item in enumerate(value, start=1):
        try:
            words.append(read_policy_value(item))
        except ValueError as error:
            raise ValueError(f"{where}, value {place}: {error}") from None
    return tuple(words)


PolicyValue = Annotated[str, BeforeValidator(read_policy_value), WithJsonSchema(WORD_SCHEMA)]
