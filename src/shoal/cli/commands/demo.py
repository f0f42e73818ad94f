"""``shoal demo``: the bundled hospital, anonymised before your eyes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import typer

from shoal.assess.attack.table_attack import read_table
from shoal.assess.evidence.study import EvidenceStudy
from shoal.cli.terminal.output import print_table, progress
from shoal.examples import hospital
from shoal.io import write_atomic
from shoal.policy import Policy
from shoal.release.run import Release, release_folder

SHOWN = 5
OTHERS = 2
"""The seed of people whom the hospital never saw: the control group of the attacks."""


def run_demo(folder: Path, *, force: bool) -> Release:
    folder.mkdir(parents=True, exist_ok=True)
    hospital.write(folder / "hospital.csv")
    write_atomic(folder / "hospital.yaml", hospital.policy())
    hospital.write(folder / "control.csv", seed=OTHERS)
    policy = Policy.load(folder / "hospital.yaml")
    with progress() as report:
        tell = None if report is None else lambda done, total: report("attack", done, total)
        study = EvidenceStudy(read_table(str(folder / "control.csv"), "control group"), tell)
        return release_folder(policy, folder / "release", force=force, study=study, progress=report)


def print_demo(release: Release, folder: Path) -> None:
    manifest = release.manifest
    before = pl.read_csv(folder / "hospital.csv", infer_schema=False, n_rows=SHOWN)
    after = pl.read_csv(release.data, infer_schema=False, n_rows=SHOWN)
    for row in range(SHOWN):
        rows = [
            (name, _cell(before, row, name), _cell(after, row, name) if name in after.columns else "—")
            for name in before.columns
        ]
        print_table(f"Record {row + 1}", ("attribute", "before", "after"), rows)
    k_before, k_after = manifest.risk_before or release.risk, release.risk
    typer.echo(f"people: {manifest.data.rows:,}, suppressed: {manifest.suppressed.records:,}")
    typer.echo(f"k before: {k_before.k} ({k_before.uniques:,} people stand alone)")
    typer.echo(f"k after:  {k_after.k} (by age, sex, city, occupation and day nobody is one of fewer than {k_after.k})")
    typer.echo(f"          {k_after.k_effective} for whoever knows what an illness tells of a patient")
    tried = manifest.attacks or ()
    found = sum(attack.found for attack in tried)
    typer.echo(f"attacks:  {len(tried)} tried, {found or 'none'} found more than guessing, strangers or k leave open")
    for warning in manifest.warnings:
        typer.echo(f"warning:  {warning}")
    typer.echo(f"release:  {release.folder}")
    typer.echo(f"report:   {release.folder / 'report.html' if release.folder else ''}")


def _cell(frame: pl.DataFrame, row: int, name: str) -> str:
    value = str(frame[row, name] or "")
    return value if len(value) <= 40 else f"{value[:39]}…"
