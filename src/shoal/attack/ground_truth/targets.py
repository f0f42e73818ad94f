"""Whom an attack is tried on: a random part of the people in the data, and of strangers if some are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.attack.ground_truth.owners import Trials
from shoal.errors import DataError
from shoal.hierarchy.labels import read_numbers
from shoal.kernels.arrays import Floats, Integers
from shoal.randomness import Randomness

TRIALS = 5_000
_WHO, _ROW = "__shoal_who", "__shoal_row"


@dataclass(frozen=True)
class TrialDesign:
    """Who is tried, against whom, and by which draw."""

    randomness: Randomness
    control: pl.DataFrame | None = field(default=None, repr=False)
    """People who are not in the original."""
    person: str | None = None
    """A column of the original: rows with the same value are one person."""
    owner: str | None = None
    """A column of both tables that says whose a row is: without a control group, people whose own records are left out
    take its place."""
    trials: int = TRIALS

    def people(self, original: pl.DataFrame, columns: Sequence[str]) -> People:
        return People.of(original, self.control, columns, self.randomness, self.trials, person=self.person)


@dataclass(frozen=True)
class People:
    """All people with what is needed of them, and those among them who are judged.

    Everybody is kept because a released label is read by the values that there are, not by those of a few.
    """

    frame: pl.DataFrame = field(repr=False)
    """The original, then the control group."""
    members: Integers = field(repr=False)
    """Their rows; all different ones of a person who has several."""
    strangers: Integers = field(repr=False)
    trials: Trials = field(repr=False)
    """Which rows of the members are one person's."""
    other_trials: Trials = field(repr=False)
    """The same of the strangers."""

    @classmethod
    def of(  # noqa: PLR0913  # who there is, what is needed of them, how many
        cls,
        original: pl.DataFrame,
        control: pl.DataFrame | None,
        columns: Sequence[str],
        randomness: Randomness,
        most: int = TRIALS,
        *,
        person: str | None = None,
    ) -> People:
        """At most so many members and so many strangers, drawn without putting back.

        ``person`` names a column of the original: rows with the same value are one member. Where the control group has
        it too, the same is true of strangers.
        """
        mine = select_columns(original, columns, "the original")
        members, trials = _drawn_people(mine, person_column(original, person), randomness, "members", most)
        if control is None:
            return cls(mine, members, members[:0], trials, Trials.by(None, 0))
        strangers = select_columns(control, columns, "the control group")
        try:
            frame = pl.concat([mine, strangers.cast(pl.Schema(mine.schema))])
        except pl.exceptions.InvalidOperationError:
            raise DataError("the control group has columns of another type than the original") from None
        others, theirs = _drawn_people(strangers, person_column(control, person), randomness, "strangers", most)
        return cls(frame, members, mine.height + others, trials, theirs)

    @property
    def judged(self) -> Integers:
        """Members, then strangers."""
        return np.concatenate([self.members, self.strangers])

    def best(self, values: Floats) -> tuple[Floats, Floats]:
        """Of each member and of each stranger, the largest of the values that those judged have."""
        return self.trials.best(values[: len(self.members)]), self.other_trials.best(values[len(self.members) :])


def person_column(frame: pl.DataFrame, person: str | None) -> pl.Series | None:
    """Whose each row is; None where nothing says that people have several."""
    return frame[person] if person is not None and person in frame.columns else None


def _drawn_people(
    frame: pl.DataFrame, person: pl.Series | None, randomness: Randomness, purpose: str, most: int
) -> tuple[Integers, Trials]:
    """The different rows of so many people."""
    everybody = Trials.by(person, frame.height)
    chosen = draw_rows(everybody.count, randomness, purpose, most)
    if person is None:
        return chosen, Trials.by(None, len(chosen))
    who = pl.Series(_WHO, everybody.of)
    rows = frame.with_columns(who).with_row_index(_ROW).filter(pl.Series(np.isin(everybody.of, chosen)))
    rows = rows.unique([_WHO, *frame.columns], keep="first", maintain_order=True)
    return rows[_ROW].to_numpy().astype(np.int64), Trials.by(rows[_WHO], rows.height)


def select_columns(frame: pl.DataFrame, columns: Sequence[str], whose: str) -> pl.DataFrame:
    """The columns that an attack needs; there has to be a row."""
    for name in columns:
        if name not in frame.columns:
            raise DataError(f"{whose} has no column '{name}'")
    if not frame.height:
        raise DataError(f"{whose} has no rows")
    return frame.select(list(dict.fromkeys(columns)))


def draw_rows(size: int, randomness: Randomness, purpose: str, most: int) -> Integers:
    """So many rows of the table, in order."""
    if size <= most:
        return np.arange(size)
    return np.sort(randomness.stream("attack", purpose).permutation(size)[:most])


def as_numbers(values: pl.Series) -> Floats:
    """The values as numbers, those that are none as not-a-number."""
    if values.dtype.is_temporal():
        values = values.to_physical()
    return read_numbers(values).fill_null(float("nan")).to_numpy(writable=True)
