"""Whom an attack is tried on: a random part of the people in the data, and of strangers if some are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.hierarchy.labels import read_numbers
from shoal.randomness import Randomness
from shoal.schema.arrays import Floats, Integers

TRIALS = 5_000


@dataclass(frozen=True)
class People:
    """All people with what is needed of them, and those among them who are judged.

    Everybody is kept because a released label is read by the values that there are, not by those of a few.
    """

    frame: pl.DataFrame = field(repr=False)
    """The original, then the control group."""
    members: Integers = field(repr=False)
    strangers: Integers = field(repr=False)

    @classmethod
    def of(
        cls,
        original: pl.DataFrame,
        control: pl.DataFrame | None,
        columns: Sequence[str],
        randomness: Randomness,
        most: int = TRIALS,
    ) -> People:
        """At most so many members and so many strangers, drawn without putting back."""
        mine = selected(original, columns, "the original")
        members = drawn(mine.height, randomness, "members", most)
        if control is None:
            return cls(mine, members, members[:0])
        strangers = selected(control, columns, "the control group")
        try:
            frame = pl.concat([mine, strangers.cast(pl.Schema(mine.schema))])
        except pl.exceptions.InvalidOperationError:
            raise DataError("the control group has columns of another type than the original") from None
        return cls(frame, members, mine.height + drawn(strangers.height, randomness, "strangers", most))

    @property
    def judged(self) -> Integers:
        """Members, then strangers."""
        return np.concatenate([self.members, self.strangers])


def selected(frame: pl.DataFrame, columns: Sequence[str], whose: str) -> pl.DataFrame:
    """The columns that an attack needs; there has to be a row."""
    for name in columns:
        if name not in frame.columns:
            raise DataError(f"{whose} has no column '{name}'")
    if not frame.height:
        raise DataError(f"{whose} has no rows")
    return frame.select(list(dict.fromkeys(columns)))


def drawn(size: int, randomness: Randomness, purpose: str, most: int) -> Integers:
    """So many rows of the table, in order."""
    if size <= most:
        return np.arange(size)
    return np.sort(randomness.stream("attack", purpose).permutation(size)[:most])


def as_numbers(values: pl.Series) -> Floats:
    """The values as numbers, those that are none as not-a-number."""
    if values.dtype.is_temporal():
        values = values.to_physical()
    return read_numbers(values).fill_null(float("nan")).to_numpy(writable=True)
