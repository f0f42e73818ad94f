"""Where the data of a policy is."""

from __future__ import annotations

from shoal.errors import BugError, FieldName, FieldText, InputError
from shoal.io import Source, open_source, parse_source
from shoal.io.frames import source_at
from shoal.policy import Policy


def source_of(policy: Policy, data: str | Source | None) -> Source:
    """Where the data is: what the caller says (relative to where they are), else what the policy says."""
    if data is not None:
        return source_at(data) if isinstance(data, str) else data
    if policy.source is None:
        raise InputError("the policy names no source", advice=FieldText("give one with ", FieldName("data", "DATA")))
    return open_source(policy.source, base=policy.folder)


def population_source(policy: Policy) -> Source:
    """Where the table of the population is that a privacy model compares with."""
    if policy.population is None:
        raise BugError("no model of the policy compares with a population")
    return open_source(parse_source(policy.population), base=policy.folder)
