"""What callers give: tables in memory, paths, names. What can't be used is an InputError that names the argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from shoal.discover.recognisers import RecogniserSet
from shoal.errors import InputError, SourceError
from shoal.io import Source
from shoal.io.frames import FrameSource, as_lazy, source_at
from shoal.release import Release

Given = TypeVar("Given")
Data = object
"""A pandas, Polars or PyArrow table, a path, or a database's address; type checkers would need all three libraries."""


def is_place(data: object) -> bool:
    """Whether it says where a table lies, instead of being one."""
    return isinstance(data, str | Path)


def source_from(data: Data, argument: str) -> Source:
    """A table wherever it is; of a release, its data. A mapping is a source as a policy writes it, with its options."""
    if isinstance(data, Release):
        data = data.data
    try:
        if isinstance(data, Mapping):
            return source_at(data)
        return source_at(str(data)) if is_place(data) else FrameSource(as_lazy(data))
    except SourceError:
        raise
    except InputError as error:
        raise InputError(error.message, field=argument, advice=error.advice) from None


def names_from(given: str | Iterable[str], argument: str) -> tuple[str, ...]:
    """Names of columns; a single one needs no list."""
    listed = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (None,)
    if not all(isinstance(name, str) for name in listed):
        raise InputError("has to be the name of a column, or a list of names", field=argument)
    twice = [name for place, name in enumerate(listed) if name in listed[:place]]
    if twice:
        raise InputError(f"column '{twice[0]}' is named twice", field=argument)
    return listed


def instance_from(given: object, kind: type[Given], what: str, argument: str) -> Given:
    """Something of one type, which ``what`` says in words."""
    if not isinstance(given, kind):
        raise InputError(f"has to be {what}, not a value of the type {type(given).__name__}", field=argument)
    return given


def recognisers_from(given: object) -> RecogniserSet | None:
    return None if given is None else instance_from(given, RecogniserSet, "a set of recognisers", "recognisers")


def flag_from(given: object, argument: str) -> bool:
    """Yes or no; a text is neither."""
    return instance_from(given, bool, "True or False", argument)


def choice_from(given: object, choices: Iterable[str], argument: str) -> str:
    """One of a few words."""
    known = tuple(choices)
    if not isinstance(given, str) or given not in known:
        raise InputError(f"has to be one of {', '.join(known)}", field=argument)
    return given


def share_from(given: object, argument: str) -> float:
    """A number from 0 to 1."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= 1:
        raise InputError("has to be a number from 0 to 1", field=argument)
    return float(given)
