"""What can't be done to values as they are read, and why."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


class NotInSqlError(Exception):
    """Caught by the compiler, which says of which column."""


REASONS: Mapping[str, str] = MappingProxyType(
    {
        "noise": "noise drawn anew for each query averages out over many of them",
        "permute": "values that change places belong to one copy of the table",
        "pram": "values drawn anew for each query average out over many of them",
        "microaggregate": "groups of alike records have to be found in the whole table first",
        "shift_dates": "the shift of a person comes from a key by a digest that servers don't know",
        "encrypt": "the cipher is none that servers have",
        "share": "shares are drawn anew for each copy",
        "scrub": "finding names in free text takes more than SQL; suppress the column",
        "combine": "a column made of others is not compiled",
    }
)
"""By the key of a technique."""
ELSE = "it is not compiled to SQL"
