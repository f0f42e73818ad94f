"""What ``shoal profile`` shows: columns, sets that single people out, identifiers of Safe Harbor."""

from __future__ import annotations

from collections.abc import Mapping

import typer

from shoal.cli.terminal.output import print_table
from shoal.discover import Profile
from shoal.discover.safe_harbor import SafeHarbor
from shoal.errors import printable
from shoal.measurement.risk.quasi_identifiers import QuasiSet
from shoal.scan.profile_report import ProfileReport, QuasiIdentifierSets

SHOWN = 20


def print_report(report: ProfileReport, label: str) -> None:
    """What was asked; the columns, where that was nothing in particular."""
    if report.sets is None and report.safe_harbor is None:
        print_profile(report.profile, label)
    if report.sets is not None:
        print_sets(report.sets, label)
    if report.safe_harbor is not None:
        print_safe_harbor(report.safe_harbor, label)


def print_profile(profile: Profile, label: str) -> None:
    rows = []
    for column in profile.columns:
        found, proposal = column.identifier, column.proposal
        done = proposal.technique or proposal.hierarchy
        rows.append(
            (
                column.name,
                ", ".join(dict.fromkeys((str(column.column.type), str(column.kind)))),
                f"{column.spread.distinct:,}",
                f"{column.missing:.0%}",
                found.recogniser.type if found else "",
                f"{proposal.role}: {_as_yaml(done)}" if done else str(proposal.role),
            )
        )
    seen = f", {profile.rows_seen:,} of them looked at" if profile.sampled else ""
    header = ("column", "type", "distinct", "missing", "recognised", "proposal")
    print_table(f"{label}: {profile.rows:,} records{seen}", header, rows)
    typer.echo("Why:")
    for column in profile.columns:
        typer.echo(printable(f"  {column.name}: {'; '.join(column.proposal.reasons)}"))
    if profile.nested:
        typer.echo("Inside records and lists:")
    for column in profile.nested:
        typer.echo(printable(f"  {column.name}: {column.proposal.role}; {'; '.join(column.proposal.reasons)}"))
    if profile.inferences:
        typer.echo("What columns tell of each other:")
    for one in profile.inferences:
        typer.echo(printable(f"  {', '.join(one.columns)} → {one.gives}: {one.reason}"))


def _as_yaml(proposal: object) -> str:
    """As it would stand in a policy."""
    if isinstance(proposal, Mapping):
        return "{" + ", ".join(f"{key}: {_as_yaml(value)}" for key, value in proposal.items()) + "}"
    if isinstance(proposal, list | tuple):
        return "[" + ", ".join(_as_yaml(value) for value in proposal) + "]"
    return str(proposal)


def print_sets(found: QuasiIdentifierSets, label: str) -> None:
    analysis = found.analysis
    by = f"{analysis.rows:,} records" + (f" of {analysis.people:,} people" if analysis.people != analysis.rows else "")
    typer.echo(f"{label}: {by}\n")
    _print_ranked("Sets of attributes that tell people apart", analysis.sets)
    if analysis.minimal:
        _print_ranked("Smallest sets that single somebody out", analysis.minimal)
    else:
        typer.echo(f"No set of up to {analysis.size} attributes singles anybody out.")
    if analysis.size < min(analysis.asked_size, len(analysis.attributes)):
        typer.echo(f"Sets of more than {analysis.size} were not searched: there are too many.")
    if found.left_out:
        typer.echo("Left out:")
        for name, why in found.left_out.items():
            typer.echo(f"  {name}: {why}")


def _print_ranked(title: str, sets: tuple[QuasiSet, ...]) -> None:
    rows = [
        (
            ", ".join(one.names),
            f"{one.distinction:.4f}",
            f"{one.separation:.4f}",
            f"{one.alone:,} ({one.uniqueness:.1%})",
        )
        for one in sets[:SHOWN]
    ]
    print_table(title, ("set", "distinction", "separation", "people alone"), rows)
    if len(sets) > SHOWN:
        typer.echo(f"  … and {len(sets) - SHOWN:,} more\n")


def print_safe_harbor(found: SafeHarbor, label: str) -> None:
    rows = [
        (
            finding.letter,
            finding.title,
            "\n".join(f"{held.column}: {held.why}" for held in finding.columns) or "none found",
        )
        for finding in found.findings
    ]
    print_table(f"{label}: HIPAA Safe Harbor, 45 CFR 164.514(b)(2)", ("", "identifier", "found in"), rows)
    typer.echo(found.words[0])
    for limit in found.limits:
        typer.echo(f"  {limit}")
