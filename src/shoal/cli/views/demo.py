"""What ``shoal demo`` shows: five records before and after, and how safe they are."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import polars as pl
import typer

from shoal.cli.terminal.output import print_table
from shoal.release import Release

SHOWN: Final = 5


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
