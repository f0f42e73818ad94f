"""Solving Adult: CPU seconds as a ratio to a fixed sort, how they grow with the records, and peers.

Everything is measured in one process of its own, so that the solver and the sort have the same conditions. Its
environment doesn't limit BLAS's or Polars' threads, whatever the caller's does: they run as they do for a user, and
what they burn is counted. Each case runs once to warm up and then five times, alternating with the sort; figures are
medians. The goals were set as seconds beside a sort of 0.85 s, so they are ratios here. Wide tables, whose lattices are
too large for a proof, run once: what counts there is the loss, beside a best-first search with as many looks at nodes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from math import nan
from pathlib import Path

from benchmarks import peers
from benchmarks.adult import ALL, EIGHT, Adult
from benchmarks.cpu import ROUNDS, SORT_SECONDS, cpu_seconds, make_sort
from benchmarks.result import Result, paired
from benchmarks.wide import adult_24, fars_20, halved, survey, top_down
from shoal.privacy import PrivacyModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.l_diversity import DiversityKind, LDiversity
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness
from shoal.solve import Problem, Solution, solve_lattice, solve_local
from shoal.solve.global_recoding.budget import PER_SECOND, Budget
from shoal.solve.global_recoding.lattice_search import LatticeSearch
from shoal.solve.utility import make_utility

SENSITIVE = "occupation"
REPEAT = 2000
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass(frozen=True)
class Case:
    name: str
    problem: Problem
    solve: Callable[[Problem], Solution]
    arx: float
    """CPU seconds of ARX 3.9.2, warm, beside a sort of 0.85 s."""
    goal: float
    """CPU seconds beside the same sort."""
    arx_loss: float | None = None
    loss: float | None = None
    """The goal."""

    def run(self) -> Solution:
        """Nothing is carried over from run to run: a new problem has no cached properties."""
        return self.solve(replace(self.problem))


def run(folder: Path, _rows: int) -> list[Result]:
    shared = Path(os.environ.get("SHOAL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not (shared / "data" / "adult").is_dir():
        left_out = "solve: LEFT OUT, no shared data: set SHOAL_SHARED to the folder with data/adult"
        print(left_out, file=sys.stderr, flush=True)
        return [Result(left_out, "", "", nan, None, "")]
    environment = {name: value for name, value in os.environ.items() if name not in THREADS}
    command = [sys.executable, "-m", __name__, str(shared), str(folder)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return [Result(**fields) for fields in json.loads(done.stdout)]


def cases(adult: Adult) -> list[Case]:
    k = KAnonymity(k=5)
    diverse: list[PrivacyModel] = [k, LDiversity(attribute=SENSITIVE, l=3, kind=DiversityKind.DISTINCT)]
    close: list[PrivacyModel] = [k, TCloseness(attribute=SENSITIVE, t=0.2, distance=ClosenessDistance.EQUAL)]

    def nine(limit: float) -> Problem:
        return adult.problem(ALL, [k], limit=limit)

    def eight(models: list[PrivacyModel], limit: float) -> Problem:
        return adult.problem(EIGHT, models, limit=limit, sensitive=(SENSITIVE,))

    close_enough = eight(close, 1.0)
    return [
        Case("Adult, 9 QIs, k=5, 2 %", nine(0.02), solve_lattice, 1.00, 0.25),
        Case("Adult, 9 QIs, k=5, 5 %", nine(0.05), solve_lattice, 1.02, 0.25),
        Case("Adult, 9 QIs, k=5, 100 %", nine(1.0), solve_lattice, 4.0, 1.0),
        Case("Adult, 8 QIs, k=5, distinct l=3, 5 %", eight(diverse, 0.05), solve_lattice, 0.56, 0.2),
        Case("Adult, 8 QIs, k=5, t=0.2 equal, 100 %", close_enough, solve_lattice, 2.5, 0.6),
        Case("Adult, 9 QIs, k=5, local recoding", nine(0.0), solve_local, 4.1, 1.0, 0.068, 0.060),
        Case("Adult, 8 QIs, k=5, t=0.2 equal, local recoding", close_enough, solve_local, 53, 5.0, 0.44, 0.40),
    ]


def _measure(case: Case, sort: Callable[[], float]) -> list[Result]:
    solution = case.run()
    ratio, mine, theirs = paired(lambda: cpu_seconds(case.run), sort, ROUNDS)
    nodes = f", {solution.nodes_checked:,} of {solution.nodes_total:,} nodes" if solution.optimal else ""
    beside = f"sort {theirs:.2f} s (ARX {case.arx / SORT_SECONDS:.2f} ×)"
    results = [Result(case.name, f"{mine:.3f} s{nodes}", beside, ratio, round(case.goal / SORT_SECONDS, 3))]
    if case.loss is not None and case.arx_loss is not None:
        lost = f"{solution.loss:.4f}, {solution.suppressed:,} suppressed"
        name = f"{case.name}: loss"
        results.append(Result(name, lost, f"ARX {case.arx_loss}", 100 * solution.loss, 100 * case.loss, "%"))
    return results


def _growth(shared: Path) -> list[Result]:
    """The same combinations with 2,000 times the records, and k as many times as large: the very same search."""
    few = Case("", Adult(shared).problem(ALL, [KAnonymity(k=5)], limit=0.05), solve_lattice, 0, 0)
    grown = Adult(shared, repeat=REPEAT).problem(ALL, [KAnonymity(k=5 * REPEAT)], limit=0.05)
    many = replace(few, problem=grown)
    name = f"Adult × {REPEAT:,}: {grown.records / 1e6:.0f} million records, 5 %"
    few.run(), many.run()
    ratio, mine, theirs = paired(lambda: cpu_seconds(many.run), lambda: cpu_seconds(few.run), ROUNDS)
    large, small = _peak(many.run), _peak(few.run)
    beside = f"{few.problem.records:,} records"
    return [
        Result(f"{name}: time", f"{mine:.3f} s", f"{beside} {theirs:.3f} s", ratio, 1.2),
        Result(f"{name}: memory", f"{large / 1e6:.1f} MB", f"{beside} {small / 1e6:.1f} MB", large / small, 1.2),
    ]


def _wide(shared: Path) -> Iterator[Result]:
    k = KAnonymity(k=5)
    labour = survey(shared, "free1.csv", 24)
    yield from _one_wide("Adult, 24 QIs, k=5, 5 %", halved(adult_24(shared), [k], limit=0.05), 0.171)
    yield from _one_wide("Road accidents, 20 QIs, k=5, 5 %", halved(fars_20(shared), [k], limit=0.05), 0.228)
    yield from _one_wide("Labour force, 24 QIs, k=3, 5 %", halved(labour, [KAnonymity(k=3)], limit=0.05), 0.129)


def _one_wide(name: str, problem: Problem, climbed: float) -> Iterator[Result]:
    """Loss of global recoding beside a best-first search, how far it may be from the best, loss of local recoding."""
    print(f"  … {name}", file=sys.stderr, flush=True)
    solutions: list[Solution] = []
    seconds = [
        cpu_seconds(lambda: solutions.append(solve_lattice(problem))),
        cpu_seconds(lambda: solutions.append(solve_local(problem))),
    ]
    found, divided = solutions
    theirs = top_down(problem, "loss", found.nodes_checked)
    lost = f"{found.loss:.4f}, {found.nodes_checked:,} nodes, {seconds[0]:.1f} s"
    yield Result(f"{name}: loss", lost, f"best-first {theirs:.4f}", 100 * found.loss, 100 * theirs, "%")
    bound = found.bound or nan
    yield Result(f"{name}: loss ÷ bound", f"{found.loss:.4f}", f"bound {bound:.4f}", found.loss / bound, 2.5)
    lost = f"{divided.loss:.4f}, {seconds[1]:.1f} s"
    name = f"{name}: local recoding"
    yield Result(name, lost, f"climbing alone {climbed}", 100 * divided.loss, 100 * climbed, "%")


def _second_of_work(adult: Adult) -> Result:
    """How far a second of a limit is from a second of this machine, either way."""
    problem = adult.problem(ALL, [KAnonymity(k=5)], limit=0.02)
    budget = Budget(1e15)
    taken = cpu_seconds(lambda: LatticeSearch(problem, make_utility("loss", problem)).run(budget))
    counted = (1e15 - budget.left) / PER_SECOND
    ratio = max(taken / counted, counted / taken)
    return Result("a second of solve.time_limit", f"{taken:.2f} s", f"{counted:.2f} s of work", ratio, 3.0)


def _memory() -> Result:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Result("all solvers in one process: memory", f"{most:.0f} MB", "", most, 700.0, "MB")


def _peak(work: Callable[[], object]) -> int:
    """The most bytes that the work holds at a time."""
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def main() -> None:
    shared, folder = map(Path, sys.argv[1:])
    adult, sort = Adult(shared), make_sort()
    results: list[Result] = []
    for case in cases(adult):
        print(f"  … {case.name}", file=sys.stderr, flush=True)
        results += _measure(case, sort)
    results += [*_wide(shared), _second_of_work(adult), _memory()]
    print("  … growth, peers", file=sys.stderr, flush=True)
    results += [*_growth(shared), *peers.compare(folder, adult)]
    print(json.dumps([asdict(result) for result in results]))


if __name__ == "__main__":
    main()
