"""What people see at the end of a command."""

from __future__ import annotations

from math import inf, nan

import typer

from shoal.cli.terminal.output import warn
from shoal.policy import PRESETS, UseCase
from shoal.privacy import ModelFinding
from shoal.release import Release
from shoal.results.manifest import Manifest
from shoal.results.number_format import count, number
from shoal.solve import Solution


def print_release(release: Release) -> None:
    manifest = release.manifest
    after, solution = release.risk, release.solution
    for warning in manifest.warnings:
        warn(warning)
    typer.echo(_written(manifest))
    if solution is not None and manifest.solution is not None and solution.levels:
        levels = ", ".join(_level(name, level, manifest) for name, level in solution.levels.items())
        optimal = "the least loss possible" if solution.optimal else "the least loss found"
        if release.nothing_left:
            optimal = "NOTHING is left that tells records apart"
        up_to = "" if solution.cells is None else " up to"
        typer.echo(f"levels{up_to}: {levels} (loss {solution.loss:.3f}, {optimal})")
    if after.k:
        typer.echo(f"k: {k_before(manifest)} before, {after.k} after; highest risk {number(after.prosecutor_max)}")
    if manifest.read_back is not None:
        telling = manifest.read_back.suppressed_cells
        cells = f", {telling:,} telling cells suppressed" if telling else ""
        typer.echo(f"k with what other columns tell: {after.k_effective}{cells}")
    _print_findings(manifest)
    typer.echo(f"data:     {release.data}")
    for path in release.files.values():
        typer.echo(f"beside:   {path}")
    if release.folder is not None:
        typer.echo(f"manifest: {release.folder / 'release.json'}")
        typer.echo(f"report:   {release.folder / 'report.html'}")


def _print_findings(manifest: Manifest) -> None:
    for finding in manifest.models:
        achieved = f"achieved {inf if finding.achieved is None else finding.achieved:g}"
        told = achieved if manifest.kind.has_classes else "no records are left to measure it by"
        typer.echo(f"{finding.name}: required {finding.required:g}, {told}")
    for rule in manifest.rules or ():
        typer.echo(f"rule {rule.name}: {rule.words}")
    if manifest.state is not None:
        told = manifest.state.words.removeprefix("The file holds ").removesuffix(".")
        typer.echo(f"state: {told}")


def _written(manifest: Manifest) -> str:
    if not manifest.kind.has_records:
        return f"{count(manifest.data.rows or 0, 'group')} written"
    starred, suppressed = manifest.suppressed.cells, manifest.suppressed.records
    where = " in other records" if suppressed else ""
    cells = f", {starred:,} cells starred{where}" if starred else ""
    return f"{manifest.data.rows:,} records written, {suppressed:,} suppressed{cells}"


def _level(name: str, level: int, manifest: Manifest) -> str:
    """With what the level does to values; the highest one of an attribute is a star, and called so."""
    if manifest.solution is not None and level == manifest.solution.heights.get(name):
        return f"{name} {level} (*)"
    column = (manifest.columns or {}).get(name)
    meanings = {} if column is None else {one.level: one.meaning for one in column.levels}
    return f"{name} {level} ({meanings[level]})" if level in meanings else f"{name} {level}"


def verdict(release: Release) -> tuple[ModelFinding, ...]:
    """What a release has to meet besides its models, which nothing is written without."""
    manifest, case = release.manifest, release.manifest.use_case
    found = []
    if (assessed := manifest.assessment) is not None:
        found.append(ModelFinding("reidentification", assessed.threshold, assessed.probability, met=assessed.within))
    if case is not None and PRESETS[UseCase(case)].attacks:
        tried, open_ones = manifest.attacks, manifest.attacks_unjudged or ()
        succeed = nan if not tried else sum(attack.found for attack in tried) + len(open_ones)
        found.append(ModelFinding(f"attacks that succeed, or may ({case})", 0, succeed, met=succeed == 0))
    return tuple(found)


def k_before(manifest: Manifest) -> int:
    return 0 if manifest.risk_before is None else manifest.risk_before.k


def in_words(solution: Solution | None) -> str | None:
    """How the solution was found; nothing where there was nothing to solve."""
    if solution is None or not solution.levels:
        return None
    looked = f"{solution.nodes_checked:,} of {solution.nodes_total:,} nodes looked at"
    found = "optimal" if solution.optimal else "not proven optimal"
    return (
        f"solved: {solution.recoding}, {looked}, {found}, loss {solution.loss:.3g}, {solution.suppressed:,} suppressed"
    )
