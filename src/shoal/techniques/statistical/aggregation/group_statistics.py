"""Statistics of groups that can be computed batch by batch and merged: counts, exact sums, extremes, largest parts.

Sums are kept as whole numbers of the column's last digit, so that no order of batches can change a result. Where a
person column is declared a partial result has a line per group *and person*, for people can only be counted so.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from shoal.errors import DataError
from shoal.schema.columns import Column

UNITS = pl.Decimal(38, 0)
RECORDS, PEOPLE = "records", "people"
_PERSON = "person"
_EVERYONE = pl.lit(0).alias("all")


def value_of(at: int) -> str:
    """The column of the group's value of one attribute …"""
    return f"by.{at}"


def is_total(at: int) -> str:
    """… and the flag of a line that sums over it."""
    return f"total.{at}"


@dataclass(frozen=True)
class GroupTally:
    """What is kept of each group. Columns are numbered, so that no name of the user's can collide with ours."""

    by: tuple[str, ...]
    columns: tuple[Column, ...]
    summed: frozenset[int]
    """Which of the columns are published as a sum or a mean."""
    person: str | None
    largest: int
    """How many of the largest contributions are summed; 0 for none."""

    def partial(self, frame: pl.DataFrame) -> pl.DataFrame:
        """One batch."""
        read = [frame[name].alias(value_of(at)) for at, name in enumerate(self.by)]
        if self.person is not None:
            read.append(frame[self.person].alias(_PERSON))
        statistics = [pl.len().cast(pl.Int64).alias(RECORDS)]
        for at, column in enumerate(self.columns):
            values = column.dates(frame[column.name]) if column.is_date else column.numbers(frame[column.name])
            read += [values.alias(f"value.{at}"), _units(column, values).alias(f"sum.{at}")]
            value, units = pl.col(f"value.{at}"), pl.col(f"sum.{at}")
            statistics += [value.count().cast(pl.Int64).alias(f"n.{at}"), units.sum()]
            statistics += [value.min().alias(f"min.{at}"), value.max().alias(f"max.{at}")]
            if self._ranks_records:
                statistics.append(units.drop_nulls().top_k(self.largest).alias(f"top.{at}"))
        return pl.DataFrame(read).group_by(self._keys(self._all)).agg(statistics)

    def merged(self, partial: pl.DataFrame) -> pl.DataFrame:
        """Partial results, one below the other, to one line per group (and person)."""
        return partial.group_by(self._keys(self._all)).agg(self._merging())

    def groups(self, partial: pl.DataFrame, kept: tuple[int, ...]) -> pl.DataFrame:
        """One line for each group by the kept attributes, a total over all others.

        Adds how many people there are, and for each column how many of them gave a value.
        """
        units = partial.with_columns(_EVERYONE).group_by([*self._keys(kept), "all"]).agg(self._merging())
        columns = range(len(self.columns))
        if self.person is None:
            givers = [pl.col(f"n.{at}").alias(f"givers.{at}") for at in columns]
            return self._flagged(units.with_columns(pl.col(RECORDS).alias(PEOPLE), *givers), kept)
        counted = [*self._merging(), pl.len().cast(pl.Int64).alias(PEOPLE)]
        counted += [(pl.col(f"n.{at}") > 0).sum().cast(pl.Int64).alias(f"givers.{at}") for at in columns]
        if self.largest:
            counted += [pl.col(f"sum.{at}").top_k(self.largest).alias(f"top.{at}") for at in columns]
        return self._flagged(units.group_by([*map(value_of, kept), "all"]).agg(counted), kept)

    def _flagged(self, groups: pl.DataFrame, kept: tuple[int, ...]) -> pl.DataFrame:
        return groups.drop("all").with_columns(pl.lit(at not in kept).alias(is_total(at)) for at in self._all)

    @property
    def _all(self) -> tuple[int, ...]:
        return tuple(range(len(self.by)))

    @property
    def _ranks_records(self) -> bool:
        """Contributions of people can only be ranked once they are complete."""
        return self.largest > 0 and self.person is None

    def _keys(self, kept: tuple[int, ...]) -> list[str]:
        return [*map(value_of, kept), *([_PERSON] if self.person is not None else [])]

    def _merging(self) -> list[pl.Expr]:
        merging = [pl.col(RECORDS).sum()]
        for at in range(len(self.columns)):
            merging += [pl.col(f"n.{at}").sum(), pl.col(f"sum.{at}").sum()]
            merging += [pl.col(f"min.{at}").min(), pl.col(f"max.{at}").max()]
            if self._ranks_records:
                merging.append(pl.col(f"top.{at}").explode().drop_nulls().top_k(self.largest))
        return merging


def _units(column: Column, values: pl.Series) -> pl.Series:
    """Numbers as whole multiples of the column's last digit; dates have no sum."""
    if column.is_date:
        return pl.Series([None], dtype=UNITS).new_from_index(0, len(values))
    scaled = (values * 10**column.scale).round(0) if values.dtype.is_float() else values
    units = scaled.cast(UNITS, strict=False)
    if lost := units.null_count() - values.null_count():
        raise DataError(f"column '{column.name}': {lost} value(s) are too large to be summed")
    return units
