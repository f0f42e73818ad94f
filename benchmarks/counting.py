"""Counting eight quasi-identifiers against a bare Polars group-by."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from benchmarks.data import csv_of
from benchmarks.result import Result, paired, seconds
from shoal.engine.polars import PolarsEngine
from shoal.io import open_source, parse_source

NARROW = ("age", "sex", "education", "diagnosis", "ward", "bed", "year", "month")
ROUNDS = 5


def run(folder: Path, rows: int) -> list[Result]:
    path = _narrow(folder, rows)
    source = open_source(parse_source(str(path)))
    engine = PolarsEngine()

    def mine() -> float:
        return seconds(lambda: engine.counts(engine.scan(source), NARROW))

    def bare() -> float:
        return seconds(lambda: pl.scan_csv(path).group_by(NARROW).len().collect(engine="streaming"))

    ratio, ours, theirs = paired(mine, bare, ROUNDS)
    return [Result("count 8 quasi-identifiers, CSV", f"{ours:.2f} s", f"bare group-by {theirs:.2f} s", ratio, 1.2)]


def _narrow(folder: Path, rows: int) -> Path:
    """The same records with eight attributes that people would use as quasi-identifiers."""
    path = folder / f"quasi-{rows}.csv"
    if not path.exists():
        people = pl.scan_csv(csv_of(folder, rows), try_parse_dates=True)
        ward = pl.col("remarks").str.extract(r"ward (\d+)").cast(pl.Int64)
        people.with_columns(
            ward=ward % 5, bed=ward % 3, year=pl.col("visit").dt.year() % 4, month=pl.col("visit").dt.quarter()
        ).sink_csv(path)
    return path
