"""Whose record it is, carried beside the table so that the owner can keep who is in the release."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import polars as pl

from shoal.pseudonyms.person_marks import PersonMarks
from shoal.schema import Step
from shoal.schema.hidden_columns import HIDDEN

MEMBER: Final = f"{HIDDEN}member__"


@dataclass(frozen=True)
class TagMember(Step):
    """Carried as far as a record goes, and put aside with it."""

    person: str
    marks: PersonMarks = field(repr=False)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.person,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(self.marks.of(frame[self.person]).alias(MEMBER))
