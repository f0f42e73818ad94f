"""Census data of 30,162 adults, and 100,937 road accidents, with ARX's hierarchies, as problems for the solvers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.kinds.csv_file import CsvHierarchy
from shoal.privacy import PrivacyModel
from shoal.schema import Column, Counts
from shoal.solve import Problem, SensitiveAttribute, build_ladder, build_problem

ALL = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class")
EIGHT = tuple(name for name in ALL if name != "occupation")


ACCIDENTS = ("iage", "irace", "ideathmon", "ideathday", "isex", "ihispanic", "istatenum", "iinjury")


class Adult:
    """
    ``Adult(shared).problem(ALL, [KAnonymity(k=5)], limit=0.05)``; ``repeat`` stands for as many times the records.
    """

    name = "adult"

    def __init__(self, shared: Path, *, repeat: int = 1) -> None:
        self.folder = shared / "data" / self.name
        self.table = pl.read_csv(self.folder / f"{self.name}.csv", separator=";", infer_schema=False)
        self.subset = pl.read_csv(self.folder / f"{self.name}_subset.csv", separator=";", infer_schema=False)
        self.repeat = repeat

    def counts(self, attributes: Sequence[str]) -> Counts:
        counted = self.table.group_by(attributes).agg((pl.len() * self.repeat).alias("n"))
        return Counts.from_frame(counted, tuple(attributes), "n")

    def hierarchy(self, name: str, counts: Counts) -> BoundHierarchy:
        return CsvHierarchy(path=self.folder / f"{self.name}_hierarchy_{name}.csv").bind(
            Column(name), counts.value_counts(name)
        )

    def problem(
        self,
        quasi: Sequence[str],
        models: Sequence[PrivacyModel],
        *,
        limit: float = 0.0,
        sensitive: Sequence[str] = (),
        of_subset: bool = False,
    ) -> Problem:
        """With ``of_subset`` the records are those of the subset, and the whole file is the population."""
        counts = self.counts((*quasi, *sensitive))
        population = None
        if of_subset:
            population, counts = counts.records, self._with_subset(counts)
        ladders = [build_ladder(self.hierarchy(name, counts), counts.values_of(name).alias(name)) for name in quasi]
        known = {name: self._sensitive(name, counts) for name in sensitive}
        return build_problem(counts, ladders, models, sensitive=known, population=population, suppression_limit=limit)

    def _sensitive(self, name: str, counts: Counts) -> SensitiveAttribute:
        values = counts.values_of(name).alias(name)
        ladder = build_ladder(self.hierarchy(name, counts), values)
        return SensitiveAttribute(np.arange(len(values)), ladder.groups[1:])

    def _with_subset(self, counts: Counts) -> Counts:
        counted = self.subset.group_by(counts.attributes).len("n")
        here = counts.frame().join(counted, on=counts.attributes, how="left", maintain_order="left", nulls_equal=True)
        records = here["n"].fill_null(0).cast(pl.Int64).to_numpy()
        return Counts(counts.attributes, counts.values, counts.codes, records, records)


class Fars(Adult):
    name = "fars"
