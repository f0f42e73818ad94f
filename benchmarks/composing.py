"""A new release looked at together with earlier ones, against reading all of them once; in CPU seconds."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.result import Result
from shoal.assess.composition.composing import compose
from shoal.assess.composition.request import ComposeRequest, HeldRelease
from shoal.io import sha256_of
from shoal.policy.treatment import Treatment
from shoal.results.manifest import DataFile, Manifest
from shoal.schema import Role

EARLIER = 20
MOST_RECORDS = 1_000_000


def run(folder: Path, rows: int) -> list[Result]:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        return [compared(Path(place), min(rows, MOST_RECORDS), EARLIER)]


def compared(place: Path, records: int, earlier: int) -> Result:
    held = [_release(place / f"r{number}", records, number) for number in range(earlier + 1)]
    reading = _cpu(lambda: [pl.scan_csv(one.folder / "data.csv").collect() for one in held if one.folder])
    composing = _cpu(lambda: compose(ComposeRequest(release=held[0], earlier=tuple(held[1:]), k=5)))
    name = f"composition with {earlier} releases of {records:,} records"
    return Result(name, f"{composing:.1f} CPU s", f"read once {reading:.1f} CPU s", composing / reading, 3.0)


def _cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _release(folder: Path, records: int, number: int) -> HeldRelease:
    draw = np.random.default_rng(number)
    low = draw.integers(20, 80, records) // 10 * 10 + number % 10
    folder.mkdir()
    frame = pl.DataFrame(
        {
            "age": pl.Series(low).cast(pl.String) + "-" + pl.Series(low + 9).cast(pl.String),
            "town": draw.integers(0, 100, records).astype(str),
            "sex": draw.choice(["f", "m"], records),
            "ill": draw.integers(0, 30, records).astype(str),
            "note": draw.integers(0, 10**9, records),
        }
    )
    frame.write_csv(folder / "data.csv")
    roles = {"age": Role.QUASI, "town": Role.QUASI, "sex": Role.QUASI, "ill": Role.SENSITIVE, "note": Role.DIRECT}
    data = DataFile(path="data.csv", rows=records, sha256=sha256_of(folder / "data.csv"))
    treatment = dict.fromkeys(roles, Treatment.KEPT) | {"age": Treatment.GENERALISED, "note": Treatment.ALTERED}
    manifest = Manifest(name=folder.name, data=data, roles=roles, treatment=treatment)
    (folder / "release.json").write_text(manifest.to_json(), encoding="utf-8")
    return HeldRelease(name=folder.name, folder=folder)
