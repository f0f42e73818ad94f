"""What a battery of attacks has before it: the tables, what the judge knows of them, and how far to go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from shoal.attack.ground_truth.assignment import Assignment, assigned
from shoal.attack.ground_truth.record_order import look_in_order, recovered
from shoal.attack.ground_truth.targets import TRIALS, TrialDesign
from shoal.attack.matching.coverage import Coverage, Match
from shoal.attack.matching.value_parts import read_parts
from shoal.errors import BugError
from shoal.randomness import Randomness

WHO = "__shoal_who"
"""A column that only the judge sees: whose record it is."""
SUPPRESSED = "*"


@dataclass(frozen=True)
class AttackTables:
    """What is attacked, and what the judge knows."""

    release: pl.DataFrame = field(repr=False)
    original: pl.DataFrame = field(repr=False)
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    """Numbers that were altered, and could be recognised by being near."""
    pseudonyms: tuple[str, ...] = ()
    """Columns that name people, replaced or not: direct identifiers, and what hardly two people share."""
    control: pl.DataFrame | None = field(default=None, repr=False)
    auxiliary: pl.DataFrame | None = field(default=None, repr=False)
    """Another table about people, by which an attacker would link; else the original's own quasi-identifiers."""
    known: Mapping[str, pl.DataFrame] = field(default_factory=dict, repr=False)
    """Hierarchies by attribute."""
    person: str | None = None
    """The column of the original that names the person: attacks are then tried on people, not on records."""
    origins: pl.Series | None = field(default=None, repr=False)
    """The row of the original that each released record was made from, where that is known; null for an invented one.
    Left out, it is looked for."""
    coded: tuple[str, ...] = ()
    """Further columns, whatever their role, whose values may have been replaced by codes."""


@dataclass(frozen=True)
class Scene:
    """The tables as the attacks see them, and what the judge sees besides."""

    tables: AttackTables
    origins: pl.Series | None = field(repr=False)
    """The row of the original that each released record was made from; None where nobody knows."""
    assignment: Assignment | None
    """Where nobody knows: whose they may be, by what is released."""
    release: pl.DataFrame = field(repr=False)
    """With ``WHO`` where it is known whose the records are."""
    shown: pl.DataFrame = field(repr=False)
    """Without records that say nothing."""
    people: pl.DataFrame = field(repr=False)
    """The original with ``WHO``."""
    control: pl.DataFrame | None = field(repr=False)
    randomness: Randomness
    trials: int = TRIALS

    @classmethod
    def of(cls, tables: AttackTables, randomness: Randomness, trials: int) -> Scene:
        origins = tables.origins if tables.origins is not None else _origins(tables, randomness)
        who, control = _who(tables.original, tables.person), tables.control
        if control is not None and tables.person in control.columns:
            control = control.with_columns(_who(control, tables.person))
        assignment = None
        if origins is None:
            assignment = assigned(tables.release, tables.original, (*tables.quasi, *tables.sensitive), tables.known)
        rows = origins if assignment is None else assignment.origins
        release = tables.release if rows is None else tables.release.with_columns(who.gather(rows))
        people = tables.original.with_columns(who)
        shown = without_suppressed(release, tables.quasi)
        return cls(tables, origins, assignment, release, shown, people, control, randomness, trials)

    @property
    def in_order(self) -> bool:
        return self.origins is not None and bool((self.origins == pl.Series(np.arange(len(self.origins)))).all())

    @property
    def person(self) -> str | None:
        """The column by which rows are one person; None where each row is somebody."""
        return None if self.tables.person is None else WHO

    @property
    def truth(self) -> str | None:
        """The column that says whose a record is, where that is known."""
        return None if self.origins is None else WHO

    @property
    def rows(self) -> pl.Series | None:
        """The row of the original of each released record: the true one, or one that fits in all that is released."""
        return self.origins if self.assignment is None else self.assignment.origins

    @property
    def whose(self) -> str | None:
        """The column that says whose a record is, or may be."""
        return None if self.rows is None else WHO

    def truth_by(self, columns: Sequence[str]) -> str | None:
        """The same for an attack that links by these columns: where they are neither what the assignment goes by nor
        what it speaks against, only the truth will do."""
        if self.assignment is not None and set(columns) <= self.assignment.by | self.assignment.against:
            return WHO
        return self.truth

    def owner_by(self, columns: Sequence[str]) -> str | None:
        """The same where people have several records."""
        return self.truth_by(columns) and self.person

    @cached_property
    def known(self) -> Mapping[str, pl.DataFrame]:
        """How labels may be read: the hierarchies, and the parts that are left of values."""
        release, original = self.tables.release, self.tables.original
        read = dict(self.tables.known)
        for name in release.columns:
            if name in read or name not in original.columns or name in self.tables.sensitive:
                continue
            beside = self.beside(name)
            found = read_parts(release[name], original[name], beside)
            if found is not None:
                read[name] = found
        return read

    @cached_property
    def fewest_people(self) -> int:
        """The fewest people whose released records can be one person's, by the quasi-identifiers; 0 where not known."""
        if self.whose is None or not self.tables.quasi:
            return 0
        match = Match.of(self.shown, self.people, self.tables.quasi, self.known)
        found = match.people(self.shown[WHO])
        return int(found[found > 0].min(initial=self.people.height))

    def dealt_anew(self, sensitive: str, deal: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The records shown and the people, after a person's sensitive value and that of their record went to others
        together."""
        if self.rows is None:
            raise BugError("values can't be dealt out where it is not known whose they are")
        rows = self.rows.is_not_null().arg_true().to_numpy()
        order = self.randomness.stream("attack", "dealt anew", sensitive).permutation(len(rows), deal)
        released, theirs = np.arange(self.release.height), np.arange(self.people.height)
        origins = self.rows.gather(rows).to_numpy()
        released[rows], theirs[origins] = rows[order], origins[order]
        release = self.release.with_columns(self.release[sensitive].gather(released))
        people = self.people.with_columns(self.people[sensitive].gather(theirs))
        return without_suppressed(release, self.tables.quasi), people

    @property
    def design(self) -> TrialDesign:
        """What attacks on people need besides the tables."""
        return TrialDesign(self.randomness, self.control, self.person, self.whose, self.trials)

    def judged_by(self, columns: Sequence[str]) -> dict[str, Any]:
        """What linking by these columns needs to tell a right link from a wrong one."""
        return {"aligned": False, "truth": self.truth_by(columns), "certain": True, "person": self.person}

    def control_with(self, columns: Sequence[str]) -> pl.DataFrame | None:
        return self.control if self.control is not None and set(columns) <= set(self.control.columns) else None

    def beside(self, name: str) -> pl.Series | None:
        """The original value of each released record, where that is known."""
        return None if self.origins is None else self.tables.original[name].gather(self.origins)

    def given(self, name: str) -> pl.Series | None:
        """What the auxiliary table has of such values."""
        auxiliary = self.tables.auxiliary
        return auxiliary[name] if auxiliary is not None and name in auxiliary.columns else None

    def as_it_was(self, name: str) -> bool:
        """Whether nothing was done to a column: then it is no pseudonym, and linking by it says all."""
        before, after = (
            frame[name].cast(pl.String, strict=False).unique().sort()
            for frame in (self.tables.original, self.tables.release)
        )
        return before.equals(after)

    def unreadable(self, name: str) -> bool:
        """Whether most released records have a label that no way of reading generalised values makes sense of."""
        released = self.tables.release[name]
        seen = Coverage.of(self.tables.original[name], released, self.known.get(name))
        if not seen.unread:
            return False
        telling = released.drop_nulls()
        stars = (telling.cast(pl.String, strict=False) == SUPPRESSED).sum()
        codes = seen.label_codes(telling)
        return bool(2 * (seen.everything[codes].sum() - stars) > len(telling) - stars)


def _origins(tables: AttackTables, randomness: Randomness) -> pl.Series | None:
    release, original = tables.release, tables.original
    read = (*tables.quasi, *tables.sensitive)
    if look_in_order(release, original, read, tables.known, randomness):
        return pl.Series(np.arange(release.height))
    return recovered(release, original, read, tables.known)


def _who(frame: pl.DataFrame, person: str | None) -> pl.Series:
    """A number for each person; a record that names nobody is somebody's of their own."""
    rows = pl.Series(WHO, np.arange(frame.height))
    if person is None:
        return rows
    return frame[person].rank("dense").cast(pl.Int64).fill_null(rows + frame.height + 1).alias(WHO)


def without_suppressed(release: pl.DataFrame, quasi: Sequence[str]) -> pl.DataFrame:
    """Released records that say anything. One with nothing but stars could be anybody's, so it is left aside."""
    if not quasi:
        return release
    starred = pl.all_horizontal(pl.col(name).cast(pl.String).eq_missing(SUPPRESSED) for name in quasi)
    telling = release.filter(~starred)
    return telling if telling.height else release
