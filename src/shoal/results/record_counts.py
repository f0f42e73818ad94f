"""What a manifest says of the source's records: how many there were, and what became of those that the data lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from shoal.measurement import Measurement
from shoal.measurement.suppressed_groups import SuppressedGroup
from shoal.results.base import Number, ResultModel

HARD_HIT = 2
"""How many times the average a group is hit before it is said."""
FEWEST_GONE = 5
"""Cells that have to be gone for that to be more than chance."""


class RecordCounts(ResultModel):
    """Records of the source, but for ``invented`` ones; kept + suppressed + not_sampled = source."""

    source: int
    kept: int
    """Released with their quasi-identifying values, be they generalised."""
    suppressed: int
    """Starred as a whole, or left out because a model or a rule asked for it."""
    dropped: int
    """Those suppressed that are not in the data at all."""
    not_sampled: int = 0
    invented: int = 0
    """Decoys among the released records; nobody is to know which."""

    @classmethod
    def measured(cls, found: Measurement) -> RecordCounts:
        return cls(
            source=found.source_records,
            kept=found.kept_records,
            suppressed=found.suppressed_records,
            dropped=found.dropped,
            not_sampled=found.not_sampled,
            invented=found.invented,
        )

    def complete(self, measured: Measurement) -> Measurement:
        """The measurement of the data file, with what only the manifest tells."""
        found = replace(measured, dropped=self.dropped, not_sampled=self.not_sampled, invented=self.invented)
        return found if self.kept else found.nobody_kept()


class GroupSuppression(ResultModel):
    """What privacy models took from the records of one group of a quasi-identifier."""

    group: str | None
    """Its label; null of all groups that are too small to be named."""
    records: int
    suppressed: int
    """Records that are suppressed as a whole."""
    cells: int
    """Cells starred in its other records."""
    share: Number
    """Of its records, those that are suppressed."""
    cell_share: Number
    """Of its quasi-identifying cells, those that are gone: starred, or of a suppressed record."""
    above_average: bool = False
    """Whether its records, or its cells, are hit more than twice as often as the average, and five cells at least."""


def group_results(groups: Sequence[SuppressedGroup], attributes: int) -> tuple[GroupSuppression, ...]:
    """With shares; ``attributes`` is the number of quasi-identifiers, which is how many cells a record has."""

    def shares(records: int, suppressed: int, cells: int) -> tuple[float, float]:
        gone = suppressed * attributes + cells
        return suppressed / max(1, records), gone / max(1, records * attributes)

    figures = [(one.records, one.suppressed, one.cells) for one in groups]
    average = shares(*(sum(column) for column in zip(*figures, strict=True)))
    found = []
    for one, figure in zip(groups, figures, strict=True):
        own = shares(*figure)
        hit = any(share > HARD_HIT * usual for share, usual in zip(own, average, strict=True))
        hit &= one.suppressed * attributes + one.cells >= FEWEST_GONE
        told = {"records": one.records, "suppressed": one.suppressed, "cells": one.cells}
        found.append(GroupSuppression(group=one.label, **told, share=own[0], cell_share=own[1], above_average=hit))
    return tuple(found)


class CountBasis(StrEnum):
    PEOPLE = "people"
    AT_LEAST = "people_at_least"
    """As few people in each class as there can be, so that risks are upper bounds."""
    RECORDS = "records"
