"""Profiling a table of 15 columns against what Polars says of it: ``describe``, and distinct values by column."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks.data import csv_of
from benchmarks.result import Result, paired, seconds
from shoal.discover import profile
from shoal.io import open_source, parse_source
from shoal.scan.annotators import annotate_by

ROUNDS = 3
WARM = "Seen by Dr. Rao."


def run(folder: Path, rows: int) -> list[Result]:
    path = _wide(folder, rows)
    source = open_source(parse_source(str(path)))
    annotate = annotate_by()
    annotate(WARM)

    def mine() -> float:
        return seconds(lambda: profile(source.scan(), annotate=annotate))

    def bare() -> float:
        table = pl.scan_csv(path, infer_schema_length=10_000)
        return seconds(lambda: (table.describe(), table.select(pl.all().n_unique()).collect(engine="streaming")))

    ratio, ours, theirs = paired(mine, bare, ROUNDS)
    said = f"describe + n_unique {theirs:.2f} s"
    return [Result(f"profile {rows:,} × 15, CSV", f"{ours:.2f} s", said, ratio, 3.0)]


def _wide(folder: Path, rows: int) -> Path:
    """The same records with four columns more."""
    path = folder / f"wide-{rows}.csv"
    if not path.exists():
        people = pl.scan_csv(csv_of(folder, rows), infer_schema=False)
        people.with_columns(
            email="p" + pl.col("id") + "@example.org",
            city="City " + (pl.col("postal").cast(pl.Int64) % 90).cast(pl.String),
            state="State " + (pl.col("postal").cast(pl.Int64) % 9).cast(pl.String),
            discharged=pl.col("visit"),
        ).sink_csv(path)
    return path
