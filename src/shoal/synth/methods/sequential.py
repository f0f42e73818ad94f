"""One column after the other, each by a tree over those before it (CART synthesis: Reiter 2005; synthpop 2016).

How trees are grown says ``conditional_tree``. At its penalty of 1.5, a record drawn equals one of the table about as
often as a stranger's record does, but still somewhat more often than it equals a stranger's.

It is no differential privacy: nothing bounds what a model tells of one person. What is kept of a column is decided by
its codes (see ``column_codes``), and every leaf stands for at least ten records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from shoal.errors import DataError
from shoal.kernels.arrays import Integers
from shoal.randomness import Randomness
from shoal.synth.conditional_tree import ConditionalTree, TreeFitting, trees_loaded, trees_saved
from shoal.synth.method import (
    Arrays,
    FitOptions,
    GuaranteeStatement,
    SynthesisMethod,
    SynthesisModel,
    in_blocks,
    synthesis_methods,
)
from shoal.synth.table_coding import TableCoding, coding_of

_NAME: Final = "sequential"
_MOST_COLUMNS: Final = 1_000


@dataclass(frozen=True)
class SequentialModel:
    """Trees in the order in which columns are drawn, and how their codes are read."""

    coding: TableCoding
    trees: tuple[ConditionalTree, ...]
    records: int
    method: str = _NAME

    def sample(self, rows: int, randomness: Randomness, first: int = 0) -> pl.DataFrame:
        return in_blocks(self._block, rows, randomness, first)

    def _block(self, rows: int, randomness: Randomness, first: int) -> pl.DataFrame:
        return self.coding.decode(self.codes(rows, randomness, first), randomness, first)

    def codes(self, rows: int, randomness: Randomness, first: int) -> Integers:
        """Codes of records of one block."""
        stream = randomness.stream("synth", _NAME)
        codes = np.zeros((rows, len(self.trees)), dtype=np.int64)
        places = np.arange(first, first + rows, dtype=np.uint64)
        for lane, tree in enumerate(self.trees):
            codes[:, tree.target] = tree.draw(codes, stream, places, lane)
        return codes

    def inspect(self) -> dict[str, Any]:
        names = list(self.coding.codes)
        columns = {
            names[tree.target]: {
                "codes": self.coding.sizes[tree.target],
                "leaves": len(tree.shares),
                "predicted_by": [names[tree.predictors[one]] for one in np.unique(tree.splits[tree.leaf < 0, 0])],
            }
            for tree in self.trees
        }
        return {"method": _NAME, "records": self.records, "columns": columns} | self.coding.described()

    def saved(self) -> tuple[dict[str, Any], Arrays]:
        trees, arrays = trees_saved(self.trees)
        return {"coding": self.coding.model_dump(mode="json"), "trees": trees, "records": self.records}, arrays


def sequential_model(state: Mapping[str, Any], arrays: Arrays) -> SequentialModel:
    """A model from what it ``saved``."""
    trees = trees_loaded(state["trees"], arrays)
    return SequentialModel(TableCoding.model_validate(state["coding"]), trees, state["records"])


def fit_sequential(frame: pl.DataFrame, options: FitOptions | None = None) -> SequentialModel:
    if frame.width > _MOST_COLUMNS:
        raise DataError(f"a table of {frame.width:,} columns is too wide: at most {_MOST_COLUMNS:,} go together")
    coding = coding_of(frame, (options or FitOptions()).description)
    codes, sizes = coding.encode(frame), coding.sizes
    ordered = [one.ordered for one in coding.codes.values()]
    order = sorted(range(len(sizes)), key=lambda place: (sizes[place], place))
    fitting = TreeFitting.of(codes, sizes, ordered)
    return SequentialModel(
        coding, tuple(fitting.tree(target, order[:at]) for at, target in enumerate(order)), len(codes)
    )


def _guarantee(options: FitOptions, _model: SynthesisModel) -> GuaranteeStatement:
    least = options.description.rare
    return GuaranteeStatement(
        guaranteed=(
            f"no name, word or code that fewer than {least} people have reappears",
            f"no number is drawn beyond the {least}th from either end",
            "no record is stored in the model, and identifiers are made anew",
        ),
        not_guaranteed=(
            "nothing bounds what the model tells of one person: it is not differentially private",
            "a record that is drawn may equal a real one by chance; measure how often before you share",
        ),
    )


synthesis_methods.add(_NAME, SynthesisMethod(fit_sequential, sequential_model, _guarantee))
