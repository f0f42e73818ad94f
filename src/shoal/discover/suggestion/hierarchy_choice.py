"""A hierarchy for one column, by what its values are: numbers, dates, codes of a classification, places, other codes.

What is proposed can stand in a policy as it is. Nothing in it is a value of the column: intervals begin and end at
round numbers, near the quantiles between which most records lie.

>>> ages = pl.LazyFrame({"age": list(range(18, 90)) * 3})
>>> choose_hierarchy(ages, "age").setting
{'intervals': {'widths': [5, 10, 20]}}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from shoal.discover.recognisers import Setting, words
from shoal.discover.value_kinds import OF_CODES
from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy, FlatHierarchy, hierarchies, parse_hierarchy
from shoal.hierarchy.proposals import ColumnValues, HierarchyProposal
from shoal.schema.columns import Column
from shoal.schema.registry import did_you_mean
from shoal.schema.type_detection import detect


@dataclass(frozen=True)
class HierarchyChoice:
    """What to write into a policy, and why; bound to the values that it was chosen for."""

    column: Column
    setting: Setting | None
    reason: str
    source: str
    """Where facts that it rests on are from; empty where it rests on none."""
    bound: BoundHierarchy
    values: pl.Series
    """The distinct values."""


def choose_hierarchy(frame: pl.LazyFrame, name: str) -> HierarchyChoice:
    """The first kind that fits, the most telling ones first; without any, the value as it is or ``*``."""
    names = tuple(frame.collect_schema())
    if name not in names:
        raise DataError(f"the data has no column '{name}'{did_you_mean(name, names)}")
    column = detect(frame, [name])[name]
    counted = frame.select(value=pl.col(name)).drop_nulls().group_by("value").len("records").sort("value")
    distinct = counted.collect(engine="streaming")
    if distinct.is_empty():
        raise DataError(f"column '{name}' has no values")
    called = frozenset(words(name).split())
    values = ColumnValues(column, distinct, called, is_code=bool(OF_CODES & called))
    for key, proposal in _proposals(values):
        setting = {key: proposal.parameters}
        hierarchy = parse_hierarchy(setting)
        if hierarchy.refuse(column) is None:
            bound = hierarchy.bind(column, distinct)
            return HierarchyChoice(column, setting, proposal.reason, proposal.source, bound, distinct["value"])
    why = "its values are neither numbers nor dates nor codes that are known: they stay, or become *"
    return HierarchyChoice(column, None, why, "", FlatHierarchy().bind(column, distinct), distinct["value"])


def _proposals(values: ColumnValues) -> Iterator[tuple[str, HierarchyProposal]]:
    """Of all kinds of hierarchy, those of plug-ins too."""
    kinds = [(kind.turn, key, kind) for key, kind in hierarchies if kind.turn is not None]
    for _, key, kind in sorted(kinds, key=lambda one: one[:2]):
        for proposal in kind.propose(values):
            yield key, proposal
