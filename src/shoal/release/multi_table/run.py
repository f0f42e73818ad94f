"""Several tables that belong together, released in one folder: all of them, or none.

Each table is a release of its own, in a folder of its name. All share the secrets of the run, so that one person gets
one pseudonym in every table; randomness is told apart by the table's name. What refers to what is checked before
anything is rewritten and counted again in the files that were written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import polars as pl

from shoal.assess.evidence.last_look import look_between_tables
from shoal.assess.multi_table.joined_risk import (
    JoinedRisk,
    in_same_order,
    joined_risk,
    kept_together,
    key_groups,
    require_joined_models,
)
from shoal.assess.multi_table.references import (
    FollowedReference,
    LostRecords,
    ReferenceKeys,
    follow_reference,
    references_of,
)
from shoal.errors import FieldName, FieldText, InputError
from shoal.io import FileOptions, ReaderOptions, Source, Staging, Target, open_target, write_all, writing
from shoal.io.formats.delimited.formula_escapes import without_escapes
from shoal.io.frames import source_at
from shoal.io.nested.paths import table_name
from shoal.io.nested.tables import NestedTables
from shoal.plan.dry_run import check_against_data
from shoal.policy import Policy
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.references import Reference, is_released
from shoal.policy.sources import open_named, open_nested
from shoal.pseudonyms import Secrets
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.release.destinations import Release
from shoal.release.multi_table.documents import write_documents
from shoal.release.multi_table.summary import MultiTableRelease, condensed_warnings, warnings_of
from shoal.release.multi_table.unlinking import unlink
from shoal.release.pipeline import RunPhase
from shoal.release.request import MultiTableRunRequest, RunRequest
from shoal.release.run import Run, StagedRelease
from shoal.report import write_pdf
from shoal.report.pdf import find_browser
from shoal.report.render import render_multi_table, tell_joined
from shoal.results.manifest import Manifest
from shoal.schema.progress import Monitor, NoteMade

TOGETHER: Final = "together"
"""The phase between those of the single tables and the commit of all of them."""


def release_tables(  # noqa: PLR0913  # the fields of a request
    several: MultiTablePolicy,
    folder: Path,
    *,
    data: Path | None = None,
    engine: str = "polars",
    seed: int | None = None,
    force: bool = False,
    evidence: bool = False,
    pdf: bool = False,
    secrets: Secrets | None = None,
    monitor: Monitor | None = None,
) -> MultiTableRelease:
    """Write one release folder with a folder for each table. It appears whole, or not at all.

    ``MultiTableRunRequest`` says what the arguments mean, and has more of them.
    """
    request = MultiTableRunRequest(
        policy=several,
        output=folder,
        data=data,
        engine=engine,
        seed=seed,
        force=force,
        evidence=evidence,
        pdf=pdf,
        secrets=secrets,
    )
    return MultiTableRun(request, monitor).execute()


class MultiTableRun:
    """A ``Run`` of each table, one after the other; then what they are together; then one commit of all of them."""

    def __init__(self, request: MultiTableRunRequest, monitor: Monitor | None = None) -> None:
        self.request = request
        self.monitor = monitor or Monitor()
        self._randomness = Randomness(request.seed)
        self._secrets = request.secrets or RunSecrets(self._randomness)

    def execute(
        self, around_commit: Callable[[Mapping[str, Manifest]], AbstractContextManager[None]] = lambda _: nullcontext()
    ) -> MultiTableRelease:
        """``around_commit`` may refuse the finished tables, and hears whether they appeared."""
        request, several = self.request, self.request.policy
        if request.pdf:
            find_browser()
        opened = open_tables(several, request.data, request.reader)
        several, sources = opened.several, opened.sources
        references = references_of(several, sources)
        if several.joined.unlink:
            several, references = unlink(several, references, sources)
        with Staging(request.folder, force=request.force) as staging, ExitStack() as stack:
            targets = _targets(several)
            remaining = self._remaining(several, sources)
            before = _keys_before(several, references, remaining)
            tables = {
                name: stack.enter_context(self._run(name, policy, sources[name], staging.path).staged())
                for name, policy in several.tables.items()
            }
            with self.monitor.phase(TOGETHER):
                joint = _JointRelease(several, remaining, references, tables)
                whole = joint.checked(before, staging.path, request.folder)
                if opened.nested is not None:
                    told = write_documents(opened.nested, joint.written(), staging.path)
                    whole = replace(whole, files=(told,))
                whole = _write_reports(whole, staging.path, tables, pdf=request.pdf)
            manifests = {name: table.release.manifest for name, table in tables.items()}
            with around_commit(manifests), self.monitor.phase(RunPhase.COMMIT):
                for table in tables.values():
                    table.finish()
                written = {name: _read_anew(table.release.data, sources[name]) for name, table in tables.items()}
                write_all(
                    [(target, _unescaped(several, name, written[name].scan())) for name, target in targets.items()]
                )
                staging.commit()
        return whole

    def _remaining(self, several: MultiTablePolicy, sources: Mapping[str, Source]) -> Mapping[str, Source]:
        """Without people who withdrew; refused where a table does not say whose its records are."""
        gone = self.request.withdrawn
        if gone is None:
            return sources
        people = {name: policy.person for name, policy in several.tables.items()}
        if several.documents is not None:  # a document's number is nobody's name
            paths = several.documents.paths
            people = {table_name(table): paths.people.get(table) for table in paths.columns}
        return {name: gone.left_out_of(source, people[name]) for name, source in sources.items()}

    def _run(self, name: str, policy: Policy, source: Source, folder: Path) -> Run:
        self.monitor.emit(NoteMade(f"table '{name}'"))
        request = RunRequest(
            policy=policy.model_copy(update={"target": None}),
            source=source,
            output=folder / name,
            engine=self.request.engine,
            master=self.request.master,
            parts=self.request.parts,
            seed=int.from_bytes(self._randomness.stream("table", name).key, "big"),
            evidence=self.request.evidence,
            pdf=self.request.pdf,
            secrets=self._secrets,
            withdrawn=self.request.withdrawn,
        )
        return Run(request, self.monitor)


@dataclass(frozen=True)
class _JointRelease:
    """Tables that are ready to be committed, looked at together."""

    several: MultiTablePolicy
    sources: Mapping[str, Source]
    references: tuple[Reference, ...]
    tables: Mapping[str, StagedRelease]

    def checked(self, before: Mapping[Reference, ReferenceKeys], staged: Path, folder: Path) -> MultiTableRelease:
        """Raises where the tables give away together what none of them does alone."""
        several, sources, references = self.several, self.sources, self.references
        releases = {name: table.release for name, table in self.tables.items()}
        written = self.written()
        look_between_tables(
            {name: (policy, sources[name].scan(), written[name].scan()) for name, policy in several.tables.items()}
        )
        followed = tuple(_follow(one, before, releases, written) for one in references)
        joined = _joined(several, references, releases, sources, written)
        require_joined_models(joined)
        together = () if several.joined_k is None else kept_together(several, references, sources)
        own, repeated = condensed_warnings(
            several, {name: release.manifest.warnings for name, release in releases.items()}
        )
        return MultiTableRelease(
            several.name,
            hashlib.sha256(several.text.encode()).hexdigest(),
            folder,
            {name: _moved(release, staged, folder) for name, release in releases.items()},
            followed,
            joined,
            (*warnings_of(followed, joined, together), *repeated),
            own,
        )

    def written(self) -> dict[str, Source]:
        """The tables as they were written, where they lie until the commit."""
        return {
            name: _read_anew(table.output.workspace / table.release.data.name, self.sources[name])
            for name, table in self.tables.items()
        }


def _keys_before(
    several: MultiTablePolicy, references: tuple[Reference, ...], sources: Mapping[str, Source]
) -> dict[Reference, ReferenceKeys]:
    kept = (one for one in references if one.keep and is_released(several.tables, one))
    return {reference: ReferenceKeys.of(reference, sources) for reference in kept}


def check_tables(
    several: MultiTablePolicy, data: Path | None, reader: ReaderOptions | None = None
) -> tuple[Reference, ...]:
    """Every table against its data, and what refers to what: raises what a run would raise before it solves."""
    opened = open_tables(several, data, reader)
    for name, policy in opened.several.tables.items():
        check_against_data(policy, opened.sources[name])
    return references_of(opened.several, opened.sources)


@dataclass(frozen=True)
class OpenedTables:
    """The tables' sources, each opened once: what refers to what is seen in the very rows that are released."""

    several: MultiTablePolicy
    """Of the tables that are there: an array that has no element in any document is none."""
    sources: dict[str, Source]
    nested: NestedTables | None = None
    """The documents that the tables are taken from."""


def open_tables(
    several: MultiTablePolicy, data: Path | None = None, reader: ReaderOptions | None = None
) -> OpenedTables:
    """The sources of a policy's tables; ``data`` is the folder of the files, or the file of nested documents."""
    if several.documents is None:
        return OpenedTables(several, _sources_of(several, data, reader))
    nested = open_nested(several, data)
    sources: dict[str, Source] = {table_name(table): source for table, source in nested.sources.items()}
    tables = {name: policy for name, policy in several.tables.items() if name in sources}
    references = tuple(one for one in several.references if {one.child.table, one.parent.table} <= tables.keys())
    return OpenedTables(replace(several, tables=tables, references=references), sources, nested)


def _sources_of(several: MultiTablePolicy, data: Path | None, reader: ReaderOptions | None) -> dict[str, Source]:
    if data is not None and not data.is_dir():
        raise InputError(
            FieldText(
                "a policy of several tables takes ", FieldName("data", "FOLDER"), ", the folder that its files are in"
            )
        )
    sources = {}
    for name, policy in several.tables.items():
        if policy.source is None:
            raise InputError(f"the policy names no source of the table '{name}'")
        elsewhere = data is not None and isinstance(policy.source, FileOptions)
        sources[name] = open_named(policy.source, data if elsewhere else policy.folder, reader)
    return sources


def _read_anew(data: Path, like: Source) -> Source:
    """The released file. What a text file is written with is what its source was, and need not be found out."""
    dialect = getattr(getattr(like, "original", like), "dialect", None)
    known = {} if dialect is None else {"separator": dialect.separator, "quote": dialect.quote or '"'}
    return source_at({"path": str(data), **known})


def _targets(several: MultiTablePolicy) -> dict[str, Target]:
    """Opened before the work, so that it is not in vain; written after it, when every table is known to be good."""
    return {
        name: open_target(policy.target, base=policy.folder, escape_formulas=policy.output.escape_formulas)
        for name, policy in several.tables.items()
        if policy.target is not None
    }


def _unescaped(several: MultiTablePolicy, name: str, released: pl.LazyFrame) -> pl.LazyFrame:
    """What stands before formulas in a text file is the file's, not the table's."""
    return without_escapes(released) if several.tables[name].output.escape_formulas else released


def _follow(
    reference: Reference,
    before: Mapping[Reference, ReferenceKeys],
    releases: Mapping[str, Release],
    written: Mapping[str, Source],
) -> FollowedReference:
    if reference not in before:
        return FollowedReference(reference, kept=False)
    starred = {name for name, release in releases.items() if _starred_cells(release)}
    lost = LostRecords(*(_lost_records(releases[end.table]) for end in (reference.child, reference.parent)))
    return follow_reference(reference, before[reference], ReferenceKeys.of(reference, written, starred), lost)


def _lost_records(release: Release) -> bool:
    """Or may have: invented records could make up for the number, and keys may be starred."""
    records = release.manifest.records
    lost = records is None or bool(records.dropped or records.not_sampled or records.invented)
    return lost or _starred_cells(release)


def _starred_cells(release: Release) -> bool:
    """Whether cells that told a quasi-identifying value were starred; keys may be among them."""
    told = release.manifest.read_back
    return told is not None and bool(told.suppressed_cells)


def _joined(
    several: MultiTablePolicy,
    references: tuple[Reference, ...],
    releases: Mapping[str, Release],
    sources: Mapping[str, Source],
    written: Mapping[str, Source],
) -> JoinedRisk:
    """From the files that were written; whatever joins counts, kept on purpose or not."""
    frames = {name: source.scan() for name, source in written.items()}
    manifests = {name: release.manifest for name, release in releases.items()}
    people = {name: manifest.person for name, manifest in manifests.items() if manifest.person is not None}
    rows = {name: manifest.data.rows or 0 for name, manifest in manifests.items()}
    in_order = in_same_order(several.tables, references, sources, rows)
    return joined_risk(
        frames,
        {name: policy.quasi_identifiers for name, policy in several.tables.items()},
        (*key_groups(several.tables, references, frames), *in_order),
        several=several,
        rows=sum(rows.values()),
        most_records={name: told.most_records for name, told in people.items()},
    )


def _write_reports(
    whole: MultiTableRelease, staged: Path, tables: Mapping[str, StagedRelease], *, pdf: bool
) -> MultiTableRelease:
    """The manifest and the reports of the whole. Each table's own report begins with what all tables say together,
    where that is worse than what it says itself."""
    facts, led = whole.facts(), dict(whole.releases)
    with writing(str(whole.folder)):
        (staged / "release.json").write_text(whole.manifest().to_json(), encoding="utf-8")
        for name in ("report", "recipient"):
            html = render_multi_table(facts, recipient=name == "recipient")
            (staged / f"{name}.html").write_text(html, encoding="utf-8")
        for name, release in whole.releases.items():
            html_of_table = tell_joined(release.html, facts)
            if html_of_table is None:
                continue
            led[name] = replace(release, html=html_of_table)
            report = tables[name].output.workspace / "report.html"
            report.write_text(html_of_table, encoding="utf-8")
            if pdf:
                write_pdf(report, report.with_suffix(".pdf"))
    return replace(whole, releases=led)


def _moved(release: Release, was: Path, folder: Path) -> Release:
    """The release where it will lie."""

    def moved(path: Path) -> Path:
        return folder / path.relative_to(was)

    files = {name: moved(path) for name, path in release.files.items()}
    at = None if release.folder is None else moved(release.folder)
    return replace(release, data=moved(release.data), folder=at, files=files)
