"""Roles once more, now that the columns are known together: keys by whom they belong to, codes by what they say.

A key that several people share is no direct identifier. A column that says the same as a recognised one takes its role:
a code of a diagnosis is as sensitive as the diagnosis in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from shoal.discover.column_profile import ColumnProfile
from shoal.discover.column_roles import NEARLY_UNIQUE, RoleProposal
from shoal.discover.inferences import ColumnInference
from shoal.schema import Role

MOST_OF = 0.5
"""A column that another tells, with at least this share of its values, says much the same in fewer words."""
STRONG = frozenset({"aadhaar", "nric", "ssn", "pan", "passport", "email", "vid", "voter_id", "nhs_number", "mrn"})
"""Recognised kinds that name a person by themselves, so that several records with one value are one person's."""


def person_in(columns: Sequence[ColumnProfile]) -> str | None:
    """The column that names the person, if one does beyond doubt: a key of people, then a number given to people.

    Of several that would do, the one with the fewest missing values, then the one with the fewest different ones: a
    household's members have keys of their own.
    """
    of_people = [one for one in columns if one.key is not None and one.key.person]
    known = of_people or [one for one in columns if one.type in STRONG]
    keys = [one for one in columns if one.key is not None and not one.key.several_people]
    bare = known or [one for one in keys if one.spread.uniqueness >= NEARLY_UNIQUE]
    best = min(bare, key=lambda one: (one.missing, one.spread.distinct), default=None)
    return None if best is None else best.name


def resolve_roles(
    columns: Sequence[ColumnProfile], looked_at: pl.DataFrame, told: Sequence[ColumnInference]
) -> tuple[ColumnProfile, ...]:
    """The columns with the roles that they have beside each other."""
    agreed = [_agreed(one, looked_at, columns) for one in columns]
    person = person_in([one for one in agreed if one.spread.uniqueness < NEARLY_UNIQUE])
    owned = [_owned(one, looked_at, person) for one in agreed]
    return tuple(_alike(one, owned, told) for one in owned)


def _agreed(one: ColumnProfile, looked_at: pl.DataFrame, columns: Sequence[ColumnProfile]) -> ColumnProfile:
    """A key whose values go with several names each does not tell people apart, whatever it is called."""
    name = next((other.name for other in columns if other.type == "name" and other.name != one.name), None)
    if name is None or one.key is None or not one.key.person:
        return one
    pairs = looked_at.select(key=pl.col(one.name), name=pl.col(name).cast(pl.String).str.to_lowercase()).drop_nulls()
    repeated = pairs.group_by("key").agg(pl.len(), names=pl.col("name").n_unique()).filter(pl.col("len") > 1)
    if repeated.is_empty() or float((repeated["names"] > 1).mean() or 0) < MOST_OF:  # type: ignore[arg-type]  # of flags
        return one
    reasons = (f"it goes with several of '{name}' each, so it does not tell people apart", *one.proposal.reasons[1:])
    key = replace(one.key, person=False, several_people=True)
    return replace(one, key=key, proposal=replace(one.proposal, reasons=reasons))


def _owned(one: ColumnProfile, looked_at: pl.DataFrame, person: str | None) -> ColumnProfile:
    """A key of something else is a direct identifier only if each belongs to one person."""
    if one.key is None or one.key.person or one.identifier or person in (None, one.name):
        return one
    pairs = looked_at.select(key=pl.col(one.name), person=pl.col(str(person))).drop_nulls()
    people = pairs.group_by("key").agg(pl.col("person").n_unique())
    if people.is_empty() or people["person"].max() == 1:
        reasons = (*one.proposal.reasons[:1], f"each belongs to one '{person}' only", *one.proposal.reasons[2:])
        return replace(one, proposal=replace(one.proposal, reasons=reasons))
    reasons = (one.key.why, f"it is shared by several of '{person}', so it is not a person's own")
    return replace(one, proposal=RoleProposal(Role.QUASI, reasons))


def _alike(one: ColumnProfile, columns: Sequence[ColumnProfile], told: Sequence[ColumnInference]) -> ColumnProfile:
    if one.identifier or one.key or one.proposal.role is not Role.QUASI:
        return one
    twins = {other for found in told if found.kind == "same" for other in _other_end(found, one.name)}
    distinct = {each.name: each.spread.distinct for each in columns}
    twins |= {by for found in told if found.kind == "dependency" and found.gives == one.name and found.in_table
              for by in found.columns[:1] if one.spread.distinct >= MOST_OF * distinct[by]}  # fmt: skip
    for twin in columns:
        if twin.name in twins and twin.identifier and twin.proposal.role in (Role.SENSITIVE, Role.DIRECT):
            reasons = (f"it says the same as '{twin.name}'", *twin.proposal.reasons[1:2])
            return replace(one, proposal=RoleProposal(twin.proposal.role, reasons, twin.proposal.technique))
    return one


def _other_end(found: ColumnInference, name: str) -> tuple[str, ...]:
    ends = (*found.columns, found.gives)
    return tuple(end for end in ends if end != name) if name in ends else ()
