"""Measuring: the risks of ten million records against a bare Polars group-by; k, l and t of Adult against pycanon."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from math import nan
from pathlib import Path

import polars as pl

from benchmarks import peer_tasks
from benchmarks.adult import EIGHT, Adult
from benchmarks.counting import NARROW
from benchmarks.cpu import median_when_warm
from benchmarks.data import CHUNK, chunk
from benchmarks.environments import PeerError
from benchmarks.peers import Peers
from benchmarks.result import Result, paired, seconds
from shoal.kernels.batch_streams import streamed
from shoal.measurement import measure_classes
from shoal.measurement.risk.attacker_risks import Attackers, attackers_of
from shoal.privacy import PrivacyModel
from shoal.privacy.models.k_anonymity import KAnonymity
from shoal.privacy.models.l_diversity import DiversityKind, LDiversity
from shoal.privacy.models.t_closeness import ClosenessDistance, TCloseness

ROWS = 10_000_000
ROUNDS = 5
SENSITIVE = peer_tasks.SENSITIVE


def run(folder: Path, _rows: int) -> list[Result]:
    return [_risks(folder), *_models(folder)]


def _risks(folder: Path) -> Result:
    path = narrow_of(folder, ROWS)

    def measured() -> tuple[int, Attackers]:
        found = measure_classes(pl.scan_parquet(path), NARROW)
        return found.k, attackers_of(found.classes)

    def bare() -> pl.DataFrame:
        return pl.scan_parquet(path).group_by(NARROW).len().collect(engine="streaming")

    classes = bare().height
    measured()
    ratio, ours, theirs = paired(lambda: seconds(measured), lambda: seconds(bare), ROUNDS)
    name = f"k, class sizes and risks, {ROWS:,} records, Parquet"
    beside = f"bare group-by {theirs:.2f} s, {classes:,} classes"
    return Result(name, f"{ours:.2f} s", beside, ratio, 1.5)


def _models(folder: Path) -> list[Result]:
    name = "k, l and t of Adult, 8 QIs: against pycanon"
    shared = Path(os.environ.get("SHOAL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not (shared / "data" / "adult").is_dir():
        print(f"{name}: LEFT OUT, no shared data: set SHOAL_SHARED", file=sys.stderr, flush=True)
        return [Result(f"{name}: LEFT OUT, no shared data", "", "", nan, None, "")]
    adult = Adult(shared)
    table = adult.table.select(*EIGHT, SENSITIVE)
    models: list[PrivacyModel] = [
        KAnonymity(k=2),
        LDiversity(attribute=SENSITIVE, l=2, kind=DiversityKind.DISTINCT),
        TCloseness(attribute=SENSITIVE, t=1, distance=ClosenessDistance.EQUAL),
    ]

    def shoal() -> Sequence[float]:
        return [found.achieved for found in measure_classes(table.lazy(), EIGHT, None, (SENSITIVE,)).find(models)]

    mine, took = median_when_warm(shoal)
    measured = f"{took:.3f} s, {_figures(*mine)}"
    try:
        found, _ = Peers(folder / "peers", adult).run("pycanon", table)
    except PeerError as why:
        return [Result(name, measured, f"pycanon {why}", took / peer_tasks.LONGEST, None, "× the limit")]
    beside = f"pycanon {found['version']} {found['seconds']:.1f} s, {_figures(found['k'], found['l'], found['t'])}"
    return [Result(name, measured, beside, took / found["seconds"], 0.02)]


def _figures(k: float, l: float, t: float) -> str:  # noqa: E741  # its name
    return f"k={k:g} l={l:g} t={t:.3f}"


def narrow_of(folder: Path, rows: int) -> Path:
    """Eight attributes that people would use as quasi-identifiers, in at most 1.44 million combinations."""
    path = folder / f"quasi-{rows}.parquet"
    if not path.exists():
        partial = path.with_suffix(".partial")
        streamed(lambda: _chunks(rows), _narrow(chunk(0, 1)).schema).sink_parquet(partial)
        partial.rename(path)
    return path


def _chunks(rows: int) -> Iterator[pl.DataFrame]:
    for first in range(0, rows, CHUNK):
        yield _narrow(chunk(first, min(CHUNK, rows - first)))


def _narrow(people: pl.DataFrame) -> pl.DataFrame:
    ward = pl.col("remarks").str.extract(r"ward (\d+)").cast(pl.Int64)
    return people.with_columns(
        ward=ward % 5, bed=ward % 3, year=pl.col("visit").dt.year() % 4, month=pl.col("visit").dt.quarter()
    ).select(NARROW)
