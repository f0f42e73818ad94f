"""From a request to a synthetic release, in phases that are announced to a monitor and can be cancelled."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

import polars as pl

from shoal.assess.comparison.paired_tables import typed
from shoal.curator.curator import Curator
from shoal.curator.synthesis import described_table, synthesise_dataset
from shoal.errors import BugError, DataError
from shoal.io import Source, explained
from shoal.io.frames import FrameSource, as_lazy, source_at
from shoal.randomness import Randomness
from shoal.release.source_identity import SourceFingerprint
from shoal.report.synthetic.page import synthetic_pages
from shoal.results.manifest import Manifest, Timing
from shoal.results.number_format import count
from shoal.schema.progress import CancelToken, EventSink, Monitor, NoteMade, WarningRaised
from shoal.synth.column_shapes import ShapeKind
from shoal.synth.direct_identifiers import with_direct_identifiers, with_free_text
from shoal.synth.method import FitOptions, SynthesisModel, synthesis_method
from shoal.synth.model_files import load_model
from shoal.synth.stored_types import StoredTypes, not_numbers, plain
from shoal.synth.table_coding import TableDescription
from shoal.synthetic_release.edit_rules import checked_rules, never_drawn, read_edit_rules, refuse_unknown
from shoal.synthetic_release.evidence import EvidenceStudy, SyntheticEvidence
from shoal.synthetic_release.manifest_building import SynthesisFindings, build_manifest, made_up
from shoal.synthetic_release.mixed import mixed_draw
from shoal.synthetic_release.output import SyntheticOutput, SyntheticRelease, open_output
from shoal.synthetic_release.record_draws import ModelDraw, RecordDraw
from shoal.synthetic_release.request import SynthesisRequest, default_method


class SynthesisPhase(StrEnum):
    """What a synthesis does, in this order."""

    READ = "read"
    FIT = "fit"
    DRAW = "draw"
    EVIDENCE = "evidence"
    REPORT = "report"
    COMMIT = "commit"


def synthesise(  # noqa: PLR0913  # one argument per wish
    data: object = None,
    *,
    method: str | None = None,
    rows: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    seed: int | None = None,
    description: object = None,
    where: str | None = None,
    balance: str | None = None,
    edit_rules: object = None,
    columns: Sequence[str] = (),
    quasi: Sequence[str] = (),
    risky: int | None = None,
    weight: float | None = None,
    dataset: object = None,
    analyst: str | None = None,
    table: str | None = None,
    control: object = None,
    output: str | Path | None = None,
    force: bool = False,
    evidence: bool = True,
    progress: EventSink | None = None,
    cancel: CancelToken | None = None,
) -> SyntheticRelease:
    """Make a synthetic table: records that nobody is behind, which tell the same story.

    Args:
        data: a pandas, Polars or PyArrow table, a path, or a database's address; None for `test-data` by a schema.
        method: `sequential` (alike, no formal guarantee), `marginals`, `network` or `deep` (differentially private),
            `test-data` (format only), `partial` or `hybrid` (rows of real people, partly drawn), or what a plug-in
            adds. `sequential` if not said, `marginals` of a dataset.
        rows: how many; as many as the source has if not said.
        epsilon: what a private method may tell of one person.
        delta: the chance that it tells more.
        seed: makes the draw repeatable, for tests.
        description: shapes of columns, constraints, person: a path, a mapping, or a `TableDescription`.
        where: a condition that all records meet, such as `sex = 'F'`.
        balance: a column of which each value is to be equally frequent.
        edit_rules: counted in both tables: a policy, or a path, a text or a mapping with `rules`.
        columns: of `partial`, the columns that are drawn; all else stays real.
        quasi: of `partial`, the quasi-identifiers by which records are risky; drawn where no `columns` are named.
        risky: of `partial`: only records whose quasi-identifiers fewer than so many people share.
        weight: of `hybrid`, the share of the real record in each row.
        dataset: the description of a curator's dataset, whose budget pays; in place of `data`.
        analyst: whose part of that budget.
        table: which of the dataset's tables.
        control: people who are not in the data, to compare attacks with.
        output: a release folder; without one `release.data` is a table of the kind that came.
        force: replaces the release folder that is there.
        evidence: whether it is measured how alike the table is, and attacked.
        progress: is called with the events of the work (`shoal.schema.progress`).
        cancel: stops it from another thread, with `Cancelled` and nothing written.
    """
    request = SynthesisRequest(
        data=data,
        method=method or default_method(dataset),
        rows=rows,
        epsilon=epsilon,
        delta=delta,
        seed=seed,
        description=description,
        where=where,
        balance=balance,
        edit_rules=() if edit_rules is None else read_edit_rules(edit_rules),
        columns=columns,
        quasi=quasi,
        risky=risky,
        weight=weight,
        dataset=dataset,
        analyst=analyst,
        table=table,
        control=control,
        output=output,
        force=force,
        evidence=evidence,
    )
    return SyntheticRun(request, Monitor(progress, cancel)).execute()


@dataclass(frozen=True)
class _Learnt:
    """The original, as far as it was read, and what was learnt from it."""

    original: pl.DataFrame | None
    draw: RecordDraw
    read_s: float
    fit_s: float
    types_read: bool = False


class SyntheticRun:
    """Whoever cancels gets ``Cancelled`` before the next phase or block of records, and finds everything as before."""

    def __init__(self, request: SynthesisRequest, monitor: Monitor | None = None) -> None:
        request.refuse_contradictions()
        self.request = request
        self.monitor = monitor or Monitor()
        self.randomness = Randomness(request.seed)
        self._stored = pl.Schema()
        self.source = _opened(request.data)
        unfitted = request.from_model is not None or request.is_mixed
        self._options = None if unfitted else request.fit_options(self.randomness, self.monitor)
        if request.withdrawn is not None and self.source is not None:
            self.source = request.withdrawn.left_out_of(self.source, self._person)

    def execute(
        self, around_commit: Callable[[Manifest], AbstractContextManager[None]] = lambda _: nullcontext()
    ) -> SyntheticRelease:
        """``around_commit`` may refuse the finished release, and hears whether it appeared."""
        request = self.request
        with open_output(request.output, self.source, request.data, force=request.force) as output:
            fingerprint = None if self.source is None else SourceFingerprint(self.source)
            learnt = self._learnt()
            started = time.perf_counter()
            with self.monitor.phase(SynthesisPhase.DRAW):
                self._write(learnt.draw, output, self._types(learnt.draw, output))
            drawn = time.perf_counter()
            rules = checked_rules(request.edit_rules, learnt.original, output.scan(), learnt.draw)
            evidence = self._evidence(learnt, output)
            model = learnt.draw.model
            findings = SynthesisFindings(
                draw=learnt.draw,
                evidence=evidence,
                data=output.describe(learnt.draw.rows),
                files=output.keep_model(model) if request.save_model and model is not None else (),
                timing=Timing(
                    count_s=learnt.read_s,
                    solve_s=learnt.fit_s,
                    rewrite_s=drawn - started,
                    report_s=time.perf_counter() - drawn,
                ),
                types_read=learnt.types_read,
                person=self._person,
                rules=rules,
            )
            with self.monitor.phase(SynthesisPhase.REPORT):
                identity = fingerprint.identity() if fingerprint is not None and learnt.draw.needs_data else None
                manifest = build_manifest(request, findings, identity).warned(output.warnings())
                for warning in manifest.warnings:
                    self.monitor.emit(WarningRaised(warning))
                pages = synthetic_pages(manifest)
            with around_commit(manifest), self.monitor.phase(SynthesisPhase.COMMIT):
                return output.finish(manifest, pages, model)

    @property
    def _person(self) -> str | None:
        if self.request.dataset is not None:
            return described_table(self.request.dataset, self.request.table).person
        if self.request.is_mixed and self.request.description is not None:
            person: str | None = self.request.described().person
            return person
        return getattr(self._options and self._options.description, "person", None)

    def _learnt(self) -> _Learnt:
        started = time.perf_counter()
        with self.monitor.phase(SynthesisPhase.READ):
            original = self._read()
        read = time.perf_counter()
        with self.monitor.phase(SynthesisPhase.FIT, None if original is None else original.height):
            if (known := self._columns(original)) is not None:
                refuse_unknown(self.request.edit_rules, known)
            draw = self._drawable(pl.DataFrame() if original is None else original)
            refuse_unknown(self.request.edit_rules, draw.schema().names())
        typed_here = original is not None and bool(self._undeclared_texts(original))
        return _Learnt(original, draw, read - started, time.perf_counter() - read, typed_here)

    def _columns(self, original: pl.DataFrame | None) -> Sequence[str] | None:
        """Names that are known before anything is learnt or paid."""
        if self.request.dataset is not None:
            return tuple(described_table(self.request.dataset, self.request.table).columns)
        return original.columns if original is not None and self.request.from_model is None else None

    def _read(self) -> pl.DataFrame | None:
        if self.source is None:
            return None
        with explained(self.source):
            scanned = self.source.scan()
            if not (self.request.is_mixed or self.request.chosen.needs_data or self.request.from_model is not None):
                self._stored = scanned.collect_schema()
                return scanned.limit(0).collect()
            frame = scanned.collect(engine="streaming")
        if not frame.height:
            raise DataError(f"{self.source.label}: has no records")
        if not self.request.is_mixed and not self.request.chosen.is_private:
            for name, none in not_numbers(frame).items():
                self.monitor.emit(
                    NoteMade(f"column '{name}': {count(none, 'value')} that are no numbers count as missing")
                )
        self._stored = frame.schema
        return plain(frame)

    def _types(self, draw: RecordDraw, output: SyntheticOutput) -> StoredTypes:
        """Of the source; of none where nothing was read."""
        if not draw.needs_data:
            return StoredTypes(self._stored, {}, (), not output.is_text)
        told = draw.inspect()
        kinds = {name: ShapeKind(shape["kind"]) for name, shape in told.get("shapes", {}).items()}
        sums = {one["total"] for one in told.get("constraints", {}).get("sums", ())}
        return StoredTypes(self._stored, kinds, sums, not output.is_text)

    def _write(self, draw: RecordDraw, output: SyntheticOutput, types: StoredTypes) -> None:
        advance = self.monitor.progress(SynthesisPhase.DRAW)

        def told() -> Iterator[pl.DataFrame]:
            done = 0
            for batch in draw.batches(self.randomness):
                done += batch.height
                advance(done, draw.rows)
                yield types.restored(batch)

        output.write(types.restored(pl.DataFrame(schema=draw.schema())).schema, told())

    def _drawable(self, original: pl.DataFrame) -> RecordDraw:
        """A table that is mixed, or a model: one that was kept, that is paid for, or that is fitted now."""
        request, never = self.request, never_drawn(self.request.edit_rules)
        if request.is_mixed:
            return mixed_draw(original, request, self.randomness)
        if request.from_model is not None:
            model = load_model(request.from_model)
            return ModelDraw(model, synthesis_method(model.method).guarantee(FitOptions(), model), request, never)
        options = self._options or FitOptions()
        if request.dataset is not None:
            paid = synthesise_dataset(
                request.dataset if request.withdrawn is None else Curator(request.dataset, withdrawn=request.withdrawn),
                options,
                method=request.method,
                table=request.table,
                analyst=request.analyst,
            )
            left = f"paid from the budget of the dataset: ε {paid.epsilon_left} is left"
            self.monitor.emit(NoteMade(left))
            return ModelDraw(paid.model, paid.guarantee, request, never)
        model = self._fit(original)
        return ModelDraw(model, synthesis_method(model.method).guarantee(options, model), request, never)

    def _evidence(self, learnt: _Learnt, output: SyntheticOutput) -> SyntheticEvidence:
        if not self.request.evidence or learnt.original is None or not learnt.original.height:
            return SyntheticEvidence()
        study = EvidenceStudy(
            original=learnt.original,
            released=output.scan(),
            person=self._person,
            leave_out=made_up(learnt.draw),
            targets=self.request.targets,
            randomness=self.randomness,
            monitor=self.monitor,
            require=self.request.require,
        )
        return study.gather(self.request.control, None if self.request.from_model is not None else self._rehearsed)

    def _rehearsed(self, learnt: pl.DataFrame) -> pl.DataFrame:
        """A table of the same method that was learnt from these people."""
        if self.request.is_mixed:
            return mixed_draw(learnt, self.request, self.randomness).mixed.frame
        return self._fit(learnt).sample(learnt.height, self.randomness)

    def _fit(self, original: pl.DataFrame) -> SynthesisModel:
        if self._options is None:
            raise BugError("a model that was kept is not fitted")
        texts = self._undeclared_texts(original)
        typed_columns = typed(original.select(texts)).get_columns() if texts else []
        options, said = self._options, self._options.description
        if isinstance(said, TableDescription):
            said = said if self.request.chosen.is_private else with_free_text(original, said)
            options = replace(options, description=with_direct_identifiers(original.columns, said))
        return self.request.chosen.fit(original.with_columns(typed_columns), options)

    def _undeclared_texts(self, original: pl.DataFrame) -> list[str]:
        """A private method can't look at the data to tell what a column of text holds; types are public knowledge."""
        if self._options is None or not self.request.chosen.is_private:
            return []
        declared = getattr(self._options.description, "columns", {})
        return [name for name, kind in original.schema.items() if kind == pl.String() and name not in declared]


def _opened(data: object) -> Source | None:
    if data is None or isinstance(data, Source):
        return data
    if isinstance(data, str | Path):
        return source_at(str(data))
    return FrameSource(as_lazy(data))
