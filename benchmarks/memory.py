"""Peak memory on ten times the records."""

from __future__ import annotations

from pathlib import Path

from benchmarks.data import csv_of
from benchmarks.result import Result
from benchmarks.rewriting import release


def run(folder: Path, rows: int) -> list[Result]:
    small = _peak(folder, rows)
    large = _peak(folder, rows * 10)
    name = f"peak memory, {rows * 10:,} records"
    return [
        Result(name, f"{large:.0f} MB", f"{rows:,} records {small:.0f} MB", large / small, 1.3),
        Result(name, f"{large:.0f} MB", "", large / 1000, 3.0, "GB"),
    ]


def _peak(folder: Path, rows: int) -> float:
    manifest, _ = release(folder, csv_of(folder, rows))
    return float(manifest["peak_rss_mb"])  # type: ignore[arg-type]
