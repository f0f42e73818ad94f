"""How children hang on parents in several tables, as results have it."""

from __future__ import annotations

from shoal.measurement.fidelity.key_statistics import ChildCounts, KeyStatistics, SequenceStatistics
from shoal.results.base import Number, ResultModel
from shoal.results.synthesis.fidelity_result import BarResult


class ChildCountsResult(ResultModel):
    parents: int
    children: int
    mean: Number
    """Children per parent."""
    deviation: Number
    none: Number
    """Share of parents without a child."""
    most: int
    """Children of one parent."""
    orphans: Number
    """Share of children whose parent is not there."""

    @classmethod
    def of(cls, found: ChildCounts) -> ChildCountsResult:
        return cls.model_validate(found)


class KeyStatisticsResult(ResultModel):
    parent: str
    child: str
    reference: str
    """The child's column that names the parent."""
    original: ChildCountsResult
    synthetic: ChildCountsResult
    total_variation: Number
    """Of the number of children per parent."""
    bars: tuple[BarResult, ...] = ()
    """Parents by how many children they have; a bar has at least ten parents of the original."""

    @classmethod
    def of(cls, parent: str, child: str, reference: str, found: KeyStatistics) -> KeyStatisticsResult:
        return cls(
            parent=parent,
            child=child,
            reference=reference,
            original=ChildCountsResult.of(found.original),
            synthetic=ChildCountsResult.of(found.synthetic),
            total_variation=found.total_variation,
            bars=BarResult.all_of(found.bars),
        )


class SequenceResult(ResultModel):
    """How the records of one parent follow each other."""

    table: str
    order: str
    """The column by which they do."""
    original: Number | None
    """The median distance between two that follow each other, in days where they are dated."""
    synthetic: Number | None
    total_variation: Number | None
    bars: tuple[BarResult, ...] = ()

    @classmethod
    def of(cls, table: str, order: str, found: SequenceStatistics) -> SequenceResult:
        return cls(
            table=table,
            order=order,
            original=found.original,
            synthetic=found.synthetic,
            total_variation=found.total_variation,
            bars=BarResult.all_of(found.bars),
        )
