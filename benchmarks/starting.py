"""How long a newcomer waits for the first sign of life."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.result import Result, seconds

ROUNDS = 7


def run(_folder: Path, _rows: int) -> list[Result]:
    shoal = str(Path(sys.executable).with_name("shoal"))
    bare = _median([sys.executable, "-c", "pass"])
    help_text = _median([shoal, "--help"])
    imported = _median([sys.executable, "-c", "import shoal"])
    return [
        Result("shoal --help", f"{help_text:.3f} s", f"bare Python {bare:.3f} s", help_text, 0.3, "s"),
        Result("import shoal", f"{imported:.3f} s", f"bare Python {bare:.3f} s", imported, 0.2, "s"),
    ]


def _median(command: list[str]) -> float:
    return statistics.median(
        seconds(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(ROUNDS)
    )
