"""Counts: distinct combinations of attributes and how many records and people have each.

This is all that a solver ever sees of the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray


def _no_pairs() -> NDArray[np.int64]:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class Counts:
    """``codes[i, j]`` is the position of combination i's value of attribute j in ``values[attributes[j]]``.

    ``people[i]`` counts the people who appear in combination i *only*; those who appear in several are listed as
    (person, combination) pairs in ``shared``, so that a union of combinations can be counted exactly in people.
    Where no person column is declared, a record is a person.
    """

    attributes: tuple[str, ...]
    values: tuple[pl.Series, ...]
    codes: NDArray[np.int32]
    records: NDArray[np.int64]
    people: NDArray[np.int64]
    shared: NDArray[np.int64] = field(default_factory=_no_pairs)

    @classmethod
    def from_frame(cls, frame: pl.DataFrame, attributes: tuple[str, ...], records: str) -> Counts:
        """From a frame with one row per distinct combination and a column of record counts."""
        values, codes = [], np.empty((frame.height, len(attributes)), dtype=np.int32)
        for position, name in enumerate(attributes):
            column = frame[name]
            distinct = column.unique().sort(nulls_last=True)
            lookup = pl.DataFrame({name: distinct, "code": np.arange(len(distinct), dtype=np.int32)})
            joined = frame.select(name).join(lookup, on=name, how="left", nulls_equal=True, maintain_order="left")
            codes[:, position] = joined["code"].to_numpy()
            values.append(distinct)
        counted = frame[records].cast(pl.Int64).to_numpy().copy()
        return cls(attributes, tuple(values), codes, counted, counted)

    @property
    def size(self) -> int:
        return len(self.records)

    @property
    def total_records(self) -> int:
        return int(self.records.sum())

    def value_counts(self, attribute: str) -> pl.DataFrame:
        """Columns ``value`` and ``records`` of one attribute."""
        position = self.attributes.index(attribute)
        distinct = self.values[position]
        records = np.bincount(self.codes[:, position], weights=self.records, minlength=len(distinct))
        return pl.DataFrame({"value": distinct, "records": records.astype(np.int64)})
