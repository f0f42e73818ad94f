"""Taking away what the records of a release could be joined by, where the policy says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from shoal.assess.multi_table.references import RECORDS, keys_in
from shoal.io import Source
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.linkage import keys_by_policy, unlinked
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.references import Reference, ReferenceEnd, is_released


def unlink(
    several: MultiTablePolicy, references: tuple[Reference, ...], sources: Mapping[str, Source]
) -> tuple[MultiTablePolicy, tuple[Reference, ...]]:
    """The policy with its keys parted, and the references, none of which is kept any more."""
    keys = {end for ends in keys_by_policy(several.tables).values() for end in ends}
    for reference in references:
        if is_released(several.tables, reference):
            keys |= {reference.child, reference.parent}
    keys |= {ReferenceEnd(name, policy.person) for name, policy in several.tables.items() if policy.person is not None}
    there = sorted((end for end in keys if _is_released(several, end)), key=str)
    repeated = {end: bool((keys_in(sources[end.table], end.column)[RECORDS] > 1).any()) for end in there}
    apart = tuple(replace(reference, keep=False) for reference in references)
    return replace(several, tables=unlinked(several.tables, repeated), references=apart), apart


def _is_released(several: MultiTablePolicy, end: ReferenceEnd) -> bool:
    attribute = several.tables[end.table].attributes.get(end.column)
    if attribute is None or end.column == EVERYTHING_ELSE:
        return False
    return attribute.is_released and end.column not in several.tables[end.table].quasi_identifiers
