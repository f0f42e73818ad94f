"""The main job: a policy and data in; a release folder, or a table of the kind that came, out.

One sequence serves Python, the command line and runs of several tables. Where the output goes is a ``Destination``;
who listens, and what may stop the run, is a ``Monitor``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from shoal.assess.evidence.example_rows import example_rows
from shoal.assess.evidence.last_look import identifiers_of, take_last_look
from shoal.assess.evidence.recount import RewriteResult, check_read_back, recount, recount_anatomy
from shoal.assess.evidence.study import EvidenceStudy, MeasuredFrame, ReleaseEvidence, gather_evidence
from shoal.engine import Engine
from shoal.engine.selection import make_engine
from shoal.errors import InputError
from shoal.io import Source, beginning, explained
from shoal.io.frames import FrameSource, as_lazy, is_spark
from shoal.plan.perturbation_proportion import proportion_warnings
from shoal.plan.roll_up import RollUpStep
from shoal.policy import Policy
from shoal.policy.differential_privacy import problems_of_guarantee
from shoal.policy.load import PolicyDraft
from shoal.policy.sources import source_of
from shoal.pseudonyms import Secrets
from shoal.randomness import Randomness
from shoal.release.destinations import Destination, FolderDestination, MemoryDestination, OpenOutput, Release
from shoal.release.further_files import remove_aside
from shoal.release.identities import has_identities, keep_identities
from shoal.release.manifest_building import RunFindings, build_manifest
from shoal.release.pipeline import ReleasePipeline, RunPhase
from shoal.release.report_facts import report_facts
from shoal.release.request import RunRequest
from shoal.release.source_identity import SourceFingerprint
from shoal.results.evidence_facts import ExampleColumn
from shoal.schema.progress import CancelToken, EventSink, Monitor, NoteMade, WarningRaised

__all__ = ["Release", "Run", "StagedRelease", "anonymise", "release_folder"]


def anonymise(  # noqa: PLR0913  # one argument per wish
    data: object,
    policy: Policy | PolicyDraft | Mapping[str, object] | str | Path,
    *,
    output: str | Path | None = None,
    seed: int | None = None,
    force: bool = False,
    vault: Secrets | None = None,
    shared: str | Path | None = None,
    progress: EventSink | None = None,
    cancel: CancelToken | None = None,
) -> Release:
    """Anonymise a table by a policy; the same kind of table comes back as ``release.data``.

    Args:
        data: a pandas, Polars, PyArrow or Spark table, a path, a database's address, or None for the policy's own
            source. What is no table in memory gives a release folder; ``release.data`` is then the path in it.
        policy: a ``Policy``, what ``shoal.suggest`` gives, the path of its file, its text, or a dict.
        output: of a path, the release folder; named after the policy if none is given.
        seed: makes the run repeatable, for tests.
        force: replaces the release folder that is there.
        vault: a ``Vault``, whose pseudonyms and keys last; without one they are of this run only.
        shared: of a Spark table, the folder that the result lies in while the session lasts; on a cluster, one that all
            machines see.
        progress: is called with the events of the run (``shoal.schema.progress``).
        cancel: stops it from another thread, with ``Cancelled`` and nothing written.
    """
    if output is not None and not isinstance(data, str | Path):
        raise InputError("a table in memory gives a table in memory: it goes with a path", field="output")
    if vault is not None and not hasattr(vault, "key"):
        raise InputError("has to be a Vault", field="vault")
    request = RunRequest(
        policy=Policy.of(policy),
        data=str(data) if isinstance(data, Path) else data,
        output=output,
        seed=seed,
        force=force,
        secrets=vault,
        shared=shared,
    )
    return Run(request, Monitor(progress, cancel)).execute()


def release_folder(  # noqa: PLR0913  # the fields of a request
    policy: Policy,
    folder: Path,
    *,
    data: str | None = None,
    engine: str | Engine[Any] = "polars",
    master: str | None = None,
    parts: bool | None = None,
    seed: int | None = None,
    force: bool = False,
    evidence: bool = False,
    pdf: bool = False,
    secrets: Secrets | None = None,
    monitor: Monitor | None = None,
) -> Release:
    """Write a release folder: data, release.json, report.html, recipient.html, and what else techniques put beside
    the data. It appears whole, or not at all. ``RunRequest`` says what the arguments mean, and has more of them.
    """
    request = RunRequest(
        policy=policy,
        output=folder,
        data=data,
        engine=engine,
        master=master,
        parts=parts,
        seed=seed,
        force=force,
        evidence=evidence,
        pdf=pdf,
        secrets=secrets,
    )
    return Run(request, monitor).execute()


class Run:
    """From a request to a release, in the phases of ``RunPhase``, each announced to the monitor.

    Whoever cancels gets ``Cancelled`` before the next phase, batch of records or step of a solver, and finds everything
    as it was before. Only the last phase, in which the vault gets what it is to keep and the output its name, is not
    interrupted once it has begun: so the vault has no entry of a release that was never made, unless that last step
    itself fails.

    A run that ended early is not resumed. What it had counted is as telling as the data and is nowhere kept, so the
    next one begins anew. That it won't end late for a reason that could be known early is looked after: whether a
    browser for PDF is there, whether the folder may be written and the target opened is known before data is read.
    """

    def __init__(self, request: RunRequest, monitor: Monitor | None = None) -> None:
        self.request = request
        self.policy = request.policy
        self.monitor = monitor or Monitor()
        self._engine: str | Engine[Any] = request.engine
        _refuse_unguaranteed(request)
        if request.members is not None:
            request.members.require(request.policy, request.folder, force=request.force)
        self._given, self._destination = self._arrange(request)
        self.source = self._given
        if request.withdrawn is not None:
            self.source = request.withdrawn.left_out_of(self._given, self.policy.person)

    def execute(self) -> Release:
        with self.staged() as release:
            return release.commit()

    @contextmanager
    def staged(self) -> Iterator[StagedRelease]:
        """Everything but the last phase. Leaving without a commit leaves nothing behind."""
        self._destination.require()
        self.monitor.check()
        with self._destination.open(self._given) as output:
            with explained(self._given):
                made = self._stage(output)
            yield made

    def _arrange(self, request: RunRequest) -> tuple[Source, Destination]:
        data, policy = request.data, request.policy
        if data is None or isinstance(data, str):
            folder = FolderDestination(policy, request.folder, request.force, request.parts, request.pdf)
            return source_of(policy, request.source or data), folder
        if is_spark(data):
            from shoal.release.spark import SparkDestination

            on_cluster = SparkDestination(data, policy, request.shared)
            source, self._engine = on_cluster.arrange()
            return source, on_cluster
        return FrameSource(as_lazy(data)), MemoryDestination(data)

    def _stage(self, output: OpenOutput) -> StagedRelease:
        study, fingerprint = self.request.study(), SourceFingerprint(self.source)
        aside = output.workspace / ".aside.arrow"
        pipeline = self._pipeline(output, traced=study is not None or bool(identifiers_of(self.policy)))
        with closing(pipeline.engine):
            rewritten = pipeline.rewrite(self.source, output.target, aside=aside)
            with self.monitor.phase(RunPhase.RECOUNT, rewritten.records):
                recounted = recount(self.policy, output.scan(), rewritten, aside=aside)
            with self.monitor.phase(RunPhase.READ_BACK):
                rewritten, read_back = check_read_back(output.scan, rewritten, recounted.after, aside=aside)
                if read_back is not None and read_back.suppression is not None:
                    self.monitor.emit(NoteMade("cells that other columns tell were suppressed: it was written again"))
        output.settle()
        with self.monitor.phase(RunPhase.LAST_LOOK, rewritten.records):
            files = output.write_files(rewritten.files, aside)
            leaks = take_last_look(self.policy, self.source, output, files, aside, rewritten.records)
            anatomy = recount_anatomy(self.policy, output.scan(), files, rewritten.records)
        started = time.perf_counter()
        with self.monitor.phase(RunPhase.EVIDENCE):
            before = MeasuredFrame(rewritten.before, self.source.scan())
            after = MeasuredFrame(recounted.after, output.scan())
            evidence = self._evidence(before, after, study, aside)
        if not has_identities(rewritten.plan) and self.request.members is None:
            remove_aside(aside)
        findings = RunFindings(
            *(rewritten, recounted, read_back, files, leaks, anatomy, evidence),
            engine=pipeline.engine.name,
            earlier=pipeline.earlier_cost,
            seeded=self.request.seed is not None,
            withdrawn=None if self.request.withdrawn is None else len(self.request.withdrawn),
        )
        with self.monitor.phase(RunPhase.REPORT):
            release = self._report(output, findings, fingerprint, started)
        return StagedRelease(release, self, output, rewritten, aside)

    def _pipeline(self, output: OpenOutput, *, traced: bool) -> ReleasePipeline[Any]:
        engine, request = self._engine, self.request
        if isinstance(engine, str):
            engine = make_engine(engine, spool=output.workspace, monitor=self.monitor, master=request.master)
        randomness = Randomness(request.seed)
        return ReleasePipeline(
            self.policy,
            engine,
            randomness,
            self.monitor,
            request.secrets,
            traced=traced,
            earlier=request.earlier,
            members=request.members,
        )

    def _evidence(
        self, before: MeasuredFrame, after: MeasuredFrame, study: EvidenceStudy | None, aside: Path
    ) -> ReleaseEvidence:
        if study is not None:
            study = replace(study.tracing(aside), progress=self.monitor.progress("attack"))
        return gather_evidence(self.policy, before, after, study)

    def _report(
        self, output: OpenOutput, findings: RunFindings, fingerprint: SourceFingerprint, started: float
    ) -> Release:
        rewritten, files = findings.rewritten, findings.files
        data = output.describe(rewritten.records)
        source, secrets = fingerprint.identity(), self.request.secrets
        manifest = build_manifest(self.policy, data, findings, secrets=secrets, source=source)
        manifest = manifest.warned(output.warnings(files))
        manifest = manifest.warned(tuple(proportion_warnings(self.policy, partial(beginning, self.source))))
        for warning in manifest.warnings:
            self.monitor.emit(WarningRaised(warning))
        facts = report_facts(self.policy, manifest, findings)
        facts = replace(facts, examples=self._examples(output, rewritten))
        if self.request.explore:
            from shoal.assess.exploration import exploration_of

            tried = exploration_of(self.policy, self._explored, seed=self.request.seed, monitor=self.monitor)
            facts = replace(facts, exploration=tried)
        html = output.write_report(facts)
        release = output.staged(manifest.timed(time.perf_counter() - started), html, files)
        return replace(
            release,
            solution=rewritten.solution,
            nothing_left=findings.nothing_left,
            examples=facts.examples,
            distributions=facts.distributions,
        )

    @property
    def _explored(self) -> object:
        return self.request.data if self.source is self._given else self.source

    def _examples(self, output: OpenOutput, done: RewriteResult) -> tuple[ExampleColumn, ...]:
        coarser = {one.attribute for one in done.plan if isinstance(one.step, RollUpStep)}
        values = {name: done.counts.values_of(name) for name in done.counts.attributes}
        values |= {name: values[name].clear() for name in coarser & values.keys() if name is not None}
        return example_rows(self.policy, self.source, output, done.records, values)


def _refuse_unguaranteed(request: RunRequest) -> None:
    """How many parts there are, and of what size, goes by the source, which no guarantee covers. What a policy has to
    keep to is looked at again, since one that was made or changed in Python has not been read.
    """
    for path, problem in problems_of_guarantee(request.policy):
        raise InputError(f"{'.'.join(map(str, path))}: {problem}")
    if not any(model.one_file_only for model in request.policy.models):
        return
    engine = request.engine if isinstance(request.engine, str) else request.engine.name
    if engine != "polars" or is_spark(request.data):
        raise InputError("a differentially private table is made by the engine polars", field="engine")
    if request.parts:
        raise InputError("a differentially private table is written as one file", field="parts")


@dataclass(frozen=True)
class StagedRelease:
    """A release that is complete and checked, and not yet there."""

    release: Release
    """As it will be; where it is a folder, with the paths that it will have."""
    run: Run
    output: OpenOutput
    rewritten: RewriteResult
    aside: Path

    def commit(self) -> Release:
        with self.run.monitor.phase(RunPhase.COMMIT):
            return self.finish()

    def finish(self) -> Release:
        """The commit itself, for whoever announces it: from its first line on, nothing stops it."""
        with explained(self.run.source):
            keep_identities(self.rewritten.plan, self.output.scan(), self.aside, self.run.request.secrets)
            if self.run.request.members is not None:
                self.run.request.members.write(self.release.manifest, self.output.scan(), self.aside)
            remove_aside(self.aside)
            return self.output.commit(self.release)
