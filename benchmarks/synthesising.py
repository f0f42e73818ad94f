"""Synthetic tables: how close they are, how long they take, how much memory, beside figures of peers.

Distances are means of total variation over all sets of two or three columns, every value by itself: nothing is put in
ranges. Nothing is declared about the tables, so private methods find names and ranges within their budget. Peers were
measured once, in environments of their own; their figures stand here as constants.
"""

from __future__ import annotations

import os
import statistics
import sys
from dataclasses import dataclass
from itertools import combinations
from math import nan
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.cpu import run_process
from benchmarks.data import csv_of
from benchmarks.result import Result

SHARED = Path(os.environ.get("SHOAL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
MOST_CELLS = 10_000
MILLION = 1_000_000
PEERS_OPEN = "arfpy .019 in 72 s; mostlyai .044 in 25 s; SDV copula .078 in 12 s"
PEERS_PRIVATE = "dpmm at δ = 1e-5: MST .057 / .116 in 169 s, AIM .041 / .081 in 636 s"
PEERS_WIDE = "MST of private-pgm .138 (ε = 1), .096 (ε = 10)"


@dataclass(frozen=True)
class Synthesis:
    original: pl.DataFrame
    synthetic: pl.DataFrame
    fit_seconds: float
    draw_seconds: float
    peak_gigabytes: float

    def distance(self, columns: int, most_cells: int | None = None) -> float:
        """Mean total variation of all sets of so many columns, but for those with more cells."""
        whole = pl.concat([one.cast(pl.String).fill_null("\x00") for one in (self.original, self.synthetic)])
        codes = [np.unique(whole[name].to_numpy(), return_inverse=True)[1] for name in whole.columns]
        sizes = [int(one.max()) + 1 for one in codes]
        found = []
        for places in combinations(range(len(codes)), columns):
            cells = int(np.prod([sizes[place] for place in places]))
            if most_cells is None or cells <= most_cells:
                cell = np.ravel_multi_index([codes[at] for at in places], [sizes[at] for at in places])
                found.append(self._apart(cell))
        return statistics.mean(found)

    def _apart(self, cells: NDArray[np.intp]) -> float:
        sides = cells[: self.original.height], cells[self.original.height :]
        size = int(cells.max()) + 1
        shares = [np.bincount(side, minlength=size) / len(side) for side in sides]
        return float(np.abs(shares[0] - shares[1]).sum() / 2)

    @property
    def cost(self) -> str:
        return f"{self.fit_seconds + self.draw_seconds:.0f} CPU s, {self.peak_gigabytes:.2f} GB"


def synthesised(folder: Path, table: Path, method: str, epsilon: float = 0.0, rows: int = 0) -> Synthesis:
    output = folder / f"synthetic-{method}.csv"
    task = [sys.executable, "-m", "benchmarks.synthesis_task", str(table), method, str(epsilon), str(rows), str(output)]
    done = run_process(task, folder)
    fitted, drawn = map(float, done.output.split())
    return Synthesis(pl.read_csv(table), pl.read_csv(output), fitted, drawn, done.peak_bytes / 1e9)


def run(folder: Path, _rows: int) -> list[Result]:
    if not (SHARED / "data" / "adult").is_dir():
        print("synth: LEFT OUT, no shared data: set SHOAL_SHARED to the folder with data/adult", file=sys.stderr)
        return []
    adult = folder / "adult-9.csv"
    pl.read_csv(SHARED / "data" / "adult" / "adult.csv", separator=";").write_csv(adult)
    table = folder / "adult-14.csv"
    return [*_open(folder, adult), *_private(folder, adult), *_wide(table), *_learning(table), *_million(folder)]


def _open(folder: Path, adult: Path) -> list[Result]:
    found = synthesised(folder, adult, "sequential")
    pairs, seconds = found.distance(2), found.fit_seconds + found.draw_seconds
    return [
        Result("synthetic Adult, 9 columns: pairs", f"{pairs:.4f}", PEERS_OPEN, pairs, 0.015, ""),
        Result("the same: time", found.cost, PEERS_OPEN, seconds, 12, "CPU s"),
    ]


def _private(folder: Path, adult: Path) -> list[Result]:
    found = synthesised(folder, adult, "marginals", 1.0)
    pairs, triples, seconds = found.distance(2), found.distance(3), found.fit_seconds + found.draw_seconds
    name = "private Adult, 9 columns, ε = 1, δ = 1e-9"
    return [
        Result(f"{name}: pairs", f"{pairs:.4f}", PEERS_PRIVATE, pairs, 0.034, ""),
        Result(f"{name}: triples", f"{triples:.4f}", PEERS_PRIVATE, triples, 0.070, ""),
        Result(f"{name}: time", found.cost, PEERS_PRIVATE, seconds, 120, "CPU s"),
        Result(f"{name}: memory", found.cost, "AIM of OpenDP's extras 6.3 GB", found.peak_gigabytes, 1, "GB"),
    ]


def _wide(table: Path) -> list[Result]:
    """The discretised table of private-pgm (``data/adult.csv`` there), which has to be put into the folder by hand."""
    rows = []
    for epsilon, goal in ((1.0, 0.10), (10.0, 0.06)):
        name = f"private Adult, 14 columns, ε = {epsilon:g}: triples"
        if not table.exists():
            rows.append(_absent(name, table, PEERS_WIDE, goal))
            continue
        found = synthesised(table.parent, table, "marginals", epsilon)
        triples = found.distance(3, MOST_CELLS)
        rows += [
            Result(name, f"{triples:.4f}", PEERS_WIDE, triples, goal, ""),
            Result(f"{name}, time", found.cost, "", found.fit_seconds + found.draw_seconds, 240, "CPU s"),
            Result(f"{name}, memory", found.cost, "", found.peak_gigabytes, 3, "GB"),
        ]
    return rows


def _learning(table: Path) -> list[Result]:
    """Who learns from seven tenths of the records, or from as many that were drawn, is asked about the other three."""
    name, goal = "sequential Adult, 14 columns: train on synthetic", 1 / 0.98
    if not table.exists():
        return [_absent(name, table, "train on real", goal)]
    whole = pl.read_csv(table)
    asked = pl.Series(np.random.default_rng(7).random(whole.height) < 0.3)
    learnt = table.with_name("adult-14-learnt.csv")
    whole.filter(~asked).write_csv(learnt)
    found = synthesised(table.parent, learnt, "sequential")
    real, synthetic = (_accuracy(one, whole.filter(asked)) for one in (found.original, found.synthetic))
    return [Result(name, f"{synthetic:.4f} right", f"train on real: {real:.4f} right", real / synthetic, goal)]


def _accuracy(learnt: pl.DataFrame, asked: pl.DataFrame) -> float:
    from sklearn.ensemble import HistGradientBoostingClassifier

    *told, target = learnt.columns
    model = HistGradientBoostingClassifier(random_state=7).fit(learnt.select(told), learnt[target])
    return float(model.score(asked.select(told), asked[target]))


def _absent(name: str, table: Path, yardstick: str, goal: float) -> Result:
    return Result(name, f"not measured: there is no {table}", yardstick, nan, goal, "")


def _million(folder: Path) -> list[Result]:
    """The hospital-like table and four columns more."""
    table = folder / "people-15.csv"
    more = [pl.col("age").shift(shift, fill_value=40).alias(f"age {shift}") for shift in range(1, 5)]
    pl.read_csv(csv_of(folder, MILLION)).with_columns(more).write_csv(table)
    once, thrice = (synthesised(folder, table, "sequential", rows=rows) for rows in (MILLION, 3 * MILLION))
    growth = thrice.peak_gigabytes / once.peak_gigabytes
    name = "sequential, 1 million records × 15 columns"
    return [
        Result(f"{name}: fit", once.cost, "", once.fit_seconds, 120, "CPU s"),
        Result(f"{name}: draw", once.cost, "", once.draw_seconds, 60, "CPU s"),
        Result(f"{name}: memory for thrice the records", thrice.cost, once.cost, growth, 1.1),
    ]
