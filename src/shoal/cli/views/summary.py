"""What people see at the end of a command."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan

import typer

from shoal.cli.terminal.output import warn
from shoal.policy import PRESETS, UseCase
from shoal.privacy import ModelFinding
from shoal.release import Release
from shoal.results.number_format import number
from shoal.solve import Solution


def print_release(release: Release) -> None:
    manifest = release.manifest
    before, after = manifest.before.risk, manifest.after.risk
    for warning in manifest.warnings:
        warn(warning)
    cells = f", {manifest.suppressed_cells:,} cells starred in others" if manifest.suppressed_cells else ""
    typer.echo(f"{manifest.data.rows:,} records written, {manifest.suppressed_records:,} suppressed{cells}")
    if manifest.solution.levels:
        levels = ", ".join(_level(name, level, manifest.heights) for name, level in manifest.solution.levels.items())
        optimal = "the least loss possible" if manifest.solution.optimal else "the least loss found"
        if manifest.nothing_left:
            optimal = "NOTHING is left that tells records apart"
        up_to = "" if manifest.solution.cells is None else " up to"
        typer.echo(f"levels{up_to}: {levels} (loss {manifest.solution.loss:.3f}, {optimal})")
    if after.k:
        typer.echo(f"k: {before.k} before, {after.k} after; highest risk {number(after.prosecutor_max)}")
    if manifest.read_back is not None:
        cells = f", {manifest.read_back.cells:,} telling cells suppressed" if manifest.read_back.cells else ""
        typer.echo(f"k with what other columns tell: {manifest.k_effective}{cells}")
    for finding in manifest.models:
        typer.echo(f"{finding.name}: required {finding.required:g}, achieved {finding.achieved:g}")
    if manifest.state is not None:
        told = manifest.state.words.removeprefix("The file holds ").removesuffix(".")
        typer.echo(f"state: {told}")
    typer.echo(f"data:     {release.data}")
    for path in release.files.values():
        typer.echo(f"beside:   {path}")
    if release.folder is not None:
        typer.echo(f"manifest: {release.folder / 'release.json'}")
        typer.echo(f"report:   {release.folder / 'report.html'}")


def _level(name: str, level: int, heights: Mapping[str, int]) -> str:
    """The highest level of an attribute is a star, and called so."""
    return f"{name} {level} (*)" if level == heights.get(name) else f"{name} {level}"


def verdict(release: Release) -> tuple[ModelFinding, ...]:
    """What a release has to meet besides its models, which nothing is written without."""
    evidence, case = release.manifest.evidence, release.manifest.use_case
    found = []
    if (assessed := evidence.get("assessment")) is not None:
        found.append(
            ModelFinding("reidentification", assessed["threshold"], assessed["probability"], met=assessed["within"])
        )
    if case is not None and PRESETS[UseCase(case)].attacks:
        tried, open_ones = evidence.get("attacks"), evidence.get("attacks_unjudged", ())
        succeed = nan if not tried else sum(attack["found"] for attack in tried) + len(open_ones)
        found.append(ModelFinding(f"attacks that succeed, or may ({case})", 0, succeed, met=succeed == 0))
    return tuple(found)


def in_words(solution: Solution) -> str | None:
    """How the solution was found; nothing where there was nothing to solve."""
    if not solution.levels:
        return None
    looked = f"{solution.nodes_checked:,} of {solution.nodes_total:,} nodes looked at"
    found = "optimal" if solution.optimal else "not proven optimal"
    return (
        f"solved: {solution.recoding}, {looked}, {found}, loss {solution.loss:.3g}, {solution.suppressed:,} suppressed"
    )
