"""Count, solve, rewrite: the way of a table through the rooms, the same for files, databases and frames."""

from __future__ import annotations

import time
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Generic

import polars as pl

from shoal.assess.evidence.recount import ReadBackLearning, RewriteResult, sensitive_knowledge, source_measurement
from shoal.assess.read_back.judgement import LOOKED_AT, SampledRecords, learn_from
from shoal.engine import Engine, OutputSample
from shoal.engine.background import in_background
from shoal.engine.protocol import TableT
from shoal.io import PartsTarget, Source, Target
from shoal.io.row_estimates import estimated_rows
from shoal.measurement import Measurement
from shoal.plan import (
    BoundProblem,
    Plan,
    PlanBinder,
    PlannedStep,
    PlanStage,
    Solution,
    SuppressCellsStep,
    apply_solution,
    build_problem,
    k_without_decoys,
)
from shoal.plan.earlier_releases import EarlierCost, solve_with_earlier, tag_earlier
from shoal.plan.hidden_columns.earlier_class import EarlierClasses
from shoal.plan.hidden_columns.member_tag import TagMember
from shoal.plan.hidden_columns.record_origin import TagOrigin
from shoal.plan.loss_causes import loss_causes
from shoal.plan.solver_choice import solve_by_policy
from shoal.policy import Policy
from shoal.pseudonyms import Secrets
from shoal.randomness import Randomness
from shoal.release.further_files import planned_files, refuse_for_aggregates, remove_aside
from shoal.release.membership import MembershipTarget
from shoal.results.manifest import Timing
from shoal.schema.progress import Monitor
from shoal.schema.steps import Step


class RunPhase(StrEnum):
    """What a run does, in this order."""

    COUNT = "count"
    SOLVE = "solve"
    REWRITE = "rewrite"
    RECOUNT = "recount"
    READ_BACK = "read back"
    LAST_LOOK = "last look"
    EVIDENCE = "evidence"
    REPORT = "report"
    COMMIT = "commit"


class ReleasePipeline(Generic[TableT]):
    def __init__(  # noqa: PLR0913  # what a run is made of
        self,
        policy: Policy,
        engine: Engine[TableT],
        randomness: Randomness,
        monitor: Monitor | None = None,
        secrets: Secrets | None = None,
        *,
        traced: bool = False,
        earlier: EarlierClasses | None = None,
        members: MembershipTarget | None = None,
    ) -> None:
        """``traced``: what is put aside says of each released record which record of the source it was.

        ``earlier``: who is in which classes of earlier releases, for the models to hold with these in view.
        ``members``: what is put aside says whose each released record is, by the digest that is to be kept.
        """
        self.policy = policy
        self.engine = engine
        self.randomness = randomness
        self.monitor = monitor or Monitor()
        self.secrets = secrets
        self.traced = traced
        self.earlier = earlier
        self.members = members
        self.earlier_cost: EarlierCost | None = None

    def rewrite(self, source: Source, target: Target, *, aside: Path) -> RewriteResult:
        started = time.perf_counter()
        with self.monitor.phase(RunPhase.COUNT, estimated_rows(source)):
            table = self.engine.scan(source)
            binder = PlanBinder(self.policy, self.engine, table, self.randomness, self.secrets)
            if self.earlier is not None:
                tag_earlier(binder, self.earlier)
            if self.members is not None and self.policy.person is not None:
                step = TagMember(self.policy.person, self.members.marks)
                binder.planned.add(PlannedStep(step, "members", "", stage=PlanStage.PREPARATION))
            binder.bind_techniques()
            question = build_problem(binder)
            before = self._before(table, question)
        counted = time.perf_counter()
        with self.monitor.phase(RunPhase.SOLVE):
            if self.earlier is not None:
                solving = self.monitor.progress("solve")
                self.earlier_cost = solve_with_earlier(binder, self.earlier, question, solving)
                question = build_problem(binder)
            solution = solve_by_policy(question.problem, self.policy.solve, self.monitor.progress("solve"))
        solved = time.perf_counter()
        self.monitor.expect(RunPhase.REWRITE, question.problem.counts.total_records)
        with self.monitor.phase(RunPhase.REWRITE):
            written = self._write(binder, question, solution, before, target, aside)
        took = time.perf_counter() - solved
        return replace(written, timing=Timing(count_s=counted - started, solve_s=solved - counted, rewrite_s=took))

    def _write(  # noqa: PLR0913, PLR0917  # what was found so far, and where the output goes
        self,
        binder: PlanBinder[TableT],
        question: BoundProblem,
        solution: Solution,
        before: Measurement,
        target: Target,
        aside: Path,
    ) -> RewriteResult:
        problem = question.problem
        apply_solution(binder, question, solution)
        if self.traced:
            binder.planned.add(PlannedStep(TagOrigin(), "origin", "", stage=PlanStage.SOLUTION))
        binder.bind_ending()
        files = planned_files(binder.plan)
        if not self.policy.kind.has_records:
            refuse_for_aggregates(files)
        sample = self._sample(problem.counts.total_records)
        records = self.engine.sink(binder.planned.execute(), target, aside=aside, sample=sample)
        return RewriteResult(
            binder.plan,
            solution,
            before,
            question.hierarchies,
            problem.counts,
            records,
            binder.suppressed_by_rule,
            known=sensitive_knowledge(self.policy, question.readings, question.counts),
            population=problem.population,
            files=files,
            k_without_decoys=k_without_decoys(problem, solution) if solution.decoys else None,
            loss_causes=loss_causes(problem, self.policy.solve, solution),
            source_records=max(before.rows, binder.source_records),
            read_back_learning=None if sample is None else self._start_learning(binder.plan, question, sample),
            rewrite_with=partial(self._rewrite_with, binder, target, aside),
        )

    def _start_learning(self, plan: Plan, question: BoundProblem, sample: OutputSample) -> ReadBackLearning | None:
        """While the output is recounted, which needs other cores and nothing of this."""
        records = sample.frame
        if records.is_empty():
            return None
        sampled = SampledRecords(self.policy, plan, question.hierarchies, records, sample.every)
        return ReadBackLearning(sampled, in_background(partial(learn_from, sampled), "read-back"))

    def _sample(self, records: int) -> OutputSample | None:
        """Of what is written, for it to be seen what can be read back; records of an aggregated table are nobody's.

        What is learnt from a differentially private table is covered by its guarantee, and a cell that is suppressed
        because of other records would not be.
        """
        if (
            self.policy.guarantee is not None
            or not self.policy.kind.has_traceable_rows
            or not self.policy.quasi_identifiers
        ):
            return None
        return OutputSample(max(1, -(-records // LOOKED_AT)))

    def _rewrite_with(self, binder: PlanBinder[TableT], target: Target, aside: Path, step: Step) -> Plan:
        """Write once more, with some cells suppressed."""
        suppression = PlannedStep(step, "suppress_cells", SuppressCellsStep.clause, stage=PlanStage.READ_BACK)
        binder.planned.add(suppression)
        remove_aside(aside)
        if isinstance(target, PartsTarget):
            target.discard()
            target.parts.clear()
        self.engine.sink(binder.planned.execute(), target, aside=aside)
        return binder.plan

    def _before(self, table: TableT, question: BoundProblem) -> Measurement:
        """The table as it was: by its own quasi-identifiers, before any technique touched them.

        Where these were too many to be counted, as they were counted: the plan says on which levels.
        """
        counts, population = question.problem.counts, question.problem.population
        everyone = None
        if population is not None:
            everyone = counts.frame().cast(pl.String).with_columns(pl.Series("records", population))
        present = tuple(name for name in self.engine.columns(table) if name in self.policy.quasi_identifiers)
        altered = any(self.policy.attributes[name].steps for name in present) or self.policy.table_steps
        if not question.rolled_up and (altered or present != counts.attributes):
            counts = self.engine.counts(table, present, self.policy.person)
        return source_measurement(counts, everyone)
