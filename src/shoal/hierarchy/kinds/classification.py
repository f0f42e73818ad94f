"""Codes to the groups of a classification that comes with Shoal: ``E11.9`` → ``E11`` → ``E10-E14`` → chapter → ``*``.

Occupations (ISCO-08), diseases (ICD-10), education (ISCED 2011), Indian PIN codes and Singapore's postal codes. Each
is a data file that names its source. A value may be a code, however it is punctuated, or the name of a group, which
stays as it is until its level is reached.

Loss of a cell: (distinct values with the same label − 1) ÷ (distinct values − 1); 1 for ``*``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import polars as pl
from pydantic import AfterValidator, Field

from shoal.hierarchy.base import TOP, Hierarchy
from shoal.hierarchy.bound_ladder import StarredLadder
from shoal.hierarchy.classifications.classification import classification, classification_names
from shoal.hierarchy.proposals import KNOWN, ColumnValues, HierarchyProposal, starred
from shoal.schema.columns import Column
from shoal.schema.registry import did_you_mean
from shoal.schema.values import ValueType


def _known(name: str) -> str:
    names = classification_names()
    if name not in names:
        raise ValueError(f"there is no classification '{name}'{did_you_mean(name, names)}; known: {', '.join(names)}")
    return name


class ClassificationHierarchy(Hierarchy):
    """Codes to the groups of a classification that comes with Shoal."""

    key = "classification"
    data_independent = True
    turn = 20
    shorthand = "name"

    name: Annotated[str, AfterValidator(_known)]
    """Which one: icd-10, isced-2011, isco-08, india-pin, singapore-postal."""
    also: dict[str, str] = Field(default_factory=dict)
    """Further values, each with a code or a name that is known: ``{Dengue: A90}``."""
    unknown: Literal["stop", "suppress"] = "stop"
    """What becomes of values that are not known: the run stops, or they are starred on every level."""

    @classmethod
    def propose(cls, values: ColumnValues) -> Iterator[HierarchyProposal]:
        """Classifications that the column's name speaks of, and that know its values."""
        if values.column.is_date:
            return
        number = values.column.type is ValueType.INTEGER
        fitting = []
        for name in classification_names():
            one = classification(name)
            if values.words & set(one.facts.columns.split()):
                known = pl.Series([one.labels(text, number=number) is not None for text in values.texts])
                if (share := values.share(known)) >= KNOWN:
                    fitting.append((share, name))
        for share, name in sorted(fitting, reverse=True):
            facts = classification(name).facts
            yield HierarchyProposal(
                name if share == 1 else {"name": name, "unknown": "suppress"},
                f"they are codes or names of: {facts.title}{starred(share, 'values')}",
                facts.source,
            )

    def refuse(self, column: Column) -> str | None:
        if column.is_date or (column.type is ValueType.DECIMAL and not self._are_codes(column)):
            return f"{self.name} has codes and names, and column '{column.name}' is of {column.type}s"
        return None

    def _are_codes(self, column: Column) -> bool:
        """Whether these decimals are codes with a point in them, which is so as long as their zeros are there."""
        decimals = classification(self.name).facts.decimals
        return decimals is not None and column.scale == decimals and column.storage == pl.String()

    def bind(self, column: Column, distinct: pl.DataFrame) -> StarredLadder:
        """
        >>> known = pl.DataFrame({"value": ["411005", "403001"], "records": [1, 1]})
        >>> bound = ClassificationHierarchy(name="india-pin").bind(Column("pin"), known)
        >>> [bound.generalise(known["value"], level).to_list() for level in (1, 2)]
        [['411xxx', '403xxx'], ['Maharashtra', 'Goa']]
        """
        chosen, number = classification(self.name), column.type is ValueType.INTEGER
        values = [value for value in distinct["value"].cast(pl.String).unique(maintain_order=True) if value is not None]
        found = {value: chosen.labels(self.also.get(value, value), number=number) for value in values}
        if self.unknown == "stop":
            values = [value for value in values if found[value] is not None]
        starred = (TOP,) * len(chosen.facts.levels)
        rungs = zip(*((found[value] or starred) for value in values), strict=True) if values else [() for _ in starred]
        return StarredLadder.build(column, [values, *map(list, rungs)], distinct)
