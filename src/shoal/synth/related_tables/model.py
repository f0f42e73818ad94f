"""Tables that belong together, drawn parents first: block by block of the topmost records and all that hangs on them.

Keys are numbers of the records drawn, so they are new, unique, and the same on both ends of a reference. Memory depends
on the size of a block; only of tables that are second parents in another tree what they are told by is held as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.randomness import Randomness
from shoal.synth.column_shapes import ColumnShape
from shoal.synth.conditional_tree import Arrays
from shoal.synth.method import BLOCK
from shoal.synth.methods.sequential import SequentialModel, sequential_model
from shoal.synth.related_tables.child_model import ChildModel, child_model, known_of_children
from shoal.synth.related_tables.lineage import TableLineage
from shoal.synth.related_tables.second_parent import SecondParents
from shoal.synth.table_coding import Places, new_keys, read_table


@dataclass(frozen=True)
class RootModel:
    """A table that hangs on none."""

    lineage: TableLineage
    model: SequentialModel | None
    """None where it has keys only."""
    records: int

    @property
    def known_shapes(self) -> dict[str, ColumnShape]:
        shapes = {} if self.model is None else self.model.coding.shapes
        return {f"{self.lineage.table}.{name}": shape for name, shape in shapes.items()}

    def draw(self, rows: int, randomness: Randomness, first: int) -> pl.DataFrame:
        if self.model is None:
            return pl.DataFrame({"": range(rows)})
        return self.model.sample(rows, randomness.derived("synth", "table", self.lineage.table), first)

    def inspect(self) -> dict[str, Any]:
        return {"records": self.records} | ({} if self.model is None else self.model.inspect())


def root_known(root: RootModel, frame: pl.DataFrame) -> pl.DataFrame:
    """What the children of records are told."""
    if root.model is None:
        return pl.DataFrame({"": range(frame.height)}).cast(pl.Int64)
    read = read_table(frame, root.model.coding.shapes)
    return read.rename({name: f"{root.lineage.table}.{name}" for name in read.columns})


@dataclass
class _Block:
    """What is drawn of some topmost records."""

    frames: dict[str, pl.DataFrame] = field(default_factory=dict)
    known: dict[str, pl.DataFrame] = field(default_factory=dict)
    places: dict[str, Places] = field(default_factory=dict)
    above: dict[str, dict[str, Places]] = field(default_factory=dict)
    """Of each table, the places of the records above each of its records."""


@dataclass(frozen=True)
class RelatedTablesModel:
    """What is known of tables that belong together, and nothing of their records."""

    models: Mapping[str, RootModel | ChildModel]
    """Parents before children."""
    first_numbers: Mapping[str, int | None]
    """Of each table with a key, the first that is given; None where keys are text."""
    columns: Mapping[str, tuple[str, ...]]

    @property
    def main(self) -> str:
        """The topmost table on which most tables hang: ``parents`` counts its records."""
        trees = [self._root(name) for name in self.models]
        return max(dict.fromkeys(trees), key=trees.count)

    def _root(self, table: str) -> str:
        parent = self.models[table].lineage.parent
        return table if parent is None else self._root(parent)

    def sample(self, parents: int, randomness: Randomness) -> dict[str, pl.DataFrame]:
        """All tables, of so many records of the main one. Use ``blocks`` where they may not fit into memory."""
        parts: dict[str, list[pl.DataFrame]] = {name: [] for name in self.columns}
        for block in self.blocks(parents, randomness):
            for name, frame in block.items():
                parts[name].append(frame)
        return {name: pl.concat(frames) for name, frames in parts.items()}

    def blocks(self, parents: int, randomness: Randomness) -> Iterator[dict[str, pl.DataFrame]]:
        """The same in blocks, each with some of the tables; all tables come at least once."""
        if parents < 0:
            raise InputError("the number of parents has to be at least 0")
        main = self.main
        others = [name for name, model in self.models.items() if model.lineage.parent is None and name != main]
        held: dict[str, tuple[pl.DataFrame, Places]] = {}
        for root in (*others, main):
            rows = round(parents * self.models[root].records / self.models[main].records)
            kept: dict[str, list[tuple[pl.DataFrame, Places]]] = {}
            for block in self._tree(root, rows, randomness, held):
                for name in self._needed_elsewhere(root):
                    kept.setdefault(name, []).append((block.known[name], block.places[name]))
                yield block.frames
            for name, parts in kept.items():
                held[name] = pl.concat([known for known, _ in parts]), np.concatenate([places for _, places in parts])

    def _needed_elsewhere(self, root: str) -> list[str]:
        """Tables of a tree that are second parents of records in another."""
        asked = {
            second
            for name, model in self.models.items()
            for second in model.lineage.chosen.values()
            if self._root(name) != root
        }
        return [name for name in asked if self._root(name) == root]

    def _tree(
        self, root: str, rows: int, randomness: Randomness, held: Mapping[str, tuple[pl.DataFrame, Places]]
    ) -> Iterator[_Block]:
        tables = [name for name in self.models if self._root(name) == root]
        records = sum(self.models[name].records for name in tables)
        size = max(1, BLOCK * self.models[root].records // max(records, 1))
        drawn = dict.fromkeys(tables, 0)
        for first in range(0, max(rows, 1), size):
            block = _Block()
            for name in tables:
                model = self.models[name]
                if isinstance(model, RootModel):
                    self._draw_root(model, min(size, rows - first), first, randomness, block)
                else:
                    self._draw_child(model, drawn[name], randomness, block, held)
                drawn[name] += block.frames[name].height
            yield block

    def _draw_root(self, model: RootModel, rows: int, first: int, randomness: Randomness, block: _Block) -> None:
        name = model.lineage.table
        frame = model.draw(rows, randomness, first)
        block.places[name] = np.arange(first, first + rows, dtype=np.uint64)
        block.above[name] = {}
        block.known[name] = root_known(model, frame)
        block.frames[name] = self._with_keys(name, frame, block, {})

    def _draw_child(
        self,
        model: ChildModel,
        offset: int,
        randomness: Randomness,
        block: _Block,
        held: Mapping[str, tuple[pl.DataFrame, Places]],
    ) -> None:
        name, parent = model.lineage.table, model.lineage.parent or ""
        drawn = model.draw(block.known[parent], randomness, block.places[parent], offset)
        places = np.arange(offset, offset + drawn.table.height, dtype=np.uint64)
        block.places[name] = places
        block.above[name] = {above: every[drawn.parents] for above, every in block.above[parent].items()}
        block.above[name][parent] = block.places[parent][drawn.parents]
        block.known[name] = known_of_children(model, drawn.table, drawn.known)
        chosen: dict[str, pl.Series] = {}
        for column, second in model.lineage.chosen.items():
            known, numbered = held.get(second) or (block.known[second], block.places[second])
            chooser, purpose = model.second_parents[column], f"{name}.{column}"
            among: SecondParents = chooser.candidates(known, randomness, purpose, numbered)
            rows = chooser.chosen(block.known[name], among, randomness, purpose, places)
            keys = new_keys(numbered, self.first_numbers[second])
            chosen[column] = keys.gather(rows.cast(pl.UInt32))
        frame = model.first.coding.written(drawn.table, places, model.shapes)
        block.frames[name] = self._with_keys(name, frame, block, chosen)

    def _with_keys(
        self, name: str, frame: pl.DataFrame, block: _Block, chosen: Mapping[str, pl.Series]
    ) -> pl.DataFrame:
        lineage = self.models[name].lineage
        keys = dict(chosen)
        if lineage.key is not None:
            keys[lineage.key] = new_keys(block.places[name], self.first_numbers[name])
        up = {**lineage.inherited, **({lineage.by: lineage.parent} if lineage.by and lineage.parent else {})}
        for column, above in up.items():
            keys[column] = new_keys(block.above[name][above], self.first_numbers[above])
        columns = [keys[column].alias(column) if column in keys else frame[column] for column in self.columns[name]]
        return pl.DataFrame(columns)

    def inspect(self) -> dict[str, Any]:
        """What the model keeps, in words and numbers that JSON can hold."""
        return {"tables": {name: model.inspect() for name, model in self.models.items()}}

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        """All of it: what JSON can hold, and arrays."""
        arrays: dict[str, Any] = {}
        models: dict[str, Any] = {}
        for name, model in self.models.items():
            if isinstance(model, ChildModel):
                models[name], more = model.saved()
            else:
                lineage = model.lineage.model_dump(mode="json")
                models[name], more = {"lineage": lineage, "records": model.records}, {}
                if model.model is not None:
                    models[name]["model"], more = model.model.saved()
                    more = {f"{name}.root.{array}": values for array, values in more.items()}
            arrays |= more
        columns = {name: list(columns) for name, columns in self.columns.items()}
        return {"models": models, "first_numbers": dict(self.first_numbers), "columns": columns}, arrays


def related_tables_model(state: Mapping[str, Any], arrays: Arrays) -> RelatedTablesModel:
    """A model from what it ``saved``."""
    models: dict[str, RootModel | ChildModel] = {}
    for name, one in state["models"].items():
        if one["lineage"]["parent"] is not None:
            models[name] = child_model(one, arrays)
            continue
        prefix = f"{name}.root."
        own = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        root = sequential_model(one["model"], own) if "model" in one else None
        models[name] = RootModel(TableLineage.model_validate(one["lineage"]), root, one["records"])
    columns = {name: tuple(columns) for name, columns in state["columns"].items()}
    return RelatedTablesModel(models, state["first_numbers"], columns)
