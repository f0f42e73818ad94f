"""Tables on which reading back is timed: many columns, values that hardly two records share, columns that tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.data import EDUCATION, POLICY, csv_of, written

CODED = 15
MEASURED, DATED = 6, 3


@dataclass(frozen=True)
class Case:
    """A table with its policy."""

    name: str
    file: Callable[[Path, int], Path]
    policy: str


def _wide(first: int, rows: int) -> pl.DataFrame:
    """30 columns: six quasi-identifiers, codes of 2 to 500 values, measured numbers, dates."""
    random = np.random.default_rng(first)

    def coded(prefix: str, number: int) -> pl.Series:
        return prefix + pl.Series(random.integers(0, number, rows)).cast(pl.String)

    sizes = np.geomspace(2, 500, CODED).astype(int)
    quasi = {
        "age": random.integers(0, 100, rows),
        "sex": pl.Series(np.array(["F", "M"])[random.integers(0, 2, rows)]),
        "postal": pl.Series(random.integers(110_000, 112_000, rows)).cast(pl.String),
        "education": pl.Series(np.array(EDUCATION)[random.integers(0, len(EDUCATION), rows)]),
        "born": random.integers(1930, 2010, rows),
        "children": random.integers(0, 8, rows),
    }
    codes = {f"code_{place}": coded("c", int(size)) for place, size in enumerate(sizes)}
    numbers = {f"measured_{place}": np.round(random.normal(100, 20, rows), 1) for place in range(MEASURED)}
    days = {f"day_{place}": _days(random, rows) for place in range(DATED)}
    return pl.DataFrame({**quasi, **codes, **numbers, **days})


def _days(random: np.random.Generator, rows: int) -> pl.Series:
    return pl.Series(random.integers(15_000, 20_000, rows).astype(np.int32)).cast(pl.Date)


def _scattered(first: int, rows: int) -> pl.DataFrame:
    """Identifiers, amounts, times and remarks: hardly a value is there twice."""
    random = np.random.default_rng(first)
    numbers = [pl.Series(random.integers(0, 1 << 40, rows)).cast(pl.String) for _ in range(3)]
    seconds = pl.Series(random.integers(1_500_000_000, 1_700_000_000, rows) * 1_000_000)
    return pl.DataFrame(
        {
            "age": random.integers(0, 100, rows),
            "postal": pl.Series(random.integers(100_000, 150_000, rows)).cast(pl.String),
            "record": "R-" + numbers[0],
            "device": numbers[1].str.zfill(13),
            "account": pl.Series(random.integers(10**9, 10**10, rows)).cast(pl.String),
            "amount": np.round(random.lognormal(10, 1, rows), 2),
            "balance": np.round(random.normal(0, 50_000, rows), 2),
            "seen": seconds.cast(pl.Datetime("us")).dt.strftime("%Y-%m-%d %H:%M:%S"),
            "remarks": "file " + numbers[2] + " of case " + pl.Series(random.integers(0, 10**6, rows)).cast(pl.String),
        }
    )


def _telling(first: int, rows: int) -> pl.DataFrame:
    """A ward that tells the postal code, and a group that tells the age with the ward."""
    random = np.random.default_rng(first)
    age, postal = random.integers(0, 100, rows), random.integers(110_000, 112_000, rows)
    return pl.DataFrame(
        {
            "age": age,
            "postal": pl.Series(postal).cast(pl.String),
            "ward": "W" + pl.Series(postal // 10 * 7 % 10_007).cast(pl.String),
            "group": "g" + pl.Series((age // 10 + postal // 10) % 10).cast(pl.String),
            "education": pl.Series(np.array(EDUCATION)[random.integers(0, len(EDUCATION), rows)]),
            "amount": np.round(random.lognormal(10, 1, rows), 2),
        }
    )


def _written(name: str, chunk: Callable[[int, int], pl.DataFrame]) -> Callable[[Path, int], Path]:
    return lambda folder, rows: written(folder / f"{name}-{rows}.csv", rows, chunk)


_BANDS = "{role: quasi, hierarchy: {intervals: {widths: [5, 10, 20]}}}"
_QUASI = {
    "age": _BANDS,
    "sex": "{role: quasi}",
    "postal": '{role: quasi, hierarchy: {redact: {side: right, char: "x"}}}',
    "education": "{role: quasi}",
    "born": _BANDS,
    "children": "{role: quasi, hierarchy: {intervals: {widths: [2, 4]}}}",
}
_ACCEPTED = """\
read_back:
  accept:
    - {columns: [ward, group], tells: postal, because: to time it}
    - {columns: [ward, group], tells: age, because: to time it}
"""


def _policy(columns: Sequence[str], levels: Mapping[str, int], more: str = "") -> str:
    """Every column with a level is a quasi-identifier."""
    named = [f"  {name}: {_QUASI[name] if name in levels else '{role: insensitive}'}" for name in columns]
    fixed = ", ".join(f"{name}: {level}" for name, level in levels.items())
    return "\n".join(["shoal: 1", "name: timed", "attributes:", *named, "solve:", f"  levels: {{{fixed}}}", more])


def _case(name: str, made: Callable[[int, int], pl.DataFrame], levels: Mapping[str, int], more: str = "") -> Case:
    return Case(name, _written(made.__name__.strip("_"), made), _policy(made(0, 1).columns, levels, more))


WIDE = _case("30 columns", _wide, {"age": 3, "sex": 1, "postal": 5, "education": 1, "born": 3, "children": 2})
SCATTERED = _case("values that hardly two records share", _scattered, {"age": 2, "postal": 3})
TELLING = _case("two columns tell, accepted", _telling, {"age": 3, "postal": 4}, _ACCEPTED)
PEOPLE = Case("11 columns", csv_of, POLICY)
CASES = (PEOPLE, WIDE, SCATTERED, TELLING)
