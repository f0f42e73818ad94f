"""``shoal scrub`` as a user calls it, process to process: one line through a pipe, and mixed prose of ten sources.

CPU seconds of the process that is started, with all that it loads; Python finds its bytecode, as it does for a package
that is installed. The line is measured with what an earlier call has kept (``shoal.kernels.derived_files``), without,
and from a wheel, which brings it with it. The prose is that of the shared data: tweets, an encyclopaedia, court
decisions, clinical reports in Spanish, sentences with made-up people; each source is one letter. What it costs to start
is taken off, as it is a row of its own. The yardstick is one pass of Python's ``re`` over the same words.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from math import nan
from pathlib import Path

from benchmarks.cpu import cpu_seconds
from benchmarks.result import Result

LINE = "Call Asha Menon on +91 98450 12345\n"
ROUNDS = 3
BEST_START = 0.8
LEAST_SPEED = 1.0
"""Megabytes a second."""
SOURCES = {
    "text_dev": ("btc.jsonl", "meddocan_dev.jsonl", "wikigold.jsonl", "wnut17_dev.jsonl"),
    "tab_dev_113": ("tab_dev_113.jsonl",),
    "presidio_research": ("generated_large.json", "synth_dataset_v2.json"),
}
WORD = re.compile(r"\w+")


def run(folder: Path, _rows: int) -> list[Result]:
    started = _one_line(folder)
    bare = _cpu([sys.executable, "-c", "pass"], "", {})
    anew = _cpu(_shoal(), LINE, {"SHOAL_CACHE": "off"})
    rows = [
        Result("shoal scrub, one line", f"{started:.2f} CPU s", f"bare Python {bare:.2f} s", started, BEST_START, "s"),
        Result(
            "shoal scrub, one line, nothing kept", f"{anew:.2f} CPU s", f"bare Python {bare:.2f} s", anew, None, "s"
        ),
    ]
    first = _from_a_wheel(folder)
    rows.append(
        Result(
            "shoal scrub, one line, first call from a wheel",
            f"{first:.2f} CPU s",
            f"bare Python {bare:.2f} s",
            first,
            BEST_START,
            "s",
        )
    )
    shared = Path(os.environ.get("SHOAL_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
    if not shared.is_dir():
        print("shoal scrub, prose: LEFT OUT, no shared data: set SHOAL_SHARED", file=sys.stderr, flush=True)
        return [*rows, Result("shoal scrub, prose: LEFT OUT, no shared data", "", "", nan, None, "")]
    return [*rows, _prose(folder, _letters(shared), started)]


def _one_line(folder: Path) -> float:
    """With what the call before has kept."""
    kept = {"SHOAL_CACHE": str(folder / "kept")}
    _cpu(_shoal(), LINE, kept)
    return statistics.median(_cpu(_shoal(), LINE, kept) for _ in range(ROUNDS))


def _from_a_wheel(folder: Path) -> float:
    """It is unpacked, as installing does; its bytecode is made by a call that doesn't count."""
    root, unpacked = Path(__file__).resolve().parents[1], folder / "unpacked"
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    shutil.rmtree(unpacked, ignore_errors=True)
    shutil.unpack_archive(next(folder.glob("shoal-*.whl")), unpacked, "zip")
    setting = {"SHOAL_CACHE": "off", "PYTHONPATH": str(unpacked)}
    _cpu(_shoal(), LINE, setting)
    return statistics.median(_cpu(_shoal(), LINE, setting) for _ in range(ROUNDS))


def _prose(folder: Path, letters: Mapping[str, str], started: float) -> Result:
    source, target = folder / "letters", folder / "letters-scrubbed"
    source.mkdir(exist_ok=True)
    for name, text in letters.items():
        (source / f"{name}.txt").write_text(text, encoding="utf-8")
    files = [str(source / f"{name}.txt") for name in letters]
    megabytes = sum(len(text.encode()) for text in letters.values()) / 1e6
    kept = {"SHOAL_CACHE": str(folder / "kept")}
    spent = _cpu([*_shoal(), *files, "-o", f"{target}{os.sep}"], "", kept) - started
    words = cpu_seconds(lambda: [WORD.findall(text) for text in letters.values()])
    measured = f"{megabytes / spent:.2f} MB/s of {megabytes:.1f} MB"
    return Result(
        "shoal scrub, mixed prose, a MB", measured, f"re {megabytes / words:.0f} MB/s", spent / megabytes,
        1 / LEAST_SPEED, "s",
    )  # fmt: skip


def _letters(shared: Path) -> dict[str, str]:
    found = {}
    for folder, names in SOURCES.items():
        for name in names:
            text = (shared / folder / name).read_text(encoding="utf-8")
            lines = text.splitlines()
            read = json.loads(text) if name.endswith(".json") else [json.loads(line) for line in lines if line.strip()]
            found[name.partition(".")[0]] = "\n".join(one.get("text") or one["full_text"] for one in read)
    return found


@cache
def _bytecode() -> str:
    """A folder for the bytecode of all calls, apart from the sources; the first call fills it."""
    folder = tempfile.mkdtemp(prefix="bytecode-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _shoal() -> list[str]:
    return [sys.executable, "-m", "shoal", "scrub"]


def _cpu(command: list[str], given: str, setting: Mapping[str, str]) -> float:
    """CPU seconds of a process and of those that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": _bytecode(), **setting}
    subprocess.run(command, input=given, check=True, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
