"""Models of tables that belong together, from the tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.kernels.arrays import Integers, Mask
from shoal.policy.references import ReferenceEnd
from shoal.synth.column_codes import NumberCodes, codes_of, once_a_person
from shoal.synth.column_shapes import ColumnShape, ShapeKind, written
from shoal.synth.conditional_model import ConditionalModel, KnownTable, fit_conditional
from shoal.synth.constraint_detection import constraints_of
from shoal.synth.constraints import Difference, Inequality, TableConstraints
from shoal.synth.method import FitOptions
from shoal.synth.methods.sequential import fit_sequential
from shoal.synth.related_tables.child_model import (
    COUNTED,
    GAP,
    NUMBER,
    PLACE,
    ChildModel,
    before,
    before_columns,
    known_of_children,
    measured,
    shapes_of_children,
    since,
    starts_of,
    with_age,
)
from shoal.synth.related_tables.cross_bounds import CrossTableBound, MeasuredFrom, bounds_of, nearest_of
from shoal.synth.related_tables.description import RelatedTablesDescription
from shoal.synth.related_tables.lineage import TableLineage, lineages
from shoal.synth.related_tables.model import RelatedTablesModel, RootModel, root_known
from shoal.synth.related_tables.second_parent import SecondParentModel, fit_second_parent
from shoal.synth.shape_detection import shapes_of
from shoal.synth.table_coding import TableDescription, key_numbers, read_table

_KEY, _ROW = "__key__", "__row__"
_FAR: Final = 2**62
_NEAR: Final = 0.1


def fit_related_tables(tables: Mapping[str, pl.DataFrame], description: RelatedTablesDescription) -> RelatedTablesModel:
    """Parents first, each child given what is known of its parents."""
    order = lineages(tables, description)
    for lineage in order:
        if tables[lineage.table].height < description.rare:
            raise DataError(f"'{lineage.table}' has {tables[lineage.table].height} records: too few to be synthesised")
    fitting = _RelatedFitting(tables, description, {}, {})
    for lineage in order:
        fitting.add(lineage)
    _refuse_unused(description, fitting.models)
    numbers = {one.table: key_numbers(tables[one.table][one.key]) for one in order if one.key is not None}
    return RelatedTablesModel(fitting.models, numbers, {one.table: tuple(tables[one.table].columns) for one in order})


def _refuse_unused(description: RelatedTablesDescription, models: Mapping[str, RootModel | ChildModel]) -> None:
    used = {
        (bound.ancestor, f"{name}.{bound.column}")
        for name, model in models.items()
        if isinstance(model, ChildModel)
        for bound in model.bounds
    }
    for one in description.constraints:
        if not used & {(one.lower, one.upper), (one.upper, one.lower)}:
            raise DataError(f"'{one.lower}' and '{one.upper}' can't be compared: no table stands above the other")


@dataclass(frozen=True)
class _RelatedFitting:
    tables: Mapping[str, pl.DataFrame]
    description: RelatedTablesDescription
    models: dict[str, RootModel | ChildModel]
    known: dict[str, KnownTable]
    """Of each table what its children are told, record by record."""

    def add(self, lineage: TableLineage) -> None:
        if lineage.parent is None:
            self._add_root(lineage)
        else:
            self._add_child(lineage)

    def _add_root(self, lineage: TableLineage) -> None:
        frame = self.tables[lineage.table].drop(lineage.keys)
        people = pl.int_range(frame.height, eager=True)
        model = None
        if frame.width:
            said = self.description.tables[lineage.table]
            described = TableDescription(
                columns=said.columns,
                constraints=said.constraints,
                find_constraints=self.description.find_constraints,
                rare=self.description.rare,
            )
            model = fit_sequential(frame, FitOptions(description=described))
        root = RootModel(lineage, model, frame.height)
        self.models[lineage.table] = root
        self.known[lineage.table] = KnownTable(root_known(root, frame), root.known_shapes, people)

    def _add_child(self, lineage: TableLineage) -> None:
        parent = self.known[lineage.parent or ""]
        at = self._parents(lineage)
        frame = self.tables[lineage.table].drop(lineage.keys)
        numbers = np.bincount(at, minlength=parent.table.height)
        counted = fit_conditional(
            pl.DataFrame({NUMBER: numbers.astype(np.int64)}),
            parent,
            TableDescription(columns={NUMBER: COUNTED}, find_constraints=False, rare=self.description.rare),
        )
        child = _ChildFitting.of(lineage, frame, self, at)
        seconds = {
            column: fit_second_parent(
                child.known_rows(),
                _rows(self.tables[lineage.table][column], self.tables[second][self._key(second)]),
                second,
                self.known[second],
                self.description.rare,
            )
            for column, second in lineage.chosen.items()
        }
        model = child.fitted(counted, seconds)
        self.models[lineage.table] = model
        self.known[lineage.table] = KnownTable(
            known_of_children(model, child.own, child.everything()), shapes_of_children(model), child.people
        )

    def _parents(self, lineage: TableLineage) -> Integers:
        keys = self.tables[lineage.parent or ""][self._key(lineage.parent or "")]
        return _rows(self.tables[lineage.table][lineage.by or ""], keys).to_numpy().astype(np.int64)

    def _key(self, table: str) -> str:
        return self.description.key(table) or ""


def _rows(keys: pl.Series, known: pl.Series) -> pl.Series:
    """In which record of another table each key stands."""
    rows = known.alias(_KEY).to_frame().with_row_index(_ROW)
    return keys.alias(_KEY).to_frame().join(rows, on=_KEY, how="left", maintain_order="left")[_ROW]


@dataclass(frozen=True)
class _ChildFitting:
    lineage: TableLineage
    frame: pl.DataFrame
    """Its own columns but keys."""
    own: pl.DataFrame
    """The same as they are read."""
    shapes: dict[str, ColumnShape]
    constraints: TableConstraints
    known: KnownTable
    """What each record is told of its parent."""
    bounds: tuple[CrossTableBound, ...]
    nearest: dict[str, MeasuredFrom]
    at: Integers
    rare: int

    @classmethod
    def of(
        cls,
        lineage: TableLineage,
        frame: pl.DataFrame,
        fitting: _RelatedFitting,
        at: Integers,
    ) -> _ChildFitting:
        parent = fitting.known[lineage.parent or ""]
        numbers = np.bincount(at, minlength=parent.table.height)
        said, description = fitting.description.tables[lineage.table], fitting.description
        shapes = shapes_of(frame, said.columns, rare=description.rare)
        found = said.constraints
        if description.find_constraints:
            found = constraints_of(read_table(frame, shapes), shapes, found)
        found = _order_free(found, lineage.order)
        shapes = found.shapes(shapes)
        _refuse_no_order(frame, shapes, lineage)
        own = read_table(frame, shapes)
        table = parent.table[at].with_columns(pl.Series(f"{lineage.table}.{NUMBER}", numbers[at], dtype=pl.Int64))
        known = KnownTable(table, {**parent.shapes, f"{lineage.table}.{NUMBER}": COUNTED}, parent.people[at])
        declared = _declared_bounds(description, lineage.table, parent.shapes)
        bounds = declared
        if description.find_constraints:
            bounds = bounds_of(own, shapes, table.drop(f"{lineage.table}.{NUMBER}"), parent.shapes, declared)
        nearest = nearest_of(own, shapes, parent.table[at], parent.shapes, description.rare)
        return cls(lineage, frame, own, shapes, found, known, bounds, nearest, at, description.rare)

    @property
    def people(self) -> pl.Series:
        return self.known.people

    def everything(self) -> pl.DataFrame:
        """What is known of each record, and what it is measured from."""
        return self.known.table.with_columns(starts_of(self.nearest, self.shapes, self.known.table, self.known.shapes))

    def known_rows(self) -> KnownTable:
        """What is known of each record, and its own columns."""
        own = self.own.rename({name: f"{self.lineage.table}.{name}" for name in self.own.columns})
        shapes = {**self.known.shapes, **{f"{self.lineage.table}.{name}": shape for name, shape in self.shapes.items()}}
        return KnownTable(self.known.table.hstack(own), shapes, self.people)

    def fitted(self, numbers: ConditionalModel, seconds: dict[str, SecondParentModel]) -> ChildModel:
        codes, order = numbers.coding.codes[NUMBER], self.lineage.order
        most = codes.highs[-1] if isinstance(codes, NumberCodes) and codes.highs else 1
        sequence = _SortedRecords.of(self.at, None if order is None else self.own[order], max(1, most))
        rows = sequence.rows if order is None else sequence.rows[sequence.places == 0]
        if len(rows) < self.rare:
            raise DataError(f"'{self.lineage.table}': only {len(rows)} of its parents have records: too few")
        first = self._fit(rows, self.everything()[rows], self.known.shapes)
        first = replace(first, coding=first.coding.model_copy(update={"first_numbers": self._first_numbers()}))
        following = None if order is None else self._following(sequence, order)
        gap = following.coding.codes[order] if following is not None and order is not None else None
        return ChildModel(
            lineage=self.lineage,
            shapes=self.shapes,
            known_shapes=dict(self.known.shapes),
            bounds=self.bounds,
            nearest=self.nearest,
            numbers=numbers,
            first=first,
            following=following,
            latest=0 if order is None else self._end(order),
            step=gap.step if isinstance(gap, NumberCodes) else 1,
            records=self.frame.height,
            second_parents=seconds,
        )

    def _first_numbers(self) -> dict[str, int]:
        found = {
            name: key_numbers(self.frame[name])
            for name, shape in self.shapes.items()
            if shape.kind is ShapeKind.IDENTIFIER
        }
        return {name: number for name, number in found.items() if number is not None}

    def _end(self, order: str) -> int:
        """The latest that may be drawn, as for any column: the mean of the last few people's."""
        codes = codes_of(once_a_person(self.own[order], self.people), self.shapes[order], self.rare)
        return codes.highs[-1] if isinstance(codes, NumberCodes) and codes.highs else 0

    def _following(self, sequence: _SortedRecords, order: str) -> ConditionalModel | None:
        later = sequence.places > 0
        rows, last = sequence.rows[later], sequence.last[later]
        if len(rows) < self.rare:
            return None
        gap = pl.Series(sequence.gap_before[later]).set(pl.Series(sequence.places[later] == 1), None)
        told = before_columns(self.own[last], list(self.shapes), gap, sequence.places[later])
        known = with_age(told.hstack(self.everything()[rows]), order)
        shapes = {
            **self.known.shapes,
            **{before(name): shape for name, shape in self.shapes.items()},
            **dict.fromkeys((GAP, PLACE, since(before(order))), COUNTED),
        }
        return self._fit(rows, known, shapes, (order, self.frame[last][order].alias(before(order))))

    def _fit(
        self,
        rows: Integers,
        known: pl.DataFrame,
        shapes: Mapping[str, ColumnShape],
        ordered: tuple[str, pl.Series] | None = None,
    ) -> ConditionalModel:
        """Of some records; ``ordered`` says which column comes after one of the record before."""
        order, derived = ordered[0] if ordered else None, self.constraints.derivations()
        anchored = [name for name in self.nearest if name not in derived and name != order]
        frame = self.frame[rows]
        if ordered is not None:
            frame = frame.with_columns(ordered[1])
        columns = dict(self.shapes)
        for name in anchored:
            columns[measured(name)] = self.shapes[name].model_copy(update={"date_format": None})
            start = written(known[measured(name)], columns[measured(name)], pl.Int64())
            frame = frame.with_columns(start)
        lowers = {name: measured(name) for name in anchored}
        if order is not None:
            columns[before(order)] = self.shapes[order]
            lowers[order] = before(order)
        more = tuple(Inequality(lower=lower, upper=upper, origin="found") for upper, lower in lowers.items())
        constraints = self.constraints.model_copy(update={"inequalities": (*self.constraints.inequalities, *more)})
        telling = [name for name in known.columns if not name.startswith(measured(""))]
        model = fit_conditional(
            frame,
            KnownTable(known.select(telling), shapes, self.people[rows]),
            TableDescription(columns=columns, constraints=constraints, find_constraints=False, rare=self.rare),
            tuple(lowers.values()),
        )
        near = [name for name in anchored if _lies_near(model, name)]
        for name in near:
            model = _open_ended(model, name, above=False)
        return model if order is None else _open_ended(model, order)


@dataclass(frozen=True)
class _SortedRecords:
    """Records parent by parent in their order, so many of each parent as may be learnt from."""

    rows: Integers
    places: Integers
    """From 0, among those of the parent."""
    last: Integers
    """The record before, unless the place is 0."""
    gap_before: Integers
    """How far the record before is from the one before that, unless the place is less than 2."""

    @classmethod
    def of(cls, at: Integers, order: pl.Series | None, most: int) -> _SortedRecords:
        by = np.arange(len(at)) if order is None else order.to_numpy()
        rows = np.lexsort((by, at))
        starts = np.diff(at[rows], prepend=-1) != 0
        places = np.arange(len(rows)) - np.maximum.accumulate(np.where(starts, np.arange(len(rows)), 0))
        gaps = np.diff(by[rows], prepend=by[rows[:1]])
        few: Mask = places < most
        return cls(rows[few], places[few], np.roll(rows, 1)[few], np.roll(gaps, 1)[few])


def _order_free(constraints: TableConstraints, order: str | None) -> TableConstraints:
    """Without what is found of the column that gives the order, which the record before tells."""
    if order is None or order not in constraints.derivations():
        return constraints
    kept = {
        "dependencies": tuple(one for one in constraints.dependencies if one.dependent != order),
        "inequalities": tuple(one for one in constraints.inequalities if one.upper != order),
        "sums": tuple(one for one in constraints.sums if one.total != order),
    }
    dropped = [
        *(one.origin for one in constraints.dependencies if one.dependent == order),
        *(one.origin for one in constraints.inequalities if one.upper == order),
        *(one.origin for one in constraints.sums if one.total == order),
    ]
    if "declared" in dropped:
        raise DataError(f"column '{order}' gives the order, so that nothing else can tell it")
    return constraints.model_copy(update=kept)


def _refuse_no_order(frame: pl.DataFrame, shapes: Mapping[str, ColumnShape], lineage: TableLineage) -> None:
    order = lineage.order
    if order is not None and (order not in shapes or not shapes[order].is_stepped or frame[order].null_count()):
        raise DataError(f"'{lineage.table}.{order}' gives no order: it has to be a date or a number in every record")


def _declared_bounds(
    description: RelatedTablesDescription, table: str, above: Mapping[str, ColumnShape]
) -> tuple[CrossTableBound, ...]:
    found = []
    for one in description.constraints:
        lower, upper = ReferenceEnd.parse(one.lower), ReferenceEnd.parse(one.upper)
        if upper.table == table and one.lower in above:
            found.append(CrossTableBound(column=upper.column, side="floor", ancestor=one.lower))
        elif lower.table == table and one.upper in above:
            found.append(CrossTableBound(column=lower.column, side="ceiling", ancestor=one.upper))
    return tuple(found)


def _lies_near(model: ConditionalModel, name: str) -> bool:
    """Whether distances are small against the spread of a column: then it goes where its start goes."""
    codes, by = model.coding.codes[name], model.coding.enforcement.differences[name]
    return isinstance(codes, NumberCodes) and bool(codes.highs) and codes.highs[-1] <= _NEAR * (by.highest - by.lowest)


def _open_ended(model: ConditionalModel, name: str, *, above: bool = True) -> ConditionalModel:
    """One that lets a column go as far as what it is measured from leads. Sequences are ended as a whole."""
    enforced = model.coding.enforcement
    by = enforced.differences[name]
    highest = _FAR if above else by.highest
    open_end = Difference(lower=by.lower, modelled=by.modelled, lowest=-_FAR, highest=highest)
    changed = enforced.model_copy(update={"differences": {**enforced.differences, name: open_end}})
    return replace(model, coding=model.coding.model_copy(update={"enforcement": changed}))
