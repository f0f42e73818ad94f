"""``shoal run``, ``check``, ``measure`` and ``attack`` with several tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from shoal.assess.evidence.study import EvidenceStudy
from shoal.assess.measure.risk_assessment import AssessmentOptions
from shoal.assess.multi_table.attack import MultiTableAttack, attack_tables
from shoal.assess.multi_table.joined_risk import JoinedRisk, in_words
from shoal.assess.multi_table.measurement import MultiTableMeasurement, measure_tables
from shoal.assess.multi_table.references import FollowedReference
from shoal.assess.multi_table.table_set import TableSet
from shoal.cli.terminal.ci_gates import finish
from shoal.cli.terminal.output import print_json, print_table, progress, warn
from shoal.cli.views.attacks import HEADER, attack_row, evidence_findings, print_attacks, print_evidence
from shoal.cli.views.measurement import print_verdicts
from shoal.cli.views.summary import k_before, verdict
from shoal.errors import InputError
from shoal.policy import warnings_in
from shoal.policy.multi_table import MultiTablePolicy
from shoal.policy.references import Reference
from shoal.privacy import ModelFinding
from shoal.pseudonyms import Secrets
from shoal.release.multi_table.run import check_tables, release_tables
from shoal.release.multi_table.summary import MultiTableRelease, condensed_warnings
from shoal.results.attack_report import attack_bounds
from shoal.results.number_format import count

SAFE_K = 2
"""The k of joined tables where none is asked for: nobody is alone."""


def run_tables(  # noqa: PLR0913  # the options of `shoal run`
    several: MultiTablePolicy,
    *,
    data: str | None,
    output: Path | None,
    engine: str,
    master: str | None,
    parts: bool | None,
    seed: int | None,
    force: bool,
    evidence: bool,
    safe: bool,
    pdf: bool,
    as_json: bool,
    secrets: Secrets | None = None,
) -> None:
    with progress() as report:
        tell = None if report is None else lambda done, total: report("attack", done, total)
        whole = release_tables(
            several,
            output or Path(f"{several.name}-release"),
            data=None if data is None else Path(data),
            engine=engine,
            master=master,
            parts=parts,
            seed=seed,
            force=force,
            study=EvidenceStudy(None, tell) if evidence or safe else None,
            pdf=pdf,
            progress=report,
            secrets=secrets,
        )
    if as_json:
        print_json(whole.to_dict())
    else:
        print_tables(whole)
    finish(f"shoal run {several.name}", list(_findings(whole, safe=safe)), None)


def _findings(whole: MultiTableRelease, *, safe: bool) -> Iterator[ModelFinding]:
    """What each table has to meet; with ``safe``, that no attack on one succeeds and that nobody stands out by joining,
    whatever was accepted."""
    for name, release in whole.releases.items():
        own = (*verdict(release), *(evidence_findings(release.manifest) if safe else ()))
        yield from (replace(one, name=f"{name}: {one.name}") for one in own)
    if safe and not whole.joined.met:
        required = whole.joined.required
        yield whole.joined.k_finding(SAFE_K if required is None else required)


def print_tables(whole: MultiTableRelease) -> None:
    for warning in (*whole.warnings, *(f"{name}: {told}" for name, own in whole.of_tables.items() for told in own)):
        warn(warning)
    typer.echo(joined_line(whole.joined))
    rows = [
        (name, f"{told.data.rows:,}", f"{told.suppressed.records:,}", k_before(told), release.risk.k)
        for name, release, told in ((name, one, one.manifest) for name, one in whole.releases.items())
    ]
    print_table(whole.name, ("table", "records", "suppressed", "k before", "k after"), rows)
    for followed in whole.references:
        typer.echo(_in_words(followed))
    for name, release in whole.releases.items():
        print_evidence(release.manifest, name)
    typer.echo(f"release:  {whole.folder}")
    typer.echo(f"report:   {whole.folder / 'report.html'}")


def joined_line(joined: JoinedRisk) -> str:
    """What comes first: the tables as whoever holds all of them sees them."""
    if joined.met is None:
        return f"not judged: {in_words(joined)}"
    asked = "" if joined.required is None else f" (required: {joined.required})"
    accepted = "" if joined.met or joined.accepted is None else f"; accepted: {joined.accepted}"
    return f"{'met' if joined.met else 'NOT MET'}: {in_words(joined)}{asked}{accepted}"


def _in_words(followed: FollowedReference) -> str:
    reference = followed.reference
    how = f" (found: {reference.reason})" if reference.reason else ""
    if not followed.kept:
        return f"{reference}: not kept{how}"
    return f"{reference}: kept, {count(followed.orphans or 0, 'record')} without a counterpart{how}"


def check_multi_table(several: MultiTablePolicy, label: str, *, data: str | None, as_json: bool) -> None:
    own, common = condensed_warnings(several, {name: warnings_in(policy) for name, policy in several.tables.items()})
    warnings = [*common, *(f"{name}: {told}" for name, texts in own.items() for told in texts)]
    references = several.references
    if data is not None or all(policy.source is not None for policy in several.tables.values()):
        references = check_tables(several, None if data is None else Path(data))
    if as_json:
        told = [_entry(reference) for reference in references]
        print_json({"ok": True, "policy": several.name, "warnings": warnings, "references": told})
        return
    for warning in warnings:
        warn(warning)
    for reference in references:
        typer.echo(f"{reference}: {reference.reason or 'declared'}{'' if reference.keep else ', not kept'}")
    if several.joined_k is not None and several.joined.accept is None:
        typer.echo(f"joined tables: k = {several.joined_k} has to hold")
    typer.echo(f"{label}: no problems")


def _entry(reference: Reference) -> dict[str, object]:
    ends = {"from": str(reference.child), "to": str(reference.parent)}
    return {**ends, "kept": reference.keep, "found": reference.reason}


def measure_multi_table(  # noqa: PLR0913  # the options of `shoal measure`
    tables: TableSet,
    require: Sequence[str],
    *,
    wanted: AssessmentOptions,
    original: str | None,
    by_records: bool,
    junit: Path | None,
    as_json: bool,
) -> None:
    measured = measure_tables(tables, require, wanted=wanted, original=original, by_records=by_records)
    for doubt in measured.doubts:
        warn(doubt)
    if as_json:
        print_json(measured.to_dict())
    else:
        print_measured(measured)
        if tables.manifest is not None:
            typer.echo(f"  more of a single table: shoal measure {Path(tables.place) / 'TABLE'}; --json has all of it.")
    finish(f"shoal measure {tables.place}", measured.models, junit)


def print_measured(measured: MultiTableMeasurement) -> None:
    typer.echo(f"{joined_line(measured.joined)}\n")
    rows = []
    for name, one in measured.tables.items():
        told = one.result()
        size = f"{told.class_size.min:,} to {told.class_size.max:,}"
        rows.append((name, f"{told.rows:,}", f"{told.suppressed:,}", f"{told.classes:,}", size, str(told.risk.k)))
    rows += [(name, "", "", "", "", "") for name in measured.without_quasi]
    print_table("Tables", ("table", "records", "suppressed", "classes", "class size", "k"), rows)
    if measured.models:
        print_verdicts(measured.models)


def attack_multi_table(  # noqa: PLR0913  # the options of `shoal attack`
    tables: TableSet,
    original: str,
    require: Sequence[str],
    *,
    trials: int,
    seed: int | None,
    safe: bool,
    junit: Path | None,
    as_json: bool,
) -> None:
    bounds = attack_bounds(require)
    with progress() as report:
        tell = None if report is None else lambda done, total: report("attack", done, total)
        found = attack_tables(tables, original, trials=trials, seed=seed, progress=tell)
    for doubt in found.doubts:
        warn(doubt)
    if as_json:
        print_json(found.to_dict())
    else:
        print_attacked(found)
    finish(f"shoal attack {tables.place}", found.findings(bounds, safe=safe), junit)


def print_attacked(found: MultiTableAttack) -> None:
    if found.joined:
        print_table("Attacks on the joined tables", HEADER, [attack_row(attack) for attack in found.joined])
    if found.skipped is not None:
        typer.echo(f"{'NOT JUDGED' if found.unjudged else 'not tried'}: joined tables: {found.skipped}")
    for name, report in found.tables.items():
        typer.echo(f"\n{name}")
        print_attacks(report)
    for name in found.nothing:
        typer.echo(f"\n{name}: has nothing to attack")


def refuse_for_multi_table(options: Mapping[str, object]) -> None:
    """Options about the columns of one table."""
    for option, given in options.items():
        if given:
            raise InputError(f"{option}: is about one table, and there are several")
