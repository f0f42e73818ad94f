"""A hierarchy as a tree, to be looked at: groups, what is in them, and how many values.

>>> tree = tree_of([["India", "Nepal", "France"], ["South Asia", "South Asia", "France"], ["Asia", "Asia", "Europe"]])
>>> [(group.label, group.values) for group in tree.groups]
[('Asia', 2), ('Europe', 1)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from shoal.hierarchy.base import TOP, BoundHierarchy


@dataclass(frozen=True)
class HierarchyTree:
    """A group with the groups in it; a value has none."""

    label: str
    values: int
    """How many are under it."""
    groups: tuple[HierarchyTree, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        inner = {"groups": [group.to_dict() for group in self.groups]} if self.groups else {}
        return {"label": self.label, "values": self.values, **inner}


def tree_of(rungs: Sequence[Sequence[str]]) -> HierarchyTree:
    """From the label of each value on each level, the lowest first; what keeps its label stands once."""
    paths = [tuple(dict.fromkeys(reversed(path))) for path in zip(*rungs, strict=True)]
    return HierarchyTree(TOP, len(paths), _groups(paths))


def tree_of_bound(bound: BoundHierarchy, values: pl.Series, *, leaves: bool) -> HierarchyTree:
    """The groups that values are in; without ``leaves``, no value is in it."""
    known = values.drop_nulls()
    rungs = [bound.generalise(known, level).cast(pl.String).to_list() for level in range(bound.height)]
    return tree_of(rungs if leaves else rungs[1:]) if leaves or len(rungs) > 1 else HierarchyTree(TOP, len(known))


def _groups(paths: Sequence[tuple[str, ...]]) -> tuple[HierarchyTree, ...]:
    members: dict[str, list[tuple[str, ...]]] = {}
    for first, *rest in filter(None, paths):
        members.setdefault(first, []).append(tuple(rest))
    return tuple(HierarchyTree(label, len(inner), _groups(inner)) for label, inner in members.items())
