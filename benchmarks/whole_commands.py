"""Whole commands: CPU seconds of ``shoal run`` on Adult, and how often ``shoal measure --original`` reads its files."""

from __future__ import annotations

import os
import statistics
import sys
from math import nan
from pathlib import Path

import polars as pl

from benchmarks.adult import EIGHT
from benchmarks.cpu import run_process
from benchmarks.data import POLICY, chunk
from benchmarks.result import Result
from benchmarks.watched_source import WatchedSource
from shoal.assess.comparison.paired_tables import MOST_ROWS
from shoal.assess.measure.request import MeasureRequest
from shoal.assess.measure.table_measurement import measure_data
from shoal.policy import Policy

ROUNDS = 3
MOST_CPU_SECONDS, MOST_PASSES = 2, 3
SLICE = 100_000


def run(folder: Path, _rows: int) -> list[Result]:
    return [_adult(folder), _passes(50_000), _passes(MOST_ROWS + 50_000)]


def _adult(folder: Path) -> Result:
    name = "whole run on Adult, 8 QIs, k=5: CPU"
    shared = Path(os.environ.get("SHOAL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    data = shared / "data" / "adult"
    if not data.is_dir():
        print(f"{name}: LEFT OUT, no shared data: set SHOAL_SHARED", file=sys.stderr, flush=True)
        return Result(f"{name}: LEFT OUT, no shared data", "", "", nan, None, "")
    policy = folder / "adult.yaml"
    lines = [f"  {one}: {{role: quasi, hierarchy: {{csv: '{data}/adult_hierarchy_{one}.csv'}}}}" for one in EIGHT]
    models = "privacy: [k_anonymity: {k: 5}]\nsolve: {suppression_limit: 0.05}"
    text = "\n".join(["shoal: 1", "name: adult", "attributes:", *lines, "  occupation: {role: sensitive}", models])
    policy.write_text(text + "\n", encoding="utf-8")
    words = ["run", policy, "--input", data / "adult.csv", "--output", folder / "adult-release", "--force", "--json"]
    command = [sys.executable, "-m", "shoal", *map(str, words)]
    imported = [sys.executable, "-c", "import polars"]
    took, bare = (
        statistics.median(run_process(one, folder).cpu_seconds for _ in range(ROUNDS)) for one in (command, imported)
    )
    return Result(name, f"{took:.2f} s", f"import polars {bare:.2f} s", took, MOST_CPU_SECONDS, "s")


def _passes(rows: int) -> Result:
    people = chunk(0, rows).select("age", "sex", "postal", "diagnosis").with_columns(pl.col("age").cast(pl.String))
    low = pl.col("age").cast(pl.Int64) // 10 * 10
    labels = (low.cast(pl.String) + "-" + (low + 9).cast(pl.String)).alias("age")
    original, released = WatchedSource(people, SLICE), WatchedSource(people.with_columns(labels), SLICE)
    lines = [
        line for line in POLICY.splitlines() if not (line.startswith("  ") and line.split(":")[0].strip() in LEFT_OUT)
    ]
    policy = Policy.from_text("\n".join(lines))
    measure_data(released, MeasureRequest.by_policy(policy), original=original)
    most = max(original.passes, released.passes)
    return Result(f"measure --original, {rows:,} records: passes", f"{most}", "", most, MOST_PASSES, "passes")


LEFT_OUT = frozenset({"id", "name", "aadhaar", "education", "visit", "salary", "remarks"})
