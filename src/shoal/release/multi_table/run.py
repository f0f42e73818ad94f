"""Several tables that belong together, released in one folder: all of them, or none.

Each table is a release of its own, in a folder of its name. All share the secrets of the run, so that one person gets
one pseudonym in every table; randomness is told apart by the table's name. What refers to what is checked before
anything is rewritten and counted again in the files that were written.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.assess.evidence.study import EvidenceStudy
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
from shoal.io import FileOptions, Source, Staging, Target, open_source, open_target, write_all, writing
from shoal.io.formats.delimited.formula_escapes import without_escapes
from shoal.io.frames import source_at
from shoal.plan.dry_run import check_against_data
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.references import Reference, is_released
from shoal.pseudonyms import Secrets
from shoal.pseudonyms.run_secrets import RunSecrets
from shoal.randomness import Randomness
from shoal.release.last_look import look_between_tables
from shoal.release.multi_table.summary import MultiTableRelease, condensed_warnings, warnings_of
from shoal.release.multi_table.unlinking import unlink
from shoal.release.run import Release, release_folder
from shoal.report import write_pdf
from shoal.report.render import render_multi_table, tell_joined
from shoal.schema.progress import Progress


def release_tables(  # noqa: PLR0913  # one argument per option of `shoal run`
    several: MultiTablePolicy,
    folder: Path,
    *,
    data: Path | None = None,
    engine: str = "polars",
    master: str | None = None,
    parts: bool | None = None,
    seed: int | None = None,
    force: bool = False,
    study: EvidenceStudy | None = None,
    pdf: bool = False,
    progress: Progress | None = None,
    secrets: Secrets | None = None,
) -> MultiTableRelease:
    """Write one release folder with a folder for each table. It appears whole, or not at all.

    ``data`` is the folder that relative paths of sources are taken from, instead of the policy's.
    """
    randomness = Randomness(seed)
    shared = secrets or RunSecrets(randomness)
    sources = sources_of(several, data)
    references = references_of(several, sources)
    if several.joined.unlink:
        several, references = unlink(several, references, sources)
    with Staging(folder, force=force) as staging:
        targets = _targets(several)
        kept = tuple(one for one in references if one.keep and is_released(several.tables, one))
        before = {reference: ReferenceKeys.of(reference, sources) for reference in kept}
        releases = {
            name: release_folder(
                policy.model_copy(update={"target": None}),
                staging.path / name,
                data=sources[name],
                engine=engine,
                master=master,
                parts=parts,
                seed=int.from_bytes(randomness.stream("table", name).key, "big"),
                study=study,
                pdf=pdf,
                progress=progress,
                secrets=shared,
            )
            for name, policy in several.tables.items()
        }
        written = {name: _read_anew(release.data, sources[name]) for name, release in releases.items()}
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
        whole = MultiTableRelease(
            several.name,
            hashlib.sha256(several.text.encode()).hexdigest(),
            folder,
            {name: _moved(release, staging.path, folder) for name, release in releases.items()},
            followed,
            joined,
            (*warnings_of(followed, joined, together), *repeated),
            own,
        )
        with writing(str(folder)):
            (staging.path / "release.json").write_text(whole.to_json(), encoding="utf-8")
            for name in ("report", "recipient"):
                html = render_multi_table(whole.facts(), recipient=name == "recipient")
                (staging.path / f"{name}.html").write_text(html, encoding="utf-8")
        releases = _led(whole, staging.path, pdf=pdf)
        whole = replace(whole, releases=releases)
        write_all([(target, _unescaped(several, name, written[name].scan())) for name, target in targets.items()])
        staging.commit()
    return whole


def check_tables(several: MultiTablePolicy, data: Path | None) -> tuple[Reference, ...]:
    """Every table against its data, and what refers to what: raises what a run would raise before it solves."""
    sources = sources_of(several, data)
    for name, policy in several.tables.items():
        check_against_data(policy, sources[name])
    return references_of(several, sources)


def sources_of(several: MultiTablePolicy, data: Path | None = None) -> dict[str, Source]:
    """The tables' sources, each opened once: what refers to what is seen in the very rows that are released."""
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
        sources[name] = open_source(policy.source, base=data if elsewhere else policy.folder)
    return sources


def _read_anew(data: Path, like: Source) -> Source:
    """The released file. What a text file is written with is what its source was, and need not be found out."""
    dialect = getattr(like, "dialect", None)
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
    lost = LostRecords(*(_lost_records(releases[end.table]) for end in (reference.child, reference.parent)))
    return follow_reference(reference, before[reference], ReferenceKeys.of(reference, written), lost)


def _lost_records(release: Release) -> bool:
    """Or may have: invented records could make up for the number."""
    manifest = release.manifest
    return manifest.data.rows != manifest.before.rows or manifest.solution.decoys > 0


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
    rows = {name: manifest.data.rows for name, manifest in manifests.items()}
    in_order = in_same_order(several.tables, references, sources, rows)
    return joined_risk(
        frames,
        {name: policy.quasi_identifiers for name, policy in several.tables.items()},
        (*key_groups(several.tables, references, frames), *in_order),
        several=several,
        rows=sum(rows.values()),
        most_records={name: int(told["most_records"]) for name, told in people.items()},
    )


def _led(whole: MultiTableRelease, staged: Path, *, pdf: bool) -> dict[str, Release]:
    """Each table's report begins with what all tables say together, where that is worse than what it says itself."""
    facts, led = whole.facts(), dict(whole.releases)
    for name, release in whole.releases.items():
        html = tell_joined(release.html, facts)
        if html is None:
            continue
        led[name] = replace(release, html=html)
        with writing(str(whole.folder)):
            (staged / name / "report.html").write_text(html, encoding="utf-8")
            if pdf:
                write_pdf(staged / name / "report.html", staged / name / "report.pdf")
    return led


def _moved(release: Release, was: Path, folder: Path) -> Release:
    """The release where it will lie."""

    def moved(path: Path) -> Path:
        return folder / path.relative_to(was)

    files = {name: moved(path) for name, path in release.files.items()}
    at = None if release.folder is None else moved(release.folder)
    return replace(release, data=moved(release.data), folder=at, files=files)
