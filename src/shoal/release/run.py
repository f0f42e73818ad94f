"""The main job: a policy and data in; a release folder, or a table in memory, out."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from shoal.assess.evidence.anatomy import recount_anatomy
from shoal.assess.evidence.study import EvidenceStudy, MeasuredFrame, gather_evidence, study_for
from shoal.engine import Engine
from shoal.engine.polars import PolarsEngine
from shoal.errors import BugError, InputError
from shoal.io import (
    Source,
    Staging,
    explained,
    open_target,
    write_atomic,
    writing,
)
from shoal.io.frames import FrameSource, FrameTarget, as_lazy, is_spark, like
from shoal.policy import Policy
from shoal.policy.sources import source_of
from shoal.pseudonyms import Secrets
from shoal.randomness import Randomness
from shoal.release.engines import make_engine
from shoal.release.further_files import (
    collect_files,
    data_target,
    describe_data_file,
    formulas_in,
    remove_aside,
    write_files,
)
from shoal.release.identities import keep_identities
from shoal.release.last_look import identifiers_of, take_last_look
from shoal.release.manifest_building import RunFindings, build_manifest
from shoal.release.pipeline import RecountResult, ReleasePipeline, RewriteResult
from shoal.release.report_facts import report_facts
from shoal.report import render, write_pdf
from shoal.report.pdf import find_browser
from shoal.results.exploration import Exploration
from shoal.results.manifest import DataFile, Manifest
from shoal.results.risk_results import ReleasedRisk
from shoal.schema.progress import Progress
from shoal.solve import Solution


@dataclass(frozen=True)
class Release:
    """A finished release: the data (or the path of it), further files likewise, its manifest, its report."""

    manifest: Manifest
    html: str
    data: Any = None
    folder: Path | None = None
    files: Mapping[str, Any] = field(default_factory=dict)
    """By name (``shares/party-1``), what the release has beside the data: the same kind of table, or the path."""

    solution: Solution | None = None
    """How it was reached, with what the manifest doesn't keep."""
    nothing_left: bool = False
    """Whether k holds only because no quasi-identifying value tells records apart any more."""

    @property
    def risk(self) -> ReleasedRisk:
        if self.manifest.risk is None:
            raise BugError("a release without its risk")
        return self.manifest.risk

    @property
    def utility(self) -> dict[str, float]:
        return self.manifest.utility

    def report(self, path: str | Path) -> Path:
        """Write the report as one HTML file."""
        write_atomic(Path(path), self.html)
        return Path(path)


def anonymise(  # noqa: PLR0913  # one argument per wish
    data: object,
    policy: Policy,
    *,
    output: str | Path | None = None,
    seed: int | None = None,
    force: bool = False,
    vault: Secrets | None = None,
    shared: str | Path | None = None,
) -> Release:
    """Anonymise a table by a policy; the same kind of table comes back as ``release.data``.

    A ``vault`` (``shoal.vault.Vault``) gives pseudonyms and keys that last; without one they are of this run only.

    A path gives a release folder at ``output``; ``release.data`` is then the path of the data file.

    Of a Spark frame the result lies in a folder of its own while the session lasts, in ``shared`` if that is given: on
    a cluster, a folder that all machines see.
    """
    if isinstance(data, str | Path):
        at = Path(output or default_folder(policy))
        return release_folder(policy, at, data=str(data), seed=seed, force=force, secrets=vault)
    if output is not None:
        raise InputError("a table in memory gives a table in memory; `output` goes with a path")
    if is_spark(data):
        from shoal.release.spark import anonymise_spark

        return anonymise_spark(data, policy, seed=seed, secrets=vault, shared=shared)
    target, randomness, study = FrameTarget(), Randomness(seed), study_for(policy, None)
    with tempfile.TemporaryDirectory() as folder:
        traced = study is not None or bool(identifiers_of(policy))
        pipeline = ReleasePipeline(policy, PolarsEngine(), randomness, secrets=vault, traced=traced)
        aside = Path(folder) / "aside.arrow"
        done = pipeline.rewrite(FrameSource(as_lazy(data)), target, aside=aside)
        recounted = pipeline.recount(target.frame.lazy(), done, aside=aside)
        done, read_back = pipeline.look_back(partial(_lazily, target), done, recounted.after, aside=aside)
        files = collect_files(done.files, aside)
        look = take_last_look(policy, as_lazy(data), target.frame.lazy(), files, aside, done.records)
        keep_identities(done.plan, target.frame.lazy(), aside, vault)
        anatomy = recount_anatomy(policy, target.frame.lazy(), files, done.records)
        study = None if study is None else study.tracing(aside)
    evidence = gather_evidence(policy, *_tables(done, as_lazy(data), recounted, target.frame.lazy()), study)
    findings = RunFindings(done, recounted, read_back, files, look, anatomy, evidence)
    manifest = build_manifest(policy, DataFile(path="", rows=done.records, sha256=""), findings, secrets=vault)
    html = render(report_facts(policy, manifest, findings))
    frames = {file.beside.file: like(data, file.frame.collect()) for file in files}
    return Release(manifest, html, like(data, target.frame), None, frames, done.solution, findings.nothing_left)


def release_folder(  # noqa: PLR0913  # one argument per option of `shoal run`
    policy: Policy,
    folder: Path,
    *,
    data: str | Source | None = None,
    engine: str | Engine[Any] = "polars",
    master: str | None = None,
    parts: bool | None = None,
    seed: int | None = None,
    force: bool = False,
    study: EvidenceStudy | None = None,
    explore: Callable[[], Exploration] | None = None,
    pdf: bool = False,
    progress: Progress | None = None,
    secrets: Secrets | None = None,
) -> Release:
    """Write a release folder: data, release.json, report.html, recipient.html, and what else techniques put beside
    the data. It appears whole, or not at all.

    ``master`` is where Spark runs. ``parts`` says whether the data is a folder of parts, else the policy does.

    With a ``study`` the release is attacked and compared with the original; what ``explore`` finds is shown in the
    report; with ``pdf`` the reports come as PDF too.
    """
    source, randomness = source_of(policy, data), Randomness(seed)
    study = study_for(policy, study)
    if pdf:
        find_browser()
    with Staging(folder, force=force) as staging, explained(source):
        chosen = engine
        if isinstance(chosen, str):
            chosen = make_engine(chosen, progress=progress, spool=staging.path, master=master)
        traced = study is not None or bool(identifiers_of(policy))
        pipeline = ReleasePipeline(policy, chosen, randomness, progress, secrets, traced=traced)
        aside = staging.path / ".aside.arrow"
        escape = policy.output.escape_formulas
        elsewhere = open_target(policy.target, base=policy.folder, escape_formulas=escape) if policy.target else None
        in_parts = policy.output.parts if parts is None else parts
        target = data_target(staging.path / "data", source, in_parts=in_parts, escape=escape)
        with closing(chosen):
            done = pipeline.rewrite(source, target, aside=aside)
            recounted = pipeline.recount(target.scan(), done, aside=aside)
            done, read_back = pipeline.look_back(target.scan, done, recounted.after, aside=aside)
        files = write_files(done.files, aside, staging.path, like=source, escape=escape)
        look = take_last_look(policy, source.scan(), target.scan(), files, aside, done.records)
        keep_identities(done.plan, target.scan(), aside, secrets)
        anatomy = recount_anatomy(policy, target.scan(), files, done.records)
        study = None if study is None else study.tracing(aside)
        remove_aside(aside)
        recounted_at = time.perf_counter()
        evidence = gather_evidence(policy, *_tables(done, source.scan(), recounted, target.scan()), study)
        written = describe_data_file(target, done.records)
        findings = RunFindings(done, recounted, read_back, files, look, anatomy, evidence)
        manifest = build_manifest(policy, written, findings, secrets=secrets)
        manifest = manifest.warned(formulas_in(target, files, escape=escape))
        facts = report_facts(policy, manifest, findings)
        if explore is not None:
            facts = replace(facts, exploration=explore())
        html, for_recipient = render(facts), render(facts, recipient=True)
        manifest = manifest.timed(time.perf_counter() - recounted_at)
        with writing(str(folder)):
            (staging.path / "release.json").write_text(manifest.to_json(), encoding="utf-8")
            (staging.path / "report.html").write_text(html, encoding="utf-8")
            (staging.path / "recipient.html").write_text(for_recipient, encoding="utf-8")
            for name in ("report", "recipient") if pdf else ():
                write_pdf(staging.path / f"{name}.html", staging.path / f"{name}.pdf")
        if elsewhere is not None:
            elsewhere.write(target.scan())
        staging.commit()
    paths = {file.beside.file: folder / file.told.path for file in files}
    at = folder / target.path.name
    return Release(manifest, html, at, folder, paths, done.solution, findings.nothing_left)


def default_folder(policy: Policy) -> Path:
    return Path(f"{policy.name}-release")


def _tables(
    done: RewriteResult, original: pl.LazyFrame, recounted: RecountResult, released: pl.LazyFrame
) -> tuple[MeasuredFrame, MeasuredFrame]:
    return MeasuredFrame(done.before, original), MeasuredFrame(recounted.after, released)


def _lazily(target: FrameTarget) -> pl.LazyFrame:
    """As it is by now: it may be written more than once."""
    return target.frame.lazy()
