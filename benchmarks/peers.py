"""Python peers that a user would install today, on the same task: anjana, anonypy, and pycanon, which only measures.

Both sides go from the table in memory to the released table in memory (for pycanon: to k, l and t of a released one).
A peer runs once, in a process of its own, with packages of its own: it must not become a dependency of the project.
"""

from __future__ import annotations

import json
import re
import signal
import statistics
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import peer_tasks
from benchmarks.adult import ALL, EIGHT, Adult
from benchmarks.cpu import median_when_warm
from benchmarks.environments import PeerError, last_line, python_with
from benchmarks.result import Result
from shoal.measurement.risk.equivalence_classes import measure_classes
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.l_diversity import DiversityKind, LDiversity
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness
from shoal.solve import Problem, Solution, solve_lattice, solve_local

SENSITIVE = peer_tasks.SENSITIVE
K = KAnonymity(k=peer_tasks.K)
LIMIT = peer_tasks.SUPPRESSED_PERCENT / 100


@dataclass(frozen=True)
class Peers:
    """The peers in a virtual environment that is made the first time."""

    folder: Path
    adult: Adult

    def run(self, peer: str, table: pl.DataFrame) -> tuple[dict[str, Any], Path]:
        """What the peer found, and the table it released."""
        python = python_with(self.folder, peer, peer)
        source, released = self.folder / f"{peer}-in.csv", self.folder / f"{peer}-out.csv"
        table.write_csv(source)
        command: list[str | Path] = [python, peer_tasks.__file__, peer, source, self.adult.folder, released]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        except subprocess.CalledProcessError as failed:
            if failed.returncode == -signal.SIGXCPU:
                raise PeerError(f"takes more than {peer_tasks.LONGEST} s (stopped)") from failed
            raise PeerError("fails: " + last_line(failed.stderr)) from failed
        return json.loads(done.stdout.splitlines()[-1]), released


def compare(folder: Path, adult: Adult) -> list[Result]:
    peers = Peers(folder / "peers", adult)
    return [
        _anonymising(peers, "anjana", f"k=5, {LIMIT:.0%}", LIMIT, solve_lattice),
        _anonymising(peers, "anonypy", "k=5, local recoding", 0.0, solve_local),
        _measuring(peers),
    ]


def _anonymising(peers: Peers, peer: str, task: str, limit: float, solve: Callable[[Problem], Solution]) -> Result:
    adult = peers.adult
    name = f"Adult, 9 QIs, {task}: against {peer}"

    def shoal() -> pl.DataFrame:
        problem = adult.problem(ALL, [K], limit=limit)
        return _released(adult, problem, solve(problem))

    mine, seconds = median_when_warm(shoal)
    measured = f"{seconds:.3f} s, loss {_loss(adult, mine):.3f}"
    try:
        found, path = peers.run(peer, adult.table.select(ALL))
    except PeerError as why:
        return Result(name, measured, f"{peer} {why}", nan, None)
    theirs = pl.read_csv(path, infer_schema=False)
    loss, as_sets = _loss(adult, theirs), _loss(adult, theirs, as_sets=True)
    described = f"{peer} {found['version']} {found['seconds']:.1f} s, loss {loss:.3f}"
    if as_sets < loss:
        described += f" ({as_sets:.3f} as free sets)"
    return Result(name, measured, described, seconds / found["seconds"], None)


def _measuring(peers: Peers) -> Result:
    adult = peers.adult
    name = "k, l and t of a released Adult: against pycanon"
    models = [
        K,
        LDiversity(attribute=SENSITIVE, l=3, kind=DiversityKind.DISTINCT),
        TCloseness(attribute=SENSITIVE, t=1, distance=ClosenessDistance.EQUAL),
    ]
    problem = adult.problem(EIGHT, models[:2], limit=LIMIT, sensitive=(SENSITIVE,))
    table = _released(adult, problem, solve_lattice(problem), SENSITIVE)

    def shoal() -> Sequence[float]:
        return [found.achieved for found in measure_classes(table.lazy(), EIGHT, None, (SENSITIVE,)).find(models)]

    mine, seconds = median_when_warm(shoal)
    measured = f"{seconds:.3f} s, {_figures(*mine)}"
    try:
        found, _ = peers.run("pycanon", table)
    except PeerError as why:
        return Result(name, measured, f"pycanon {why}", nan, None)
    theirs = _figures(found["k"], found["l"], found["t"])
    described = f"pycanon {found['version']} {found['seconds']:.1f} s, {theirs}"
    return Result(name, measured, described, seconds / found["seconds"], None)


def _figures(k: float, l: float, t: float) -> str:  # noqa: E741  # its name
    return f"k={k:g} l={l:g} t={t:.3f}"


def _released(adult: Adult, problem: Problem, solution: Solution, sensitive: str | None = None) -> pl.DataFrame:
    """The kept records. A sensitive value is told apart from others, no more."""
    counts = problem.counts
    combination, records = np.arange(counts.size), counts.records
    if sensitive:
        tally = problem.tallies[sensitive]
        combination, records = tally.combination, tally.count
    rows = np.repeat(combination, np.where(solution.withheld[combination], 0, records))
    columns = [_labels(adult, problem, solution, place)[rows] for place in range(len(problem.ladders))]
    if sensitive:
        entries = np.repeat(tally.value, np.where(solution.withheld[combination], 0, records))
        columns.append(pl.Series(sensitive, entries).cast(pl.String))
    return pl.DataFrame(columns)


def _labels(adult: Adult, problem: Problem, solution: Solution, place: int) -> pl.Series:
    """The released value of each combination."""
    ladder, counts = problem.ladders[place], problem.counts
    values, bound = counts.values_of(ladder.attribute), adult.hierarchy(ladder.attribute, counts)
    levels = solution.cells[:, place].astype(np.int64) if solution.cells is not None else None
    if levels is None:
        levels = np.full(counts.size, solution.levels[ladder.attribute])
    labels = pl.concat([bound.generalise(values, level) for level in range(ladder.highest + 1)])
    return labels.gather(levels * len(values) + counts.codes[:, place]).alias(ladder.attribute)


def _loss(adult: Adult, released: pl.DataFrame, *, as_sets: bool = False) -> float:
    """The contract's loss of a table by its cells alone, the same way for everybody. Absent records are suppressed.

    A cell that no hierarchy has, a set of values or a range, counts as the lowest label that covers it, or as it is.
    """
    whole = len(adult.table)
    losses: list[float] = []
    for name in released.columns:
        path = adult.folder / f"adult_hierarchy_{name}.csv"
        levels = pl.read_csv(path, separator=";", has_header=False, infer_schema=False)
        counted = released[name].value_counts().rows()
        lost = sum(count * (_leaves(cell, levels, as_sets=as_sets) - 1) for cell, count in counted) / (len(levels) - 1)
        losses.append((lost + whole - len(released)) / whole)
    return statistics.mean(losses)


def _leaves(cell: str, levels: pl.DataFrame, *, as_sets: bool) -> int:
    """How many values of the attribute a released cell stands for."""
    for labels in levels:
        if (found := (labels == cell).sum()) > 0:
            return int(found)
    ends = re.fullmatch(r"(\d+)-(\d+)", cell)
    values = [str(value) for value in range(int(ends[1]), int(ends[2]) + 1)] if ends else cell.split(",")
    if as_sets:
        return len(values)
    inside = levels.filter(levels.to_series(0).is_in(values))
    covering = next(labels for labels in inside if labels.n_unique() == 1)
    return int((levels[covering.name] == covering[0]).sum())
