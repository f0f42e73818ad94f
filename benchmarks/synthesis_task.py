"""A synthesis in a process of its own: ``python -m benchmarks.synthesis_task TABLE METHOD EPSILON ROWS OUTPUT``.

Prints the CPU seconds of the fit and of the draw. An ε of 0 is none; 0 rows are as many as the table has.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import polars as pl

from shoal.randomness import Randomness
from shoal.synth.method import FitOptions, batches, synthesis_method

DELTA = 1e-9


def main(table: str, method: str, epsilon: str, rows: str, output: str) -> None:
    frame = pl.read_csv(table)
    options = FitOptions(epsilon=float(epsilon) or None, delta=DELTA, randomness=Randomness(7))
    began = time.process_time()
    model = synthesis_method(method).fit(frame, options)
    fitted = time.process_time()
    with Path(output).open("wb") as file:
        for place, batch in enumerate(batches(model, int(rows) or frame.height, Randomness(7))):
            batch.select(frame.columns).write_csv(file, include_header=place == 0)
    print(fitted - began, time.process_time() - fitted)


if __name__ == "__main__":
    main(*sys.argv[1:])
