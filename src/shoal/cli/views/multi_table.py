"""What ``shoal run``, ``measure`` and ``attack`` show of several tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import typer

from shoal.assess.multi_table.attack import MultiTableAttack
from shoal.assess.multi_table.joined_risk import JoinedRisk, in_words
from shoal.assess.multi_table.measurement import MultiTableMeasurement
from shoal.assess.multi_table.references import FollowedReference
from shoal.cli.terminal.flags import flag
from shoal.cli.terminal.output import print_table, warn
from shoal.cli.views.attacks import HEADER, attack_row, evidence_findings, print_attacks, print_evidence, sample_line
from shoal.cli.views.measurement import print_verdicts
from shoal.cli.views.summary import k_before, verdict
from shoal.errors import styled
from shoal.privacy import ModelFinding
from shoal.release.multi_table.summary import MultiTableRelease
from shoal.results.number_format import count

SAFE_K = 2
"""The k of joined tables where none is asked for: nobody is alone."""


def release_findings(whole: MultiTableRelease, *, safe: bool) -> Iterator[ModelFinding]:
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


def print_attacked(found: MultiTableAttack) -> None:
    if found.joined:
        print_table("Attacks on the joined tables", HEADER, [attack_row(attack) for attack in found.joined])
    for attack in found.joined:
        typer.echo(sample_line((attack,), int((attack.details or {})["people"])), nl=False)
    if found.skipped is not None:
        typer.echo(f"{'NOT JUDGED' if found.unjudged else 'not tried'}: joined tables: {styled(found.skipped, flag)}")
    for name, report in found.tables.items():
        typer.echo(f"\n{name}")
        print_attacks(report)
    for name in found.nothing:
        typer.echo(f"\n{name}: has nothing to attack")
