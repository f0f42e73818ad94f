"""Which columns join the tables of a folder or a database: keys of one that all stand in another.

A database says itself what refers to what. Elsewhere a column refers to another if that has each value once and holds
all of its values, and if both are keys made by a machine or the names fit: ``visits.patient`` and ``patients.id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from shoal.discover.column_profile import ColumnProfile, Profile
from shoal.discover.key_columns import BARE, MARKS
from shoal.discover.recognisers import words
from shoal.discover.suggestion.technique_choice import domain_for
from shoal.kernels.group_counts import are_clustered, count_groups
from shoal.schema import Role

TableColumn = tuple[str, str]
"""A table and its column."""
FEWEST = 2
SAME_ORDER = 0.5
"""The share of rows with the same key as in another table that makes the order itself a key."""
KEY, RECORDS = "key", "records"


@dataclass(frozen=True)
class LinkableTable:
    """A table that others may be joined with."""

    profile: Profile
    frame: pl.LazyFrame

    def keys(self, column: str) -> pl.DataFrame:
        """Each value once, as text, with its number of records."""
        values = self.frame.select(pl.col(column).cast(pl.String).alias(KEY)).drop_nulls()
        return count_groups(values, [KEY], RECORDS)

    def column(self, name: str) -> pl.Series:
        """All its values in their order, as text."""
        return self.frame.select(pl.col(name).cast(pl.String).alias(KEY)).collect(engine="streaming")[KEY]


def domains(
    tables: Mapping[str, LinkableTable], constrained: Iterable[tuple[TableColumn, TableColumn]] = ()
) -> dict[str, dict[str, str]]:
    """By table, the columns that tables are joined by, and the domain in which each gets its pseudonyms."""
    groups: dict[TableColumn, TableColumn] = {}
    for child, parent in (*constrained, *_included(tables)):
        _join(groups, child, parent)
    found: dict[str, dict[str, str]] = {name: {} for name in tables}
    for table, column in groups:
        found[table][column] = domain_for(_root(groups, (table, column))[0])
    return found


def in_telling_order(tables: Mapping[str, LinkableTable], keys: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    """Tables whose order tells what their keys did.

    Records with the same key follow each other, or the records are in the order of an earlier table that they can be
    joined with.
    """
    found: dict[str, None] = {}
    for name, columns in keys.items():
        if any(are_clustered(tables[name].column(column)) for column in columns):
            found[name] = None
    ends = [(table, column, domain) for table, columns in keys.items() for column, domain in columns.items()]
    for place, (table, column, domain) in enumerate(ends):
        for other, held, theirs in ends[:place]:
            if other == table or theirs != domain or tables[table].profile.rows != tables[other].profile.rows:
                continue
            mine, earlier = tables[table].column(column), tables[other].column(held)
            if float((mine == earlier).sum()) >= SAME_ORDER * len(mine):
                found[table] = None
    return tuple(found)


def _join(groups: dict[TableColumn, TableColumn], child: TableColumn, parent: TableColumn) -> None:
    groups.setdefault(parent, parent)
    groups.setdefault(child, child)
    groups[_root(groups, child)] = _root(groups, parent)


def _root(groups: Mapping[TableColumn, TableColumn], end: TableColumn) -> TableColumn:
    while groups[end] != end:
        end = groups[end]
    return end


def _included(tables: Mapping[str, LinkableTable]) -> Iterator[tuple[TableColumn, TableColumn]]:
    ends = [(name, one) for name, table in tables.items() for one in table.profile.columns if _may_join(one)]
    known: dict[TableColumn, pl.DataFrame] = {}

    def keys(table: str, column: str) -> pl.DataFrame:
        if (table, column) not in known:
            known[table, column] = tables[table].keys(column)
        return known[table, column]

    for parent, owned in ends:
        children = [(name, one) for name, one in ends if name != parent and _fits(one, parent, owned)]
        own = keys(parent, owned.name) if children else None
        if own is None or own.height < FEWEST or own.height != tables[parent].profile.rows:
            continue
        for child, held in children:
            theirs = keys(child, held.name)
            if theirs.height >= FEWEST and theirs.join(own, on=KEY, how="anti").is_empty():
                yield (child, held.name), (parent, owned.name)


def _may_join(one: ColumnProfile) -> bool:
    return one.key is not None or (one.proposal.role is Role.DIRECT and not one.free_text and one.type != "name")


def _fits(held: ColumnProfile, parent: str, owned: ColumnProfile) -> bool:
    if held.key and owned.key and _machine_made(held) and _machine_made(owned):
        return True
    own, other = words(held.name), words(owned.name)
    if own == other and own not in BARE:
        return True
    thing = words(parent).removesuffix("s")
    left = [word for word in own.split() if word not in MARKS]
    return bool(left) and left[-1].removesuffix("s") == thing.split()[-1] and (other in BARE or thing in other)


def _machine_made(one: ColumnProfile) -> bool:
    return bool(one.shapes) and all(len(shape.form) > 16 and shape.form.count("-") >= 3 for shape in one.shapes)
