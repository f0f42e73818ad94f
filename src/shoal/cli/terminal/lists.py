"""Options that hold a list: what stands between the commas."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from shoal.errors import InputError

Number = TypeVar("Number", int, float)


def listed(option: str, text: str) -> list[str]:
    """What stands between the commas."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise InputError(f"{option}: the list is empty", advice="separate what is to be tried by commas")
    return parts


def numbers(option: str, text: str, kind: Callable[[str], Number], what: str) -> list[Number]:
    found = []
    for part in listed(option, text):
        try:
            found.append(kind(part))
        except ValueError:
            raise InputError(f"{option}: '{part}' is not {what}") from None
    return found
