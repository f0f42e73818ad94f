"""Where the data of a policy is."""

from __future__ import annotations

from pathlib import Path

from shoal.errors import BugError, FieldName, FieldText, InputError, SourceError
from shoal.io import FileOptions, ReaderOptions, Source, SourceOptions, open_source, parse_source
from shoal.io.frames import source_at
from shoal.policy import Policy


def source_of(policy: Policy, data: str | Source | None, reader: ReaderOptions | None = None) -> Source:
    """Where the data is: what the caller says (relative to where they are), else what the policy says.

    What ``reader`` says goes before what the policy says of its source.
    """
    if data is not None:
        return source_at(data, reader) if isinstance(data, str) else data
    if policy.source is None:
        raise InputError("the policy names no source", advice=FieldText("give one with ", FieldName("data", "DATA")))
    return open_named(policy.source, policy.folder, reader)


def open_named(options: SourceOptions, folder: Path | None, reader: ReaderOptions | None = None) -> Source:
    """A source that a policy names; what is wrong is said in the words of policies."""
    told = options.told(reader) if reader is not None and isinstance(options, FileOptions) else options
    try:
        return open_source(told, base=folder)
    except SourceError as error:
        raise error.with_fields(_as_key, FileOptions.model_fields) from None


def _as_key(field: FieldName) -> str:
    """
    >>> _as_key(FieldName("encoding", "cp1252"))
    '`encoding: cp1252` in the policy, below `source`'
    """
    written = field.name if not field.example else f"{field.name}: {_quoted(field.example)}"
    return f"`{written}` in the policy, below `source`"


def _quoted(example: str) -> str:
    return f'"{example}"' if example in (",", ".") else example


def population_source(policy: Policy) -> Source:
    """Where the table of the population is that a privacy model compares with."""
    if policy.population is None:
        raise BugError("no model of the policy compares with a population")
    return open_source(parse_source(policy.population), base=policy.folder)
