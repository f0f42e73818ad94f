"""Rewriting five columns of a large file against Polars alone copying it."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.cpu import FinishedProcess, run_process
from benchmarks.data import POLICY, csv_of, parquet_of, quoted_csv_of
from benchmarks.result import Result, paired

ROUNDS = 5


def run(folder: Path, rows: int) -> list[Result]:
    return [
        *_against_copy("CSV", folder, csv_of(folder, rows), 1.35, 1.8),
        *_against_copy("CSV with quoted cells", folder, quoted_csv_of(folder, rows), 1.35, None),
        *_against_copy("Parquet", folder, parquet_of(folder, rows), 1.8, 2.2),
    ]


def _against_copy(kind: str, folder: Path, source: Path, goal: float | None, whole_goal: float | None) -> list[Result]:
    """The rewriting alone against the copying alone; and the whole command against a whole process that copies."""
    whole: list[FinishedProcess] = []
    copies: list[FinishedProcess] = []

    def shoal() -> float:
        manifest, process = release(folder, source)
        whole.append(process)
        return float(manifest["timing"]["rewrite_s"])

    def polars() -> float:
        copies.append(copy(source, folder / f"copy{source.suffix}"))
        return float(copies[-1].output)

    ratio, mine, theirs = paired(shoal, polars, ROUNDS)
    size = source.stat().st_size / 1e6
    name = f"whole run {kind}, process to process"
    return [
        Result(f"rewrite {kind}, {size:.0f} MB", f"{mine:.2f} s", f"Polars copy {theirs:.2f} s", ratio, goal),
        _compared(name, whole, copies, lambda one: one.seconds, "s", whole_goal),
        _compared(f"{name}: CPU", whole, copies, lambda one: one.cpu_seconds, "s", whole_goal),
        _compared(f"{name}: peak memory", whole, copies, lambda one: one.peak_bytes / 1e9, "GB", None),
    ]


def _compared(  # noqa: PLR0913, PLR0917  # what was measured of both, and what it should be
    name: str,
    mine: list[FinishedProcess],
    theirs: list[FinishedProcess],
    figure: Callable[[FinishedProcess], float],
    unit: str,
    goal: float | None,
) -> Result:
    """The median of the pairs' ratios, which other work on the machine moves less than it moves either figure."""
    ratio = statistics.median(figure(one) / figure(other) for one, other in zip(mine, theirs, strict=True))
    ours, copied = (statistics.median(map(figure, runs)) for runs in (mine, theirs))
    return Result(name, f"{ours:.2f} {unit}", f"Polars copy {copied:.2f} {unit}", ratio, goal)


def copy(source: Path, target: Path) -> FinishedProcess:
    """A process of its own, as Shoal's run has one, which tells the seconds of the copying alone."""
    scan, sink = ("scan_csv", "sink_csv") if source.suffix == ".csv" else ("scan_parquet", "sink_parquet")
    code = (
        f"import polars as pl, time; t = time.perf_counter(); pl.{scan}({str(source)!r}).{sink}({str(target)!r}); "
        "print(time.perf_counter() - t)"
    )
    done = run_process([sys.executable, "-c", code], target.parent)
    target.unlink()
    return done


def release(folder: Path, source: Path, *options: str) -> tuple[dict[str, dict[str, float]], FinishedProcess]:
    policy = folder / "policy.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    command = [sys.executable, "-m", "shoal", "run", str(policy), "--input", str(source), "--json", "--force"]
    done = run_process([*command, *options, "--output", str(folder / "release")], folder)
    return json.loads(done.output), done
