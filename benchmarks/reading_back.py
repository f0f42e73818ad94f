"""What other columns give back, against counting: both as one run of a large file states them."""

from __future__ import annotations

import statistics
from pathlib import Path

from benchmarks.data import csv_of
from benchmarks.result import Result
from benchmarks.rewriting import release

ROUNDS = 5
SMALL = 1_000_000


def run(folder: Path, rows: int) -> list[Result]:
    return [_against_counting(folder, size) for size in sorted({SMALL, rows})]


def _against_counting(folder: Path, rows: int) -> Result:
    source = csv_of(folder, rows)
    timings = [release(folder, source)[0]["timing"] for _ in range(ROUNDS)]
    ratio = statistics.median(one["read_back_s"] / one["count_s"] for one in timings)
    mine, theirs = (statistics.median(one[name] for one in timings) for name in ("read_back_s", "count_s"))
    name = f"what can be read back, {rows:,} records"
    return Result(name, f"{mine:.2f} s", f"counting {theirs:.2f} s", ratio, 0.5)
