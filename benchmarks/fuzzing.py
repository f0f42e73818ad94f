"""Mutated files of every format that is read, and mutated policies: how many bring a command down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.result import Result

COUNT = int(os.environ.get("SHOAL_FUZZ_COUNT", "10000"))
ROOT = Path(__file__).resolve().parent.parent


def run(folder: Path, _rows: int) -> list[Result]:
    command = [sys.executable, "-m", "tests.hostile.fuzz", f"--count={COUNT}", f"--keep={folder / 'fuzz'}", "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    return [_result(json.loads(line)) for line in done.stdout.splitlines()]


def _result(outcome: dict[str, object]) -> Result:
    found = outcome["found"]
    return Result(
        f"fuzz {outcome['format']}, {outcome['files']:,} files",
        f"{outcome['done']:,} done, slowest {outcome['slowest']} s, {outcome['peak_mb']} MB",
        "no traceback, 60 s, 2 GB",
        float(len(found)) if isinstance(found, list) else 1.0,
        0,
        "found",
    )
