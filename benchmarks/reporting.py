"""The report of a million records: what it takes beyond measuring, and how large it is."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.data import parquet_of
from benchmarks.result import Result
from benchmarks.rewriting import release

ROWS = 1_000_000
ROUNDS = 3
MOST_SECONDS, MOST_MEGABYTES = 10, 6


def run(folder: Path, _rows: int) -> list[Result]:
    source = parquet_of(folder, ROWS)
    took = statistics.median(float(release(folder, source)[0]["timing"]["report_s"]) for _ in range(ROUNDS))
    size = (folder / "release" / "report.html").stat().st_size / 1e6
    full = float(release(folder, source, "--evidence")[0]["timing"]["report_s"])
    name = f"report, {ROWS:,} records"
    return [
        Result(f"{name}: beyond measuring", f"{took:.2f} s", "", took, MOST_SECONDS, "s"),
        Result(f"{name}: size of the page", f"{size:.2f} MB", "", size, MOST_MEGABYTES, "MB"),
        Result(f"{name}: with attacks and usefulness", f"{full:.1f} s", "", full, None, "s"),
    ]
