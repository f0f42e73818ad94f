"""What is left of k when tables that can be joined are joined: k holds for each table alone.

Whoever holds all tables of a release puts together what they say of one person: the quasi-identifiers of the person's
own record and those of every record that refers to it. People look alike only if all of that is alike. This counts
them, for an attacker who knows everything of that kind about a person: the worst case, and so a lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import polars as pl

from shoal.policy.references import Reference

CLASS = "__shoal_class"
STAR = "*"


@dataclass(frozen=True)
class ReleasedTable:
    frame: pl.LazyFrame
    quasi: tuple[str, ...]


@dataclass(frozen=True)
class Joined:
    """The classes of people, by all that the tables below ``table`` say of them together."""

    table: str
    """Whose records are people, or whatever else the others refer to."""
    tables: tuple[str, ...]
    k: int
    people: int
    uniques: int

    def to_dict(self) -> dict[str, object]:
        return {**asdict(self), "tables": list(self.tables)}


def join_all(tables: Mapping[str, ReleasedTable], references: Sequence[Reference]) -> tuple[Joined, ...]:
    """One answer for each table that others refer to and that refers to none itself."""
    between = [one for one in references if one.child.table != one.parent.table]
    children = {one.child.table for one in between}
    roots = dict.fromkeys(one.parent.table for one in between if one.parent.table not in children)
    joined = (_Join(tables, between).people(root) for root in roots)
    return tuple(one for one in joined if one is not None)


class _Join:
    def __init__(self, tables: Mapping[str, ReleasedTable], references: Sequence[Reference]) -> None:
        self.tables = tables
        self.references = references
        self.joined: list[str] = []

    def people(self, root: str) -> Joined | None:
        """None where no table but the root has a quasi-identifier: then its own k is all there is."""
        classes, told = self._classes(root, ())
        if len(self.joined) < 2 or not any(self.tables[name].quasi for name in self.joined if name != root):
            return None
        sizes = classes.filter(told).group_by(CLASS).len()["len"].to_numpy()
        if not len(sizes):
            return None
        tables = tuple(dict.fromkeys(self.joined))
        return Joined(root, tables, int(sizes.min()), int(sizes.sum()), int((sizes == 1).sum()))

    def _classes(self, table: str, above: tuple[str, ...]) -> tuple[pl.DataFrame, pl.Expr]:
        """The table's keys with the number of each record's class, and which records tell anything at all."""
        own = self.tables[table]
        self.joined.append(table)
        below = [one for one in self.references if one.parent.table == table and self._goes_on(one, (*above, table))]
        keys = {one.parent.column for one in below} | {
            one.child.column for one in self.references if one.child.table == table
        }
        columns = dict.fromkeys((*own.quasi, *keys))
        frame = own.frame.select(pl.col(name).cast(pl.String) for name in columns).collect(engine="streaming")
        parts = list(own.quasi)
        for place, reference in enumerate(below):
            part = f"__shoal_{place}"
            frame = frame.join(self._told(reference, part, (*above, table)), on=reference.parent.column, how="left")
            parts.append(part)
        known = [pl.col(name) != STAR for name in own.quasi]
        known += [pl.col(part).is_not_null() for part in parts[len(own.quasi) :]]
        told = pl.any_horizontal(*known).fill_null(value=True) if known else pl.lit(value=False)
        return _numbered(frame, parts), told

    def _goes_on(self, reference: Reference, above: tuple[str, ...]) -> bool:
        """Whether anything that the child, or what refers to it, says is not said yet."""
        child = reference.child.table
        if child in above:
            return False
        further = [one for one in self.references if one.parent.table == child]
        return bool(self.tables[child].quasi) or any(self._goes_on(one, (*above, child)) for one in further)

    def _told(self, reference: Reference, part: str, above: tuple[str, ...]) -> pl.DataFrame:
        """By key of the parent, the classes of all records that refer to it, in one text."""
        classes, _ = self._classes(reference.child.table, above)
        held = classes.select(pl.col(reference.child.column).alias(reference.parent.column), CLASS)
        listed = held.drop_nulls().group_by(reference.parent.column).agg(pl.col(CLASS).sort().cast(pl.String))
        return listed.select(reference.parent.column, pl.col(CLASS).list.join(",").alias(part))


def _numbered(frame: pl.DataFrame, parts: list[str]) -> pl.DataFrame:
    """Each record with the number of its combination; a missing value is a value."""
    if not parts:
        return frame.with_columns(pl.lit(0, dtype=pl.UInt32).alias(CLASS))
    combinations = frame.select(parts).unique(maintain_order=True).with_row_index(CLASS)
    return frame.join(combinations, on=parts, how="left", nulls_equal=True)
