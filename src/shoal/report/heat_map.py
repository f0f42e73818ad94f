"""A heat map of pairs of columns: how far what goes together in one table does so in the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from shoal.results.number_format import count
from shoal.results.synthesis import PairFidelityResult

MOST: Final = 24
"""Columns that one map shows."""
FULL: Final = 0.25
"""The difference that is drawn in full colour."""


@dataclass(frozen=True)
class HeatCell:
    strength: int | None
    """Of its colour, in per cent; None where nothing is known of the pair, and on the diagonal."""
    value: str
    words: str


@dataclass(frozen=True)
class HeatRow:
    number: int
    name: str
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True)
class HeatMap:
    rows: tuple[HeatRow, ...]
    left_out: str


def heat_map(pairs: Sequence[PairFidelityResult]) -> HeatMap | None:
    """None where no pair was compared. Where there are too many columns, those that differ most."""
    known = {frozenset((one.first, one.second)): one for one in pairs if one.difference is not None}
    if not known:
        return None
    names = list(dict.fromkeys(name for one in pairs for name in (one.first, one.second)))
    worst = {
        name: max((abs(one.difference or 0) for pair, one in known.items() if name in pair), default=0)
        for name in names
    }
    kept = set(sorted(names, key=lambda name: -worst[name])[:MOST])
    shown = [name for name in names if name in kept]
    rows = tuple(
        HeatRow(place, name, tuple(_cell(known.get(frozenset((name, other))), name, other) for other in shown))
        for place, name in enumerate(shown, start=1)
    )
    beyond = len(names) - len(shown)
    return HeatMap(rows, f"{count(beyond, 'column')} more, whose pairs differ less." if beyond else "")


def _cell(pair: PairFidelityResult | None, name: str, other: str) -> HeatCell:
    if pair is None or pair.difference is None or name == other:
        return HeatCell(None, "", "")
    apart = abs(pair.difference)
    before, after = (pair.original or 0.0), (pair.synthetic or 0.0)
    words = f"{name} and {other}: {before:.2f} in the original, {after:.2f} in the synthetic table"
    return HeatCell(round(100 * min(1.0, apart / FULL)), f"{apart:.2f}".removeprefix("0"), words)
