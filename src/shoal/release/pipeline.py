"""Count, solve, rewrite, recount: the way of a table through the rooms, the same for files, databases and frames."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Generic

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.assess.measure.missing_values import read_stars_by_policy
from shoal.assess.read_back.judgement import (
    LOOKED_AT,
    SampledRecords,
    Taught,
    WrittenRecords,
    as_written,
    in_background,
    judge_read_back,
    learn_from,
)
from shoal.engine import Engine, OutputSample
from shoal.engine.protocol import TableT
from shoal.errors import BugError
from shoal.hierarchy import BoundHierarchy
from shoal.hierarchy.value_order import ValueOrder
from shoal.io import PartsTarget, Source, Target
from shoal.kernels.arrays import Mask
from shoal.kernels.group_counts import count_groups
from shoal.measurement import Measurement, SensitiveKnowledge, measure_classes
from shoal.measurement.risk.identifier_uniqueness import unique_shares
from shoal.measurement.risk.population_classes import need_enough_people
from shoal.measurement.usefulness.information_loss import Generalised, cell_figures, class_figures
from shoal.plan import Plan, PlanBuilder, apply_solution, build_problem
from shoal.plan.cell_recoding import labels_of
from shoal.plan.hidden_columns.person_tag import PERSON
from shoal.plan.hidden_columns.record_origin import TagOrigin
from shoal.plan.nodes import PlannedStep
from shoal.plan.solver_choice import solve_by_policy
from shoal.policy import Policy
from shoal.privacy import Classes, ModelFinding
from shoal.pseudonyms import Secrets
from shoal.randomness import Randomness
from shoal.release.further_files import planned_files, refuse_for_aggregates, remove_aside
from shoal.results.manifest import Timing
from shoal.results.read_back_outcome import ReadBackOutcome
from shoal.schema import Counts, Role
from shoal.schema.progress import Progress
from shoal.schema.steps import SidecarFile, Step
from shoal.solve import Problem, Solution
from shoal.solve.decoys import k_without_decoys
from shoal.techniques.suppression.suppress_cells import SuppressCellsStep


@dataclass(frozen=True)
class ReadBackLearning:
    """Some of the records as they were written, with their originals, and what is learnt from them in the meantime."""

    sampled: SampledRecords
    taught: Future[Taught]


@dataclass(frozen=True)
class RewriteResult:
    """What a rewrite leaves behind besides the output itself."""

    plan: Plan
    solution: Solution
    before: Measurement
    hierarchies: Mapping[str, BoundHierarchy]
    counts: Counts
    records: int
    suppressed_by_rule: int
    timing: Timing
    known: Mapping[str, SensitiveKnowledge] = field(default_factory=dict)
    """What the output doesn't show of the sensitive attributes that models look at."""
    population: NDArray[np.int64] | None = None
    """Of each combination of the counts, how many records the population has."""
    files: tuple[SidecarFile, ...] = ()
    """What the release has beside the data, to be made of what was put aside."""
    k_without_decoys: int | None = None
    """What is left of k for whoever can tell invented records from real ones."""
    source_records: int = 0
    learning: ReadBackLearning | None = field(default=None, repr=False)
    """What other columns give back, which is being found."""
    again: Callable[[Step], Plan] | None = field(default=None, repr=False)
    """Writes the release once more with some cells suppressed."""

    @property
    def altered(self) -> dict[str, float]:
        """Where levels differ from cell to cell: per quasi-identifier, the share of records whose cell is altered.

        Records that are suppressed as a whole are not among them.
        """
        cells = self.solution.cells
        if cells is None:
            return {}
        changed = (cells > 0) & ~self.solution.withheld[:, None]
        return {name: self._share(changed[:, place]) for place, name in enumerate(self.counts.attributes)}

    @property
    def withheld(self) -> float:
        """The share of records that are suppressed as a whole, so that the models hold."""
        return self._share(self.solution.withheld)

    def _share(self, combinations: Mask) -> float:
        return int(self.counts.records[combinations].sum()) / max(1, self.counts.total_records)

    @property
    def suppressed_cells(self) -> int:
        """Starred cells of records that are not suppressed as a whole, where levels differ from cell to cell."""
        cells = self.solution.cells
        if cells is None:
            return 0
        tops = np.array([self.hierarchies[name].height for name in self.counts.attributes])
        starred = (cells == tops).sum(axis=1)
        return int((starred * self.counts.records)[~self.solution.withheld].sum())


@dataclass(frozen=True)
class RecountResult:
    """The output, measured by code that does not know the solver."""

    after: Measurement
    models: tuple[ModelFinding, ...]
    utility: dict[str, float]
    most_records: int = 1
    """Of one person."""
    pseudonyms: Mapping[str, float] = field(default_factory=dict)
    """By direct identifier that is released in another form, the share of people whom that still tells apart."""


class ReleasePipeline(Generic[TableT]):
    def __init__(  # noqa: PLR0913  # what a run is made of
        self,
        policy: Policy,
        engine: Engine[TableT],
        randomness: Randomness,
        progress: Progress | None = None,
        secrets: Secrets | None = None,
        *,
        traced: bool = False,
    ) -> None:
        """``traced``: what is put aside says of each released record which record of the source it was."""
        self.policy = policy
        self.engine = engine
        self.randomness = randomness
        self.progress = progress
        self.secrets = secrets
        self.traced = traced

    def rewrite(self, source: Source, target: Target, *, aside: Path) -> RewriteResult:
        started = time.perf_counter()
        table = self.engine.scan(source)
        builder = PlanBuilder(self.policy, self.engine, table, self.randomness, self.secrets)
        builder.bind_techniques()
        question = build_problem(builder)
        problem = question.problem
        before = self._before(table, problem, rolled_up=question.rolled_up)
        counted = time.perf_counter()
        solution = solve_by_policy(problem, self.policy.solve, self._reporter("solve"))
        solved = time.perf_counter()
        apply_solution(builder, question, solution)
        if self.traced:
            builder.now.add(PlannedStep(TagOrigin(), "origin", ""))
        builder.bind_ending()
        files = planned_files(builder.now.plan)
        if not self.policy.kind.has_records:
            refuse_for_aggregates(files)
        sample = self._sample(problem.counts.total_records)
        records = self.engine.sink(builder.now.table, target, aside=aside, sample=sample)
        rewritten = time.perf_counter() - solved
        timing = Timing(count_s=counted - started, solve_s=solved - counted, rewrite_s=rewritten)
        return RewriteResult(
            builder.now.plan,
            solution,
            before,
            question.hierarchies,
            problem.counts,
            records,
            builder.suppressed_by_rule,
            timing,
            {name: self._known(reading, question.counts) for name, reading in question.readings.items()},
            problem.population,
            files,
            k_without_decoys(problem, solution) if solution.decoys else None,
            max(before.rows, builder.source_records),
            None if sample is None else self._start_learning(builder.now.plan, question.hierarchies, sample),
            partial(self._again, builder, target, aside),
        )

    def _start_learning(
        self, plan: Plan, hierarchies: Mapping[str, BoundHierarchy], sample: OutputSample
    ) -> ReadBackLearning | None:
        """While the output is recounted, which needs other cores and nothing of this."""
        records = sample.frame
        if records.is_empty():
            return None
        sampled = SampledRecords(self.policy, plan, hierarchies, records, sample.every)
        return ReadBackLearning(sampled, in_background(partial(learn_from, sampled)))

    def _sample(self, records: int) -> OutputSample | None:
        """Of what is written, for it to be seen what can be read back; records of an aggregated table are nobody's."""
        if not self.policy.kind.has_traceable_rows or not self.policy.quasi_identifiers:
            return None
        return OutputSample(max(1, -(-records // LOOKED_AT)))

    def _again(self, builder: PlanBuilder[TableT], target: Target, aside: Path, step: Step) -> Plan:
        """Write once more, with some cells suppressed."""
        builder.now.add(PlannedStep(step, "suppress_cells", SuppressCellsStep.clause))
        remove_aside(aside)
        if isinstance(target, PartsTarget):
            target.discard()
            target.parts.clear()
        self.engine.sink(builder.now.table, target, aside=aside)
        return builder.now.plan

    def recount(self, output: pl.LazyFrame, done: RewriteResult, *, aside: Path) -> RecountResult:
        """Measure the output as written. If it breaks what the solver promised, that is our bug and nothing leaves."""
        quasi, present = done.counts.attributes, output.collect_schema().names()
        person, most = None, 1
        if self.policy.person and aside.exists():
            people = pl.scan_ipc(aside).select(PERSON)
            output = pl.concat([output, people], how="horizontal")
            person, most = PERSON, _most_records(people)
        aggregated = not self.policy.kind.has_classes
        sensitive = () if aggregated else self.policy.modelled
        after = measure_classes(output, () if aggregated else quasi, person, sensitive, done.known)
        after = replace(after.nobody_kept(), suppressed=0) if aggregated else self._of_the_source(after, done)
        after = read_stars_by_policy(replace(after, population=self._population(done)), self.policy)
        findings = after.find(self.policy.models)
        if not all(finding.met for finding in findings):
            raise BugError("the written table does not meet the privacy models that were solved for")
        utility = {} if aggregated else class_figures(after)
        if quasi and not aggregated:
            utility |= self._cells(after, done)
        direct = () if aggregated else [name for name in self.policy.with_role(Role.DIRECT) if name in present]
        pseudonyms = unique_shares(output, direct, person, done.records)
        return RecountResult(
            after, findings, utility, most, {name: share for name, share in pseudonyms.items() if share}
        )

    def look_back(
        self, scan: Callable[[], pl.LazyFrame], done: RewriteResult, after: Measurement, *, aside: Path
    ) -> tuple[RewriteResult, ReadBackOutcome | None]:
        """What other columns give back of the quasi-identifiers; cells that tell are suppressed if the policy says so.

        Raises where k would not hold.
        """
        started = time.perf_counter()
        if done.learning is None or done.again is None:
            return done, None
        written = WrittenRecords.of(done.learning.sampled, lambda: as_written(aside, scan()))
        outcome = judge_read_back(written, after.k, done.learning.taught.result())
        if outcome.suppression is not None:
            done = replace(done, plan=done.again(outcome.suppression))
        taken = done.timing.model_copy(update={"read_back_s": time.perf_counter() - started})
        return replace(done, timing=taken, learning=None, again=None), outcome

    def _of_the_source(self, after: Measurement, done: RewriteResult) -> Measurement:
        """With what became of the source's records that the output doesn't show."""
        solved, solution = done.counts.total_records, done.solution
        if solution.suppressed == solved:
            after = after.nobody_kept()
        by_model = solution.suppressed if self.policy.solve.drop_suppressed else 0
        return replace(
            after,
            dropped=done.suppressed_by_rule + by_model,
            not_sampled=done.source_records - done.suppressed_by_rule - solved,
            invented=solution.decoys,
        )

    def _known(self, reading: ValueOrder, counts: Counts) -> SensitiveKnowledge:
        """Where suppressed records are left out, the output doesn't show what the table was like with them."""
        dropped = self.policy.solve.drop_suppressed
        return SensitiveKnowledge(reading, counts.value_counts(reading.column.name) if dropped else None)

    def _before(self, table: TableT, problem: Problem, *, rolled_up: bool) -> Measurement:
        """The table as it was: by its own quasi-identifiers, before any technique touched them.

        Where these were too many to be counted, as they were counted: the plan says on which levels.
        """
        counts = problem.counts
        present = tuple(name for name in self.engine.columns(table) if name in self.policy.quasi_identifiers)
        altered = any(self.policy.attributes[name].steps for name in present) or self.policy.table_steps
        if not rolled_up and (altered or present != counts.attributes):
            counts = self.engine.counts(table, present, self.policy.person)
        people = counts.people_in(np.arange(counts.size), counts.size)
        there = counts.records > 0
        classes = Classes(counts.records, people, attributes=counts.attributes, pairs=counts.shared).only(there)
        before = Measurement(counts.total_records, 0, classes, counts.total_people)
        if problem.population is None:
            return before
        population = problem.counts.frame().cast(pl.String).with_columns(pl.Series("records", problem.population))
        need_enough_people(before.people, population)
        starred = pl.Series(np.zeros(len(classes), dtype=bool))
        return replace(before, released=counts.frame().filter(pl.Series(there)), starred=starred, population=population)

    def _population(self, done: RewriteResult) -> pl.DataFrame | None:
        """What the population would look like, had it been released in the same way."""
        if done.population is None:
            return None
        counts, solution = done.counts, done.solution
        levels = solution.cells
        if levels is None:
            levels = np.tile(np.array(list(solution.levels.values()), dtype=np.int8), (counts.size, 1))
        columns = [
            labels_of(done.hierarchies[name], counts.values[place], counts.codes[:, place], levels[:, place]).alias(
                name
            )
            for place, name in enumerate(counts.attributes)
        ]
        everyone = pl.DataFrame([*columns, pl.Series("records", done.population)])
        # People who look like suppressed records are not known to be absent: nobody sees who was suppressed.
        return everyone.filter(~pl.Series(solution.withheld))

    def _cells(self, after: Measurement, done: RewriteResult) -> dict[str, float]:
        """What is left of the cells, by the levels in use."""
        counts, solution = done.counts, done.solution
        if solution.decoys:
            after = replace(
                after, released=self._real(after.released, done), rows=after.rows - after.invented, invented=0
            )
        found = cell_figures(
            after,
            {
                name: Generalised.by(
                    done.hierarchies[name],
                    counts.value_counts(name),
                    solution.levels[name],
                    self.policy.attributes[name].weight,
                )
                for name in counts.attributes
            },
        )
        if not found:
            raise BugError("the written table has labels that no level has")
        rolled_up = any(planned.technique == "roll_up" for planned in done.plan)
        return {name: value for name, value in found.items() if not (rolled_up and name.startswith("entropy"))}

    def _real(self, released: pl.DataFrame, done: RewriteResult) -> pl.DataFrame:
        """The released combinations without the records that fill them up."""
        counts, filling = done.counts, done.solution.filling
        if filling is None:
            return released
        alike = counts.frame().filter(pl.Series(filling > 0))
        labels = [
            done.hierarchies[name].generalise(alike[name], level).cast(pl.String)
            for name, level in done.solution.levels.items()
        ]
        invented = pl.DataFrame([*labels, pl.Series("invented", filling[filling > 0])])
        invented = invented.group_by(counts.attributes).agg(pl.col("invented").sum())
        shown = released.with_columns(pl.col(counts.attributes).cast(pl.String))
        both = shown.join(invented, on=counts.attributes, how="left", nulls_equal=True)
        return both.with_columns(pl.col("records") - pl.col("invented").fill_null(0)).drop("invented")

    def _reporter(self, phase: str) -> Callable[[int, int], None] | None:
        report = self.progress
        return None if report is None else lambda done, total: report(phase, done, total)


def _most_records(people: pl.LazyFrame) -> int:
    """Of one person; all records without one count as one person's."""
    counted = count_groups(people, [PERSON], "records")["records"]
    return int(counted.max() or 1)  # type: ignore[arg-type]  # whole numbers
