"""A tree of categories, written in the policy (MeitY 2.2.6, fig. 2.b): ``India`` → ``South Asia`` → ``Asia`` → ``*``.

Branches may have different depths: a value that lies nearer to the root than others stays as it is until its group's
level is reached, so that the groups beside each other in the tree appear on the same level.

Loss of a cell: (leaves of the tree under its label − 1) ÷ (leaves of the tree − 1).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Self

import polars as pl
from pydantic import BeforeValidator, WithJsonSchema, model_validator
from typing_extensions import TypeAliasType

from shoal.hierarchy.base import Hierarchy
from shoal.hierarchy.bound_ladder import BoundLadder, two_parents
from shoal.hierarchy.policy_values import WORD_SCHEMA, read_policy_values
from shoal.schema.columns import Column

Branch = TypeAliasType("Branch", "dict[str, Branch] | tuple[str, ...]")
"""Groups by name, or a list of values; a name with an empty list under it is a value."""


def _read(given: object, where: str = "the root") -> Branch:
    if given is None:
        return ()
    if not isinstance(given, dict):
        return read_policy_values(given, f"under {where}")
    names = read_policy_values(list(given), f"under {where}")
    return {name: _read(under, f"'{name}'") for name, under in zip(names, given.values(), strict=True)}


class Taxonomy(Hierarchy):
    """Categories to wider categories, by a tree written in the policy."""

    key = "taxonomy"
    data_independent = True

    tree: Annotated[
        Branch,
        BeforeValidator(_read),
        WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "array", "items": WORD_SCHEMA}]}),
    ]
    """Groups by name; a list holds values; a name with nothing under it is a value."""

    @model_validator(mode="after")
    def _is_tree(self) -> Self:
        rungs = self._rungs()
        leaves = rungs[0]
        if not leaves:
            raise ValueError("the tree has no values")
        twice = [leaf for leaf, times in Counter(leaves).items() if times > 1]
        if twice:
            raise ValueError(f"listed more than once: {', '.join(twice)}")
        for level, (children, parents) in enumerate(itertools.pairwise(rungs)):
            clash = two_parents(children, parents)
            if clash:
                first, second = (parents[position] for position in clash)
                raise ValueError(
                    f"'{children[clash[0]]}' on level {level} is under both '{first}' and '{second}': "
                    "give the groups different names"
                )
        return self

    def listed(self) -> tuple[str, ...]:
        return tuple(self._rungs()[0])

    def refuse(self, column: Column) -> str | None:
        return None

    def bind(self, column: Column, distinct: pl.DataFrame) -> BoundLadder:
        """
        >>> tree = {"Asia": {"South Asia": ["India", "Nepal"]}, "Europe": ["France"]}
        >>> known = pl.DataFrame({"value": ["India", "France"], "records": [1, 1]})
        >>> bound = Taxonomy(tree=tree).bind(Column("country"), known)
        >>> [bound.generalise(known["value"], level).to_list() for level in (1, 2, 3)]
        [['South Asia', 'France'], ['Asia', 'Europe'], ['*', '*']]
        """
        return BoundLadder.build(column, self._rungs(), distinct)

    def _rungs(self) -> list[list[str]]:
        paths = list(_paths(self.tree, ()))
        depth = max(map(len, paths), default=1)
        return [[path[min(place, len(path) - 1)] for path in paths] for place in reversed(range(depth))]


def _paths(branch: Branch, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Each value with its groups, from the root down."""
    if isinstance(branch, dict) and branch:
        for name, under in branch.items():
            yield from _paths(under, (*above, name))
    elif branch:
        yield from ((*above, leaf) for leaf in branch)
    elif above:
        yield above
