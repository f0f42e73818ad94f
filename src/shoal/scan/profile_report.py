"""A profile of a table with what was asked beyond it: the sets of attributes that single people out, Safe Harbor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.discover import Profile
from shoal.discover.safe_harbor import SafeHarbor
from shoal.discover.table_profile import ColumnProfile
from shoal.errors import DataError
from shoal.measurement.risk.quasi_identifiers import QuasiAnalysis, analyse_quasi
from shoal.schema import Role
from shoal.schema.registry import did_you_mean

MOST_VALUES = 100
"""A sensitive attribute with more values than that is an amount, of which outsiders don't know the last digit."""
MOSTLY_OWN = 0.5
MAX_SIZE = 3


@dataclass(frozen=True)
class ProfileReport:
    """A profile, with what was asked beyond it."""

    profile: Profile
    sets: QuasiIdentifierSets | None = None
    safe_harbor: SafeHarbor | None = None

    @property
    def met(self) -> bool:
        return self.safe_harbor is None or self.safe_harbor.met

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = self.profile.to_dict()
        if self.sets is not None:
            found["sets"] = self.sets.to_dict()
        if self.safe_harbor is not None:
            found["safe_harbor"] = self.safe_harbor.to_dict()
        return found


@dataclass(frozen=True)
class QuasiIdentifierSets:
    analysis: QuasiAnalysis
    left_out: dict[str, str]
    """Columns that were not searched, and why."""

    def to_dict(self) -> dict[str, Any]:
        return {**self.analysis.to_dict(), "left_out": self.left_out}


def find_sets(frame: pl.LazyFrame, profile: Profile, max_size: int | None, person: str | None) -> QuasiIdentifierSets:
    """The sets of columns that somebody might know; direct identifiers single out by themselves and are left out."""
    names = tuple(column.name for column in profile.columns)
    if person is not None and person not in names:
        raise DataError(f"the data has no column '{person}'{did_you_mean(person, names)}", field="person")
    if profile.rows <= 1:
        raise DataError("the table has fewer than two records, so there is nobody to tell apart", field="sets")
    reasons = {column.name: _left_out(column, person) for column in profile.columns}
    searched = [name for name, why in reasons.items() if why is None]
    if not searched:
        raise DataError("no column is left to search: all are direct identifiers, or tell nobody apart", field="sets")
    left_out = {name: why for name, why in reasons.items() if why is not None}
    return QuasiIdentifierSets(analyse_quasi(frame, searched, max_size=max_size or MAX_SIZE, person=person), left_out)


def _left_out(column: ColumnProfile, person: str | None) -> str | None:
    if column.name == person:
        return "it names the person"
    if column.proposal.role is Role.DIRECT:
        return "a direct identifier: it singles people out by itself"
    if column.spread.distinct <= 1 and (column.missing in (0, 1) or not column.spread.values):
        return "no two records differ in it"
    return None if column.proposal.role is Role.QUASI else _amount(column)


def _amount(column: ColumnProfile) -> str | None:
    """Why outsiders don't know a value that is not quasi-identifying by itself."""
    if column.spread.distinct > MOST_VALUES:
        return f"more than {MOST_VALUES} values, which outsiders seldom know exactly"
    if column.spread.uniqueness > MOSTLY_OWN:
        return "most records have a value of their own, which outsiders seldom know exactly"
    return None
