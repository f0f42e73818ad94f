"""Recognisers over 100 MB of logs, against engines that only match and against Presidio's patterns."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import presidio_task
from benchmarks.environments import PeerError, last_line, python_with
from benchmarks.result import Result, paired, seconds
from shoal.discover.recognisers import Recogniser, default_recognisers
from shoal.discover.recognisers.base import InText
from shoal.discover.recognisers.expressions import linear, spans
from shoal.schema import Role
from shoal.text.matching.patterns import PatternFinder
from shoal.text.matching.scanner import hyperscan

SIZE = 100_000_000
PIECE = 4_000_000
ROUNDS = 3
FASTER = 200
SAMPLE = 500_000
"""Bytes of the same log that Presidio is given."""
SAME = frozenset(
    [
        "card",
        "account",
        "routing_number",
        "driving_licence",
        "itin",
        "passport",
        "ssn",
        "nhs_number",
        "crypto",
        "date",
        "time",
        "email",
        "iban",
        "ipv4",
        "ipv6",
        "mac",
        "licence",
        "phone",
        "url",
        "domain",
    ]
)
"""Our kinds for the entities of Presidio's pattern recognisers."""
EXPRESSIONS = [each.text.expression for each in default_recognisers() if each.text]
PAGES = ("/wards/list", "/patients/search", "/static/site.css", "/reports/monthly", "/login", "/health")
AGENT = '"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"'


def run(folder: Path, _rows: int) -> list[Result]:
    texts = list(_pieces(_logs(folder)))
    size = sum(map(len, texts))
    part, few = texts[:5], sum(map(len, texts[:5]))
    ours = PatternFinder()
    _count(ours, texts[:1])
    peer = _presidio(folder)
    whole = size / seconds(lambda: _count(ours, texts))
    same = PatternFinder([each for each in default_recognisers() if each.type in SAME])
    _count(same, texts[:1])
    likewise = size / seconds(lambda: _count(same, texts))
    ratio, mine, theirs = paired(lambda: seconds(lambda: _count(ours, part)), _grep(part), ROUNDS)
    more = PatternFinder((*default_recognisers(), *_strangers(9 * len(default_recognisers()))))
    _count(more, texts[:1])
    slower, many, _ = paired(
        lambda: seconds(lambda: _count(more, part)), lambda: seconds(lambda: _count(ours, part)), ROUNDS
    )
    return [
        _against_presidio(f"scan {size / 1e6:.0f} MB of logs, Presidio's kinds", likewise, peer, 1 / FASTER),
        _against_presidio(f"scan {size / 1e6:.0f} MB of logs, all kinds", whole, peer, None),
        Result(
            f"scan, {len(EXPRESSIONS)} patterns",
            f"{few / mine / 1e6:.1f} MB/s",
            f"{_engine()} alone {few / theirs / 1e6:.1f} MB/s",
            ratio,
            5,
        ),
        Result("scan with 10 x the recognisers", f"{few / many / 1e6:.1f} MB/s", "with ours", slower, 1.5),
    ]


def _presidio(folder: Path) -> dict[str, Any]:
    try:
        python = python_with(folder / "presidio", "presidio-analyzer", "presidio_analyzer")
        command: list[str | Path] = [python, presidio_task.__file__, _logs(folder), str(SAMPLE)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except subprocess.CalledProcessError as failed:
        return {"why": "fails: " + last_line(failed.stderr), "speed": nan}
    except PeerError as why:
        return {"why": str(why), "speed": nan}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _against_presidio(name: str, speed: float, peer: dict[str, Any], goal: float | None) -> Result:
    """A peer that is not there proves nothing: the goal is not met."""
    theirs = peer.get("why") or f"{peer['speed'] / 1e6:.3f} MB/s, {speed / peer['speed']:.0f} times slower"
    return Result(name, f"{speed / 1e6:.1f} MB/s", f"Presidio {theirs}", peer["speed"] / speed, goal)


def _count(patterns: PatternFinder, texts: Iterable[str]) -> int:
    return sum(1 for text in texts for _ in patterns.find(text))


def _engine() -> str:
    return "Hyperscan" if hyperscan() else "RE2"


def _grep(texts: Sequence[str]):  # type: ignore[no-untyped-def]
    """One pass for all patterns with an engine that tells of each match and does nothing with it."""
    pieces = [text.encode() for text in texts]
    library = hyperscan()
    if library is None:
        alternation = linear("|".join(f"(?:{each})" for each in EXPRESSIONS))
        return lambda: seconds(lambda: [spans(alternation, piece, 0, len(piece)) for piece in pieces])
    database = library.Database()
    database.compile(
        expressions=[each.encode() for each in EXPRESSIONS],
        ids=list(range(len(EXPRESSIONS))),
        elements=len(EXPRESSIONS),
        flags=[0 if each.isascii() else library.HS_FLAG_UTF8 for each in EXPRESSIONS],
    )
    return lambda: seconds(lambda: [database.scan(piece, match_event_handler=_nothing) for piece in pieces])


def _nothing(*_match: object) -> None:
    return None


def _strangers(count: int) -> Iterator[Recogniser]:
    """Kinds of numbers that a house of many departments might add."""
    for number in range(count):
        how = InText(f"Q{number:04}[A-Z]-[0-9]{{6}}", 0.8, 0.9)
        yield Recogniser(f"stranger_{number}", "a number", Role.DIRECT, "it is one", text=how)


def _pieces(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8") as file:
        while lines := file.readlines(PIECE):
            yield "".join(lines)


def _logs(folder: Path) -> Path:
    """Lines of a server: one of three holds an address, one of six a person's number or mail."""
    path = folder / "app.log"
    if not path.exists():
        partial = path.with_suffix(".partial")
        with partial.open("w", encoding="utf-8") as file:
            first = 0
            while file.tell() < SIZE:
                file.write(_lines(first, 20_000))
                first += 20_000
        partial.rename(path)
    return path


def _lines(first: int, count: int) -> str:
    numbers = np.random.default_rng(first).integers(0, 10**9, (count, 4)).tolist()
    return "".join(_line(first + place, *row) for place, row in enumerate(numbers))


def _line(place: int, a: int, b: int, c: int, d: int) -> str:
    day, hour, minute = 1 + place // 86_400 % 28, place // 3600 % 24, place // 60 % 60
    time = f"2026-11-{day:02}T{hour:02}:{minute:02}:{place % 60:02}.{a % 1000:03}Z"
    page = PAGES[a % len(PAGES)]
    if place % 3 == 0:
        address = f"10.{b % 256}.{c % 256}.{d % 256}"
        return f"{time} INFO  web[{b % 9999}] {address} GET {page} 200 {c % 90_000} {d % 900}ms {AGENT}\n"
    told = {
        1: f" for user asha.rao{a % 9999}@example.org",
        7: f" called back on +91 98{b % 10**8:08}",
        13: f" card 4{a % 10**3:03} {b % 10**4:04} {c % 10**4:04} {d % 10**4:04} declined",
        19: f" patient MRN: A-{c % 10**6:06} moved",
    }.get(place % 24, "")
    return f"{time} DEBUG pool[{b % 9999}] worker took the next task from the queue after a short wait{told}\n"
