"""How many people are alike when records that share a key are put together: the tables of a release, joined.

Whoever holds all tables puts together what they say of one person: every record that bears the person's key, the
records that these refer to (the ward of a visit) and those that refer to them (the drugs of a visit). Two people are
alike only if all of that is alike: the quasi-identifying values of their records, how many records there are of each
kind, and which belongs to which. It is the attacker who knows everything of that kind about a person, the worst case.

A key is whatever joins: a pseudonym of one domain, an identifier that stayed as it was. A table in which a key stands
several times is joined with itself. A table without quasi-identifiers says nothing that anybody could know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

KeyColumn = tuple[str, str]
"""A table and its column."""
KEY, CLASS, BLANK, RECORDS = "__shoal_key", "__shoal_class", "__shoal_blank", "__shoal_records"
VALUE = "__shoal_value_"
ROW = "(row)"
"""In place of a column: the number of the row, by which tables in the same order are joined."""
STAR = "*"


@dataclass(frozen=True)
class JoinableTable:
    frame: pl.LazyFrame = field(repr=False)
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    """Columns that are asked for by ``values``."""
    most_records: int = 1
    """Of one person. Where nothing in the release tells whose a record is, so many may be one person's."""


@dataclass(frozen=True)
class KeyGroup:
    """Columns in which equal values mean the same person, or the same thing."""

    columns: tuple[KeyColumn, ...]
    names_people: bool = False

    def within(self, table: str) -> tuple[str, ...]:
        return tuple(column for name, column in self.columns if name == table)

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name, _ in self.columns))


@dataclass(frozen=True)
class JoinedPeople:
    """The people, or whatever else a key stands for, by all that the tables say of them together."""

    group: KeyGroup
    tables: tuple[str, ...]
    """Those that say anything."""
    k: int
    people: int
    alone: int
    exact: bool
    """Whether people were counted; else things that may be several of one person's, so that k is a lower bound."""
    classes: pl.DataFrame = field(repr=False, compare=False)
    """By key, the number of its class."""


@dataclass(frozen=True)
class _JoinedClasses:
    """The class of each record of a table, by what it and the records joined to it say."""

    classes: pl.Series
    blank: pl.Series
    """Which records say nothing: all stars, and nothing joined to them."""
    tables: tuple[str, ...]


class JoinedTables:
    """Tables of one release, and the keys by which they can be joined."""

    def __init__(self, tables: Mapping[str, JoinableTable], groups: Sequence[KeyGroup]) -> None:
        self.tables = tables
        self.groups = tuple(groups)
        self._unique: dict[KeyColumn, bool] = {}

    @cached_property
    def _frames(self) -> dict[str, pl.DataFrame]:
        return {name: self._loaded(name) for name in {name for group in self.groups for name in group.tables}}

    def _loaded(self, name: str) -> pl.DataFrame:
        """The keys of a table with the number of each record's own combination."""
        table = self.tables[name]
        keys = dict.fromkeys(column for group in self.groups for column in group.within(name))
        wanted = [pl.col(column).cast(pl.String) for column in dict.fromkeys((*keys, *table.quasi))]
        values = [pl.col(column).alias(f"{VALUE}{column}") for column in table.sensitive]
        given = table.frame.with_row_index(ROW) if ROW in keys else table.frame
        frame = given.select(*wanted, *values).collect(engine="streaming")
        stars = [pl.col(column).eq_missing(STAR) for column in table.quasi]
        blank = pl.all_horizontal(stars) if stars else pl.lit(value=True)
        own = _numbered(frame.select(table.quasi)) if table.quasi else pl.lit(0, dtype=pl.UInt32)
        return frame.select(*keys, blank.alias(BLANK), pl.col(f"^{VALUE}.*$")).with_columns(own.alias(CLASS))

    def people(self) -> tuple[JoinedPeople, ...]:
        """One answer for each kind of key that people go by; where none does, for each that all others hang on."""
        found = (self._people(group) for group in self._roots())
        return tuple(one for one in found if one is not None)

    def person_of(self, table: str, group: KeyGroup) -> pl.Series | None:
        """Of each record of the table, the group's key that it belongs to; None where nothing leads there."""
        return self._person_of(table, group, ())

    def values(self, people: JoinedPeople, table: str, column: str) -> pl.DataFrame | None:
        """The values of a column by the key and the joined class of whom each is; None where nothing leads there."""
        keys = self.person_of(table, people.group)
        if keys is None:
            return None
        held = self._frames[table].select(pl.col(f"{VALUE}{column}").alias(column)).with_columns(keys)
        return held.join(people.classes, on=KEY, how="inner")

    def is_unique(self, table: str, column: str) -> bool:
        """Whether no two records have the same key."""
        if (table, column) not in self._unique:
            keys = self._frames[table][column].drop_nulls()
            self._unique[table, column] = keys.n_unique() == len(keys)
        return self._unique[table, column]

    def joins(self, group: KeyGroup) -> bool:
        """Whether any two records have the same key."""
        return len(group.columns) > 1 or not self.is_unique(*group.columns[0])

    # ——— whose classes are counted

    def _roots(self) -> list[KeyGroup]:
        roots = [group for group in self.groups if group.names_people]
        if not roots:
            roots = [group for group in self.groups if self._owners(group) and not self._hangs_on_another(group)]
        covered = {table for group in roots for table in self._reached(group)}
        return roots + [group for group in self.groups if group not in roots and not covered.issuperset(group.tables)]

    def _owners(self, group: KeyGroup) -> tuple[str, ...]:
        """The tables that have each key of the group once."""
        return tuple(table for table, column in group.columns if self.is_unique(table, column))

    def _hangs_on_another(self, group: KeyGroup) -> bool:
        others = [other for other in self.groups if other is not group and self._owners(other)]
        return any(
            table not in self._owners(other) and other.within(table)
            for other in others
            for table in self._owners(group)
        )

    def _reached(self, group: KeyGroup) -> set[str]:
        found: set[str] = set()
        for table in group.tables:
            found |= self._reached_from(table, (group,), (table,), down=True)
        return found

    def _reached_from(self, table: str, used: tuple[KeyGroup, ...], path: tuple[str, ...], *, down: bool) -> set[str]:
        found = {table}
        for group, _, (other, _), further in self._neighbours(table, used, path, down=down):
            found |= self._reached_from(other, (*used, group), (*path, other), down=further)
        return found

    def _neighbours(
        self, table: str, used: tuple[KeyGroup, ...], path: tuple[str, ...], *, down: bool
    ) -> Iterator[tuple[KeyGroup, str, KeyColumn, bool]]:
        """By which columns a record leads to records of other tables, and whether all that refer to it are meant.

        From a record to those that refer to it, and from any record to the one that it refers to; not from there to
        all others that refer to that one too: who shares a hospital does not become part of one's own history.
        """
        for group in self.groups:
            if group in used:
                continue
            for column in group.within(table):
                for other, held in group.columns:
                    if other in path:
                        continue
                    if down and self.is_unique(table, column):
                        yield group, column, (other, held), True
                    elif self.is_unique(other, held):
                        yield group, column, (other, held), False

    # ——— what is told of whom

    def _people(self, group: KeyGroup) -> JoinedPeople | None:
        """None where at most one record of each is told of: then the k of its own table is all there is."""
        told = {(table, column): self._told(table, (group,), (table,), down=True) for table, column in group.columns}
        parts = [
            _by_key(self._frames[table][column], one, f"{place}")
            for place, ((table, column), one) in enumerate(told.items())
            if one is not None
        ]
        tables = tuple(dict.fromkeys(name for one in told.values() if one is not None for name in one.tables))
        if not parts or not self._joins(told, tables):
            return None
        keys = [self._frames[table][column].drop_nulls().unique().alias(KEY) for table, column in group.columns]
        everyone = pl.concat(keys).unique(maintain_order=True).to_frame()
        for part in parts:
            everyone = everyone.join(part, on=KEY, how="left")
        classes = everyone.with_columns(_numbered(everyone.select(pl.col("^listed_.*$"))).alias(CLASS))
        telling = classes.filter(_tells(len(parts), classes.columns))
        sizes = telling.group_by(CLASS).len()["len"].to_numpy()
        if not len(sizes):
            return None
        owners = self._owners(group) or group.tables
        most = 1 if group.names_people else max(self.tables[table].most_records for table in owners)
        smallest, alone = -(-int(sizes.min()) // most), int(sizes[sizes <= most].sum())
        return JoinedPeople(group, tables, smallest, telling.height, alone, most == 1, telling.select(KEY, CLASS))

    def _joins(self, told: Mapping[KeyColumn, _JoinedClasses | None], tables: tuple[str, ...]) -> bool:
        repeated = any(one is not None and not self.is_unique(*place) for place, one in told.items())
        return repeated or len(tables) > 1

    def _told(
        self, table: str, used: tuple[KeyGroup, ...], path: tuple[str, ...], *, down: bool
    ) -> _JoinedClasses | None:
        frame, quasi = self._frames[table], self.tables[table].quasi
        parts, blank = [frame[CLASS]] if quasi else [], frame[BLANK]
        tables = (table,) if quasi else ()
        for place, (group, column, (other, held), all_of_them) in enumerate(
            self._neighbours(table, used, path, down=down)
        ):
            there = self._told(other, (*used, group), (*path, other), down=all_of_them)
            if there is None:
                continue
            listed = _by_key(self._frames[other][held], there, f"{place}")
            beside = frame.select(pl.col(column).alias(KEY)).join(listed, on=KEY, how="left", maintain_order="left")
            parts.append(beside[f"listed_{place}"])
            blank &= beside[f"blank_{place}"].fill_null(value=True)
            tables = (*tables, *there.tables)
        return _JoinedClasses(_numbered(pl.DataFrame(parts)), blank, tuple(dict.fromkeys(tables))) if parts else None

    def _person_of(self, table: str, group: KeyGroup, path: tuple[str, ...]) -> pl.Series | None:
        if table not in self._frames:
            return None
        for column in group.within(table):
            return self._frames[table][column].alias(KEY)
        for other in self.groups:
            for owner in self._owners(other):
                if owner in (*path, table) or not other.within(table):
                    continue
                found = self._person_of(owner, group, (*path, table))
                if found is not None:
                    (held, *_), (own, *_) = other.within(table), other.within(owner)
                    lookup = self._frames[owner].select(pl.col(own).alias(RECORDS)).with_columns(found).drop_nulls()
                    beside = self._frames[table].select(pl.col(held).alias(RECORDS))
                    return beside.join(lookup, on=RECORDS, how="left", maintain_order="left")[KEY]
        return None


def _by_key(keys: pl.Series, told: _JoinedClasses, name: str) -> pl.DataFrame:
    """By key, the classes of all its records in one text, how many there are, and whether none says anything."""
    held = pl.DataFrame([keys.alias(KEY), told.classes.alias(CLASS), told.blank.alias(BLANK)])
    return (
        held.filter(pl.col(KEY).is_not_null())
        .group_by(KEY)
        .agg(
            pl.col(CLASS).sort().cast(pl.String).str.join(",").alias(f"listed_{name}"),
            pl.len().alias(f"records_{name}"),
            pl.col(BLANK).all().alias(f"blank_{name}"),
        )
    )


def _tells(parts: int, columns: Sequence[str]) -> pl.Expr:
    """All but those of whom there is one record, with nothing but stars: they are suppressed, and in no class."""
    records = pl.sum_horizontal(pl.col(name) for name in columns if name.startswith("records_"))
    blank = pl.all_horizontal(pl.col(name).fill_null(value=True) for name in columns if name.startswith("blank_"))
    return (records > 0) & ~(blank & (records == 1)) if parts else pl.lit(value=False)


def _numbered(parts: pl.DataFrame) -> pl.Series:
    """Of each row the number of its combination; a missing value is a value."""
    named = parts.rename({name: f"{place}" for place, name in enumerate(parts.columns)})
    combinations = named.unique(maintain_order=True).with_row_index(CLASS)
    return named.join(combinations, on=named.columns, how="left", nulls_equal=True, maintain_order="left")[CLASS]
