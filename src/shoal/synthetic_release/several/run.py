"""From a request to several synthetic tables: read, found out how they belong together, learnt, drawn, judged."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from shoal import __version__
from shoal.assess.synthetic import KeyLink, TableRelations
from shoal.errors import DataError
from shoal.io import ReaderOptions, Source, Staging
from shoal.policy.references import ReferenceEnd
from shoal.policy.release_kind import ReleaseKind
from shoal.randomness import Randomness, now
from shoal.release.source_identity import SourceFingerprint
from shoal.report.synthetic.page import synthetic_pages
from shoal.report.synthetic.tables_page import synthetic_tables_pages
from shoal.results.manifest import DataFile, FurtherFile, Manifest, Timing
from shoal.results.multi_table_manifest import MultiTableManifest, ReferenceResult
from shoal.results.synthesis.tables_result import SyntheticTablesResult
from shoal.schema.progress import CancelToken, EventSink, Monitor, NoteMade, WarningRaised
from shoal.synth.direct_identifiers import with_direct_identifiers
from shoal.synth.method import GuaranteeStatement
from shoal.synth.related_tables import RelatedTablesDescription, fit_related_tables
from shoal.synth.related_tables.key_detection import FoundRelations, relations_of
from shoal.synth.related_tables.model import RelatedTablesModel
from shoal.synth.table_coding import TableDescription
from shoal.synthetic_release.evidence import LOOKED_AT
from shoal.synthetic_release.manifest_building import SynthesisFindings, build_manifest, made_up
from shoal.synthetic_release.output import SyntheticFolder, SyntheticRelease
from shoal.synthetic_release.request import SynthesisRequest
from shoal.synthetic_release.run import SynthesisPhase
from shoal.synthetic_release.several.evidence import RelatedEvidence, RelatedStudy
from shoal.synthetic_release.several.output import RelatedFolder, SpooledTables, SyntheticTablesRelease
from shoal.synthetic_release.several.request import RelatedTablesRequest
from shoal.synthetic_release.several.table_sources import foreign_keys, opened_tables, read_tables

METHOD: Final = "related-tables"
_ABOUT_MODEL: Final = "the model that the tables were drawn from; it holds no record, and tells more than the tables do"


def synthesise_tables(  # noqa: PLR0913  # one argument per wish
    tables: object,
    description: object = None,
    *,
    rows: int | None = None,
    seed: int | None = None,
    control: object = None,
    require: Mapping[str, float] | None = None,
    output: str | Path | None = None,
    force: bool = False,
    evidence: bool = True,
    save_model: bool = False,
    reader: ReaderOptions | None = None,
    progress: EventSink | None = None,
    cancel: CancelToken | None = None,
) -> SyntheticTablesRelease:
    """Make synthetic tables that belong together as the real ones do, about nobody.

    Args:
        tables: by name, or a folder, a list of files, a database; None where the description names the files.
        description: tables, keys, references, orders: a path, a mapping, or a `RelatedTablesDescription`. Found where
            nothing is said, and the release says what was found.
        rows: records of the main table, such as patients; as many as there are if not said.
        seed: makes the draw repeatable, for tests.
        control: the same tables of people who are not in the data, to compare attacks with.
        require: by figure or attack, what it may come to at most.
        output: a release folder; without one the tables come back in `release.data`.
        force: replaces the release folder that is there.
        evidence: whether it is measured how alike the tables are, and attacked.
        save_model: puts the model beside the tables.
        reader: how files are to be read.
        progress: is called with the events of the work (`shoal.schema.progress`).
        cancel: stops it from another thread, with `Cancelled` and nothing written.
    """
    request = RelatedTablesRequest(
        data=tables,
        description=description,
        rows=rows,
        seed=seed,
        control=control,
        require=require or {},
        output=output,
        force=force,
        evidence=evidence,
        save_model=save_model,
        reader=reader,
    )
    return RelatedTablesRun(request, Monitor(progress, cancel)).execute()


@dataclass(frozen=True)
class TableOfSeveral:
    """One of the tables, as its own manifest tells it."""

    described: Mapping[str, Any]
    guarantee: GuaranteeStatement
    rows: int
    spooled: SpooledTables = field(repr=False)
    name: str
    method: str = METHOD
    model: None = None
    needs_data: bool = True

    def replaced(self) -> None:
        return None

    def inspect(self) -> Mapping[str, Any]:
        return self.described

    def schema(self) -> pl.Schema:
        return self.spooled.schema(self.name)

    def batches(self, randomness: Randomness) -> Iterator[pl.DataFrame]:
        """Drawn already."""
        del randomness
        return self.spooled.batches(self.name)


class RelatedTablesRun:
    """Whoever cancels gets ``Cancelled`` before the next phase or block of records, and finds everything as before."""

    def __init__(self, request: RelatedTablesRequest, monitor: Monitor | None = None) -> None:
        request.refuse_contradictions()
        self.request = request
        self.monitor = monitor or Monitor()
        self.randomness = Randomness(request.seed)
        said = request.description
        self._declared = None if said is None else RelatedTablesDescription.of(said)
        self.sources = opened_tables(request.data, self._declared, request.reader)
        if len(self.sources) < 2:
            raise DataError("there is one table only: several are needed to belong together")

    def execute(self) -> SyntheticTablesRelease:
        request = self.request
        with ExitStack() as stack:
            folder = None
            if request.output is not None:
                staging = stack.enter_context(Staging(request.output, force=request.force))
                folder = RelatedFolder(request.output, staging)
            fingerprints = {name: SourceFingerprint(source) for name, source in self.sources.items()}
            started = time.perf_counter()
            with self.monitor.phase(SynthesisPhase.READ):
                original = read_tables(self.sources)
                relations = self._relations(original)
            read = time.perf_counter()
            with self.monitor.phase(SynthesisPhase.FIT, sum(frame.height for frame in original.values())):
                model = fit_related_tables(original, relations.description)
            fitted = time.perf_counter()
            spooled = SpooledTables(None if folder is None else folder.staging.path)
            with self.monitor.phase(SynthesisPhase.DRAW):
                self._draw(model, original, spooled)
            draws = self._draws(model, spooled, relations.description)
            drawn = time.perf_counter()
            evidence = self._evidence(original, spooled, relations.description, model, draws)
            timing = Timing(count_s=read - started, solve_s=fitted - read, rewrite_s=drawn - fitted)
            with self.monitor.phase(SynthesisPhase.REPORT):
                parts = _Parts(self, folder, spooled, timing)
                tables = {name: parts.table(name, draws[name], evidence, fingerprints[name]) for name in draws}
                files: tuple[FurtherFile, ...] = ()
                if folder is not None and request.save_model:
                    files = folder.keep_model(model, _ABOUT_MODEL)
                manifest = self._manifest(relations, model, evidence, tables, files)
                pages = synthetic_tables_pages(manifest, {name: one.manifest for name, one in tables.items()})
                for warning in manifest.warnings:
                    self.monitor.emit(WarningRaised(warning))
            with self.monitor.phase(SynthesisPhase.COMMIT):
                spooled.remove()
                if folder is not None:
                    folder.finish(manifest, pages)
        return SyntheticTablesRelease(manifest, pages["report.html"], tables, model, request.output)

    def _relations(self, original: Mapping[str, pl.DataFrame]) -> FoundRelations:
        """As declared, else as found; columns that name people are learnt nothing from."""
        if self._declared is not None:
            found = FoundRelations(self._declared, {})
        else:
            found = relations_of(original, foreign_keys(self.sources), self.request.name or _name(self.request.data))
            for what, why in found.reasons.items():
                self.monitor.emit(NoteMade(f"found: {what} ({why})"))
        return FoundRelations(_without_names(found.description, original), found.reasons)

    def _draw(self, model: RelatedTablesModel, original: Mapping[str, pl.DataFrame], spooled: SpooledTables) -> None:
        parents = self.request.rows or original[model.main].height
        advance = self.monitor.progress(SynthesisPhase.DRAW)
        for done in spooled.add(model.blocks(parents, self.randomness)):
            advance(done, None)

    def _draws(
        self, model: RelatedTablesModel, spooled: SpooledTables, description: RelatedTablesDescription
    ) -> dict[str, TableOfSeveral]:
        told, promised = model.inspect()["tables"], guarantee(description.rare)
        return {
            name: TableOfSeveral(told[name], promised, spooled.rows.get(name, 0), spooled, name)
            for name in model.models
        }

    def _evidence(
        self,
        original: Mapping[str, pl.DataFrame],
        spooled: SpooledTables,
        description: RelatedTablesDescription,
        model: RelatedTablesModel,
        draws: Mapping[str, TableOfSeveral],
    ) -> RelatedEvidence:
        if not self.request.evidence:
            return RelatedEvidence()
        control = None
        if self.request.control is not None:
            control = read_tables(opened_tables(self.request.control, None, self.request.reader))
            lacking = [name for name in original if name not in control]
            if lacking:
                raise DataError(f"the control group has no table '{lacking[0]}'")
        study = RelatedStudy(
            original=original,
            relations=table_relations(model),
            leave_out={name: made_up(one) for name, one in draws.items()},
            randomness=self.randomness,
            monitor=self.monitor,
            require=self.request.require,
        )
        looked_at = {name: spooled.head(name, max(LOOKED_AT, frame.height)) for name, frame in original.items()}

        def rehearsal(learnt: Mapping[str, pl.DataFrame]) -> Mapping[str, pl.DataFrame]:
            again = fit_related_tables(learnt, description)
            return again.sample(learnt[again.main].height, self.randomness)

        return study.gather(looked_at, control, rehearsal)

    def _manifest(
        self,
        relations: FoundRelations,
        model: RelatedTablesModel,
        evidence: RelatedEvidence,
        tables: Mapping[str, SyntheticRelease],
        files: tuple[FurtherFile, ...],
    ) -> MultiTableManifest:
        judged, promised = evidence.assessment, guarantee(relations.description.rare)
        orders = {name: told.order for name, told in relations.description.tables.items() if told.order}
        return MultiTableManifest(
            shoal=__version__,
            kind=ReleaseKind.TABLES,
            created=now().replace(microsecond=0),
            name=self.request.name or relations.description.name,
            tables={name: f"{name}/release.json" for name in tables},
            references=tuple(_references(relations, tables)),
            warnings=tuple(
                dict.fromkeys(f"{name}: {text}" for name, one in tables.items() for text in one.manifest.warnings)
            ),
            synthesis=SyntheticTablesResult(
                method=METHOD,
                main=model.main,
                found=dict(relations.reasons),
                orders=orders,
                parents={
                    name: (one.lineage.parent, one.lineage.by)
                    for name, one in model.models.items()
                    if one.lineage.parent is not None and one.lineage.by is not None
                },
                guaranteed=promised.guaranteed,
                not_guaranteed=promised.not_guaranteed,
                keys=() if judged is None else judged.keys,
                sequences=() if judged is None else judged.sequences,
                attacked=evidence.attacked,
                why_not=evidence.why_not,
                seeded=self.request.seed is not None,
            ),
            models=() if judged is None else judged.gates,
            files=files,
        )


@dataclass(frozen=True)
class _Parts:
    """Each table's own part of the release."""

    run: RelatedTablesRun
    folder: RelatedFolder | None
    spooled: SpooledTables
    timing: Timing

    def table(
        self, name: str, draw: TableOfSeveral, evidence: RelatedEvidence, fingerprint: SourceFingerprint
    ) -> SyntheticRelease:
        source: Source = self.run.sources[name]
        output: SyntheticFolder | None = None if self.folder is None else self.folder.table(name, source)
        data = DataFile(path="", rows=draw.rows, sha256="")
        if output is not None:
            output.write(draw.schema(), draw.batches(self.run.randomness))
            data = output.describe(draw.rows)
        findings = SynthesisFindings(draw, evidence.of(name), data, (), self.timing)
        asked = SynthesisRequest(seed=self.run.request.seed, name=name)
        manifest: Manifest = build_manifest(asked, findings, fingerprint.identity())
        manifest = manifest if output is None else manifest.warned(output.warnings())
        pages = synthetic_pages(manifest)
        if output is not None:
            return output.finish(manifest, pages, None)
        given = self.run.request.data
        example = given.get(name) if isinstance(given, Mapping) else None
        return SyntheticRelease(manifest, pages["report.html"], self.spooled.whole(name, example), None)


def guarantee(least: int) -> GuaranteeStatement:
    """What several tables promise to a person whose records were learnt from."""
    return GuaranteeStatement(
        guaranteed=(
            f"no name, word or code that fewer than {least} people have reappears",
            f"no number, and no number of children, is drawn beyond the {least}th from either end",
            "every key leads to a record that is there; keys and identifiers are made anew",
        ),
        not_guaranteed=(
            "nothing bounds what the tables tell of one person: they are not differentially private",
            "a record that is drawn may equal a real one by chance; measure how often before you share",
            "small tables lose their tails: who has very many records is not drawn",
        ),
    )


def table_relations(model: RelatedTablesModel) -> TableRelations:
    """How the tables hang together, as whoever judges them has to know."""
    keys = {name: one.lineage.key for name, one in model.models.items() if one.lineage.key is not None}
    return TableRelations(
        links=tuple(_links(model, keys)),
        orders={name: one.lineage.order for name, one in model.models.items() if one.lineage.order is not None},
        keys=keys,
    )


def _links(model: RelatedTablesModel, keys: Mapping[str, str]) -> Iterator[KeyLink]:
    for name, one in model.models.items():
        lineage = one.lineage
        if lineage.parent is not None and lineage.by is not None:
            yield KeyLink(lineage.parent, keys[lineage.parent], name, lineage.by)
        for column, parent in {**lineage.inherited, **lineage.chosen}.items():
            yield KeyLink(parent, keys[parent], name, column, main=False)


def _references(relations: FoundRelations, tables: Mapping[str, SyntheticRelease]) -> Iterator[ReferenceResult]:
    for one in relations.description.references:
        if all(ReferenceEnd.parse(end).table in tables for end in (one.child, one.parent)):
            why = relations.reasons.get(f"{one.child} → {one.parent}")
            yield ReferenceResult(**{"from": one.child, "to": one.parent}, kept=True, orphans=0, left_out=0, found=why)


def _without_names(
    description: RelatedTablesDescription, tables: Mapping[str, pl.DataFrame]
) -> RelatedTablesDescription:
    """With columns whose name says that they name people as identifiers, of which nothing is learnt."""
    keys = {ReferenceEnd.parse(end) for one in description.references for end in (one.child, one.parent)}
    told = {}
    for name, table in description.tables.items():
        own = {end.column for end in keys if end.table == name} | {table.key, table.order}
        columns = [column for column in tables[name].columns if column not in own] if name in tables else []
        shapes = with_direct_identifiers(columns, TableDescription(columns=table.columns)).columns
        told[name] = table.model_copy(update={"columns": dict(shapes)})
    return description.model_copy(update={"tables": told})


def _name(data: object) -> str:
    places = data if isinstance(data, list | tuple) else [data]
    named = Path(str(places[0])).stem if len(places) == 1 and isinstance(places[0], str | Path) else ""
    return named if named.replace("-", "").replace("_", "").isalnum() else "tables"
