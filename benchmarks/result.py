"""One line of the table: what was measured, against what, and the goal."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    name: str
    measured: str
    yardstick: str
    figure: float
    goal: float | None
    unit: str = "×"

    @property
    def holds(self) -> bool:
        return self.goal is None or self.figure <= self.goal


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def paired(work: Callable[[], float], yardstick: Callable[[], float], rounds: int) -> tuple[float, float, float]:
    """Median ratio of alternating runs, with both medians in seconds; noise of the machine hits both sides alike."""
    pairs = [(work(), yardstick()) for _ in range(rounds)]
    ratio = statistics.median(mine / theirs for mine, theirs in pairs)
    return ratio, statistics.median(mine for mine, _ in pairs), statistics.median(theirs for _, theirs in pairs)


def _short(figure: float) -> str:
    return f"{figure:.2f}" if abs(figure) >= 1 else f"{figure:.4f}"


def print_results(results: list[Result]) -> None:
    header = ("benchmark", "Shoal", "yardstick", "figure", "goal", "")
    rows = [header, tuple("-" * len(cell) for cell in header)]
    for result in results:
        goal = "" if result.goal is None else f"≤ {result.goal:g}"
        verdict = "" if result.goal is None else "holds" if result.holds else "MISSED"
        rows.append(
            (result.name, result.measured, result.yardstick, f"{_short(result.figure)} {result.unit}", goal, verdict)
        )
    widths = [max(len(row[place]) for row in rows) for place in range(len(header))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
