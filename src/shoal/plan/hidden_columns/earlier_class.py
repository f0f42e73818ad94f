"""In which classes of earlier releases a person is, carried beside the table so that releases can be solved together.

The hidden column has a number for each combination of earlier classes, 0 for who is in none; it never reaches an
output.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.pseudonyms.person_marks import PersonMarks
from shoal.schema import Step
from shoal.schema.hidden_columns import HIDDEN

EARLIER: Final = f"{HIDDEN}earlier__"
NEWCOMER: Final = 0
_MARK: Final = f"{HIDDEN}earlier_person__"


@dataclass(frozen=True)
class EarlierClasses:
    """By person, as far as earlier releases and the tables that they were made from tell."""

    names: tuple[str, ...]
    """Of the releases."""
    person: str
    table: pl.DataFrame = field(repr=False)
    """A person's mark, and their number."""
    people: NDArray[np.int64] = field(repr=False)
    """By number, how many people have it in the earlier releases, whether they are in the table now or not."""
    marks: PersonMarks = field(default_factory=PersonMarks, repr=False)
    """How people were marked."""

    @classmethod
    def of(
        cls, names: tuple[str, ...], person: str, placed: pl.DataFrame, marks: PersonMarks | None = None
    ) -> EarlierClasses:
        """``placed`` has a row for each person: a mark in ``person``, and the class in each release or nothing."""
        classes = [name for name in placed.columns if name != "person"]
        number = pl.struct(classes).rank("dense").cast(pl.Int64).alias(EARLIER)
        table = placed.select(pl.col("person").alias(_MARK), number)
        counted = table[EARLIER].value_counts().sort(EARLIER)
        people = [0, *counted["count"].to_list()]
        return cls(names, person, table, pl.Series(people, dtype=pl.Int64).to_numpy(), marks or PersonMarks())


@dataclass(frozen=True)
class TagEarlier(Step):
    """
    >>> known = EarlierClasses.of(("spring",), "id", pl.DataFrame({"person": pl.Series(["a"]).hash(0), "class": [7]}))
    >>> TagEarlier(known).apply(pl.DataFrame({"id": ["a", "b"]}))[EARLIER].to_list()
    [1, 0]
    """

    earlier: EarlierClasses = field(repr=False)

    @property
    def reads(self) -> tuple[str, ...]:
        return (self.earlier.person,)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        asked = frame.with_columns(self.earlier.marks.of(frame[self.earlier.person]).alias(_MARK))
        found = asked.join(self.earlier.table, on=_MARK, how="left", maintain_order="left")
        return found.with_columns(pl.col(EARLIER).fill_null(NEWCOMER)).drop(_MARK)
