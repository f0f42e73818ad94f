"""A stream of five columns in classes of ten people, from file to file, in CPU seconds of the one process that works.

Beside it the least that Python can do with the same lines: read and write each, and read and write each as JSON.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

import numpy as np

from benchmarks.cpu import cpu_seconds, run_process
from benchmarks.result import Result, paired
from shoal.policy import Policy
from shoal.streaming.places import open_feed, open_sink
from shoal.streaming.request import StreamRequest
from shoal.streaming.run import StreamRun

RECORDS = 300_000
FEW = 100_000
ROUNDS = 3
POLICY = """
shoal: 1
name: visits
person: patient
attributes:
  patient: {role: direct, technique: suppress}
  age: {role: quasi, type: integer, hierarchy: {intervals: {widths: [5, 10, 20, 40]}}}
  postal: {role: quasi, hierarchy: {redact: {steps: [1, 2, 3]}}}
  sex: {role: quasi}
  diagnosis: {role: sensitive}
privacy: [{k_anonymity: {k: 10}}]
"""


def run(folder: Path, _rows: int) -> list[Result]:
    source, small = folder / "visits.jsonl", folder / "few-visits.jsonl"
    _write(source, RECORDS)
    _write(small, FEW)
    mine, slower, plain = _paired(folder, source)
    as_json = cpu_seconds(lambda: _copy_json(source, folder / "copy.jsonl"))
    few, many = (_peak(path, folder) for path in (small, source))
    said = f"{RECORDS / mine:,.0f} records/s"
    return [
        Result("stream, a record", said, "100,000 records/s", 1e6 * mine / RECORDS, 10, "µs"),
        Result("stream, 5 columns, k = 10", said, f"copy of the lines {RECORDS / plain:,.0f}/s", slower, None),
        Result("stream, 5 columns, k = 10", said, f"json.loads, dumps {RECORDS / as_json:,.0f}/s", mine / as_json, 3),
        Result(
            "peak memory, endless stream",
            f"{RECORDS:,} records {many:.0f} MB",
            f"{FEW:,} records {few:.0f} MB",
            many / few,
            1.3,
        ),
    ]


def _paired(folder: Path, source: Path) -> tuple[float, float, float]:
    ratio, mine, theirs = paired(
        lambda: cpu_seconds(lambda: stream(source, folder / "safe.jsonl")),
        lambda: cpu_seconds(lambda: _copy(source, folder / "copy.jsonl")),
        ROUNDS,
    )
    return mine, ratio, theirs


def stream(source: Path, target: Path) -> None:
    request = StreamRequest(Policy.from_text(POLICY))
    with closing(open_feed(str(source))) as feed, closing(open_sink(str(target), force=True)) as sink:
        StreamRun(request, feed, sink).execute()


def _copy(source: Path, target: Path) -> None:
    with source.open() as lines, target.open("w") as out:
        for line in lines:
            out.write(line)


def _copy_json(source: Path, target: Path) -> None:
    with source.open() as lines, target.open("w") as out:
        for line in lines:
            out.write(json.dumps(json.loads(line)) + "\n")


def _peak(source: Path, folder: Path) -> float:
    """Megabytes of a process that streams the file."""
    words = [sys.executable, "-m", "benchmarks.streaming", str(source), str(folder / "peak.jsonl")]
    return run_process(words, folder).peak_bytes / 1e6


def _write(path: Path, records: int) -> None:
    random = np.random.default_rng(7)
    columns = zip(
        random.integers(0, records // 2, records).tolist(),
        np.clip(random.normal(45, 20, records), 0, 99).astype(int).tolist(),
        (411_000 + random.zipf(1.6, records) % 100).tolist(),
        random.integers(0, 2, records).tolist(),
        random.integers(0, 3, records).tolist(),
        strict=True,
    )
    with path.open("w") as out:
        for who, age, postal, sex, ill in columns:
            record = {"patient": f"p{who}", "age": age, "postal": str(postal), "sex": "FM"[sex]}
            out.write(json.dumps(record | {"diagnosis": ("flu", "asthma", "hip")[ill]}) + "\n")


if __name__ == "__main__":
    stream(Path(sys.argv[1]), Path(sys.argv[2]))
