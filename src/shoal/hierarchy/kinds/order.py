"""Groups of neighbours in an order (ISO/IEC 20889, 9.6): ``stage 1`` → ``stage 1–stage 2`` → ``stage 1–stage 4``.

For ordinal values such as levels of schooling or grades of a disease. The policy gives the order and how many
neighbours make a group on each level, or the groups themselves, with or without names.

Loss of a cell: (values of its group − 1) ÷ (values listed − 1).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Annotated, Self

import polars as pl
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.bound_ladder import BoundLadder, two_parents
from shoal.hierarchy.policy_values import WORD_SCHEMA, PolicyValue, read_policy_values
from shoal.schema.columns import Column

Group = tuple[str, ...]
Groups = tuple[Group, ...] | dict[str, Group]
"""The groups of one level, with names or without; their members are values, or groups of the level below."""


def _read(given: object) -> Groups:
    if isinstance(given, dict):
        names = read_policy_values(list(given), "names")
        return {name: read_policy_values(group, f"'{name}'") for name, group in zip(names, given.values(), strict=True)}
    if isinstance(given, list | tuple):
        return tuple(read_policy_values(group, f"group {place}") for place, group in enumerate(given, start=1))
    raise ValueError("a level is a list of groups, or names with groups")


_GROUP_SCHEMA = {"type": "array", "items": WORD_SCHEMA}
Level = Annotated[
    Groups,
    BeforeValidator(_read),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": _GROUP_SCHEMA},
                {"type": "object", "additionalProperties": _GROUP_SCHEMA},
            ]
        }
    ),
]


class OrderHierarchy(Hierarchy):
    """Ordinal values to groups of neighbours."""

    key = "order"
    data_independent = True

    order: tuple[PolicyValue, ...] = ()
    """All values, lowest first; may be left out where ``levels`` lists them in order."""
    sizes: tuple[Annotated[int, Field(ge=2)], ...] = ()
    """How many neighbours make a group on each level; each a multiple of the one before."""
    levels: tuple[Level, ...] = ()
    """The groups on each level: lists of values, or names with lists of values."""

    @model_validator(mode="after")
    def _nest(self) -> Self:
        if bool(self.sizes) == bool(self.levels):
            raise ValueError("give either sizes or levels")
        if self.sizes and not self.order:
            raise ValueError("sizes need the order of the values")
        for few, many in itertools.pairwise(self.sizes):
            if many <= few or many % few:
                raise ValueError(f"{many} is not a multiple of {few}: each size has to hold the one before evenly")
        values = self._values()
        if len(set(values)) < len(values):
            raise ValueError("a value is listed more than once")
        self._rungs()
        return self

    def listed(self) -> tuple[str, ...]:
        return self._values()

    def refuse(self, column: Column) -> str | None:
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundLadder:
        """
        >>> known = pl.DataFrame({"value": ["mild", "severe"], "records": [1, 1]})
        >>> order = OrderHierarchy(order=["none", "mild", "severe", "fatal"], sizes=[2])
        >>> order.bind(Column("outcome"), known).generalise(known["value"], 1).to_list()
        ['none–mild', 'severe–fatal']
        """
        return BoundLadder.build(column, self._rungs(), distinct)

    def _values(self) -> tuple[str, ...]:
        if self.order:
            return self.order
        return tuple(value for _, members in _named(self.levels[0]) for value in members)

    def _rungs(self) -> list[list[str]]:
        values = self._values()
        rungs = [list(values)]
        for size in self.sizes:
            blocks = (values[start : start + size] for start in range(0, len(values), size))
            rungs.append([_span(block) for block in blocks for _ in block])
        for number, groups in enumerate(self.levels, start=1):
            rungs.append(_labels(values, rungs[-1], groups, number))
        return rungs


def _named(groups: Groups) -> Iterator[tuple[str | None, Group]]:
    if isinstance(groups, dict):
        yield from groups.items()
    else:
        yield from ((None, members) for members in groups)


def _labels(values: Sequence[str], below: Sequence[str], groups: Groups, level: int) -> list[str]:
    """The label of each value on an explicit level, once it is sure that the level is one of a hierarchy."""
    labels: list[str | None] = [None] * len(values)
    for name, members in _named(groups):
        places = sorted(place for member in members for place in _places(member, values, below, level))
        if not places or places != list(range(places[0], places[-1] + 1)):
            raise ValueError(f"level {level}: each group has to hold neighbours in the order, each once")
        if any(labels[place] is not None for place in places):
            raise ValueError(f"level {level}: a value is in two groups")
        for place in places:
            labels[place] = name or _span(values[places[0] : places[-1] + 1])
    complete = [label for label in labels if label is not None]
    if len(complete) < len(values):
        raise ValueError(f"level {level} leaves out {len(values) - len(complete)} of the values")
    if two_parents(below, complete):
        raise ValueError(f"level {level} takes apart a group of the level below")
    return complete


def _places(member: str, values: Sequence[str], below: Sequence[str], level: int) -> list[int]:
    """The positions of the values that a member stands for: those of a group below, or one value."""
    found = [place for place, label in enumerate(below) if label == member]
    found = found or [place for place, value in enumerate(values) if value == member]
    if not found:
        raise ValueError(f"level {level}: '{member}' is neither a value nor a group of the level below")
    return found


def _span(members: Sequence[str]) -> str:
    return members[0] if len(members) == 1 else f"{members[0]}–{members[-1]}"
