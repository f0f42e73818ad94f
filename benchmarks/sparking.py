"""Spark: the engine against a hand-written job that changes nothing, against Polars, and the driver's memory.

The yardstick reads the same Parquet, maps the identity through ``mapInArrow`` and writes Parquet: what any job pays
that takes every record through Python. Everything runs at the same master, in a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.data import CHUNK, chunk
from benchmarks.data import POLICY as WITHOUT_KEYS
from benchmarks.result import Result

ROWS = 30_000_000
TIMES = 4
"""How many times as many rows the driver's memory is measured on."""
ROUNDS = 3
MASTER = "local[*]"
APART = "local-cluster[2,1,2048]"
"""Executors are processes of their own here, so that the driver is alone in its process."""

POLICY = WITHOUT_KEYS.replace(
    "remarks: {role: insensitive}", "remarks: {role: direct, technique: {pseudonymise: {method: keyed}}}"
)
"""The other benchmarks' policy, with a keyed pseudonym."""
IDENTITY = """
import sys, time
from shoal.engine.spark.session import open_session
source, target, master = sys.argv[1:]
session = open_session(master)
frame = session.read.parquet(source)
frame.limit(1).mapInArrow(lambda batches: batches, frame.schema).collect()
started = time.perf_counter()
frame.mapInArrow(lambda batches: batches, frame.schema).write.parquet(target)
print(time.perf_counter() - started)
"""


def run(folder: Path, rows: int) -> list[Result]:
    """``rows`` is the other benchmarks' size; Spark is tried on five times as many."""
    rows *= ROWS // 6_000_000
    source = parquet_of(folder, rows)
    pairs = [(shoal(folder, source, "spark"), identity(folder, source)) for _ in range(ROUNDS)]
    polars = [shoal(folder, source, "polars") for _ in range(ROUNDS)]
    rewrite = sorted(mine.rewrite / his.work for mine, his in pairs)[ROUNDS // 2]
    whole = sorted(mine.whole / his.whole for mine, his in pairs)[ROUNDS // 2]
    spark = min((mine for mine, _ in pairs), key=lambda mine: mine.whole)
    theirs = min((his for _, his in pairs), key=lambda his: his.whole)
    alone = min(polars, key=lambda mine: mine.whole)
    name = f"Spark, {rows:,} records"
    return [
        Result(f"{name}: whole run", f"{spark.whole:.1f} s", f"identity job {theirs.whole:.1f} s", whole, 1.5),
        Result(f"{name}: rewrite", f"{spark.rewrite:.1f} s", f"identity job {theirs.work:.1f} s", rewrite, 1.5),
        Result(
            f"{name}: Polars instead",
            f"{alone.whole:.1f} s",
            f"Spark {spark.whole:.1f} s",
            alone.whole / spark.whole,
            1.0,
        ),
        *growth(folder, rows),
    ]


def growth(folder: Path, rows: int) -> list[Result]:
    """What times as many records cost: in the driver's memory, which is not to grow, and in time."""
    small, large = (shoal(folder, parquet_of(folder, size), "spark", APART) for size in (rows, rows * TIMES))
    name = f"Spark, {rows * TIMES:,} records"
    megabytes = f"{rows:,} records {small.driver_mb:.0f} MB"
    seconds = f"{TIMES} × {small.whole:.0f} s of {rows:,} records"
    return [
        Result(f"{name}: driver", f"{large.driver_mb:.0f} MB", megabytes, large.driver_mb / small.driver_mb, 1.2),
        Result(f"{name}: whole run", f"{large.whole:.0f} s", seconds, large.whole / (TIMES * small.whole), None),
    ]


class Run:
    def __init__(self, manifest: dict[str, dict[str, float]], whole: float, driver_mb: float) -> None:
        self.rewrite = float(manifest["timing"]["rewrite_s"])
        self.count = float(manifest["timing"]["count_s"])
        self.whole = whole
        self.driver_mb = driver_mb


def shoal(folder: Path, source: Path, engine: str, master: str = MASTER) -> Run:
    """The release with parts; the peak of Python and the JVM of the driver together, looked at ten times a second."""
    policy, output = folder / "spark-policy.yaml", folder / "spark-release"
    policy.write_text(POLICY, encoding="utf-8")
    where = ["--master", master] if engine == "spark" else []
    command = [sys.executable, "-m", "shoal", "run", str(policy), "--input", str(source), "--output", str(output)]
    started = time.perf_counter()
    with subprocess.Popen(
        [*command, "--engine", engine, *where, "--parts", "--json", "--force"], stdout=subprocess.PIPE, text=True
    ) as process:
        watch = Watch(process.pid)
        told, _ = process.communicate()
    whole = time.perf_counter() - started
    shutil.rmtree(output, ignore_errors=True)
    if process.returncode:
        raise RuntimeError(told)
    return Run(json.loads(told), whole, watch.peak_mb())


class Identity(NamedTuple):
    work: float
    """Reading, mapping and writing, in a session that has run a first job."""
    whole: float
    """From the start of the process to its end, as a run of Shoal is measured."""


def identity(folder: Path, source: Path) -> Identity:
    target = folder / "identity.parquet"
    shutil.rmtree(target, ignore_errors=True)
    command = [sys.executable, "-c", IDENTITY, str(source), str(target), MASTER]
    started = time.perf_counter()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    whole = time.perf_counter() - started
    shutil.rmtree(target)
    return Identity(float(done.stdout), whole)


class Watch(threading.Thread):
    """The memory of a process and of the JVM that it has started; executors, which the JVM starts, are not counted."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._pid = pid
        self._peak = 0
        self.start()

    def run(self) -> None:
        while self._alive():
            self._peak = max(self._peak, sum(map(_resident, (self._pid, *_children(self._pid)))))
            time.sleep(0.1)

    def _alive(self) -> bool:
        return _resident(self._pid) > 0

    def peak_mb(self) -> float:
        self.join()
        return self._peak / 1e6


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _children(pid: int) -> list[int]:
    try:
        listed = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(child) for child in listed.split()]


def parquet_of(folder: Path, rows: int) -> Path:
    """In several files, as clusters have them."""
    path = folder / f"spark-{rows}.parquet"
    if not path.exists():
        partial = folder / f"spark-{rows}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        for number, first in enumerate(range(0, rows, CHUNK)):
            chunk(first, min(CHUNK, rows - first)).write_parquet(partial / f"part-{number:05}.parquet")
        partial.rename(path)
    return path
