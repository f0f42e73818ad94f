"""How tables belong together, where nobody says it: keys, references, and the order of a parent's records.

A column refers to another table where that one has each of its values once and the names fit (``visits.patient`` and
``patients.id``). A parent's records follow each other by the first date that none of them misses.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from shoal.discover.key_columns import PEOPLE
from shoal.discover.recognisers import words
from shoal.errors import DataError
from shoal.policy.references import Reference, ReferenceEnd, names_fit
from shoal.synth.column_shapes import ShapeKind
from shoal.synth.related_tables.description import RelatedTablesDescription
from shoal.synth.shape_detection import shapes_of

_DATED = (ShapeKind.DATE, ShapeKind.DATETIME)
BY_DATABASE = "a foreign key of the database"
BY_NAME = "all its values are there, each once, and the names fit"


@dataclass(frozen=True)
class FoundRelations:
    """A description, and what of it nobody declared."""

    description: RelatedTablesDescription
    reasons: Mapping[str, str]
    """By what was found (``visits.patient → patients.id``), why."""


def relations_of(
    tables: Mapping[str, pl.DataFrame], constrained: Iterable[Reference] = (), name: str = "tables"
) -> FoundRelations:
    """Of tables of which nothing is said. A DataError where nothing joins them."""
    references = list(constrained)
    references += [one for one in _included(tables) if not _known(one, references)]
    if not references:
        raise DataError(
            "nothing joins these tables: no column holds the keys of another table",
            field="description",
            advice="describe tables and references in a file",
        )
    references.sort(key=lambda one: (not _is_of_people(one.parent.table), -tables[one.parent.table].height))
    parents = {one.parent.table: one.parent.column for one in references}
    orders = dict(_orders(tables, references))
    described = {
        table: {"key": parents.get(table) or _own_key(frame), "order": orders.get(table)}
        for table, frame in tables.items()
    }
    made = RelatedTablesDescription.of(
        {
            "shoal": 1,
            "name": name,
            "tables": {
                table: {key: value for key, value in told.items() if value} for table, told in described.items()
            },
            "references": [{"from": str(one.child), "to": str(one.parent)} for one in references],
        }
    )
    reasons = {str(one): one.reason or BY_DATABASE for one in references}
    reasons |= {f"{table} by {column}": "the first date that no record misses" for table, column in orders.items()}
    return FoundRelations(made, reasons)


def _is_of_people(table: str) -> bool:
    """Whether a table is called by people whom records are about: of two parents, records hang on such a one."""
    return bool({word.removesuffix("s") for word in words(table).split()} & PEOPLE)


def _known(one: Reference, others: Iterable[Reference]) -> bool:
    return any(one.child == other.child or {one.child, one.parent} == {other.child, other.parent} for other in others)


def _included(tables: Mapping[str, pl.DataFrame]) -> Iterator[Reference]:
    """Each column refers to one table at most; of two tables only one refers to the other by the same columns."""
    ends = [ReferenceEnd(table, column) for table, frame in tables.items() for column in frame.columns]
    taken: set[ReferenceEnd] = set()
    for parent in ends:
        fitting = [one for one in ends if one.table != parent.table and one not in taken and names_fit(one, parent)]
        keys = tables[parent.table][parent.column]
        if not fitting or parent in taken or keys.null_count() or keys.n_unique() < len(keys):
            continue
        for child in fitting:
            held = tables[child.table][child.column]
            if held.dtype == keys.dtype and len(held) and held.drop_nulls().is_in(keys.implode()).all():
                taken |= {child}
                yield Reference(child, parent, reason=BY_NAME)


def _own_key(frame: pl.DataFrame) -> str | None:
    """A column called like a key that tells records apart."""
    for name in frame.columns:
        values = frame[name]
        if name.lower() in {"id", "key", "number", "uuid"} and values.n_unique() == len(values):
            return None if values.null_count() else name
    return None


def _orders(tables: Mapping[str, pl.DataFrame], references: Iterable[Reference]) -> Iterator[tuple[str, str]]:
    children = {one.child.table: one.child.column for one in references}
    for table, reference in children.items():
        frame = tables[table]
        if frame[reference].n_unique() == frame.height:
            continue
        whole = frame.select(name for name in frame.columns if not frame[name].null_count())
        shapes = shapes_of(whole, {})
        dated = next((name for name, shape in shapes.items() if shape.kind in _DATED), None)
        if dated is not None:
            yield table, dated
