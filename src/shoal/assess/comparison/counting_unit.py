"""Who is counted when a table is measured. Where a person has several records, k is a number of people.

Most releases don't hold the column that tells people apart any more. It is then taken from the original, if the rows
of both are shown to be in the same order. Else the manifest of the release says how few people there may be behind the
records, provided that it is of this very file. If neither is there, nothing is counted unless the caller says that
records will do: a class of 27 records may be 5 people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from shoal.assess.comparison.paired_tables import MEASURING, TablePair, known_labels
from shoal.attack.matching.coverage import Match
from shoal.errors import DataError, FieldName, FieldText
from shoal.kernels.arrays import Integers, sums_by
from shoal.measurement import Measurement
from shoal.policy import Policy
from shoal.policy.treatment import keeps_people_apart
from shoal.results.record_counts import CountBasis
from shoal.results.release_folder import ReleaseFolder
from shoal.schema import Role
from shoal.schema.registry import did_you_mean

BY_CHANCE = 1e-9
"""How probable it may be that rows in any other order fit as well."""
ADVICE = FieldText(
    "give ",
    FieldName("original"),
    " with its rows in the same order, or ",
    FieldName("by_records"),
    " to count records instead",
)
_PERSON = "__shoal_person_of_original"


@dataclass(frozen=True)
class DeclaredPeople:
    """What the manifest of a release says of the people in its data file."""

    release: ReleaseFolder
    person: str
    most_records: int
    """Of one person."""
    k: int
    quasi: frozenset[str]

    @classmethod
    def of(cls, release: ReleaseFolder) -> DeclaredPeople | None:
        """None where there is no manifest, or where it says nothing of people."""
        manifest = release.manifest
        if manifest is None or manifest.person is None:
            return None
        person, quasi = manifest.person, frozenset(manifest.with_role(Role.QUASI))
        return cls(release, person.attribute, max(1, person.most_records), release.promised_k, quasi)

    def of_this_file(self) -> bool:
        """Whether the checksum in the manifest is that of the data file as it is now."""
        return self.release.proven


@dataclass(frozen=True)
class CountingUnit:
    """How a table is counted: by a column that tells people apart, by what its manifest says of them, or by records."""

    frame: pl.LazyFrame
    person: str | None = None
    told: DeclaredPeople | None = None
    by_records: bool = False

    @property
    def counted(self) -> CountBasis:
        if self.by_records:
            return CountBasis.RECORDS
        return CountBasis.AT_LEAST if self.told is not None and self.told.most_records > 1 else CountBasis.PEOPLE

    def people(self, measured: Measurement) -> Measurement:
        """As counted; where people can't be told apart, each class has as few as there can be."""
        if self.told is None or self.counted is not CountBasis.AT_LEAST:
            return measured
        classes, told = measured.classes, self.told
        least = max(1, told.k) if told.quasi.issuperset(classes.attributes) else 1

        def fewest(groups: Integers, number: int) -> Integers:
            records = sums_by(groups, classes.records, number)
            return np.where(records > 0, np.maximum(least, -(-records // told.most_records)), 0)

        classes = replace(classes, people=fewest(np.arange(len(classes)), len(classes)), shared_people=fewest)
        return replace(measured, classes=classes, people=-(-measured.rows // told.most_records))

    def need_everyone(self, what: str | FieldName) -> None:
        """Refuse what fewer people could make look safer, where only the fewest that there can be are known."""
        if self.counted is CountBasis.AT_LEAST:
            raise DataError(
                FieldText(what, ": people have to be counted, and the release doesn't tell them apart"), advice=ADVICE
            )


def choose_counting_unit(  # noqa: PLR0913  # all that may tell
    frame: pl.LazyFrame,
    person: str,
    quasi: tuple[str, ...],
    *,
    policy: Policy | None = None,
    original: pl.LazyFrame | None = None,
    told: DeclaredPeople | None = None,
) -> CountingUnit:
    """By a column that the table or its original has, or by the manifest; refused where people can't be counted."""
    present = tuple(frame.collect_schema())
    if person in present and keeps_people_apart(policy, person):
        return CountingUnit(frame, person)
    if original is not None and person in original.collect_schema() and in_order(original, frame, quasi, policy):
        return CountingUnit(
            pl.concat([frame, original.select(pl.col(person).alias(_PERSON))], how="horizontal"), _PERSON
        )
    if told is not None and told.person == person and told.of_this_file():
        return CountingUnit(frame, None, told)
    if person in present:
        raise DataError(f"column '{person}' is altered, so people can't be counted by it", advice=ADVICE)
    near = did_you_mean(person, present)
    raise DataError(f"the data has no column '{person}'{near}, so people can't be counted by it", advice=ADVICE)


def in_order(
    original: pl.LazyFrame, released: pl.LazyFrame, quasi: tuple[str, ...], policy: Policy | None = None
) -> bool:
    """Whether row i of both is shown to be the same record: what is released covers every value of its own row, and
    would hardly do so in another order. Labels that can't be read show nothing.
    """
    if not quasi:
        return False
    return is_aligned(TablePair.of(original.select(quasi), released.select(quasi)), quasi, policy)


def is_aligned(pair: TablePair, quasi: tuple[str, ...], policy: Policy | None = None) -> bool:
    """The same of tables that are in memory, with these columns among others."""
    if not quasi:
        return False
    if pair.rows_original != pair.rows_released:
        return False
    before, after = pair.original.select(quasi), pair.released.select(quasi)
    match = Match.of(after, before, quasi, known_labels(policy, before))
    rows = np.arange(pair.released.height)
    if match.unread or not match.fits(rows, rows).all():
        return False
    by_chance = float(match.fits(rows, MEASURING.stream("another order").permutation(len(rows))).mean())
    return bool(by_chance ** len(rows) < BY_CHANCE)
