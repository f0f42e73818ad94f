"""Differentially private answers: how long they take and how far off they are, beside plain answers and peers.

Tables are generated: who, a region, an income (log-normal, two decimals); two rows a person in random order. Time is
CPU seconds of whole questions, from SQL to the answer on the ledger. Errors are root mean squares at ε = 1.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from math import nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks import dp_peer_tasks
from benchmarks.cpu import ROUNDS, cpu_seconds
from benchmarks.data import EDUCATION, chunk
from benchmarks.environments import PeerError, last_line, python_with
from benchmarks.result import Result, paired
from shoal.curator.curator import Curator
from shoal.dp.accounting import Accounting
from shoal.dp.description import DatasetDescription
from shoal.dp.noisy_answer import with_noise
from shoal.dp.opendp_measurements import opendp
from shoal.dp.query_plan import QueryPlan, planned
from shoal.dp.running_totals import best_strategy, expected_error, single_periods
from shoal.dp.sql.question_reader import read_questions
from shoal.dp.tabulation import checked_frames, tabulated

REGIONS = [f"region {place:02}" for place in range(50)]
TOWNS = [f"town {place:04}" for place in range(1000)]
BOUNDS = [0, 200_000]
MANY, FEWER, FEW = 10_000_000, 1_000_000, 100_000
OPENDP, QRLEW = "opendp[polars]==0.16.*", "pyqrlew==0.9.*"
CANDIDATES = (1_000, 10_000, 100_000)
"""That OpenDP chooses a quantile from, evenly between the bounds."""
FRACTIONS, DRAWS = (0.25, 0.5, 0.9), 40
"""Of each fraction: 120 errors to a figure, which is then known to about 6 %."""


def run(folder: Path, _rows: int) -> list[Result]:
    with tempfile.TemporaryDirectory(dir=folder) as name:
        place = Path(name)
        return [
            *_groups(folder, place),
            *_small_tables(place),
            *_counts(folder, place),
            *_quantiles(),
            *_running_totals(),
        ]


def _people(place: Path, rows: int) -> Path:
    random = np.random.default_rng(1)
    path = place / f"people-{rows}.parquet"
    if not path.exists():
        names = pl.Series(REGIONS)
        who = random.permutation(np.repeat(np.arange(rows // 2), 2))
        income = np.round(random.lognormal(10, 0.7, rows), 2)
        pl.DataFrame({"who": who, "region": names[random.integers(0, 50, rows)], "income": income}).write_parquet(path)
    return path


def _described(source: object, columns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "shoal": 1,
        "name": "people",
        "source": str(source),
        "columns": columns,
        "budget": {"epsilon": 1000},
        **more,
    }


def _curator(place: Path, source: Path, columns: dict[str, Any], person: str) -> Curator:
    """Each table is a dataset of its own, with a budget of its own."""
    named = {"name": source.name, "ledger": str(place / f"{source.name}.budget")}
    return Curator(_described(source, columns, person=person, rows_per_person=2) | named)


PAID = {
    "region": {"type": "category", "categories": REGIONS},
    "income": {"type": "number", "bounds": BOUNDS},
}


def _asked(curator: Curator, sql: str) -> Callable[[], float]:
    """CPU seconds of the question, each time at another price, so that it is not answered from the ledger."""
    prices: Iterator[int] = itertools.count(1000)
    return lambda: cpu_seconds(lambda: curator.query(sql, f"0.{next(prices)}"))


def _groups(folder: Path, place: Path) -> list[Result]:
    name = "count, sum, mean by 50 groups, 2 rows a person"
    sql = "SELECT region, COUNT(*) AS n, SUM(income) AS s, AVG(income) AS m FROM t GROUP BY region"
    results = []
    for rows in (MANY, FEWER):
        path = _people(place, rows)
        private = _asked(_curator(place, path, PAID, "who"), sql)
        scan, income = pl.scan_parquet(path), pl.col("income")
        bare = scan.group_by("region").agg(pl.len(), income.sum(), income.mean().alias("mean"))
        private()
        ratio, mine, plain = paired(
            private, lambda bare=bare: cpu_seconds(lambda: bare.collect(engine="streaming")), ROUNDS
        )  # type: ignore[misc]
        if rows == MANY:
            results.append(Result(f"{name}, {rows:,} rows", f"{mine:.2f} s", f"bare Polars {plain:.2f} s", ratio, 2.5))
    told = {"path": str(path), "rows": FEWER, "rows_per_person": 2, "regions": REGIONS, "bounds": BOUNDS}
    measured = f"{mine:.2f} s"
    try:
        found = _peer(folder, place, "opendp_groups", OPENDP, told)
    except PeerError as why:
        return [*results, Result(f"{name}, {FEWER:,} rows", measured, f"OpenDP's Polars {why}", nan, None)]
    ways = (("bounded", "OpenDP's Polars, rows bounded", 1.0), ("trusting", "the same, trusting the data", None))
    return results + [
        Result(f"{name}, {FEWER:,} rows", measured, f"{way} {found[key]:.1f} s", mine / found[key], goal)
        for key, way, goal in ways
    ]


def _peer(folder: Path, place: Path, task: str, package: str, told: dict[str, Any]) -> dict[str, Any]:
    module = package.split("[", maxsplit=1)[0].split("=", maxsplit=1)[0]
    python = python_with(folder / f"peer-{module}", package, module)
    (place / f"{task}.json").write_text(json.dumps(told))
    command = [str(python), dp_peer_tasks.__file__, task, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PeerError("fails: " + last_line(done.stderr))
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _small_tables(place: Path) -> list[Result]:
    table = chunk(0, FEW).with_columns(pl.col("id") // 2)
    columns = {
        "education": {"type": "category", "categories": list(EDUCATION)},
        "salary": {"type": "number", "bounds": BOUNDS},
        "age": {"type": "integer", "bounds": [0, 110]},
    }
    sql = "SELECT education, COUNT(*) AS n, AVG(salary) AS mean FROM t WHERE age > 30 GROUP BY education"
    table.write_csv(place / "few.csv")
    table.write_parquet(place / "few.parquet")
    results = []
    for ending, scan, goal in (("csv", pl.scan_csv, 3.0), ("parquet", pl.scan_parquet, None)):
        path = place / f"few.{ending}"
        private = _asked(_curator(place, path, columns, "id"), sql)

        def bare(path: Path = path, scan: Callable[..., pl.LazyFrame] = scan) -> float:
            return cpu_seconds(lambda: pl.SQLContext(t=scan(path)).execute(sql).collect(engine="streaming"))

        private(), bare()
        ratio, mine, plain = paired(private, bare, 3 * ROUNDS)
        name = f"a question on {FEW:,} rows × 11 columns ({ending}), warm"
        results.append(Result(name, f"{1000 * mine:.0f} ms", f"bare Polars {1000 * plain:.0f} ms", ratio, goal))
    return results


def _plan(columns: dict[str, Any], sql: str) -> QueryPlan:
    description = DatasetDescription.model_validate(_described("people.csv", columns, person="who", rows_per_person=1))
    (question,) = read_questions(sql, description)
    return planned(question, description, Decimal(1), None)


def _root_mean_square(errors: object) -> float:
    return float(np.sqrt(np.mean(np.square(np.asarray(errors, dtype=np.float64)))))


def _counts(folder: Path, place: Path) -> list[Result]:
    """All groups are public; a person has one row."""
    towns = np.random.default_rng(1).integers(0, len(TOWNS), FEW)
    table = pl.DataFrame({"who": np.arange(FEW), "town": pl.Series(TOWNS)[towns]})
    listed = {"town": {"type": "category", "categories": TOWNS}}
    plan = _plan(listed, "SELECT town, COUNT(*) FROM people GROUP BY town")
    exact = tabulated(plan, checked_frames(plan, [table.lazy()]))
    drawn = [with_noise(plan, exact).statistics[0] for _ in range(200)]
    mine = _root_mean_square(np.asarray(drawn) - np.asarray(exact.figures[0]))
    name = f"error of counts, {len(TOWNS):,} groups"
    results = [Result(name, f"{mine:.3f}", f"plain Laplace {sqrt(2):.3f}", mine / sqrt(2), 1.0)]
    path = place / "people.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE people (who INTEGER, town TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", table.rows())
    connection.close()
    try:
        found = _peer(folder, place, "qrlew_counts", QRLEW, {"path": str(path), "towns": TOWNS})
    except PeerError as why:
        return [*results, Result(name, f"{mine:.3f}", f"Qrlew {why}", nan, None)]
    best = min(found, key=lambda way: float(found[way]))
    return [
        *results,
        Result(name, f"{mine:.3f}", f"Qrlew {found[best]:.2f} ({best}, δ = 1e-6)", mine / found[best], 0.5),
    ]


def _quantiles() -> list[Result]:
    random = np.random.default_rng(1)
    tables = {
        "uniform": (random.uniform(*BOUNDS, FEW), {"type": "number", "bounds": BOUNDS}),
        "log-normal income": (np.round(random.lognormal(10, 0.7, FEW), 2), {"type": "number", "bounds": BOUNDS}),
        "heavy ties, whole hundreds": (
            np.round(random.lognormal(10, 0.7, FEW), -2),
            {"type": "number", "bounds": BOUNDS},
        ),
        "ages": (random.binomial(110, 0.4, FEW).astype(float), {"type": "integer", "bounds": [0, 110]}),
    }
    results = []
    for name, (drawn, column) in tables.items():
        values = np.clip(drawn, *column["bounds"])
        mine = _root_mean_square([_ours(values, column, fraction) for fraction in FRACTIONS])
        theirs = {size: _opendp_quantiles(values, column["bounds"], size) for size in CANDIDATES}
        label = f"error of quantiles, {FEW:,} rows, {name}"
        for size in (10_000, min(theirs, key=lambda one: theirs[one])):
            described = f"OpenDP, {size:,} candidates, {theirs[size]:.3g}"
            ratio = mine / theirs[size] if theirs[size] else 1.0 if not mine else nan
            results.append(Result(label, f"{mine:.3g}", described, ratio, 1.0 if size == 10_000 else None))
    return results


def _truth(values: np.ndarray[Any, np.dtype[np.float64]], fraction: float) -> float:
    return float(np.quantile(values, fraction, method="inverted_cdf"))


def _ours(values: np.ndarray[Any, np.dtype[np.float64]], column: dict[str, Any], fraction: float) -> list[float]:
    plan = _plan({"x": column}, f"SELECT QUANTILE(x, {fraction}) FROM people")  # noqa: S608
    frame = pl.LazyFrame({"who": np.arange(len(values)), "x": values})
    exact = tabulated(plan, checked_frames(plan, [frame]))
    chosen = (with_noise(plan, exact).quantiles[0][0][0] for _ in range(DRAWS))
    return [one - _truth(values, fraction) for one in chosen]


def _opendp_quantiles(values: np.ndarray[Any, np.dtype[np.float64]], bounds: list[int], size: int) -> float:
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance(), dp.max_divergence()
    candidates = np.linspace(*bounds, size).tolist()
    errors: list[float] = []
    for fraction in FRACTIONS:
        scale = dp.binary_search_param(
            lambda scale, at=fraction: dp.m.make_private_quantile(*space, candidates[:9], at, scale), 1, 1.0
        )
        made = dp.m.make_private_quantile(*space, candidates, fraction, scale)
        errors += [made(values) - _truth(values, fraction) for _ in range(DRAWS)]
    return _root_mean_square(errors)


def _running_totals() -> list[Result]:
    results = []
    for accounting, goal in ((Accounting.ZCDP, 0.2), (Accounting.PURE, None)):
        best = best_strategy(365, accounting)
        ratio = expected_error(best, accounting) / expected_error(single_periods(365), accounting)
        results.append(
            Result(f"running totals, 365 days, {accounting.value}", best.name, "noise for each day", ratio, goal)
        )
    return results
