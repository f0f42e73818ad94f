"""A release as somebody holds it: distinct combinations of what it says of people, and how many records have each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from shoal.hierarchy.base import TOP
from shoal.hierarchy.labels import text_of
from shoal.kernels.arrays import Integers, places_among

RECORDS = "__shoal_records"


class CodedColumn(NamedTuple):
    """Distinct texts, and for each row the place of its text among them."""

    texts: pl.Series
    codes: Integers


class SaidOfClasses(NamedTuple):
    """Row by row: a class, one of the ``texts`` by its place, and how many of its records say that."""

    classes: Integers
    said: CodedColumn
    records: Integers


@dataclass(frozen=True)
class ReleasedCounts:
    """``frame`` has a row for each combination of ``quasi`` and ``others``, as text, with its ``RECORDS``."""

    name: str
    quasi: tuple[str, ...]
    others: tuple[str, ...]
    """Columns of any other role whose cells say what is true of the person, sensitive ones among them."""
    sensitive: tuple[str, ...]
    frame: pl.DataFrame = field(repr=False)
    ladders: Mapping[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    """By quasi-identifier, values in the first column and in each further one what its hierarchy makes of them."""
    exact: frozenset[str] = frozenset()
    """Quasi-identifiers whose cells are values as they were, or stars."""

    @classmethod
    def of(  # noqa: PLR0913  # what is known of a release
        cls,
        name: str,
        counted: pl.DataFrame,
        quasi: Sequence[str],
        *,
        sensitive: Sequence[str] = (),
        others: Sequence[str] = (),
        ladders: Mapping[str, pl.DataFrame] | None = None,
        exact: Sequence[str] = (),
    ) -> ReleasedCounts:
        """Records that are all stars are nobody's class, as in every figure of a release; they are left out.

        >>> told = pl.DataFrame({"age": ["30-39", "*"], RECORDS: [5, 1]})
        >>> ReleasedCounts.of("spring", told, ["age"]).records
        5
        """
        further = tuple(dict.fromkeys((*sensitive, *others)))
        names = (*quasi, *further)
        frame = counted.select(*(text_of(counted[each]).alias(each) for each in names), pl.col(RECORDS).cast(pl.Int64))
        told = pl.any_horizontal(pl.col(each).ne_missing(TOP) for each in quasi) if quasi else pl.lit(value=True)
        frame = frame.filter(told).group_by(names).agg(pl.col(RECORDS).sum()).sort(names)
        return cls(name, tuple(quasi), further, tuple(sensitive), frame, ladders or {}, frozenset(exact))

    @cached_property
    def classes(self) -> pl.DataFrame:
        """By the quasi-identifiers alone, in the order of ``frame``."""
        if not self.quasi:
            return self.frame.select(pl.col(RECORDS).sum())
        return self.frame.group_by(self.quasi, maintain_order=True).agg(pl.col(RECORDS).sum())

    @cached_property
    def class_of(self) -> Integers:
        """For each row of ``frame``, its row of ``classes``: both are in the same order."""
        if not self.quasi:
            return np.zeros(self.frame.height, dtype=np.int64)
        return self.frame.select(pl.struct(self.quasi).rle_id().cast(pl.Int64)).to_series().to_numpy()

    @cached_property
    def labels(self) -> Mapping[str, CodedColumn]:
        """Of each quasi-identifier, its labels in order, and which of them each class has."""
        return {name: _coded(self.classes[name], sort=True) for name in self.quasi}

    def said(self, columns: Sequence[str]) -> SaidOfClasses:
        """By class, what the columns say together."""
        parts = [pl.col(name).fill_null("\1") for name in columns]
        said = pl.concat_str(parts, separator="\0") if parts else pl.lit("")
        frame = self.frame.select(pl.Series("class", self.class_of), said.alias("said"), RECORDS)
        frame = frame.group_by("class", "said").agg(pl.col(RECORDS).sum())
        return SaidOfClasses(frame["class"].to_numpy(), _coded(frame["said"]), frame[RECORDS].to_numpy())

    @property
    def records(self) -> int:
        return int(self.frame[RECORDS].sum())

    @property
    def k(self) -> int:
        sizes = self.classes[RECORDS]
        return 0 if sizes.is_empty() else int(sizes.min())  # type: ignore[arg-type]  # counts are whole numbers


def _coded(column: pl.Series, *, sort: bool = False) -> CodedColumn:
    texts = column.unique()
    texts = texts.sort() if sort else texts
    return CodedColumn(texts, places_among(column, texts).to_numpy())
