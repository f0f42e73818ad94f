"""What people see at the end of ``shoal synth``: what is guaranteed and what not, how alike it is, where it lies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import typer

from shoal.cli.terminal.flags import flag
from shoal.cli.terminal.output import print_table, warn
from shoal.cli.views.attacks import print_evidence
from shoal.errors import styled
from shoal.privacy import ModelFinding
from shoal.report.synthetic.wording import figure_words, is_main, is_partly_real
from shoal.results.manifest import Manifest
from shoal.results.number_format import NONE, count, number, percent
from shoal.results.synthesis.synthetic_assessment import gate_findings
from shoal.synthetic_release.output import SyntheticRelease
from shoal.synthetic_release.several.output import SyntheticTablesRelease


def print_synthesis(release: SyntheticRelease) -> None:
    manifest = release.manifest
    for warning in manifest.warnings:
        warn(warning)
    kind = "partly synthetic record" if is_partly_real(manifest) else "synthetic record"
    typer.echo(f"{count(manifest.data.rows or 0, kind)} written, by {manifest.method}")
    for line in (*_guarantee(manifest), *_likeness(manifest), *_gates(manifest)):
        typer.echo(line)
    for rule in manifest.rules or ():
        typer.echo(f"rule {rule.name}: {rule.words}")
    print_evidence(manifest)
    if (why := (manifest.attacks_skipped or {}).get("all")) is not None:
        typer.echo(f"NOT ATTACKED: {styled(why, flag)}")
    if manifest.state is not None:
        typer.echo(f"state: {manifest.state.words.removeprefix('The file holds ').removesuffix('.')}")
    typer.echo(f"data:     {release.data}")
    if release.folder is not None:
        for file in manifest.files:
            typer.echo(f"beside:   {release.folder / file.path}")
        typer.echo(f"manifest: {release.folder / 'release.json'}")
        typer.echo(f"report:   {release.folder / 'report.html'}")


def _guarantee(manifest: Manifest) -> Iterator[str]:
    budget, made = manifest.differential_privacy, manifest.synthesis
    if budget is not None:
        yield f"differentially private: ε = {number(budget.epsilon)}, δ = {budget.delta:g}, for each {budget.unit}"
    if made is not None:
        yield from _promises(made.guaranteed, made.not_guaranteed)


def _promises(guaranteed: Iterable[str], not_guaranteed: Iterable[str]) -> Iterator[str]:
    yield from (f"guaranteed: {words}" for words in guaranteed)
    yield from (f"NOT guaranteed: {words}" for words in not_guaranteed)


def _likeness(manifest: Manifest) -> Iterator[str]:
    if manifest.fidelity is None:
        return
    figures = manifest.fidelity.figures
    told = [
        f"{figure_words(name, name, '')[0].lower()} {value:.3f}"
        for name, value in figures.items()
        if _shown(name, value)
    ]
    yield f"alike: {', '.join(told)}"


def _shown(name: str, value: float | None) -> bool:
    return is_main(name) and value is not None


def _gates(manifest: Manifest) -> Iterator[str]:
    for gate in manifest.models:
        achieved = "no figure" if gate.achieved is None else f"found {gate.achieved:g}"
        yield f"{gate.name}: required {gate.required:g}, {achieved}"


def print_related_synthesis(release: SyntheticTablesRelease) -> None:
    """Several tables: what is promised, each of them, how children hang on parents, where it lies."""
    manifest, made = release.manifest, release.manifest.synthesis
    for warning in manifest.warnings:
        warn(warning)
    rows = [_table_row(name, one.manifest) for name, one in release.tables.items()]
    print_table(manifest.name, ("table", "synthetic records", "columns alike", "pairs alike", "attacks"), rows)
    if made is not None:
        for line in _promises(made.guaranteed, made.not_guaranteed):
            typer.echo(line)
        for key in made.keys:
            typer.echo(
                f"{key.child} per {key.parent}: {key.original.mean:.2f} in the original, {key.synthetic.mean:.2f} in "
                f"the synthetic tables; {key.total_variation:.3f} moved"
            )
        for one in made.sequences:
            if one.original is not None and one.synthetic is not None:
                typer.echo(
                    f"{one.table} by {one.order}: median gap {number(one.original)} in the original, "
                    f"{number(one.synthetic)} in the synthetic tables"
                )
        if made.why_not is not None:
            typer.echo(f"NOT ATTACKED: {made.why_not}")
    typer.echo(f"release:  {release.folder}")
    if release.folder is not None:
        typer.echo(f"report:   {release.folder / 'report.html'}")


def _table_row(name: str, manifest: Manifest) -> tuple[str, ...]:
    figures = {} if manifest.fidelity is None else manifest.fidelity.figures
    alike = (None if (value := figures.get(key)) is None else 1 - value for key in ("tv1_mean", "tv2_mean"))
    attacks = manifest.attacks or ()
    found = f"{sum(one.found for one in attacks)} of {len(attacks)} found something" if attacks else NONE
    return (name, f"{manifest.data.rows or 0:,}", *(NONE if one is None else percent(one) for one in alike), found)


def related_findings(release: SyntheticTablesRelease) -> tuple[ModelFinding, ...]:
    """What was required of the tables together, and of each."""
    own = (
        replace(finding, name=f"{name}: {finding.name}")
        for name, one in release.tables.items()
        for finding in gate_findings(one.manifest.models)
    )
    return (*gate_findings(release.manifest.models), *own)
