"""What the cells of a release can stand for, by its policy, where not every value has a place in a hierarchy.

A run refuses values that a hierarchy doesn't know. Data from outside always has some; they can only be behind a ``*``.
All that a hierarchy lists is told, not only what these people have: a released word that none of them has is then known
to be somebody else's, and not taken for one that can't be read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import polars as pl

from shoal.errors import DataError
from shoal.hierarchy import FlatHierarchy, Hierarchy
from shoal.hierarchy.labels import read_dates, read_numbers, text_of
from shoal.policy import Policy
from shoal.policy.treatment import Treatment
from shoal.schema import Column
from shoal.schema.type_detection import detect

VALUE = "value"


@dataclass(frozen=True)
class Vocabulary:
    labels: Mapping[str, pl.DataFrame] = field(repr=False)
    """By attribute, a value in the first column and in each further one what may stand for it."""
    closed: frozenset[str]
    """Attributes of which these are all the labels that there can be, ``*`` apart."""
    unknown: pl.Series = field(repr=False)
    """For each person, whether a hierarchy has no place for one of their values."""
    people: pl.DataFrame = field(repr=False)
    """As they were given; what is no number among numbers, or no date among dates, is left out of them."""

    @classmethod
    def of(
        cls,
        people: pl.DataFrame,
        released: pl.DataFrame,
        treatment: Mapping[str, Treatment],
        policy: Policy | None = None,
    ) -> Vocabulary:
        """Without a policy only columns that were left as they were are known."""
        labels: dict[str, pl.DataFrame] = {}
        closed: list[str] = []
        unknown = pl.repeat(value=False, n=people.height, dtype=pl.Boolean, eager=True)
        for name, hierarchy in _hierarchies(people, released, treatment, policy):
            values, shown = people[name].unique(), released[name].unique()
            listed = _listed(hierarchy, values, shown)
            table = _open(hierarchy, values, _declared(policy, name)) if listed is None else _ladder(hierarchy, listed)
            if table is None:
                continue
            labels[name] = table
            texts = text_of(people[name])
            strange = texts.is_not_null() & ~texts.is_in(text_of(table[VALUE]).drop_nulls().implode())
            unknown |= strange
            if listed is None:
                people = people.with_columns(people[name].set(strange, None))
            else:
                closed.append(name)
        return cls(labels, frozenset(closed), unknown, people)


def _hierarchies(
    people: pl.DataFrame, released: pl.DataFrame, treatment: Mapping[str, Treatment], policy: Policy | None
) -> Iterator[tuple[str, Hierarchy]]:
    for name, kind in treatment.items():
        if name not in people.columns or name not in released.columns:
            continue
        if kind is Treatment.KEPT:
            yield name, FlatHierarchy()
        elif kind is Treatment.GENERALISED and policy is not None and name in policy.attributes:
            yield name, (policy.attributes[name].hierarchy or FlatHierarchy()).resolve(policy.folder)


def _listed(hierarchy: Hierarchy, values: pl.Series, shown: pl.Series) -> pl.Series | None:
    """All values that there can be. Where nothing is generalised, what is released is one itself."""
    if isinstance(hierarchy, FlatHierarchy):
        return pl.concat([text_of(values), text_of(shown).alias(values.name)]).unique().alias(VALUE)
    known = hierarchy.listed()
    return None if known is None else pl.Series(VALUE, [*known, None], dtype=pl.String)


def _ladder(hierarchy: Hierarchy, listed: pl.Series) -> pl.DataFrame:
    return _table(hierarchy, Column(str(VALUE)), listed)


def _open(hierarchy: Hierarchy, values: pl.Series, said: Mapping[str, Column]) -> pl.DataFrame | None:
    """For the values that the hierarchy can read: all of them, or else those that are numbers, or dates."""
    for read in (lambda each: each, read_numbers, read_dates):
        part = values.filter(read(values).is_not_null())
        if part.is_empty():
            continue
        try:
            column = detect(part.to_frame().lazy(), [values.name], said)[values.name]
            return _table(hierarchy, column, part.alias(VALUE))
        except DataError:
            continue
    return None


def _table(hierarchy: Hierarchy, column: Column, values: pl.Series) -> pl.DataFrame:
    """Each value counts once: how many have it in the table that was released is not known to a hierarchy that asks,
    and any value may have been a rare one."""
    bound = hierarchy.bind_uncounted(column, values)
    levels = [bound.generalise(values, level).cast(pl.String).alias(f"{level}") for level in range(1, bound.height + 1)]
    return pl.DataFrame([values, *levels])


def _declared(policy: Policy | None, name: str) -> dict[str, Column]:
    said = None if policy is None or name not in policy.attributes else policy.attributes[name].declared(name)
    return {} if said is None else {name: said}
