"""How several tables hang together, and what whoever holds all of them sees of one record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from shoal.errors import DataError
from shoal.randomness import Stream

Tables = Mapping[str, pl.DataFrame]
_KEY, _PERSON = "__key__", "__person__"


@dataclass(frozen=True)
class KeyLink:
    """A column of one table that names records of another."""

    parent: str
    key: str
    child: str
    reference: str
    main: bool = True
    """Whether the child hangs on this parent, of all that it names."""


@dataclass(frozen=True)
class TableRelations:
    links: tuple[KeyLink, ...]
    orders: Mapping[str, str] = field(default_factory=dict)
    """By table, the column by which a parent's records follow each other."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """By table, the column that tells its records apart, also where no other table names it."""

    @cached_property
    def parents(self) -> dict[str, KeyLink]:
        """By child, the link to what it hangs on."""
        return {each.child: each for each in reversed(self.links) if each.main}

    def root(self, table: str) -> str:
        return table if table not in self.parents else self.root(self.parents[table].parent)

    @cached_property
    def main(self) -> str:
        """The topmost table on which most others hang: its records are the people."""
        roots = [self.root(child) for child in self.parents] or [each.parent for each in self.links]
        return max(dict.fromkeys(roots), key=roots.count)

    def of_people(self) -> tuple[str, ...]:
        """Tables whose records hang on those of the main one, and that itself."""
        named = dict.fromkeys([self.main, *self.parents])
        return tuple(name for name in named if self.root(name) == self.main)

    def key_columns(self, table: str) -> tuple[str, ...]:
        own = [each.key for each in self.links if each.parent == table] + [self.keys.get(table, "")]
        named = [each.reference for each in self.links if each.child == table]
        return tuple(name for name in dict.fromkeys((*own, *named)) if name)

    def person_key(self) -> str:
        key = next((each.key for each in self.links if each.parent == self.main), None) or self.keys.get(self.main)
        if key is None:
            raise DataError(f"'{self.main}' has no key by which people could be told apart")
        return key

    def people(self, tables: Tables, table: str) -> pl.Series:
        """Of each record the key of the person that it hangs on."""
        if table == self.main:
            return tables[table][self.person_key()]
        up = self.parents[table]
        above = pl.DataFrame({_KEY: tables[up.parent][up.key], _PERSON: self.people(tables, up.parent)})
        own = tables[table].select(pl.col(up.reference).alias(_KEY))
        return own.join(above, on=_KEY, how="left", maintain_order="left")[_PERSON]

    def some_people(self, tables: Tables, keys: pl.Series) -> dict[str, pl.DataFrame]:
        """The records of these people; tables that hang on nobody as a whole."""
        chosen = keys.implode()
        theirs = {name: frame.filter(self.people(tables, name).is_in(chosen)) for name, frame in self._owned(tables)}
        return {**tables, **theirs}

    def _owned(self, tables: Tables) -> list[tuple[str, pl.DataFrame]]:
        return [(name, tables[name]) for name in self.of_people() if name in tables]

    def joined(self, tables: Tables, table: str) -> pl.DataFrame:
        """Each record with what it hangs on, and how many records hang on it; without keys."""
        frame = tables[table].drop(self.key_columns(table), strict=False)
        for down in (each for each in self.parents.values() if each.parent == table):
            many = tables[down.child][down.reference].alias(_KEY).value_counts(name="many")
            own = (
                tables[table]
                .select(pl.col(down.key).alias(_KEY))
                .join(many, on=_KEY, how="left", maintain_order="left")
            )
            frame = frame.with_columns(own["many"].fill_null(0).cast(pl.Int64).alias(f"number of {down.child}"))
        if table not in self.parents:
            return frame
        up = self.parents[table]
        above = self.joined(tables, up.parent)
        above = above.rename({name: f"{up.parent}.{name}" for name in above.columns if "." not in name})
        keyed = above.with_columns(tables[up.parent][up.key].alias(_KEY))
        told = (
            tables[table]
            .select(pl.col(up.reference).alias(_KEY))
            .join(keyed, on=_KEY, how="left", maintain_order="left")
        )
        return pl.concat([frame, told.drop(_KEY)], how="horizontal")

    def one_each(self, tables: Tables, table: str, chance: Stream) -> pl.DataFrame:
        """The same, of each person one record by lot: people are judged by themselves, and records of one are alike."""
        frame, people = self.joined(tables, table), self.people(tables, table)
        mixed = chance.permutation(frame.height)
        first = people[mixed].is_first_distinct()
        return frame[sorted(mixed[first.to_numpy()].tolist())]
