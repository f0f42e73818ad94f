"""Logs through the standard annotator without a model, as ``tail -f app.log | shoal scrub`` gets them.

Two kinds of lines. Alike: those of the pattern scan, which differ in their digits only; what the word finders know of
one is known of the next. Not alike: lines with names, words and ids that hardly come twice, for which the word finders
have to look each time; that is what the finders cost by themselves. All in CPU seconds of the one thread that works.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from benchmarks.cpu import cpu_seconds
from benchmarks.result import Result, paired
from benchmarks.scanning import _lines
from shoal.scrub.scrubber import Scrubber
from shoal.scrub.streams import read_together, scrub_together
from shoal.text.annotator import Annotator
from shoal.text.lexicon.gazetteers import LexiconKind, lexicon
from shoal.text.lexicon_finder import find_by_lexicon
from shoal.text.matching.patterns import PatternFinder

LINES = 60_000
FEW = 4_000
ENDLESS = 20_000
TIMES = 5
ROUNDS = 3
EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")


def run(folder: Path, _rows: int) -> list[Result]:
    scrubber = Scrubber(Annotator.standard("none"))
    _scrub(scrubber, _lines(0, LINES))
    alike = _lines(LINES, LINES)
    patterns = PatternFinder()
    ratio, mine, theirs = paired(
        lambda: cpu_seconds(lambda: _scrub(scrubber, alike)),
        lambda: cpu_seconds(lambda: list(patterns.find(alike))),
        ROUNDS,
    )
    plain = cpu_seconds(lambda: [EMAIL.sub("[EMAIL]", line) for line in alike.splitlines(keepends=True)])
    other, *others = ("".join(_unlike(FEW, seed)) for seed in range(ROUNDS + 1))
    new = iter(others)
    slower, unlike, looked = paired(
        lambda: cpu_seconds(lambda: _scrub(scrubber, next(new))),
        lambda: cpu_seconds(lambda: list(map(find_by_lexicon, other.splitlines(keepends=True)))),
        ROUNDS,
    )
    few, many = _peaks(folder)
    speed = _speed(alike, mine)
    return [
        Result("scrub a log", speed, f"Patterns.find {_speed(alike, theirs)}", ratio, 6),
        Result("scrub a log", speed, f"re.sub of e-mails {_speed(alike, plain)}", mine / plain, None),
        Result("scrub a log, a line", speed, "", 1e6 * mine / LINES, None, "µs"),
        Result("scrub lines not alike", _speed(other, unlike), f"word finders {_speed(other, looked)}", slower, 3),
        Result(
            "peak memory, endless log",
            f"{ENDLESS * TIMES:,} lines {many:.0f} MB",
            f"{ENDLESS:,} lines {few:.0f} MB",
            many / few,
            1.3,
        ),
    ]


def _speed(text: str, elapsed: float) -> str:
    return f"{text.count(chr(10)) / elapsed:,.0f} lines/s, {len(text) / elapsed / 1e6:.2f} MB/s"


def _scrub(scrubber: Scrubber, text: str) -> int:
    source = io.BytesIO(text.encode())
    return sum(len(out) for out in scrub_together(read_together(source), scrubber))


def _unlike(count: int, seed: int) -> Iterable[str]:
    """Lines with a name, two words and an id drawn from long lists."""
    words = [word for word in lexicon().entries if word.isascii() and word.isalpha() and len(word) > 3]
    names = [word.capitalize() for word in words if lexicon().entries[word] & (LexiconKind.GIVEN | LexiconKind.FAMILY)]
    numbers = np.random.default_rng(seed).integers(0, 2**31, (count, 6)).tolist()
    for place, (a, b, c, d, e, f) in enumerate(numbers):
        name, first, second = names[a % len(names)], words[b % len(words)], words[c % len(words)]
        yield (
            f"2026-11-{1 + place % 28:02}T{d % 24:02}:{e % 60:02}:{f % 60:02}Z WARN shop[{d % 9999}] {name} sent "
            f"{first}-{second} to queue {e:08x}-{f:08x}, retry in {c % 90}s\n"
        )


def _peaks(folder: Path) -> tuple[float, float]:
    """Megabytes of the command with few lines through a pipe, and with many."""
    few = _peak(_written(folder, ENDLESS, 1))
    return few, _peak(_written(folder, ENDLESS, TIMES))


def _written(folder: Path, count: int, times: int) -> Path:
    path = folder / f"scrub-{count * times}.log"
    if not path.exists():
        path.write_text("".join(_lines(count * part, count) for part in range(times)), encoding="utf-8")
    return path


_WATCHED = """
import re, runpy, sys
sys.argv = ["shoal", "scrub"]
try:
    runpy.run_module("shoal.cli", run_name="__main__")
except SystemExit:
    pass
print(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1], file=sys.stderr)
"""


def _peak(log: Path) -> float:
    """What the kernel has noted for the process itself: what is told to its parent counts the parent's memory too."""
    with subprocess.Popen(("cat", str(log)), stdout=subprocess.PIPE) as source:
        done = subprocess.run(
            (sys.executable, "-c", _WATCHED),
            stdin=source.stdout,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            check=True,
        )
    return int(done.stderr.split()[-1]) / 1024
