"""What other columns give back, against counting: on the clock and in CPU seconds, each round in a process of its own.

It is found while the output is recounted. So its cost is what recounting and reading back take together, less what
recounting takes alone; and what it takes to put records aside to learn from, while the release is written: there, only
the seconds of that thread, since the clock shows how long it waits for the writing.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.reading_back_data import CASES, PEOPLE, Case
from benchmarks.result import Result
from shoal.assess.evidence.recount import check_read_back, recount
from shoal.engine import OutputSample
from shoal.engine.polars import PolarsEngine
from shoal.io import open_source, parse_source
from shoal.policy import Policy
from shoal.randomness import Randomness
from shoal.release.further_files import data_target
from shoal.release.pipeline import ReleasePipeline

ROUNDS = 5
SMALL = 1_000_000


def run(folder: Path, rows: int) -> list[Result]:
    found = [line for case in CASES for line in _against_counting(folder, case, SMALL)]
    return found if rows == SMALL else [*found, *_against_counting(folder, PEOPLE, rows)]


def _against_counting(folder: Path, case: Case, rows: int) -> list[Result]:
    source, policy = case.file(folder, rows), folder / "reading-back.yaml"
    policy.write_text(case.policy, encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.reading_back", str(policy), str(source)]
    rounds = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout) for _ in range(ROUNDS)
    ]
    return [_line(rounds, f"what can be read back, {case.name}, {rows:,} records", unit) for unit in ("s", "CPU s")]


def _line(rounds: list[dict[str, Any]], name: str, unit: str) -> Result:
    pairs = [(one[unit]["read back"], one[unit]["count"]) for one in rounds]
    ratios = sorted(mine / theirs for mine, theirs in pairs)
    mine, theirs = (statistics.median(values) for values in zip(*pairs, strict=True))
    told = f"{mine:.2f} {unit} ({ratios[0]:.2f} to {ratios[-1]:.2f} ×)"
    return Result(name, told, f"counting {theirs:.2f} {unit}", statistics.median(ratios), 0.5)


def _stopwatch() -> Callable[[], tuple[float, float]]:
    """Tells the seconds on the clock, and of all threads, since it was made."""
    clock, cpu = time.perf_counter(), time.process_time()
    return lambda: (time.perf_counter() - clock, time.process_time() - cpu)


class _TimedSample(OutputSample):
    """Times what its thread does."""

    taken: float = 0.0

    def take(self, batch: pl.DataFrame) -> None:
        started = time.thread_time()
        super().take(batch)
        self.taken += time.thread_time() - started


class _Timed(ReleasePipeline[Any]):
    """Notes what each part takes."""

    sample: _TimedSample | None = None
    counted: tuple[float, float] = (0.0, 0.0)
    began: Callable[[], tuple[float, float]]
    start: Callable[[], Any]

    def rewrite(self, *given: Any, **named: Any) -> Any:
        self.began = _stopwatch()
        return super().rewrite(*given, **named)

    def _before(self, *given: Any, **named: Any) -> Any:
        """The last thing that counting does."""
        made = super()._before(*given, **named)
        self.counted = self.began()
        return made

    def _sample(self, records: int) -> OutputSample | None:
        made = super()._sample(records)
        self.sample = None if made is None else _TimedSample(made.every)
        return self.sample

    def _start_learning(self, *given: Any, **named: Any) -> Any:
        """Not before recounting alone has been timed."""
        self.start = partial(super()._start_learning, *given, **named)


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    taken = _stopwatch()
    work()
    return taken()


def one_round(policy: str, source: str) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory(dir=Path(source).parent) as folder:
        pipeline = _Timed(Policy.load(policy), PolarsEngine(), Randomness(1))
        given = open_source(parse_source(source))
        target = data_target(Path(folder) / "data", given, in_parts=False, escape=False)
        aside = Path(folder) / "aside.arrow"
        done = pipeline.rewrite(given, target, aside=aside)
        again = partial(recount, pipeline.policy, aside=aside)
        alone = _timed(lambda: again(target.scan(), done))

        def both() -> None:
            learning = replace(done, read_back_learning=pipeline.start())
            check_read_back(target.scan, learning, again(target.scan(), learning).after, aside=aside)

        together = _timed(both)
    taken = 0.0 if pipeline.sample is None else pipeline.sample.taken
    return {
        unit: {"count": pipeline.counted[place], "read back": taken + together[place] - alone[place]}
        for place, unit in enumerate(("s", "CPU s"))
    }


if __name__ == "__main__":
    print(json.dumps(one_round(*sys.argv[1:])))
