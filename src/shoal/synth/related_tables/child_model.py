"""The records of a table that hangs on another: how many a parent has, and each of them given the parent.

Where they have an order, each is drawn given the one before it, and its date (or number) by the gap since then; the
first by the gap since what it can't come before, such as a birth. Sequences that would run over their end are drawn
together: all their gaps shrink by the same factor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from shoal.kernels.arrays import Integers
from shoal.randomness import Randomness
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.conditional_model import ConditionalModel, conditional_model
from shoal.synth.conditional_tree import Arrays
from shoal.synth.related_tables.cross_bounds import CrossTableBound, MeasuredFrom, limits_of, within
from shoal.synth.related_tables.lineage import TableLineage
from shoal.synth.related_tables.second_parent import SecondParentModel, second_parent_model
from shoal.synth.table_coding import Places

NUMBER: Final = "number"
PLACE: Final = "place"
GAP: Final = "before: gap"
COUNTED: Final = ColumnShape(kind=ShapeKind.WHOLE, origin="found")
"""The shape of numbers that are counted here."""


def before(name: str) -> str:
    """The column of the record before."""
    return f"before: {name}"


def measured(name: str) -> str:
    """The column that another is measured from."""
    return f"from: {name}"


def since(name: str) -> str:
    """How far a column is from what it can't come before."""
    return f"{name}: since"


@dataclass(frozen=True)
class DrawnChildren:
    """Records of a block: columns as they are read, what is known of each, and the place of its parent."""

    table: pl.DataFrame
    known: pl.DataFrame
    parents: Integers


@dataclass(frozen=True)
class ChildModel:
    """How the records of a table depend on their parent. It holds no record."""

    lineage: TableLineage
    shapes: dict[str, ColumnShape]
    """Of its own columns but keys."""
    known_shapes: dict[str, ColumnShape]
    """Of what is known of a parent."""
    bounds: tuple[CrossTableBound, ...]
    nearest: dict[str, MeasuredFrom]
    """What columns are measured from."""
    numbers: ConditionalModel
    first: ConditionalModel
    following: ConditionalModel | None
    """Of a table without an order, the first model stands for all records."""
    latest: int
    """Of what gives the order: no sequence goes beyond it."""
    step: int
    records: int
    second_parents: dict[str, SecondParentModel]
    """Of each column that holds keys of a second parent."""

    def draw(self, known: pl.DataFrame, randomness: Randomness, parents: Places, offset: int) -> DrawnChildren:
        """Children of parents whose places are given; ``offset`` were drawn before."""
        name = self.lineage.table
        drawn = self.numbers.draw(known, randomness, (name, NUMBER), parents)[NUMBER].fill_null(0)
        most = np.iinfo(np.int64).max if self.lineage.order is None or self.following is not None else 1
        numbers = drawn.clip(0, most).to_numpy()
        at = np.repeat(np.arange(known.height), numbers)
        given = known[at].with_columns(pl.Series(f"{name}.{NUMBER}", numbers[at], dtype=pl.Int64))
        places = np.arange(offset, offset + len(at), dtype=np.uint64)
        floors = limits_of(self.bounds, "floor", self.shapes, given, self.known_shapes)
        given = given.with_columns(self.starts(given))
        order = self.lineage.order
        if order is None:
            table = self.first.draw(given, randomness, (name,), places)
        else:
            table = self._sequences(given, randomness, places, numbers)
        ceilings = limits_of(self.bounds, "ceiling", self.shapes, given, self.known_shapes)
        if order is not None:
            table = self._shrunk(table, at, order, ceilings.get(order))
        table = within(table, floors, ceilings, self.first.coding.constraints.inequalities[: self._own_inequalities])
        return DrawnChildren(table, given, at)

    def starts(self, known: pl.DataFrame) -> list[pl.Series]:
        return starts_of(self.nearest, self.shapes, known, self.known_shapes)

    @property
    def _own_inequalities(self) -> int:
        """Those between columns of the table stand before those with columns of others."""
        return sum(one.lower in self.shapes for one in self.first.coding.constraints.inequalities)

    def _sequences(
        self, given: pl.DataFrame, randomness: Randomness, places: Places, numbers: Integers
    ) -> pl.DataFrame:
        """Step by step: the first of all parents, the second of those that have one, and so on."""
        name, starts = self.lineage.table, np.cumsum(numbers) - numbers
        at = starts[numbers > 0]
        steps = [self.first.draw(given[at], randomness, (name, "first"), places[at])]
        rows = [at]
        ready = None if self.following is None else self.following.context.encoded_columns(given)
        for step in range(1, int(numbers.max(initial=0))):
            if self.following is None or ready is None:
                break
            kept = numbers[numbers > step - 1] > step
            at = starts[numbers > step] + step
            known = with_age(self.before(steps, step, kept).hstack(given[at]), self.lineage.order or "")
            codes = {column: every[at] for column, every in ready.items()}
            steps.append(self.following.draw(known, randomness, (name, "following"), places[at], codes))
            rows.append(at)
        own = list(self.shapes)
        whole = pl.concat([part.select(one for one in own if one in part.columns) for part in steps])
        return whole[np.argsort(np.concatenate(rows), kind="stable")]

    def before(self, steps: Sequence[pl.DataFrame], place: int, kept: np.ndarray[Any, Any]) -> pl.DataFrame:
        """What is known of the record before, of those parents that have one more."""
        last, order = steps[-1].filter(pl.Series(kept)), self.lineage.order or ""
        gap = last[order] - last[before(order)] if before(order) in last.columns else last[order].clear(last.height)
        return before_columns(last, list(self.shapes), gap, np.full(last.height, place))

    def _shrunk(self, table: pl.DataFrame, at: Integers, order: str, ceiling: pl.Series | None) -> pl.DataFrame:
        """Sequences within their end; columns that are measured from the order move along."""
        own = table[order].to_numpy()
        starts = np.flatnonzero(np.diff(at, prepend=-1))
        group = np.cumsum(np.diff(at, prepend=-1) != 0) - 1
        last = own[np.append(starts[1:], len(own)) - 1] if len(own) else own
        end = np.full(len(starts), self.latest)
        if ceiling is not None:
            end = np.minimum(end, ceiling.fill_null(self.latest).to_numpy()[starts])
        first = np.minimum(own[starts], end)
        factor = (end - first) / np.maximum(last - own[starts], 1)
        moved = first[group] + ((own - own[starts][group]) * factor[group] / self.step).astype(np.int64) * self.step
        shift = pl.Series(np.where((last > end)[group], moved, own) - own)
        return table.with_columns((pl.col(one) + shift).alias(one) for one in (order, *self._measured_from(order)))

    def _measured_from(self, name: str) -> list[str]:
        uppers = [one.upper for one in self.first.coding.constraints.inequalities if one.lower == name]
        return [found for upper in uppers for found in (upper, *self._measured_from(upper))]

    def inspect(self) -> dict[str, Any]:
        models = {"numbers": self.numbers, "first": self.first, "following": self.following}
        return {
            "records": self.records,
            "parent": self.lineage.parent,
            "bounds": [bound.model_dump(mode="json") for bound in self.bounds],
            "measured_from": {name: nearest.ancestor for name, nearest in self.nearest.items()},
            "shapes": {
                name: shape.model_dump(mode="json", exclude_defaults=True) for name, shape in self.shapes.items()
            },
            "constraints": self.first.coding.described()["constraints"],
        } | {name: model.inspect() for name, model in models.items() if model is not None}

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        arrays: dict[str, Any] = {}
        state: dict[str, Any] = {
            "lineage": self.lineage.model_dump(mode="json"),
            "shapes": {name: shape.model_dump(mode="json") for name, shape in self.shapes.items()},
            "known_shapes": {name: shape.model_dump(mode="json") for name, shape in self.known_shapes.items()},
            "bounds": [bound.model_dump(mode="json") for bound in self.bounds],
            "nearest": {name: nearest.model_dump(mode="json") for name, nearest in self.nearest.items()},
            "latest": self.latest,
            "step": self.step,
            "records": self.records,
        }
        for part in _PARTS:
            model: ConditionalModel | None = getattr(self, part)
            if model is not None:
                state[part], more = model.saved(f"{self.lineage.table}.{part}")
                arrays |= more
        state["second_parents"] = {}
        for column, second in self.second_parents.items():
            state["second_parents"][column], more = second.saved(f"{self.lineage.table}.{column}")
            arrays |= more
        return state, arrays


_PARTS: Final = ("numbers", "first", "following")


def child_model(state: Mapping[str, Any], arrays: Arrays) -> ChildModel:
    """A model from what it ``saved``."""
    lineage = TableLineage.model_validate(state["lineage"])
    parts: dict[str, Any] = {
        part: conditional_model(state[part], arrays, f"{lineage.table}.{part}") if part in state else None
        for part in _PARTS
    }
    return ChildModel(
        lineage,
        {name: ColumnShape.model_validate(shape) for name, shape in state["shapes"].items()},
        {name: ColumnShape.model_validate(shape) for name, shape in state["known_shapes"].items()},
        tuple(CrossTableBound.model_validate(bound) for bound in state["bounds"]),
        {name: MeasuredFrom.model_validate(nearest) for name, nearest in state["nearest"].items()},
        **parts,
        latest=state["latest"],
        step=state["step"],
        records=state["records"],
        second_parents={
            column: second_parent_model(second, arrays, f"{lineage.table}.{column}")
            for column, second in state["second_parents"].items()
        },
    )


def starts_of(
    nearest: Mapping[str, MeasuredFrom],
    shapes: Mapping[str, ColumnShape],
    known: pl.DataFrame,
    known_shapes: Mapping[str, ColumnShape],
) -> list[pl.Series]:
    """Columns that others are measured from."""
    return [one.start(shapes[name], known, known_shapes).alias(measured(name)) for name, one in nearest.items()]


def before_columns(last: pl.DataFrame, names: Sequence[str], gap: pl.Series, places: Integers) -> pl.DataFrame:
    """What the next record is told of the one before it."""
    return last.select(pl.col(name).alias(before(name)) for name in names if name in last.columns).with_columns(
        gap.cast(pl.Int64).alias(GAP), pl.Series(PLACE, places, dtype=pl.Int64)
    )


def with_age(known: pl.DataFrame, order: str) -> pl.DataFrame:
    """With the time from what the order is measured from, such as a birth, to the record before."""
    if measured(order) not in known.columns:
        return known
    return known.with_columns((known[before(order)] - known[measured(order)]).alias(since(before(order))))


def known_of_children(model: ChildModel, drawn: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """What the children of these records are told: all that these are told, their own columns, and ages."""
    name = model.lineage.table
    own = [drawn[column].alias(f"{name}.{column}") for column in model.shapes if column in drawn.columns]
    ages = [(drawn[column] - known[measured(column)]).alias(since(f"{name}.{column}")) for column in model.nearest]
    return known.drop(column for column in known.columns if column.startswith(measured(""))).hstack([*own, *ages])


def shapes_of_children(model: ChildModel) -> dict[str, ColumnShape]:
    """How that is read."""
    name = model.lineage.table
    return {
        **model.known_shapes,
        f"{name}.{NUMBER}": COUNTED,
        **{f"{name}.{column}": shape for column, shape in model.shapes.items()},
        **{since(f"{name}.{column}"): COUNTED for column in model.nearest},
    }
