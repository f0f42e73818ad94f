"""Looking for what tells what: all single columns and their parts, what can be computed, the order of rows, pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
import polars as pl

from shoal.kernels.arrays import Integers, Mask
from shoal.measurement.read_back.characters import CharacterGrid, template_for
from shoal.measurement.read_back.column_pairs import ThinnedColumn, records_with, screened, whole_keys
from shoal.measurement.read_back.column_types import kinds_of
from shoal.measurement.read_back.dictionary import CodedColumn, DictionaryEntries, columns_of, large_enough, learn
from shoal.measurement.read_back.disclosure_rule import DisclosureMethod, DisclosureRule
from shoal.measurement.read_back.formulas import Formula, NumericColumn, fit
from shoal.measurement.read_back.levels import Codes, Levels
from shoal.measurement.read_back.readings import (
    ByCharacters,
    ByCopy,
    ByFormula,
    ByOrder,
    ByPair,
    ByValue,
    ColumnReading,
    Key,
    ReleasedView,
    Told,
    numbers_in,
    series_of,
)
from shoal.measurement.read_back.record_order import is_sorted, may_be_sorted, ranked
from shoal.measurement.read_back.screen import Groups, Screen
from shoal.measurement.read_back.value_parts import PartKind, ValuePart, nested_groups, parts_of
from shoal.schema import Column as Described

SAMPLED = 20_000
"""Records by which formulas and shared characters are looked for."""
FITTED = 5_000
"""Of these, the records that formulas are fitted to."""
PAIR_WORK = 24_000_000
"""Records × pairs × attributes that are compared; of larger tables, every n-th record is."""
COVERED = 0.5
"""A column of which fewer records have a value that is common enough is looked at in parts too."""


@dataclass(frozen=True)
class KnownQuasi:
    """A quasi-identifier whose originals are known for the records that are learnt from."""

    attribute: str
    levels: Levels
    original: pl.Series = field(repr=False)
    altered: bool = False
    """Whether a technique wrote something else, so that the released cell need not be true."""

    @cached_property
    def values(self) -> Codes:
        return self.levels.value_codes(self.original)


@dataclass(frozen=True)
class TrainingRecords:
    """Records whose originals are known: the released columns, and the quasi-identifiers as they were."""

    released: pl.DataFrame
    quasi: tuple[KnownQuasi, ...]
    """Those of which something was taken away."""
    counted: tuple[str, ...]
    """All of them."""
    tellers: tuple[str, ...]
    """Released columns that are no quasi-identifiers."""
    people: Integers | None = None
    in_order: bool = False
    """Whether the records are in the order in which they are released."""
    rule: DisclosureRule = field(default_factory=DisclosureRule)


@dataclass(frozen=True)
class LearntReadings:
    readings: tuple[ColumnReading, ...]
    columns: dict[Key, CodedColumn] = field(repr=False)
    pairs_looked_at: int = 0

    def on(
        self, frame: pl.DataFrame, *, taught: bool, gone: pl.DataFrame | None = None
    ) -> list[tuple[ReleasedView, ColumnReading]]:
        """Each reading with the table that it reads; ``taught`` if that is the one it was learnt from. ``gone`` says of
        some columns which cells were suppressed since: what their mark meant before, it means no longer."""
        view = ReleasedView(frame, self.columns, taught=taught, gone=gone)
        return [(view, reading) for reading in self.readings]


def search(lesson: TrainingRecords) -> LearntReadings:
    return _DisclosureSearch(lesson).run()


class _DisclosureSearch:
    def __init__(self, lesson: TrainingRecords) -> None:
        self.lesson, self.rule = lesson, lesson.rule
        self.frame, self.rows = lesson.released, lesson.released.height
        self.columns: dict[Key, CodedColumn] = {}
        self.readings: list[ColumnReading] = []
        self._known = {one.attribute: one.levels.common(one.values, self.rule.share) for one in lesson.quasi}
        self._screens = {one.attribute: Screen.of(one.levels, one.values, self.rule) for one in lesson.quasi}

    def run(self) -> LearntReadings:
        if not self.rows or not self.lesson.quasi:
            return LearntReadings((), {})
        if self.lesson.in_order:
            self.readings += self._orders()
        self.columns.update(columns_of(self.frame.select(self.lesson.tellers), self.rule))
        useful = [name for name in self.lesson.tellers if not self.columns[name].tells_nothing]
        for name in useful:
            self.readings += self._by_value(name, (name,), DisclosureMethod.VALUE)
        self.readings += self._parts()
        self.readings += self._computed()
        seen = self._pairs(useful)
        kept = {key for one in self.readings for key in _keys(one)}
        return LearntReadings(tuple(self.readings), {key: self.columns[key] for key in kept}, seen)

    def _by_value(self, key: Key, columns: tuple[str, ...], how: DisclosureMethod) -> Iterator[ByValue]:
        column = self.columns[key]
        groups = Groups(column.codes + 1, column.size)
        for quasi in self.lesson.quasi:
            asked = self._screens[quasi.attribute].passes(groups)[1:]
            if not asked.any():
                continue
            asked &= self._enough(key)
            known = self._known[quasi.attribute]
            entries = learn(column.codes, column.size, quasi.values, quasi.levels, self.rule, asked, known)
            if (entries.labels >= 0).any():
                yield ByValue(columns, quasi.attribute, how, key, entries)

    def _enough(self, key: Key) -> Mask:
        """Values of a column that stand in enough records, of two people or more."""
        column = self.columns[key]
        return large_enough(column.codes, column.size, self.lesson.people, self.rule)

    def _parts(self) -> Iterator[ByValue]:
        rare = [name for name in self.lesson.tellers if (self.columns[name].codes >= 0).mean() < COVERED]
        for name in rare:
            for part in self._possible_parts(name):
                if not self._promising(part):
                    continue
                self.columns[part] = CodedColumn.of(series_of(self.frame, part), self.rule)
                for reading in self._by_value(part, (name,), DisclosureMethod.PART):
                    if self._says_something(reading.attribute, reading.entries.told(self.columns[part].codes)):
                        yield reading

    def _possible_parts(self, name: str) -> Iterator[ValuePart]:
        """Of texts, those that by the screens may tell something in as many records as a promising part has to."""
        described = self._described[name]
        if described.is_date:
            yield from parts_of(described, 0)
            return
        text = self._some[name].cast(pl.String)
        longest = int(text.str.len_chars().max() or 0)  # type: ignore[arg-type]  # a whole number
        for cut in (PartKind.FIRST, PartKind.LAST):
            wanted = {part.length: part for part in parts_of(described, longest) if part.cut is cut}
            for length, groups in nested_groups(text, cut, max(wanted, default=0), self.rule.records):
                if groups.records[0] > (1 - COVERED / 2) * len(text):
                    break
                if length in wanted and self._may_tell(groups):
                    yield wanted[length]

    def _may_tell(self, groups: Groups) -> bool:
        """Of the records that are looked at first, by groups of them."""
        enough = COVERED / 2 * len(groups.places)
        return any(groups.records[screen.passes(groups)].sum() >= enough for screen in self._some_screens)

    @cached_property
    def _some_screens(self) -> list[Screen]:
        return [screen.every(self._step) for screen in self._screens.values()]

    def _promising(self, part: ValuePart) -> bool:
        """Whether it tells something in a part of the records; most parts don't, which is quickly seen."""
        column = CodedColumn.of(series_of(self._some, part), self.rule)
        if column.tells_nothing:
            return False
        enough = large_enough(column.codes, column.size, None, self.rule)
        for quasi in self.lesson.quasi:
            values, known = quasi.values[:: self._step], self._known[quasi.attribute]
            entries = learn(column.codes, column.size, values, quasi.levels, self.rule, enough, known)
            if (entries.told(column.codes)[0] >= 0).mean() >= COVERED / 2:
                return True
        return False

    def _says_something(self, attribute: str, read: Told) -> bool:
        """Parts of random identifiers stand in a few records each: they seem to tell what is common anyway."""
        quasi = next(one for one in self.lesson.quasi if one.attribute == attribute)
        told, on = read
        if (told >= 0).mean() < COVERED:
            return False
        common = {level: _most_common(names[quasi.values]) for level, names in enumerate(quasi.levels.labels)}
        usual = np.array([common.get(int(level), -1) for level in range(quasi.levels.height)])
        return int(((told >= 0) & (told != usual[on])).sum()) >= self.rule.records

    def _computed(self) -> Iterator[ColumnReading]:
        """Copies, formulas, shared characters: where values are too rare for a dictionary."""
        if self._some.height < self.rule.records:
            return
        texts = {name: CharacterGrid.of(name, self._some[name], self.rule) for name in self._some.columns}
        for quasi in self.lesson.quasi:
            values = quasi.original.gather_every(self._step)
            if values.n_unique() < 2:
                continue
            told, original = self._told_by_value(quasi.attribute), CharacterGrid.of(quasi.attribute, values, self.rule)
            others = [name for name in self.lesson.tellers if name not in told]
            copies = [name for name in others if self._is_copy(original, texts[name])]
            yield from (ByCopy((name,), quasi.attribute, DisclosureMethod.COPY, quasi.levels) for name in copies)
            others = [name for name in others if name not in copies]
            yield from self._formulas(quasi, values, others)
            yield from self._characters(quasi, original, texts.get(quasi.attribute), [texts[name] for name in others])

    def _told_by_value(self, attribute: str) -> set[str]:
        """Columns whose values tell nearly every record exactly: nothing has to be computed from them."""
        found = set()
        for one in self.readings:
            if isinstance(one, ByValue) and one.attribute == attribute and isinstance(one.key, str):
                labels, on = one.entries.told(self.columns[one.key].codes)
                if ((labels >= 0) & (on == 0)).mean() >= self.rule.share:
                    found.add(one.key)
        return found

    def _is_copy(self, original: CharacterGrid, other: CharacterGrid) -> bool:
        return float((original.texts == other.texts).mean() or 0.0) >= self.rule.share  # type: ignore[arg-type]

    def _formulas(self, quasi: KnownQuasi, values: pl.Series, names: Sequence[str]) -> Iterator[ByFormula]:
        numbers = [one for name, one in self._numbers.items() if name in names]
        for found in fit(quasi.levels, values.gather_every(self._fitted_step), numbers, self.rule):
            yield self._formula(quasi, found)

    @property
    def _fitted_step(self) -> int:
        return max(1, self._some.height // FITTED)

    @cached_property
    def _numbers(self) -> dict[str, NumericColumn]:
        """Numbers, then dates, of the records that formulas are fitted to."""
        sample = self._some.gather_every(self._fitted_step)
        described = list(self._described.values())
        ordered = [*(one for one in described if one.is_number), *(one for one in described if one.is_date)]
        return {one.name: NumericColumn(one, numbers_in(sample, [one])[:, 0]) for one in ordered}

    def _formula(self, quasi: KnownQuasi, found: Formula) -> ByFormula:
        return ByFormula(
            tuple(one.name for one in found.columns),
            quasi.attribute,
            DisclosureMethod.FORMULA,
            found.level,
            quasi.levels,
            found.columns,
            found.weights,
            found.values,
            found.places,
        )

    def _characters(
        self, quasi: KnownQuasi, original: CharacterGrid, own: CharacterGrid | None, others: Sequence[CharacterGrid]
    ) -> Iterator[ByCharacters]:
        for other in others:
            found = template_for(quasi.levels, original, own, other, self.rule)
            if found is not None:
                length, made = found
                yield ByCharacters(
                    (other.name,),
                    quasi.attribute,
                    DisclosureMethod.CHARACTERS,
                    made.level,
                    quasi.levels,
                    length,
                    made.shown,
                    made.fixed,
                )

    def _orders(self) -> Iterator[ByOrder]:
        """Sorted as a whole, or within the values of a column by which the table is sorted."""
        first = self.frame.head(SAMPLED)
        possibly = [name for name in first.columns if may_be_sorted(first[name], self.rule)]
        sorting = [name for name in possibly if is_sorted(ranked(first[name]), None, self.rule)]
        for quasi in self.lesson.quasi:
            if not sorting and not may_be_sorted(quasi.original.head(SAMPLED), self.rule):
                continue
            own = ranked(quasi.original.head(SAMPLED))
            if not any(is_sorted(own, within, self.rule) for within in (None, *(ranked(first[n]) for n in sorting))):
                continue
            own = ranked(quasi.original)
            if is_sorted(own, None, self.rule):
                yield ByOrder((), quasi.attribute, DisclosureMethod.ORDER, quasi.levels, quasi.values)
                continue
            for name in sorting:
                if name != quasi.attribute and is_sorted(own, ranked(self.frame[name]), self.rule):
                    yield ByOrder((name,), quasi.attribute, DisclosureMethod.ORDER, quasi.levels, quasi.values)
                    break

    def _pairs(self, useful: Sequence[str]) -> int:
        """Pairs that may tell are looked for in some of the records; whether they do is seen in all of them."""
        labels = [name for name in self.lesson.counted if name in self.frame.columns]
        self.columns.update(columns_of(self.frame.select(labels), self.rule))
        labels = [name for name in labels if not self.columns[name].tells_nothing]
        asked = [*combinations(useful, 2), *((name, label) for name in useful for label in labels)]
        step = max(1, -(-self.rows * len(asked) * len(self.lesson.quasi) // PAIR_WORK))
        thinned = {name: ThinnedColumn.of(self.columns[name], step, self.rule) for name in (*useful, *labels)}
        screens = {name: screen.every(step) for name, screen in self._screens.items()}
        for one, other in asked:
            told = [quasi for quasi in self.lesson.quasi if quasi.attribute != other]
            found = screened(thinned[one], thinned[other], [screens[quasi.attribute] for quasi in told], self.rule)
            for quasi, keys in zip(told, found, strict=True):
                if len(keys):
                    self.readings += self._by_pair(one, other, quasi, whole_keys(thinned[one], thinned[other], keys))
        return -(-self.rows // step) if asked else 0

    def _by_pair(self, one: str, other: str, quasi: KnownQuasi, keys: Integers) -> Iterator[ByPair]:
        """``keys`` are the pairs that may tell."""
        first, second = self.columns[one], self.columns[other]
        there, groups = records_with(first, second, keys)
        people = None if self.lesson.people is None else self.lesson.people[there]
        enough = large_enough(groups, len(keys), people, self.rule)
        known = self._known[quasi.attribute]
        entries = learn(groups, len(keys), quasi.values[there], quasi.levels, self.rule, enough, known)
        entries = self._beyond_single(entries, keys, (one, other), quasi.attribute)
        if (entries.labels >= 0).any():
            yield ByPair((one, other), quasi.attribute, DisclosureMethod.PAIR, second.size, keys, entries)

    def _beyond_single(
        self, entries: DictionaryEntries, keys: Integers, names: tuple[str, str], attribute: str
    ) -> DictionaryEntries:
        """Only pairs that tell something finer than either value does alone."""
        labels, size = entries.labels.copy(), self.columns[names[1]].size
        codes = {names[0]: keys // max(1, size), names[1]: keys % max(1, size)}
        for single in self.readings:
            if isinstance(single, ByValue) and single.attribute == attribute and single.key in names:
                told, on = single.entries.told(codes[str(single.key)])
                labels[(told >= 0) & (on <= entries.levels)] = -1
        return DictionaryEntries(labels, np.where(labels >= 0, entries.levels, -1).astype(np.int8))

    @property
    def _step(self) -> int:
        return max(1, -(-self.rows // SAMPLED))

    @cached_property
    def _some(self) -> pl.DataFrame:
        """Enough records to see whether it is worth while to look at all."""
        return self.frame.gather_every(self._step)

    @cached_property
    def _described(self) -> dict[str, Described]:
        return kinds_of(self._some, self.lesson.tellers)


def _keys(reading: ColumnReading) -> tuple[Key, ...]:
    if isinstance(reading, ByValue):
        return (reading.key,)
    return reading.columns if isinstance(reading, ByPair) else ()


def _most_common(codes: Codes) -> int:
    return int(np.bincount(codes[codes >= 0]).argmax()) if (codes >= 0).any() else -1
