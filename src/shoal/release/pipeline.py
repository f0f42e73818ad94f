"""Count, solve, rewrite, recount: the way of a table through the rooms, the same for files, databases and frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic

import numpy as np
import polars as pl

from shoal.engine import Engine
from shoal.engine.protocol import TableT
from shoal.errors import BugError, DataError
from shoal.hierarchy import BoundHierarchy
from shoal.io import Source, Target
from shoal.measurement import Measurement, measure_classes
from shoal.measurement.usefulness import class_figures, loss_of
from shoal.plan import Builder, Plan
from shoal.plan.person import PERSON
from shoal.policy import Policy
from shoal.privacy import Classes, Finding
from shoal.randomness import Randomness
from shoal.release.manifest import Timing
from shoal.schema import Counts
from shoal.solve import Solution, solve_lattice

Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Rewritten:
    """What a rewrite leaves behind besides the output itself."""

    plan: Plan
    solution: Solution
    before: Measurement
    hierarchies: Mapping[str, BoundHierarchy]
    counts: Counts
    records: int
    suppressed_by_rule: int
    timing: Timing


@dataclass(frozen=True)
class Recounted:
    """The output, measured by code that shares nothing with the solver."""

    after: Measurement
    models: tuple[Finding, ...]
    utility: dict[str, float]


class Pipeline(Generic[TableT]):
    def __init__(
        self, policy: Policy, engine: Engine[TableT], randomness: Randomness, progress: Progress | None = None
    ) -> None:
        self.policy = policy
        self.engine = engine
        self.randomness = randomness
        self.progress = progress

    def rewrite(self, source: Source, target: Target, *, aside: Path) -> Rewritten:
        started = time.perf_counter()
        table = self.engine.scan(source)
        builder = Builder(self.policy, self.engine, table, self.randomness)
        builder.bind_techniques()
        counts = builder.count()
        if not counts.total_records:
            raise DataError("there are no records to release")
        before = self._before(table, counts)
        hierarchies, ladders = builder.ladders(counts)
        counted = time.perf_counter()
        solution = solve_lattice(
            counts,
            ladders,
            self.policy.models,
            suppression_limit=self.policy.solve.suppression_limit,
            progress=self._reporter("solve"),
        )
        solved = time.perf_counter()
        builder.bind_solution(counts, hierarchies, solution)
        builder.bind_ending()
        records = self.engine.sink(builder.now.table, target, aside=aside)
        timing = Timing(counted - started, solved - counted, time.perf_counter() - solved)
        return Rewritten(
            builder.now.plan, solution, before, hierarchies, counts, records, builder.suppressed_by_rule, timing
        )

    def recount(self, output: pl.LazyFrame, done: Rewritten, *, aside: Path) -> Recounted:
        """Measure the output as written. If it breaks what the solver promised, that is our bug and nothing leaves."""
        quasi = done.counts.attributes
        person = None
        if self.policy.person and aside.exists():
            output = pl.concat([output, pl.scan_ipc(aside)], how="horizontal")
            person = PERSON
        aggregated = "aggregate" in self.policy.table_steps
        after = measure_classes(output, () if aggregated else quasi, person)
        if aggregated or done.solution.suppressed == done.counts.total_records:
            nobody = np.empty(0, dtype=np.int64)
            after = replace(after, suppressed=0 if aggregated else after.rows, classes=Classes(nobody, nobody))
        findings = tuple(model.find(after.classes) for model in self.policy.models)
        if not all(finding.met for finding in findings):
            raise BugError("the written table does not meet the privacy models that were solved for")
        utility = class_figures(after)
        if quasi and not aggregated and not self.policy.solve.drop_suppressed:
            weights = {name: self.policy.attributes[name].weight for name in quasi}
            utility["loss"] = loss_of(after, self._cell_losses(done), weights)
        return Recounted(after, findings, utility)

    def _before(self, table: TableT, counts: Counts) -> Measurement:
        """The table as it was: by its own quasi-identifiers, before any technique touched them."""
        present = tuple(name for name in self.engine.columns(table) if name in self.policy.quasi_identifiers)
        altered = any(self.policy.attributes[name].steps for name in present) or self.policy.table_steps
        if altered or present != counts.attributes:
            counts = self.engine.counts(table, present, self.policy.person)
        people = counts.people_in(np.arange(counts.size), counts.size)
        return Measurement(counts.total_records, 0, Classes(counts.records, people))

    def _cell_losses(self, done: Rewritten) -> dict[str, pl.DataFrame]:
        return {
            name: pl.DataFrame(
                {
                    "label": done.hierarchies[name].generalise(values, done.solution.levels[name]).cast(pl.String),
                    "loss": done.hierarchies[name].loss(values, done.solution.levels[name]),
                }
            ).unique("label")
            for name, values in zip(done.counts.attributes, done.counts.values, strict=True)
        }

    def _reporter(self, phase: str) -> Callable[[int, int], None] | None:
        report = self.progress
        return None if report is None else lambda done, total: report(phase, done, total)
