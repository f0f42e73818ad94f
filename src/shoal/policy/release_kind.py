"""Kinds of release, and what each of them has."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True)
class _Traits:
    records: bool = False
    classes: bool = False
    traceable_rows: bool = False
    budget: bool = False


class ReleaseKind(StrEnum):
    """What ``kind`` of ``release.json`` says. Ask what a kind has, not which it is: a new kind answers too.

    >>> ReleaseKind.AGGREGATE.has_records, ReleaseKind.RECORDS.has_classes, ReleaseKind("synthetic").has_traceable_rows
    (False, True, False)
    """

    RECORDS = "records"
    """A table with a record for each person or event of the source."""
    AGGREGATE = "aggregate"
    """A table of groups of people."""
    SYNTHETIC = "synthetic"
    """A table of records that nobody is behind."""
    TABLES = "tables"
    """Several tables that belong together, each of which is a release of its own."""

    @property
    def has_records(self) -> bool:
        """Whether a row speaks of one person, real or made up."""
        return _TRAITS[self].records

    @property
    def has_classes(self) -> bool:
        """Whether equivalence classes of its rows are classes of the source's people, so that k means something."""
        return _TRAITS[self].classes

    @property
    def has_traceable_rows(self) -> bool:
        """Whether each row stems from one record of the source, so that both can be compared."""
        return _TRAITS[self].traceable_rows

    @property
    def has_budget(self) -> bool:
        """Whether what it tells of people is bounded by a privacy budget where one was given."""
        return _TRAITS[self].budget


_TRAITS = {
    ReleaseKind.RECORDS: _Traits(records=True, classes=True, traceable_rows=True),
    ReleaseKind.AGGREGATE: _Traits(),
    ReleaseKind.SYNTHETIC: _Traits(records=True, budget=True),
    ReleaseKind.TABLES: _Traits(),
}
