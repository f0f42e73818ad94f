"""One date shift per person (ISO/IEC 20889, 9.7.2; PDPC annex B, dates): all dates of a person move by the same days.

The shift is a number from −``days`` to +``days``, never 0, that a key gives for the value of the ``person`` column. So

* the time between two dates of a person stays what it was: length of stay, age at an event, days to the next visit;
* with one ``domain`` the shift is the same in every column, table and remark (``scrub: {dates: shift, person: …}``);
* with a vault it is the same in every later release too; without one it is of this run only.

A date known from elsewhere no longer matches the released one, but the pattern of a person's dates does: whoever knows
three dates of a person finds the record by the time between them. Seasons and days of the week blur; ``weeks: true``
keeps the latter. A record that names nobody moves by a number of its own. This is not differential privacy.

Missing dates stay missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import polars as pl
from pydantic import Field

from shoal.crypto import Key
from shoal.errors import BugError
from shoal.kernels.arrays import Integers
from shoal.pseudonyms.date_shifts import MOST_DAYS, SHIFTING, shifts_for
from shoal.randomness import Stream
from shoal.schema.canonical_text import canonical_text
from shoal.schema.columns import ROW, Column
from shoal.schema.steps import Step
from shoal.schema.values import DATES
from shoal.techniques.base import LINKING_AND_INFERENCE, Context, Technique, table_a1
from shoal.techniques.pseudonymisation.pseudonymise import DOMAIN

WEEK = 7


class ShiftDates(Technique):
    """
    >>> ShiftDates(person="patient", domain="patients").days
    365
    """

    key = "shift_dates"
    reads_originals = True
    facts = table_a1("Date shift per person", "9.7.2", LINKING_AND_INFERENCE, truthful=False, types=DATES, random=True)

    person: str
    """The column that names the person; as it is in the source, whatever becomes of it later."""
    days: int = Field(default=MOST_DAYS, ge=WEEK, le=36_525)
    """By how much at most, either way; remarks are moved by up to 365."""
    domain: Annotated[str, Field(pattern=DOMAIN)] = SHIFTING
    """Whose dates share shifts."""
    weeks: bool = False
    """Whole weeks only, so that each day of the week stays."""

    def also_reads(self) -> tuple[str, ...]:
        return (self.person,)

    def refuse(self, column: Column) -> str | None:
        if column.name == self.person:
            return f"column '{column.name}' can't name the person whose dates it holds"
        return super().refuse(column)

    def bind(self, column: Column, context: Context) -> ShiftDatesStep:
        if context.secrets is None:
            raise BugError("shift_dates was bound without secrets")
        key = context.secrets.key(self.domain, SHIFTING)
        most, unit = (self.days // WEEK, WEEK) if self.weeks else (self.days, 1)
        return ShiftDatesStep(column, self.person, key, most, unit, context.stream)


@dataclass(frozen=True)
class ShiftDatesStep(Step):
    column: Column
    person: str
    secret: Key
    most: int
    unit: int
    """Days that the shift is a multiple of."""
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.column.name, self.person)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        dates = self.column.dates(frame[self.column.name])
        table = pl.DataFrame({"date": dates, "days": self._shifts(frame) * self.unit})
        moved = table.select(pl.col("date") + pl.duration(days=pl.col("days"))).to_series()
        return frame.with_columns(self.column.from_dates(moved).alias(self.column.name))

    def _shifts(self, frame: pl.DataFrame) -> Integers:
        people = canonical_text(frame[self.person])
        known = people.unique().drop_nulls()
        table = pl.DataFrame({"person": known, "shift": shifts_for(self.secret, known.to_list(), self.most)})
        found = pl.DataFrame({"person": people}).join(table, on="person", how="left", maintain_order="left")["shift"]
        drawn = self.stream.uniform(frame[ROW].to_numpy(), 0)
        own = np.floor(drawn * 2 * self.most).astype(np.int64) - self.most
        own = np.where(own >= 0, own + 1, own)
        return np.where(found.is_null().to_numpy(), own, found.fill_null(0).to_numpy())
