"""Anatomisation (ISO/IEC 20889, 9.5): two tables that are joined by nothing but a class.

The data file keeps every record with its quasi-identifiers as they are, gains a class, and loses the sensitive columns.
These go to a file of their own, ``attributes``: class, value, and how many records of the class have it. Nothing is
altered; what is cut is the line between a record and its value. Whoever finds a person's record learns the class, and
the class has at least l different values, none of them on more than one in l of its records: l-diversity as Xiao and
Tao (2006) define it, by construction.

Their condition is needed and enough: no value may be on more than 1/l of all records. With n records there are
⌊n/l⌋ classes. Records are dealt to them in rounds, value after value, so that each class gets one record per round;
as no value is on more records than there are classes, it spans two rounds at most, and in the second it goes only to
classes that don't have it. So all values of a class differ, and its size is l or little more.

- Which classes have which values is drawn from the counts of the values alone, and which of its records get a value's
  places is drawn evenly. No quasi-identifier is looked at, so a class says nothing of a record but what stands in it.
- Several sensitive columns move together, as *one* combined value: classes have l different combinations. A single
  column of them may have fewer different values in a class; the manifest says how many, and a warning if below l.
- A missing value is a value like another, and an empty text is a missing value. Values that differ but mean nearly the
  same (46,000 and 46,100) hide little: generalise or round the column first.
- l counts records. Where the policy names the person and someone has several records, the run is refused: values that
  recur in all classes of a person would be theirs.
- The order of records could tell what was cut off, so ``shuffle_rows: true`` has to stand beside it.

Table A.1 has no line for it. Records stay true and can be singled out as before (no); clause 9.5 says that attributes
are harder to link, and by how much follows from l (partially); so does what can be inferred (partially).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shoal.errors import BugError, DataError, InfeasibleError
from shoal.kernels.arrays import Integers
from shoal.randomness import Stream
from shoal.schema.column_names import ColumnNames
from shoal.schema.columns import ROW, Columns
from shoal.schema.counts import Counts
from shoal.schema.roles import Role
from shoal.schema.steps import SidecarFile
from shoal.techniques.base import LINKING_AND_INFERENCE, Context, Scope, Stage, Step, TableTechnique, table_a1
from shoal.techniques.strata import random_order

_VALUES_LANE: Final = 1 << 32
_RECORDS_LANE: Final = 1 << 33
"""Rounds have the lanes from 0 on."""
_PLACE: Final = "__shoal_place__"


class Anatomise(TableTechnique):
    key = "anatomise"
    stage = Stage.AFTER_SOLVING
    turn = 20
    facts = table_a1("Anatomisation", "9.5", LINKING_AND_INFERENCE, roles=frozenset({Role.SENSITIVE}), random=True)

    sensitive: ColumnNames = Field(min_length=1, description="The columns that are cut off, together.")
    l: int = Field(ge=2, description="Different values in each class, at least.")  # noqa: E741  # its name
    class_name: str = Field(default="class", min_length=1, description="The column that joins the two files.")
    count_name: str = Field(default="count", min_length=1, description="How many records of the class have the value.")
    file: str = Field(default="attributes", min_length=1, description="The name of the second file.")

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        names = (*self.sensitive, self.class_name, self.count_name)
        if len(set(names)) < len(names):
            raise ValueError("each column of the second file needs a name of its own: see class_name and count_name")
        return self

    def creates(self) -> tuple[str, ...]:
        return (self.class_name,)

    def columns(self, person: str | None) -> tuple[str, ...]:
        return self.sensitive

    def wants(self) -> tuple[tuple[str, ...], ...]:
        return (self.sensitive,)

    def refuse(self, columns: Columns) -> str | None:
        if self.class_name in columns:
            return f"there is a column '{self.class_name}' already; choose another class_name"
        return None

    def report_notes(self) -> dict[str, str]:
        return dict.fromkeys(self.sensitive, f"in the file {self.file}, {self.l} values and more for each class")

    def explain(self) -> str:
        """What it promises, in a sentence."""
        cut = ", ".join(self.sensitive)
        return f"Whoever finds a person's record names the right {cut} with a chance of at most 1 in {self.l}."

    def bind(self, context: Context) -> AnatomiseStep:
        counts = context.counts[self.sensitive]
        kinds = _kinds(counts)
        _refuse_frequent(self, np.bincount(kinds, counts.records).astype(np.int64))
        order = _by_kind(kinds, context.stream)
        slots = assign_classes(kinds[order].repeat(counts.records[order]), self.l, context.stream)
        return AnatomiseStep(self, counts, order, slots, context.person, context.stream)


@dataclass(frozen=True)
class AnatomiseStep(Step):
    """
    >>> frame = pl.DataFrame({ROW: pl.Series(range(4), dtype=pl.UInt64), "ill": ["flu", "flu", "gout", "cold"]})
    >>> counted = Counts.from_frame(frame.group_by("ill").len("n"), ("ill",), "n")
    >>> context = Context({}, Stream(bytes(32)), {("ill",): counted})
    >>> step = Anatomise(sensitive=("ill",), l=2).bind(context)
    >>> step.apply(frame).columns
    ['__shoal_row__', 'class']
    >>> step.sidecar_files[0].table.rows()
    [(1, 'flu', 1), (1, 'gout', 1), (2, 'cold', 1), (2, 'flu', 1)]
    """

    scope: ClassVar[Scope] = Scope.TABLE

    technique: Anatomise
    counts: Counts = field(repr=False, compare=False)
    order: Integers = field(repr=False, compare=False)
    """The combinations in the order in which they were dealt."""
    slots: NDArray[np.uint32] = field(repr=False, compare=False)
    """The class of each place: those of the first combination's records, then those of the second's …"""
    person: str | None
    stream: Stream

    @property
    def reads(self) -> tuple[str, ...]:
        return (*self.technique.sensitive, *((self.person,) if self.person else ()))

    @property
    def sidecar_files(self) -> tuple[SidecarFile, ...]:
        about = f"Class, {', '.join(self.technique.sensitive)}; joined with the data by class only. For the recipient."
        return (SidecarFile(self.technique.file, about=about, table=self._attributes(), for_recipient=True),)

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        self._refuse_repeated(frame)
        classes = np.zeros(frame.height, dtype=np.uint32)
        if frame.height:
            words = self.stream.words(frame[ROW].to_numpy(), _RECORDS_LANE)[:, 0]
            classes[random_order(self._places(frame), words)] = self.slots
        return frame.drop(self.technique.sensitive).with_columns(pl.Series(self.technique.class_name, classes))

    def _places(self, frame: pl.DataFrame) -> Integers:
        """For each record, the place of its combination in the order of dealing."""
        if frame.height != len(self.slots):
            raise BugError("anatomise: the table has changed since it was counted")
        names = list(self.technique.sensitive)
        known = self.counts.frame()[self.order].with_row_index(_PLACE)
        joined = frame.select(names).join(known, on=names, how="left", nulls_equal=True, maintain_order="left")
        return joined[_PLACE].cast(pl.Int64).to_numpy()

    def _refuse_repeated(self, frame: pl.DataFrame) -> None:
        if self.person is None:
            return
        people = frame[self.person].drop_nulls()
        if repeated := int(people.is_duplicated().sum()):
            raise DataError(
                f"anatomise: {repeated} records are of people who have several, whose values could be told by them",
                advice="keep one record per person, or leave `person` out if l is to count records",
            )

    def _attributes(self) -> pl.DataFrame:
        """Sorted by class and value, so that the order of its rows tells nothing."""
        combination = self.order.repeat(self.counts.records[self.order])
        rows = np.lexsort((combination, self.slots))
        values = self.counts.frame()[combination[rows]]
        number = pl.Series(self.technique.class_name, self.slots[rows])
        once = pl.Series(self.technique.count_name, np.ones(len(rows), dtype=np.uint32))
        return pl.DataFrame([number, *values, once])


def assign_classes(kinds: Integers, l: int, stream: Stream) -> NDArray[np.uint32]:  # noqa: E741  # the name that the literature has
    """A class, from 1 on, for each of the records; ``kinds`` are their values, equal ones next to each other.

    No value may occur more than n/l times. In no class a value comes twice, and none has fewer than l records.

    >>> assign_classes(np.array([7, 7, 7, 4, 4, 2]), 2, Stream(bytes(32))).reshape(2, 3).tolist()
    [[3, 2, 1], [1, 2, 3]]
    """
    number = len(kinds) // l
    slots, everyone = np.empty(len(kinds), dtype=np.uint32), np.arange(number, dtype=np.uint64)
    for turn, start in enumerate(range(0, len(kinds), max(1, number))):
        end = min(start + number, len(kinds))
        order = np.argsort(stream.words(everyone, turn)[:, 0], kind="stable")
        before = int(np.count_nonzero(kinds[max(0, start - number) : start] == kinds[start]))
        again = int(np.count_nonzero(kinds[start:end] == kinds[start])) if before else 0
        order = _without_first(order, slots[start - before : start], again)
        slots[start:end] = order[: end - start]
    return slots + np.uint32(1)


def _without_first(order: Integers, holding: NDArray[np.uint32], number: int) -> Integers:
    """The classes in their random order, but that the first ``number`` are none of those that hold the value."""
    if not number:
        return order
    holds = np.zeros(len(order), dtype=np.bool_)
    holds[holding] = True
    first = np.zeros(len(order), dtype=np.bool_)
    first[np.flatnonzero(~holds[order])[:number]] = True
    return np.concatenate((order[first], order[~first]))


def _kinds(counts: Counts) -> Integers:
    """A number for each combination; those that a file may show alike, as a missing and an empty text, have one."""
    shown = counts.frame().with_columns(pl.col(pl.String).replace("", None))
    return shown.select(pl.struct(shown.columns).rank("dense")).to_series().cast(pl.Int64).to_numpy() - 1


def _by_kind(kinds: Integers, stream: Stream) -> Integers:
    """The combinations, those of a kind together, the kinds in random order."""
    if not len(kinds):
        return kinds
    rank = stream.permutation(int(kinds.max()) + 1, _VALUES_LANE)
    return np.lexsort((np.arange(len(kinds)), rank[kinds]))


def _refuse_frequent(technique: Anatomise, records: Integers) -> None:
    total, most = int(records.sum()), int(records.max(initial=0))
    if total >= technique.l * most and total >= technique.l:
        return
    possible = total // max(1, most)
    lower = f"choose l: {possible} or less, or " if possible > 1 else ""
    raise InfeasibleError(
        f"anatomise: l = {technique.l} can't be reached: {most:,} of {total:,} records have the same value of "
        f"{', '.join(technique.sensitive)}, and {total // technique.l:,} may",
        advice=f"{lower}split the most frequent value, or suppress some of its records by rule",
    )
