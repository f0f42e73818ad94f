"""Columns drawn given others that are known: children given their parent, a visit given the one before it.

What is known comes as it is read by its shapes (steps or text, see ``column_shapes``). It is coded like anything that a
model learns from: rare values and extremes of it tell nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.randomness import Randomness
from shoal.schema.parameters import Parameters
from shoal.synth.column_codes import ColumnCodes, codes_of, encoded, once_a_person
from shoal.synth.column_shapes import ColumnShape
from shoal.synth.conditional_tree import Arrays, ConditionalTree, TreeFitting, trees_loaded, trees_saved
from shoal.synth.table_coding import Places, TableCoding, TableDescription, coding_of

MOST_COLUMNS = 1_000


class ContextCoding(Parameters):
    """Codes of columns that are known."""

    codes: dict[str, ColumnCodes]

    @classmethod
    def of(cls, table: pl.DataFrame, shapes: Mapping[str, ColumnShape], rare: int, people: pl.Series) -> ContextCoding:
        """Of columns that are read; those that name things or hold texts tell nothing."""
        usable = {name for name, shape in shapes.items() if shape.is_stepped or shape.is_named}
        telling = [name for name in table.columns if name in usable]
        codes = {name: codes_of(once_a_person(table[name], people), shapes[name], rare) for name in telling}
        return cls(codes={name: one for name, one in codes.items() if one.size > 1})

    def encode(self, table: pl.DataFrame, ready: Mapping[str, Integers] | None = None) -> Integers:
        """A column of codes for each; those of ``ready`` are taken as they are."""
        done = ready or {}
        columns = [done[name] if name in done else encoded(one, table[name]) for name, one in self.codes.items()]
        return np.stack(columns, axis=1) if columns else np.zeros((table.height, 0), dtype=np.int64)

    def encoded_columns(self, table: pl.DataFrame) -> dict[str, Integers]:
        """Codes of those columns that a table has."""
        return {name: encoded(one, table[name]) for name, one in self.codes.items() if name in table.columns}


@dataclass(frozen=True)
class ConditionalModel:
    """How the columns of a table depend on what is known, and on each other. It holds no record."""

    context: ContextCoding
    coding: TableCoding
    """Of the columns that are drawn, and of those that they are measured from (a visit from a birth)."""
    trees: tuple[ConditionalTree, ...]
    """Over the codes of the context and then those of ``coding``."""

    def draw(
        self,
        known: pl.DataFrame,
        randomness: Randomness,
        purpose: Sequence[str],
        places: Places,
        ready: Mapping[str, Integers] | None = None,
    ) -> pl.DataFrame:
        """A record for each that is known, columns as they are read. ``known`` has the columns measured from, too.

        Random numbers belong to the purpose and to the place of the record. ``ready`` are codes that are known already.
        """
        given = self.context.encode(known, ready)
        codes = np.zeros((known.height, given.shape[1] + len(self.coding.codes)), dtype=np.int64)
        codes[:, : given.shape[1]] = given
        stream = randomness.stream("synth", *purpose)
        for lane, tree in enumerate(self.trees):
            codes[:, tree.target] = tree.draw(codes, stream, places, lane)
        measured = [name for name in known.columns if name in self.coding.shapes]
        own = codes[:, given.shape[1] :]
        return self.coding.steps(own, randomness, places, known.select(measured), purpose)

    def inspect(self) -> dict[str, Any]:
        names = [*self.context.codes, *self.coding.codes]
        asked = {
            names[tree.target]: [names[tree.predictors[one]] for one in np.unique(tree.splits[tree.leaf < 0, 0])]
            for tree in self.trees
        }
        return {"predicted_by": asked} | self.coding.described()

    def saved(self, prefix: str) -> tuple[dict[str, Any], Arrays]:
        trees, arrays = trees_saved(self.trees)
        parts = {"context": self.context.model_dump(mode="json"), "coding": self.coding.model_dump(mode="json")}
        return parts | {"trees": trees}, {f"{prefix}.{name}": array for name, array in arrays.items()}


def conditional_model(state: Mapping[str, Any], arrays: Arrays, prefix: str) -> ConditionalModel:
    """A model from what it ``saved``."""
    own = {name.removeprefix(f"{prefix}."): array for name, array in arrays.items() if name.startswith(f"{prefix}.")}
    return ConditionalModel(
        ContextCoding.model_validate(state["context"]),
        TableCoding.model_validate(state["coding"]),
        trees_loaded(state["trees"], own),
    )


@dataclass(frozen=True)
class KnownTable:
    """What is known of each record: columns as they are read, how, and whose the record is."""

    table: pl.DataFrame
    shapes: Mapping[str, ColumnShape]
    people: pl.Series


def fit_conditional(
    frame: pl.DataFrame, known: KnownTable, description: TableDescription, measured_from: Sequence[str] = ()
) -> ConditionalModel:
    """Of the columns of a table but those that are ``measured_from``, which will be known."""
    if frame.width + known.table.width > MOST_COLUMNS:
        wide = frame.width + known.table.width
        raise DataError(f"{wide:,} columns are too many: at most {MOST_COLUMNS:,} go together")
    context = ContextCoding.of(known.table, known.shapes, description.rare, known.people)
    coding = coding_of(frame, description, known.people)
    codes = np.concatenate([context.encode(known.table), coding.encode(frame)], axis=1)
    parts = [*context.codes.values(), *coding.codes.values()]
    sizes, width = [one.size for one in parts], len(context.codes)
    drawn = [width + at for at, name in enumerate(coding.codes) if name not in measured_from]
    people = known.people.rank("dense").to_numpy().astype(np.int64)
    fitting = TreeFitting.of(codes, sizes, [one.ordered for one in parts], people)
    order = sorted(drawn, key=lambda place: (sizes[place], place))
    trees = tuple(fitting.tree(target, [*range(width), *order[:at]]) for at, target in enumerate(order))
    return ConditionalModel(context, coding, trees)
