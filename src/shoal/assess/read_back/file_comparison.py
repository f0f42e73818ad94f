"""What other columns of a release tell of its quasi-identifiers, measured on two files: the release and its original.

If the rows are shown to be in the same order, it is seen record by record, as when a release is made. If not, it is
learnt from the original alone, by columns that both have: what a value goes with there, it goes with in the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from shoal.assess.comparison.counting_unit import CountingUnit, is_aligned
from shoal.assess.comparison.paired_tables import ComparedPart, TablePair, bound_hierarchies, height, typed
from shoal.assess.read_back.judgement import EXEMPT, LOOKED_AT, is_accepted
from shoal.kernels.arrays import Integers
from shoal.measurement.read_back import DisclosureRule, KnownQuasi, Levels, ReadBack, TrainingRecords
from shoal.measurement.read_back.readings import ColumnReading
from shoal.measurement.read_back.recount import class_sizes, disclosures_in, restore, smallest
from shoal.measurement.read_back.search import search
from shoal.policy import Policy
from shoal.policy.treatment import Treatment, treatments
from shoal.schema import ROW
from shoal.schema.hidden_columns import HIDDEN


def read_back_files(  # noqa: PLR0913  # two tables, and how they are counted
    whom: CountingUnit,
    original: pl.LazyFrame,
    quasi: tuple[str, ...],
    policy: Policy | None,
    k: int | None,
    *,
    accepted: bool = True,
    compared: ComparedRecords | None = None,
) -> ReadBack | None:
    """``whom`` is the release and how its people are counted, ``k`` what was counted in it, else its classes are.

    Without ``accepted``, what the policy accepts is left out. None where the original lacks all quasi-identifiers.
    What was ``compared`` already is not read again.
    """
    was = original.collect_schema()
    quasi = tuple(name for name in quasi if name in was)
    if not quasi:
        return None
    released = whom.frame
    compared = compared or ComparedRecords.of(original, released, names=quasi)
    aligned = is_aligned(compared.pair, quasi, policy)
    every, before, after = compared.every, compared.before, compared.after
    people = None if whom.person is None else _numbered(after[whom.person])
    taught = people
    if not aligned:
        person = None if policy is None else policy.person
        taught = _numbered(before[person]) if person in before.columns else None
    tellers = _tellers(after, quasi, whom)
    if not aligned:
        altered = {} if policy is None else treatments(policy)
        same = (Treatment.KEPT, Treatment.GENERALISED)
        tellers = tuple(n for n in tellers if n in before.columns and altered.get(n, Treatment.KEPT) in same)
    lesson = _lesson(after, before, quasi, tellers, policy, taught, aligned=aligned)
    learnt = search(lesson)
    left_out = () if accepted or policy is None else _accepted(learnt.readings, policy)
    restored = restore(lesson, after, learnt.on(after, taught=aligned), left_out)
    nothing = restore(lesson, after, ())
    sizes, counted = class_sizes(restored.labels, people), class_sizes(nothing.labels, people)
    left = smallest(sizes)
    told = disclosures_in(restored, learnt.readings)
    k = smallest(counted) if k is None else k
    effective = k if left >= smallest(counted) else min(k, left)
    below = int(((sizes > 0) & (sizes < k)).sum()) if told else 0
    return ReadBack(
        effective, below, told, lesson.rule, lesson.released.height, learnt.pairs_looked_at, lower_bound=every > 1
    )


@dataclass(frozen=True)
class ComparedRecords:
    """Some records of two tables: those that are compared, and those that readings are learnt from."""

    pair: TablePair
    every: int
    """One of so many records is in the two tables below."""
    before: pl.DataFrame = field(repr=False)
    after: pl.DataFrame = field(repr=False)

    @classmethod
    def of(
        cls,
        original: pl.LazyFrame,
        released: pl.LazyFrame,
        rows: tuple[int, int] | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> ComparedRecords:
        """By these columns, else by all that both have. Each table is read once, if its number of rows is known."""
        rows = rows or (height(original), height(released))
        every = max(1, -(-rows[1] // LOOKED_AT))
        of_both = (original, released) if names is None else (original.select(names), released.select(names))
        part = ComparedPart.of(*of_both, rows)
        (was, before), (now, after) = (_read(frame, part, every) for frame in (original, released))
        return cls(TablePair(was, now, *rows), every, before, after)


def _read(frame: pl.LazyFrame, part: ComparedPart, every: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The part of a table that is compared, and one of so many records, in one pass."""
    if part.step == every == 1:
        whole = frame.collect(engine="streaming")
        return typed(whole.select(part.columns)), whole
    row = pl.col(ROW)
    some = frame.with_row_index(ROW).filter(part.has(row) | (row % every == 0)).collect(engine="streaming")
    return typed(some.filter(part.has(row)).select(part.columns)), some.filter(row % every == 0).drop(ROW)


def _accepted(readings: Sequence[ColumnReading], policy: Policy) -> tuple[int, ...]:
    return tuple(
        place
        for place, one in enumerate(readings)
        if is_accepted(one, policy.read_back.accept, policy.quasi_identifiers)
    )


def _lesson(  # noqa: PLR0913, PLR0917  # what is learnt from
    after: pl.DataFrame,
    before: pl.DataFrame,
    quasi: tuple[str, ...],
    tellers: tuple[str, ...],
    policy: Policy | None,
    people: Integers | None,
    *,
    aligned: bool,
) -> TrainingRecords:
    bound = bound_hierarchies(policy, before)
    treated = {} if policy is None else treatments(policy)
    made = []
    for name in quasi:
        steps = policy is not None and bool(policy.attributes[name].steps)
        levels = Levels.of(name, before[name], None if steps or name not in bound else bound[name][0])
        altered = steps or treated.get(name) is Treatment.ALTERED
        made.append(KnownQuasi(name, levels, before[name], altered=altered))
    shown = after.select(*quasi, *tellers) if aligned else before.select(tellers)
    rules = None if policy is None else policy.read_back
    rule = DisclosureRule() if rules is None else DisclosureRule(rules.records, rules.share)
    return TrainingRecords(shown, tuple(made), quasi, tellers, people, aligned, rule)


def _tellers(after: pl.DataFrame, quasi: Sequence[str], whom: CountingUnit) -> tuple[str, ...]:
    plain = [name for name, kind in after.schema.items() if kind not in EXEMPT and name not in quasi]
    return tuple(name for name in plain if name != whom.person or not name.startswith(HIDDEN))


def _numbered(people: pl.Series) -> Integers:
    return people.rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
