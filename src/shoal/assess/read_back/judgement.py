"""What other columns of a release tell of its quasi-identifiers: measured while it is made, before it is committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.hierarchy import BoundHierarchy
from shoal.kernels.arrays import Integers, Mask
from shoal.kernels.group_counts import count_groups
from shoal.measurement.read_back import ColumnDisclosure, DisclosureRule, KnownQuasi, Levels, ReadBack, TrainingRecords
from shoal.measurement.read_back.chance import is_by_chance
from shoal.measurement.read_back.disclosure_rule import DisclosureMethod
from shoal.measurement.read_back.levels import Codes
from shoal.measurement.read_back.readings import ColumnReading, ReleasedView
from shoal.measurement.read_back.recount import (
    Restored,
    class_sizes,
    disclosures_in,
    restore,
    smallest,
    starred,
)
from shoal.measurement.read_back.search import LearntReadings, search
from shoal.plan import Plan, SuppressCellsStep
from shoal.plan.hidden_columns.original_values import original_of
from shoal.plan.hidden_columns.person_tag import PERSON
from shoal.policy import Policy
from shoal.policy.read_back_rules import AcceptedDisclosure
from shoal.policy.treatment import Treatment, treatments
from shoal.results.read_back.outcome import NAMED, ReadBackOutcome
from shoal.schema import Role, Scope
from shoal.schema.hidden_columns import HIDDEN

LOOKED_AT = 200_000
"""Records that are kept in memory to learn from; of larger tables, every n-th."""
ROUNDS = 30
"""Of suppressing cells: fewer values that tell may leave others that do. After so many the columns go as a whole."""
_RECORDS = f"{HIDDEN}records"
_MIX = np.uint64(0x9E3779B97F4A7C15)
EXEMPT = (pl.List, pl.Struct, pl.Array, pl.Binary, pl.Object)


@dataclass(frozen=True)
class SampledRecords:
    """Some records of a release with their originals, and how it came about."""

    policy: Policy
    plan: Plan
    hierarchies: Mapping[str, BoundHierarchy]
    sample: pl.DataFrame = field(repr=False)
    every: int

    @property
    def quasi(self) -> tuple[str, ...]:
        return tuple(name for name in self.policy.quasi_identifiers if name in self.sample.columns)


@dataclass(frozen=True)
class WrittenRecords(SampledRecords):
    """A release as it was written: some of its records with their originals, and all of them without."""

    scan: Callable[[], pl.LazyFrame]
    """The released table, with ``PERSON`` where people are counted."""

    @classmethod
    def of(cls, sampled: SampledRecords, scan: Callable[[], pl.LazyFrame]) -> WrittenRecords:
        made = sampled
        return cls(made.policy, made.plan, made.hierarchies, made.sample, made.every, scan)


Taught = tuple[TrainingRecords, LearntReadings]


def learn_from(sampled: SampledRecords) -> Taught:
    """What is told in the records at hand, whatever k is."""
    lesson = _lesson(sampled, sampled.sample, _people(sampled.sample))
    return lesson, search(lesson)


def judge_read_back(written: WrittenRecords, k: int, taught: Taught | None = None) -> ReadBackOutcome:
    """``k`` is what was recounted, ``taught`` what was learnt from the sample, if that has been done.

    Raises where k falls below what the policy demands, unless it says otherwise.
    """
    required = min(written.policy.required_k, k)
    judged = _Judgement(written, k, taught or learn_from(written))
    accepted = written.policy.read_back.accept
    firm, left = judged.k(judged.soft), judged.k(judged.accepted)
    outcome = ReadBackOutcome(judged.found(required), k_firm=firm, k_open=left, accepted=accepted)
    if written.policy.read_back.found == "stop":
        if outcome.k_firm < required and judged.k((*judged.soft, *judged.by_chance)) < required:
            raise _refusal(judged, outcome, required)
        return outcome
    return _suppressed(written, judged, required)


def _suppressed(written: WrittenRecords, judged: _Judgement, required: int) -> ReadBackOutcome:
    step, before = None, judged.learnt
    more = judged.to_suppress(required)
    rounds = 1
    while more is not None and rounds <= ROUNDS + len(judged.lesson.tellers):
        step = more if step is None else both_suppressed(step, more)
        if rounds >= ROUNDS:
            step = replace(step, whole=step.whole.union(more.columns))
        rest = replace(written, sample=step.apply(written.sample))
        judged = _Judgement(rest, judged.claimed, learn_from(rest), step, before)
        more, rounds = judged.to_suppress(required), rounds + 1
    firm = judged.k(judged.soft)
    if judged.k(judged.spared) < required:
        raise _refusal(judged, ReadBackOutcome(judged.found(required), k_firm=firm), required)
    marked = {} if step is None else step.marked(written.sample).sum().row(0, named=True)
    cells = {name: int(records) * written.every for name, records in marked.items() if records}
    left = judged.k(judged.accepted)
    return ReadBackOutcome(judged.found(required), step, cells, firm, left, written.policy.read_back.accept)


class _Judgement:
    """What is told once some cells are suppressed, and what is left of k."""

    def __init__(
        self,
        written: WrittenRecords,
        claimed: int,
        taught: Taught,
        step: SuppressCellsStep | None = None,
        before: LearntReadings | None = None,
    ) -> None:
        """``claimed`` is k as it was counted without anything read back, ``step`` what has been suppressed in the
        sample. What was learnt ``before`` cells were suppressed stays known."""
        self.written, self.policy, self.step, self.claimed, self.before = written, written.policy, step, claimed, before
        self.sample = written.sample
        self.lesson, self.learnt = taught
        self.people = self.lesson.people
        self.readings = (*self.learnt.readings, *(() if before is None else before.readings))
        self.restored = self._restore(())
        self._counted: dict[tuple[int, ...], int] = {}
        places = list(enumerate(self.readings))
        self.accepted = tuple(place for place, one in places if self._is_accepted(one))
        self.spared = tuple(place for place, one in places if self._is_accepted(one) or self._is_modelled(one))
        self.soft = tuple(place for place, one in places if self._is_accepted(one) or self._is_sensitive(one))

    @cached_property
    def by_chance(self) -> tuple[int, ...]:
        """Readings that would be found in as many values if nothing bound the columns. They count, but stop nothing."""
        places = range(len(self.learnt.readings))
        return tuple(p for p in places if is_by_chance(self.lesson, self.learnt.columns, self.readings[p]))

    def _restore(self, without: Sequence[int]) -> Restored:
        return restore(self.lesson, self.sample, self._on(self.sample, taught=True), without)

    def _on(self, frame: pl.DataFrame, *, taught: bool) -> list[tuple[ReleasedView, ColumnReading]]:
        gone = None if self.step is None else self.step.marked(frame)
        known = [] if self.before is None else self.before.on(frame, taught=False, gone=gone)
        return [*self.learnt.on(frame, taught=taught), *known]

    def k(self, without: Sequence[int]) -> int:
        """By all readings but some. Where they split no class, it stays as it was counted."""
        left_out = tuple(sorted(set(without)))
        if left_out not in self._counted:
            if self.written.every > 1 and not self._by_order(left_out):
                usual = {left_out, *(tuple(sorted(one)) for one in ((), self.accepted, self.soft))}
                self._counted |= self._streamed([one for one in usual if not self._by_order(one)])
            else:
                self._counted[left_out] = self._in_sample(left_out)
        return self._counted[left_out]

    def _in_sample(self, without: Sequence[int]) -> int:
        restored = self.restored if not without else self._restore(without)
        if not restored.anything:
            return self.claimed
        left = smallest(class_sizes(restored.labels, self.people))
        return self.claimed if left >= self._by_classes else min(self.claimed, left)

    @cached_property
    def _by_classes(self) -> int:
        """Where stars match any value, k is counted in another way than by classes."""
        nothing = self._restore(range(len(self.readings)))
        return smallest(class_sizes(nothing.labels, self.people))

    def found(self, required: int) -> ReadBack:
        told = disclosures_in(self.restored, self.readings)
        below = 0
        if told:
            sizes = class_sizes(self.restored.labels, self.people)
            below = int(((sizes > 0) & (sizes < required)).sum())
        return ReadBack(
            self.k(()),
            below,
            told,
            self.lesson.rule,
            self.sample.height,
            self.learnt.pairs_looked_at,
            lower_bound=bool(told) and self.written.every > 1 and self._by_order(()),
        )

    def to_suppress(self, required: int) -> SuppressCellsStep | None:
        """The cells of columns that split classes into parts that are too small; None if nothing does.

        A part is all records of a class that are told the same by every reading. Whoever knows less, or believes one
        reading rather than another, sees larger parts; so if these are large enough, k holds for everybody.
        """
        quasi = list(self.written.quasi)
        keys = self.sample.select(pl.col(name).cast(pl.String) for name in quasi)
        classes = keys.select(pl.struct(quasi).rank("dense")).to_series().cast(pl.Int64).to_numpy() - 1
        hidden = starred(keys)
        told = self._told()
        together = np.zeros(self.sample.height, dtype=np.uint64)
        for codes in told.values():
            together = (together ^ (codes + 2).astype(np.uint64)) * _MIX
        frame = pl.DataFrame({"class": classes, "told": together, "who": self._who})
        sizes = frame.select(pl.col("who").n_unique().over("class", "told")).to_series().to_numpy()
        anything = np.zeros(self.sample.height, dtype=bool)
        for codes in told.values():
            anything |= codes >= 0
        apart = np.where(hidden, anything, sizes < required)
        in_question = np.isin(classes, np.unique(classes[apart]))
        marks = self._marks(told, classes, hidden, in_question)
        if not marks:
            return None
        marked = keys.with_columns(pl.Series(name, mark) for name, mark in marks.items())
        found = marked.group_by(quasi).agg(pl.col(name).any() for name in marks)
        return SuppressCellsStep(tuple(quasi), tuple(marks), found.filter(pl.any_horizontal(*marks)).sort(quasi))

    @property
    def _who(self) -> Integers:
        return np.arange(self.sample.height) if self.people is None else self.people

    def _told(self) -> dict[int, Codes]:
        """By each reading that is not spared, what it tells of each record beyond the released label."""
        found = {}
        shown = {one.attribute: one for one in self.lesson.quasi}
        released = {}
        for name, one in shown.items():
            codes = one.levels.label_codes(self.sample[name])
            released[name] = np.full_like(codes, -1) if one.altered else codes
        for place, (view, reading) in enumerate(self._on(self.sample, taught=True)):
            if place in self.spared or reading.how is DisclosureMethod.ORDER:
                continue
            labels, _ = reading.read(view)
            finer = shown[reading.attribute].levels.finer(labels, released[reading.attribute])
            if finer.any():
                found[place] = np.where(finer, labels, -1)
        return found

    def _marks(self, told: Mapping[int, Codes], classes: Integers, hidden: Mask, in_question: Mask) -> dict[str, Mask]:
        """Per column, the records of classes that it helps to split; of suppressed records, those that it tells of."""
        free = set(self.lesson.tellers) - set(self.policy.modelled)
        marks: dict[str, Mask] = {}
        own = classes[in_question]
        last = np.zeros(int(classes.max()) + 1, dtype=np.int64)
        for place, codes in told.items():
            columns = [name for name in self.readings[place].columns if name in free]
            here = codes[in_question]
            if not columns or not (here >= 0).any():
                continue
            last[own] = here
            splits = np.zeros(len(last), dtype=bool)
            splits[own[here != last[own]]] = True
            splits[own[hidden[in_question] & (here >= 0)]] = True
            if splits.any():
                for name in columns:
                    marks[name] = marks.get(name, np.zeros(len(classes), dtype=bool)) | splits[classes]
        return marks

    def _is_accepted(self, reading: ColumnReading) -> bool:
        return is_accepted(reading, self.policy.read_back.accept, self.written.quasi)

    def _is_modelled(self, reading: ColumnReading) -> bool:
        """Whether all that tells is what models look at: starred, it would no longer be as diverse as they ask."""
        telling = set(reading.columns) - set(self.written.quasi)
        return bool(telling) and telling <= set(self.policy.modelled)

    def _is_sensitive(self, reading: ColumnReading) -> bool:
        """Whether all that tells is sensitive attributes, which are what the release is for."""
        telling = [name for name in reading.columns if name not in self.written.quasi]
        return bool(telling) and all(self.policy.attributes[name].role is Role.SENSITIVE for name in telling)

    def _by_order(self, without: Sequence[int]) -> bool:
        return any(
            one.how is DisclosureMethod.ORDER and place not in without for place, one in enumerate(self.readings)
        )

    def _streamed(self, without: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], int]:
        """k by all records, as their dictionary reads them batch after batch, once without each of these readings."""
        if not self.restored.anything:
            return dict.fromkeys(without, self.claimed)
        found = {one: _Classes(self.written.quasi) for one in without}
        for distinct in self._distinct():
            readings = self._on(distinct, taught=False)
            for one, classes in found.items():
                classes.add(restore(self.lesson, distinct, readings, one), distinct)
        return {one: min(self.claimed, classes.k) if classes.told else self.claimed for one, classes in found.items()}

    def _distinct(self) -> Iterator[pl.DataFrame]:
        """All released records, equal ones once with their number, in one table or in parts."""
        table = self.written.scan()
        schema = table.collect_schema()
        names = [name for name in schema if name in self._needed or name == PERSON]
        table, telling = table.select(names), self._telling_values()
        if telling is not None and self.step is None:
            same = {name: values for name, values in telling.items() if schema[name] == values.dtype}
            shown = (pl.when(pl.col(name).is_in(values.implode())).then(name) for name, values in same.items())
            at_most = self.sample.height * self.written.every
            yield count_groups(table.with_columns(shown), names, _RECORDS, at_most=at_most)
            return
        for batch in table.collect_batches(chunk_size=200_000, engine="streaming"):
            if self.step is not None:
                present = tuple(name for name in self.step.columns if name in batch.columns)
                batch = replace(self.step, columns=present).apply(batch) if present else batch  # noqa: PLW2901
            yield batch.group_by(names).agg(pl.len().alias(_RECORDS))

    @property
    def _needed(self) -> set[str]:
        return {*self.written.quasi, *(name for one in self.readings for name in one.columns)}

    def _telling_values(self) -> dict[str, pl.Series] | None:
        """Per telling column the values that tell; others may as well be missing. None where not only values tell."""
        found: dict[str, list[pl.Series]] = {}
        for learnt in (self.learnt, *(() if self.before is None else (self.before,))):
            for one in learnt.readings:
                told = one.telling(learnt.columns)
                if told is None:
                    return None
                for name, values in told.items():
                    found.setdefault(name, []).append(values)
        return {name: pl.concat(parts).unique() for name, parts in found.items() if name not in self.written.quasi}


class _Classes:
    """Records that are counted batch after batch, by what an attacker sees of them."""

    def __init__(self, quasi: Sequence[str]) -> None:
        self.quasi, self.told = list(quasi), False
        self._counted: pl.DataFrame | None = None

    def add(self, restored: Restored, batch: pl.DataFrame) -> None:
        self.told = self.told or restored.anything
        beside = [name for name in (PERSON, _RECORDS) if name in batch.columns]
        labels = restored.labels.with_columns(batch.select(beside))
        both = labels if self._counted is None else pl.concat([self._counted, labels])
        self._counted = both.group_by(pl.exclude(_RECORDS)).agg(pl.col(_RECORDS).sum())

    @property
    def k(self) -> int:
        if self._counted is None:
            return 0
        size = pl.len() if PERSON in self._counted.columns else pl.col(_RECORDS).sum()
        sizes = self._counted.group_by(self.quasi).agg(size.alias("people"))
        shown = sizes.filter(~pl.all_horizontal(pl.col(name).eq_missing("*") for name in self.quasi))
        return int(shown["people"].min() or 0)  # type: ignore[arg-type]  # whole numbers


def is_accepted(reading: ColumnReading, accepted: Sequence[AcceptedDisclosure], quasi: Sequence[str]) -> bool:
    told = set(reading.columns) - set(quasi)
    named = [one for one in accepted if one.tells == reading.attribute]
    if reading.how is DisclosureMethod.ORDER:
        return any(not one.columns for one in named)
    return bool(told) and any(set(one.columns) >= told for one in named)


def _lesson(written: SampledRecords, sample: pl.DataFrame, people: Integers | None) -> TrainingRecords:
    treated = treatments(written.policy)
    quasi = []
    for name in written.quasi:
        original = sample[original_of(name)]
        steps = bool(written.policy.attributes[name].steps)
        if not steps and bool(original.cast(pl.String).eq_missing(sample[name].cast(pl.String)).all()):
            continue
        levels = Levels.of(name, original, None if steps else written.hierarchies.get(name))
        altered = steps or treated.get(name) is Treatment.ALTERED
        quasi.append(KnownQuasi(name, levels, original.alias(name), altered=altered))
    shown = [name for name, kind in sample.schema.items() if not name.startswith(HIDDEN) and kind not in EXEMPT]
    tellers = tuple(name for name in shown if name not in written.quasi)
    ordered = not any(one.step.scope in (Scope.ORDER, Scope.INSERT) for one in written.plan)
    rules = written.policy.read_back
    released = sample.select(*written.quasi, *tellers)
    return TrainingRecords(
        released, tuple(quasi), written.quasi, tellers, people, ordered, DisclosureRule(rules.records, rules.share)
    )


def _people(sample: pl.DataFrame) -> Integers | None:
    if PERSON not in sample.columns:
        return None
    return sample[PERSON].rank("dense").fill_null(0).cast(pl.Int64).to_numpy()


def both_suppressed(one: SuppressCellsStep, other: SuppressCellsStep) -> SuppressCellsStep:
    """Both suppressions in one. Columns that tell although their cells are suppressed already tell by that: some of
    their cells are, and others not. They go as a whole."""
    columns = tuple(dict.fromkeys((*one.columns, *other.columns)))
    wide = [
        step.classes.with_columns(pl.lit(value=False).alias(name) for name in columns if name not in step.columns)
        for step in (one, other)
    ]
    order = [*one.attributes, *columns]
    both = pl.concat([part.select(order) for part in wide]).group_by(one.attributes).agg(pl.col(columns).any())
    classes = both.sort(one.attributes)
    again = other.columns if classes.equals(wide[0].select(order).sort(one.attributes)) else ()
    return SuppressCellsStep(one.attributes, columns, classes, one.whole.union(again))


def _refusal(judged: _Judgement, outcome: ReadBackOutcome, required: int) -> DataError:
    passed = {*judged.soft, *judged.by_chance}
    soft = {(one.columns, one.attribute) for place, one in enumerate(judged.readings) if place in passed}
    firm = [one for one in outcome.found.tellings if (one.columns, one.attribute) not in soft]
    more = f"; and {len(firm) - NAMED} more" if len(firm) > NAMED else ""
    listed = "; ".join(one.words for one in firm[:NAMED]) + more
    return DataError(
        f"k would be {outcome.k_firm} instead of {required}, because other released columns give back what was "
        f"generalised: {listed}",
        advice=_advice(firm),
    )


def _advice(firm: Sequence[ColumnDisclosure]) -> str:
    if firm and all(one.how is DisclosureMethod.ORDER for one in firm):
        return "release the records in another order: shuffle_rows: true"
    return (
        "suppress the telling column, make it a quasi-identifier with a hierarchy that goes with the other's, have "
        "only the cells that tell suppressed (read_back: {found: suppress}), or accept it and say why "
        "(read_back: {accept: …})"
    )


def as_written(path: Path, output: pl.LazyFrame) -> pl.LazyFrame:
    """The output with who each record is of, where that was put aside."""
    if not path.exists():
        return output
    aside = pl.scan_ipc(path)
    return pl.concat([output, aside.select(PERSON)], how="horizontal") if PERSON in aside.collect_schema() else output
