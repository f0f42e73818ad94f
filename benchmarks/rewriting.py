"""Rewriting five columns of a large file against Polars alone copying it."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.data import POLICY, csv_of, parquet_of, quoted_csv_of
from benchmarks.result import Result, paired, seconds

ROUNDS = 5


def run(folder: Path, rows: int) -> list[Result]:
    return [
        *_against_copy("CSV", folder, csv_of(folder, rows), 1.35, 1.8),
        *_against_copy("CSV with quoted cells", folder, quoted_csv_of(folder, rows), 1.35, None),
        *_against_copy("Parquet", folder, parquet_of(folder, rows), 1.8, 2.2),
    ]


def _against_copy(kind: str, folder: Path, source: Path, goal: float | None, whole_goal: float | None) -> list[Result]:
    """The rewriting alone against the copying alone; and the whole command against a whole process that copies."""
    whole: list[float] = []
    copies: list[float] = []

    def shoal() -> float:
        manifest, elapsed = release(folder, source)
        whole.append(elapsed)
        return float(manifest["timing"]["rewrite_s"])

    def polars() -> float:
        within, elapsed = copy(source, folder / f"copy{source.suffix}")
        copies.append(elapsed)
        return within

    ratio, mine, theirs = paired(shoal, polars, ROUNDS)
    both = statistics.median(one / other for one, other in zip(whole, copies, strict=True))
    size = source.stat().st_size / 1e6
    return [
        Result(f"rewrite {kind}, {size:.0f} MB", f"{mine:.2f} s", f"Polars copy {theirs:.2f} s", ratio, goal),
        Result(
            f"whole run {kind}, process to process",
            f"{statistics.median(whole):.2f} s",
            f"Polars copy {statistics.median(copies):.2f} s",
            both,
            whole_goal,
        ),
    ]


def copy(source: Path, target: Path) -> tuple[float, float]:
    """The seconds of copying, and of the whole process that does it, as Shoal's run has one of its own."""
    scan, sink = ("scan_csv", "sink_csv") if source.suffix == ".csv" else ("scan_parquet", "sink_parquet")
    code = (
        f"import polars as pl, time; t = time.perf_counter(); pl.{scan}({str(source)!r}).{sink}({str(target)!r}); "
        "print(time.perf_counter() - t)"
    )
    told = ""

    def call() -> None:
        nonlocal told
        told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    elapsed = seconds(call)
    target.unlink()
    return float(told), elapsed


def release(folder: Path, source: Path, *options: str) -> tuple[dict[str, dict[str, float]], float]:
    policy = folder / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    command = [sys.executable, "-m", "shoal", "run", str(policy), "--input", str(source), "--json", "--force"]
    output = ""

    def call() -> None:
        nonlocal output
        command_with_target = [*command, *options, "--output", str(folder / "release")]
        output = subprocess.run(command_with_target, check=True, capture_output=True, text=True).stdout

    elapsed = seconds(call)
    return json.loads(output), elapsed
