"""``shoal measure RELEASE --auxiliary DATA``: a release looked at again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from shoal.cli.output import print_json
from shoal.policy import Policy
from shoal.privacy import Finding
from shoal.release.reassessing import HISTORY, reassess, reassessment_bounds
from shoal.report.figures import count


def reassess_and_print(
    release: str, auxiliary: str, require: Sequence[str], *, policy: Path | None, as_json: bool
) -> tuple[Finding, ...]:
    bounds = reassessment_bounds(require)
    found = reassess(release, auxiliary, None if policy is None else Policy.load(policy))
    findings = found.findings(bounds)
    if as_json:
        print_json(found.to_dict())
        return findings
    typer.echo(
        f"linked by {', '.join(found.attributes)}: {found.fitting:,} of {count(found.people, 'person', 'people')} fit"
    )
    if found.fitting:
        typer.echo(f"fewest records that one of them could be: {found.fewest:,}; only one: {found.alone:,}")
    if found.unread_labels:
        typer.echo("some labels can't be read without the hierarchies, so more records seem to fit: give --policy")
    if not found.fitting:
        typer.echo("nobody in it fits any record, so it says nothing about the release")
    elif found.holds:
        typer.echo(f"nobody is among fewer than the {found.k:,} that the release promised")
    else:
        typer.echo(f"{found.below:,} are among fewer than the {found.k:,} that the release promised")
    typer.echo(f"history: {Path(release) / HISTORY}")
    return findings
