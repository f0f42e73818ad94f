"""A part of a database in which nothing dangles: some records of one table and all that is theirs.

Downwards, the records that refer to chosen ones are chosen too (a patient's visits, their prescriptions); upwards,
whatever chosen records refer to (the visits' doctors), so that every key still finds its record. Upwards nothing is
followed down again: a doctor's other visits stay out. A reference of a table to itself is followed upwards only, or the
head of a hospital would bring in everybody.

Tables that nothing connects with the chosen one are copied whole. Only keys are held: those of all records on the disk,
encrypted, those of chosen ones in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.crypto import Key
from shoal.crypto.keyed_digests import digests
from shoal.database_copy.copy_plan import CopyPlan, TablePlan
from shoal.errors import InputError
from shoal.io.database_schemas.catalogue import TableFacts
from shoal.io.database_schemas.schema_source import SchemaSource, key_names
from shoal.io.databases.spool import Spool
from shoal.schema.progress import Monitor
from shoal.schema.registry import did_you_mean

_BATCH = 50_000
_Step = Callable[[str, pl.DataFrame], list[tuple[str, pl.DataFrame]]]


@dataclass(frozen=True)
class ChosenRows:
    """Records of one table, by all columns that are keys of it or of another."""

    columns: tuple[str, ...]
    keys: pl.DataFrame = field(repr=False)

    def of(self, batch: pl.DataFrame) -> pl.DataFrame:
        """Those of the batch, which has the keys beside its columns; without them."""
        names = key_names(self.columns)
        found = batch.join(self.keys, on=names, how="semi", nulls_equal=True, maintain_order="left")
        return found.drop(names)


def root_of(plan: CopyPlan, named: str | None) -> TablePlan:
    """The table whose records are sampled: the one that is named, else the one whose key names the person."""
    if named is not None:
        if named not in plan.by_name:
            raise InputError(f"there is no table '{named}'{did_you_mean(named, tuple(plan.by_name))}", field="of")
        found = plan.by_name[named]
    else:
        people = [one for one in plan.tables if one.policy.person and (one.policy.person,) in _keys(one.facts)]
        if len(people) != 1:
            raise InputError("say of which table a share is copied", field="of", advice="the one with the people")
        (found,) = people
    if found.facts.primary_key is None:
        raise InputError(f"the table '{found.facts.name}' has no primary key to choose its records by", field="of")
    return found


def _keys(facts: TableFacts) -> set[tuple[str, ...]]:
    return {key.columns for key in facts.keys}


class SubsetSearch:
    """Finds what is chosen. ``facts`` are of the source: what refers to what there, kept in the copy or not."""

    def __init__(self, source: SchemaSource, facts: Mapping[str, TableFacts], key: Key, monitor: Monitor) -> None:
        self.source, self.facts, self.key, self.monitor = source, facts, key, monitor
        self.references = {
            name: [one for one in table.foreign_keys if one.parent in facts and not one.elsewhere]
            for name, table in facts.items()
        }
        self.columns = {name: self._columns(name) for name in facts}
        self._spools: dict[str, Spool] = {}

    def chosen(self, root: str, share: float) -> dict[str, ChosenRows]:
        """By table; those that nothing connects with the root are not among them."""
        theirs = {root: self._sampled(root, share)}
        self._spread(theirs, self._children)
        everything = dict(theirs)
        self._spread(everything, self._parents)
        return {
            name: ChosenRows(self.columns[name], everything.get(name, self._none(name)))
            for name in self._connected(root)
        }

    def _columns(self, table: str) -> tuple[str, ...]:
        key = self.facts[table].primary_key
        named = [*(key.columns if key else ())]
        named += [column for one in self.references[table] for column in one.columns]
        for keys in self.references.values():
            named += [column for one in keys if one.parent == table for column in one.parent_columns]
        return tuple(dict.fromkeys(named))

    def _spool(self, table: str) -> Spool:
        if table not in self._spools:
            self.monitor.check()
            frames = self.source.read(self.facts[table], (), keys=self.columns[table])
            self._spools[table] = Spool(frames, f"{self.source.label}#{table}")
        return self._spools[table]

    def _none(self, table: str) -> pl.DataFrame:
        return pl.DataFrame(schema=dict.fromkeys(key_names(self.columns[table]), pl.String()))

    def _sampled(self, table: str, share: float) -> pl.DataFrame:
        """By the key itself, so that whoever is in stays in when others come and go."""
        key = self.facts[table].primary_key
        names = self._named(table, key.columns if key else ())
        return pl.concat(
            [
                self._none(table),
                *(batch.filter(self._drawn(batch.select(names), share)) for batch in self._batches(table)),
            ]
        ).unique(maintain_order=True)

    def _drawn(self, keys: pl.DataFrame, share: float) -> pl.Series:
        written = ["\x1f".join(map(str, row)).encode() for row in keys.rows()]
        words = digests(self.key, written)[:, :8].copy().view("<u8").reshape(-1)
        return pl.Series(words.astype(np.float64) < share * 2.0**64, dtype=pl.Boolean)

    def _batches(self, table: str) -> Iterator[pl.DataFrame]:
        yield from self._spool(table).scan().collect_batches(chunk_size=_BATCH, maintain_order=True)

    def _named(self, table: str, columns: Sequence[str]) -> list[str]:
        known = dict(zip(self.columns[table], key_names(self.columns[table]), strict=True))
        return [known[column] for column in columns]

    def _spread(self, found: dict[str, pl.DataFrame], step: _Step) -> None:
        """Until nothing new is found."""
        new = dict(found)
        while new:
            further: dict[str, pl.DataFrame] = {}
            for table in sorted(new):
                for other, rows in step(table, new[table]):
                    known = found.get(other, self._none(other))
                    names = key_names(self.columns[other])
                    fresh = rows.join(known, on=names, how="anti", nulls_equal=True, maintain_order="left")
                    if fresh.height:
                        found[other] = pl.concat([known, fresh])
                        further[other] = pl.concat([further.get(other, self._none(other)), fresh])
            new = further

    def _children(self, table: str, rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
        found = []
        for child, keys in self.references.items():
            for key in keys:
                if key.parent == table and child != table:
                    held = rows.select(self._named(table, key.parent_columns))
                    found.append((child, self._matching(child, key.columns, held)))
        return found

    def _parents(self, table: str, rows: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
        return [
            (key.parent, self._matching(key.parent, key.parent_columns, rows.select(self._named(table, key.columns))))
            for key in self.references[table]
        ]

    def _matching(self, table: str, columns: Sequence[str], held: pl.DataFrame) -> pl.DataFrame:
        """Records of the table with one of these keys; a key that lacks a part is none."""
        names = self._named(table, columns)
        wanted = held.drop_nulls().unique()
        wanted.columns = [f"wanted_{number}" for number in range(len(names))]
        if wanted.is_empty() or not names:
            return self._none(table)
        found = self._spool(table).scan().join(wanted.lazy(), left_on=names, right_on=wanted.columns, how="semi")
        return pl.concat([self._none(table), found.collect(engine="streaming")]).unique().sort(pl.all())

    def _connected(self, root: str) -> list[str]:
        near: dict[str, set[str]] = {name: set() for name in self.facts}
        for child, keys in self.references.items():
            for key in keys:
                near[child].add(key.parent)
                near[key.parent].add(child)
        reached, waiting = {root}, [root]
        while waiting:
            fresh = near[waiting.pop()] - reached
            reached |= fresh
            waiting += sorted(fresh)
        return sorted(reached)
