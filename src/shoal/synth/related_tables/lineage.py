"""Who descends from whom: of each table the parent by which its records are drawn, and its other references.

- The main parent is the one that lies deepest: of a prescription its visit, not the patient.
- Another reference that every record shares with its main parent (the patient of the visit) is looked up there.
- Any other is to a second parent: each record chooses one that is like what it was drawn for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl
from pydantic import Field

from shoal.errors import DataError
from shoal.policy.references import ReferenceEnd
from shoal.schema.parameters import Parameters
from shoal.schema.registry import did_you_mean
from shoal.synth.related_tables.description import RelatedTablesDescription

_CHILD, _PARENT = "__child__", "__parent__"


class TableLineage(Parameters):
    """How a table hangs on others."""

    table: str
    key: str | None = None
    parent: str | None = None
    """The main parent."""
    by: str | None = None
    """The column that holds its keys."""
    inherited: dict[str, str] = Field(default_factory=dict)
    """Columns that hold keys of a table further up: these are looked up."""
    chosen: dict[str, str] = Field(default_factory=dict)
    """Columns that hold keys of second parents."""
    order: str | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """Columns that are made anew."""
        own = (self.key, self.by, *self.inherited, *self.chosen)
        return tuple(name for name in own if name is not None)


def lineages(tables: Mapping[str, pl.DataFrame], description: RelatedTablesDescription) -> tuple[TableLineage, ...]:
    """Of all tables, parents before children. Keys that can't be followed are a DataError with their number."""
    _refuse_lacking(tables, description)
    references = _references(description)
    found: dict[str, TableLineage] = {}
    left = dict(references)
    while left:
        ready = [table for table, refers in left.items() if not set(refers.values()) & (left.keys() - {table})]
        ready = [table for table in ready if table not in references[table].values()]
        if not ready:
            raise DataError(f"the table '{next(iter(left))}' refers to itself, directly or by others")
        for table in ready:
            found[table] = _lineage(table, left.pop(table), tables, description, found)
    return tuple(found.values())


def _references(description: RelatedTablesDescription) -> dict[str, dict[str, str]]:
    """Of each table its columns with keys, and whose they are."""
    found: dict[str, dict[str, str]] = {name: {} for name in description.tables}
    for one in description.references:
        child, parent = ReferenceEnd.parse(one.child), ReferenceEnd.parse(one.parent)
        found[child.table][child.column] = parent.table
    return found


def _refuse_lacking(tables: Mapping[str, pl.DataFrame], description: RelatedTablesDescription) -> None:
    for name in description.tables:
        if name not in tables:
            raise DataError(f"there is no table '{name}'")
    for name, column in _named(description):
        if column not in tables[name].columns:
            near = did_you_mean(column, tuple(tables[name].columns))
            raise DataError(f"the table '{name}' has no column '{column}'{near}")
    for name in description.tables:
        key = description.key(name)
        if key is not None and (tables[name][key].n_unique() < tables[name].height or tables[name][key].null_count()):
            raise DataError(f"the key '{key}' of '{name}' is missing or stands twice in some records")


def _named(description: RelatedTablesDescription) -> Iterator[tuple[str, str]]:
    for name, table in description.tables.items():
        yield from ((name, column) for column in (table.key, table.order, *table.columns) if column is not None)
    for reference in description.references:
        for text in (reference.child, reference.parent):
            end = ReferenceEnd.parse(text)
            yield end.table, end.column
    for constraint in description.constraints:
        for text in (constraint.lower, constraint.upper):
            end = ReferenceEnd.parse(text)
            yield end.table, end.column


def _lineage(
    table: str,
    references: Mapping[str, str],
    tables: Mapping[str, pl.DataFrame],
    description: RelatedTablesDescription,
    before: Mapping[str, TableLineage],
) -> TableLineage:
    key, order = description.key(table), description.tables[table].order
    if not references:
        if order is not None:
            raise DataError(f"'{table}' has an order, but no parent whose records could follow each other")
        return TableLineage(table=table, key=key)
    frame = tables[table]
    for column, parent in references.items():
        _refuse_dangling(frame[column], tables[parent][description.key(parent) or ""], f"{table}.{column}", parent)
    whole = [column for column in references if not frame[column].null_count()]
    if not whole:
        raise DataError(f"'{table}': some records have no parent; leave them or the reference out")
    by = max(whole, key=lambda column: depth(references[column], before))
    inherited: dict[str, str] = {}
    chosen: dict[str, str] = {}
    for column, parent in references.items():
        if column != by:
            same = _through(frame[by], references[by], parent, tables, before)
            shared = same is not None and same.equals(frame[column].alias(same.name))
            (inherited if shared else chosen)[column] = parent
    return TableLineage(
        table=table, key=key, parent=references[by], by=by, inherited=inherited, chosen=chosen, order=order
    )


def depth(table: str, lineages: Mapping[str, TableLineage]) -> int:
    """How many tables stand above."""
    parent = lineages[table].parent
    return 0 if parent is None else 1 + depth(parent, lineages)


def _refuse_dangling(keys: pl.Series, known: pl.Series, name: str, parent: str) -> None:
    if keys.dtype != known.dtype:
        raise DataError(f"'{name}' and the key of '{parent}' are of different types")
    lost = keys.drop_nulls().is_in(known.implode()).not_().sum()
    if lost:
        raise DataError(f"'{name}': {lost:,} record(s) refer to nobody in '{parent}'")


def _through(
    keys: pl.Series,
    parent: str,
    wanted: str,
    tables: Mapping[str, pl.DataFrame],
    before: Mapping[str, TableLineage],
) -> pl.Series | None:
    """Keys of a table further up, followed through the main parents."""
    while parent != wanted:
        above = before[parent]
        if above.parent is None or above.by is None or above.key is None:
            return None
        step = tables[parent].select(pl.col(above.key).alias(_CHILD), pl.col(above.by).alias(_PARENT))
        keys = keys.alias(_CHILD).to_frame().join(step, on=_CHILD, how="left", maintain_order="left")[_PARENT]
        parent = above.parent
    return keys
