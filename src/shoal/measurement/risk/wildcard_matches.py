"""Risk where a star matches any value: each record has as many look-alikes as there are records that it could be.

Two records match if on every quasi-identifier their cells are equal or one of them is ``*``. That is how statistical
offices' tools count missing values. Matching is no equivalence: a may match b, and b match c, without a matching c. So
there are no classes, only a number of matches per record, and 1 ÷ that number is weaker evidence than 1 ÷ a class
size: the records that match need not look alike. The figures by classes therefore stand beside it.

A record with nothing but stars is suppressed: it is not counted, neither for itself nor as a match of others. Where
asked, an empty cell matches any value as a star does, and a record without any value hides nobody but its like.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.kernels.arrays import Integers
from shoal.measurement.risk.equivalence_classes import SUPPRESSED, Measurement, Risk
from shoal.privacy import ModelFinding, PrivacyModel
from shoal.privacy.models.k_anonymity import KAnonymity

_NUMBERS = 1 << 62


@dataclass(frozen=True)
class WildcardRisk(Risk):
    """The figures by matches; ``…_by_value`` are those by classes, where a star is a value of its own."""

    k_by_value: int
    uniques_by_value: int


@dataclass(frozen=True)
class WildcardMeasurement(Measurement):
    """A measurement whose risk and k are counted by matches. The classes are those of equal cells, as ever."""

    empty_too: bool = False
    """Whether an empty cell matches any value, or only another empty one."""

    @classmethod
    def of(cls, measurement: Measurement, *, empty_too: bool = False) -> WildcardMeasurement:
        if measurement.people != measurement.rows:
            raise InputError("matches by stars are counted by records, so each person may have one record only")
        own = {field.name: getattr(measurement, field.name) for field in fields(Measurement)}
        return cls(**own, empty_too=empty_too)

    @cached_property
    def matches(self) -> Integers:
        """For each class, the records that match its records, itself included."""
        if not len(self.classes):
            return np.zeros(0, dtype=np.int64)
        return count_matches(self.cells, self.classes.records, empty_too=self.empty_too)

    @property
    def risk(self) -> WildcardRisk:
        by_value = Risk.of(self.classes)
        records, matches = self.classes.records, self.matches
        fewest = int(matches.min()) if len(matches) else 0
        highest = 1 / fewest if fewest else 0.0
        average = float((records / matches).sum() / records.sum()) if fewest else 0.0
        return WildcardRisk(
            k=fewest,
            prosecutor_max=highest,
            prosecutor_average=average,
            journalist_max=highest,
            marketer=average,
            uniques=int(records[matches == 1].sum()),
            k_by_value=by_value.k,
            uniques_by_value=by_value.uniques,
        )

    def find(self, models: Sequence[PrivacyModel]) -> tuple[ModelFinding, ...]:
        for model in models:
            if not isinstance(model, KAnonymity) or not model.plain:
                raise InputError(f"{model.key}: can't be measured where a star matches any value; k_anonymity can")
        achieved = self.risk.k
        return tuple(
            ModelFinding(model.key, model.required, achieved, not len(self.matches) or achieved >= model.required)
            for model in models
        )


def count_matches(cells: pl.DataFrame, records: Integers, *, empty_too: bool = False) -> Integers:
    """For each row of distinct cells, the records that match it; a star matches anything, a null only if asked.

    >>> count_matches(pl.DataFrame({"sex": ["f", "*", "m"], "town": ["A", "A", "*"]}), np.array([1, 2, 4])).tolist()
    [3, 7, 6]
    """
    columns = [_numbered(cells[name]) for name in cells.columns]
    texts = (cells[name].cast(pl.String) for name in cells.columns)
    stars = [(text.fill_null(SUPPRESSED) if empty_too else text).eq_missing(SUPPRESSED).to_numpy() for text in texts]
    shape = np.stack(stars, axis=1) if stars else np.zeros((cells.height, 0), dtype=bool)
    shapes, which = np.unique(shape, axis=0, return_inverse=True)
    rows = [np.flatnonzero(which.ravel() == place) for place in range(len(shapes))]
    blank = shape.all(axis=1) & bool(stars)
    found = np.where(blank, records, 0)
    records = np.where(blank, 0, records)
    for one, mine in zip(shapes, rows, strict=True):
        for other, theirs in zip(shapes, rows, strict=True):
            seen = [column for column, hidden in zip(columns, one | other, strict=True) if not hidden]
            found[mine] += _agreeing(seen, mine, theirs, records)
    return found


def _agreeing(columns: Sequence[Integers], mine: Integers, theirs: Integers, records: Integers) -> Integers:
    """For each of my rows, the records of their rows that are equal on all these columns."""
    both = np.concatenate((mine, theirs))
    key = np.zeros(len(both), dtype=np.int64)
    span = 1
    for column in columns:
        size = int(column.max()) + 1
        if span * size > _NUMBERS:
            key = np.unique(key, return_inverse=True)[1]
            span = len(both)
        key = key * size + column[both]
        span *= size
    group = np.unique(key, return_inverse=True)[1]
    there = np.bincount(group[len(mine) :], weights=records[theirs], minlength=int(group.max()) + 1)
    counted: Integers = there[group[: len(mine)]].astype(np.int64)
    return counted


def _numbered(values: pl.Series) -> Integers:
    """Equal values get equal numbers; a null is a value like others."""
    return values.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
