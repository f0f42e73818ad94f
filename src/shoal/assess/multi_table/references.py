"""References between the tables of a release: found where nobody declared them, followed from before to after.

A database says itself what refers to what. Elsewhere a column is taken for a reference only if all its values are
values of the other one, which has each value once, and if more speaks for it: both name the person, both get their
pseudonyms from one domain, or the names fit (``visits.patient`` and ``patients.id``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import polars as pl

from shoal.errors import BugError, DataError
from shoal.io import ReferenceSource, Source, explained
from shoal.kernels.group_counts import count_groups
from shoal.measurement.risk.equivalence_classes import SUPPRESSED
from shoal.policy.default_attribute import EVERYTHING_ELSE
from shoal.policy.model import Policy
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.references import Reference, ReferenceEnd, is_released, names_fit, outcome, why_apart
from shoal.results.multi_table_manifest import ReferenceResult
from shoal.schema import Role
from shoal.schema.canonical_text import canonical_text

KEY = "key"
RECORDS = "records"


@dataclass(frozen=True)
class ReferenceKeys:
    """The two ends of a reference, counted."""

    children: int
    """Different keys that the child holds."""
    parents: int
    """Different keys of the parent."""
    orphans: int
    """Records of the child whose key is nobody's. A record without a key is none."""

    @classmethod
    def of(cls, reference: Reference, sources: Mapping[str, Source], starred: Collection[str] = ()) -> ReferenceKeys:
        """In ``starred`` tables, a star hides a key: its record has none."""
        held, owned = (
            keys_in(sources[end.table], end.column).filter(
                pl.lit(end.table not in starred) | pl.col(KEY).ne(SUPPRESSED)
            )
            for end in (reference.child, reference.parent)
        )
        orphans = held.join(owned, on=KEY, how="anti")[RECORDS].sum()
        return cls(held.height, owned.height, int(orphans))


def keys_in(source: Source, column: str) -> pl.DataFrame:
    """Each key once, as the text that it is pseudonymised as, with its number of records."""
    with explained(source):
        frame = source.scan()
        if column not in frame.collect_schema():
            raise DataError(f"{source.label}: there is no column '{column}', by which tables are to be joined")
        counted = count_groups(frame.select(pl.col(column).alias(KEY)).drop_nulls(), [KEY], RECORDS)
    return counted.with_columns(canonical_text(counted[KEY])).group_by(KEY).agg(pl.col(RECORDS).sum())


@dataclass(frozen=True)
class FollowedReference:
    """A reference in the release."""

    reference: Reference
    kept: bool
    orphans: int | None = None
    left_out: int = 0
    """Records of the child that have become orphans, because the record they refer to was left out."""

    def result(self) -> ReferenceResult:
        return ReferenceResult(
            child=str(self.reference.child),
            parent=str(self.reference.parent),
            kept=self.kept,
            orphans=self.orphans,
            left_out=self.left_out,
            found=self.reference.reason,
        )


def references_of(several: MultiTablePolicy, sources: Mapping[str, Source]) -> tuple[Reference, ...]:
    """Those that were declared and those that are found; a found one that would break is refused.

    In nested documents the nesting says what refers to what.
    """
    references = list(several.references)
    if several.documents is not None:
        return tuple(references)
    for found in (*_constrained(sources), *_included(several.tables, sources)):
        known = {(one.child, one.parent) for one in references} | {(one.parent, one.child) for one in references}
        if (found.child, found.parent) not in known and _is_named(several.tables, found):
            references.append(_judged(several.tables, found, unlinked=several.joined.unlink))
    return tuple(references)


def _is_named(tables: Mapping[str, Policy], found: Reference) -> bool:
    """A column that the policy doesn't know stops the run in its own table, with a better reason than ours."""
    ends = (found.child, found.parent)
    return all({end.column, EVERYTHING_ELSE} & tables[end.table].attributes.keys() for end in ends)


def _judged(tables: Mapping[str, Policy], found: Reference, *, unlinked: bool) -> Reference:
    """Kept if both ends become the same. Where one is gone there is nothing to join, and nothing wrong with that."""
    if unlinked or not is_released(tables, found):
        return replace(found, keep=False)
    if why := why_apart(tables, found):
        advice = f"or say that it need not be kept: {{from: {found.child}, to: {found.parent}, keep: false}}"
        raise DataError(f"{found.child} refers to {found.parent} ({found.reason}), but {why}", advice=advice)
    return found


def _constrained(sources: Mapping[str, Source]) -> Iterator[Reference]:
    for child, source in sources.items():
        for parent, other in sources.items():
            for column, key in source.refers_to(other) if isinstance(source, ReferenceSource) else ():
                yield Reference(
                    ReferenceEnd(child, column), ReferenceEnd(parent, key), reason="a foreign key of the database"
                )


def _included(tables: Mapping[str, Policy], sources: Mapping[str, Source]) -> Iterator[Reference]:
    ends = [ReferenceEnd(name, column) for name, source in sources.items() for column in _columns(source)]
    found: set[tuple[ReferenceEnd, ReferenceEnd]] = set()
    for parent in ends:
        others = [end for end in ends if end.table != parent.table and (parent, end) not in found]
        fitting = [(child, why) for child in others if (why := _why_fitting(tables, child, parent))]
        owned = _unique_keys(sources[parent.table], parent.column) if fitting else None
        for child, why in fitting if owned is not None else ():
            held = keys_in(sources[child.table], child.column)
            if owned is not None and held.height and held.join(owned, on=KEY, how="anti").is_empty():
                found.add((child, parent))
                yield Reference(child, parent, reason=f"all its values are there, each once, and {why}")


def _columns(source: Source) -> list[str]:
    with explained(source):
        return source.scan().collect_schema().names()


def _unique_keys(source: Source, column: str) -> pl.DataFrame | None:
    """The keys of a column that has each value once and misses none; None if it doesn't."""
    owned = keys_in(source, column)
    with explained(source):
        rows = source.scan().select(pl.len()).collect(engine="streaming").item()
    return owned if owned.height == rows else None


def _why_fitting(tables: Mapping[str, Policy], child: ReferenceEnd, parent: ReferenceEnd) -> str | None:
    """What speaks for a reference besides the values."""
    for end in (child, parent):
        attribute = tables[end.table].attributes.get(end.column)
        if attribute is None or attribute.role not in (Role.DIRECT, Role.INSENSITIVE):
            return None
    if (tables[child.table].person, tables[parent.table].person) == (child.column, parent.column):
        return "both name the person"
    own, other = (outcome(tables[end.table], end.column) for end in (child, parent))
    if own.same and own.same == other.same:
        return "both become the same pseudonyms"
    return "the names fit" if names_fit(child, parent) else None


@dataclass(frozen=True)
class LostRecords:
    """Whether tables have fewer records in the release than they had."""

    child: bool
    parent: bool


def follow_reference(
    reference: Reference, before: ReferenceKeys, after: ReferenceKeys, lost: LostRecords
) -> FollowedReference:
    """Compare the keys of the written files with those of the sources; what can't be is our bug and nothing leaves."""
    apart = f"{reference}: the written tables are not joined as those they come from"
    if not lost.parent and after.parents != before.parents:
        raise BugError(apart)
    if not lost.child and after.children != before.children:
        raise BugError(apart)
    if not lost.parent and after.orphans > before.orphans:
        raise BugError(apart)
    if not lost.parent and not lost.child and after.orphans != before.orphans:
        raise BugError(apart)
    return FollowedReference(
        reference, kept=True, orphans=after.orphans, left_out=max(0, after.orphans - before.orphans)
    )
