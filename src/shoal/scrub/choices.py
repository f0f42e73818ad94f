"""What can be chosen of a scrubbing: what is written instead, and of which types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from shoal.errors import InputError
from shoal.schema.registry import did_you_mean

if TYPE_CHECKING:
    from shoal.discover.recognisers import RecogniserSet

Replace = Literal["label", "mask", "pseudonym"]
Dates = Literal["shift", "label", "keep"]
Ages = Literal["generalise", "label", "keep"]

DATES = frozenset({"date", "birth_date", "date_of_birth", "datetime"})
AGES = frozenset({"age"})
COMMON = frozenset(
    {
        "person", "name", "place", "location", "address", "organisation", "domain", "date", "time", "age", "email",
        "phone", "url", "username", "nationality", "religion", "belief", "political_group", "group", "job_title",
        "occupation", "standing", "health", "title", "secret", "query",
        "number", "money", "reference", "unchecked", "other", "listed",
    }
)  # fmt: skip
"""Types that are found by other means than recognisers' forms."""
OTHER = "other"
"""What is written of a type that isn't known: every label has to be known again."""
UNCHECKED = "unchecked"
"""What a check could not be finished for."""
LISTED = "listed"
"""What stands on a list of the user's own."""
ALWAYS = frozenset({UNCHECKED, LISTED})
"""Replaced whatever types are asked for."""


def known_types(recognisers: RecogniserSet | None = None) -> frozenset[str]:
    """What labels may name."""
    from shoal.discover.recognisers import default_recognisers

    return COMMON | (recognisers or default_recognisers()).types


def chosen_types(listed: str | None, recognisers: RecogniserSet | None = None) -> frozenset[str] | None:
    """Types from a list with commas; None for all. One that isn't known is an InputError."""
    if listed is None:
        return None
    names = frozenset(filter(None, (name.strip().casefold() for name in listed.split(","))))
    refuse_unknown_types(names, recognisers)
    return names


def refuse_unknown_types(names: Iterable[str], recognisers: RecogniserSet | None = None) -> None:
    known = tuple(sorted(known_types(recognisers)))
    for name in sorted(names):
        if name not in known:
            raise InputError(f"types: nothing is recognised as '{name}'{did_you_mean(name, known)}")
