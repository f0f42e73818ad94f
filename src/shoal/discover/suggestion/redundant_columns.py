"""Quasi-identifiers that say what another one says already: each costs detail in all others and adds little."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.discover.column_profile import ColumnProfile
from shoal.discover.inferences import PLACES, ColumnInference

MOST_QUASI = 12
"""With more, hardly two people look alike in all of them, whatever is generalised (Aggarwal 2005)."""
POSITIONS = frozenset({"latitude", "longitude"})


def redundant(quasi: Sequence[ColumnProfile], told: Sequence[ColumnInference]) -> dict[str, str]:
    """Which to take out and why."""
    out: dict[str, str] = {}
    by_name = {one.name: one for one in quasi}
    if any(one.type in PLACES for one in quasi):
        out |= {one.name: "the place is told by another attribute" for one in quasi if one.type in POSITIONS}
    for one in told:
        ends = [name for name in (*one.columns, one.gives) if name in by_name and name not in out]
        if one.kind not in ("dependency", "same", "derived") or len(one.columns) != 1 or len(ends) < 2:
            continue
        kept, left = sorted((by_name[name] for name in ends), key=_worth, reverse=True)
        out[left.name] = (
            f"'{kept.name}' says the same, or more" if one.kind == "same" else f"'{kept.name}' goes with it"
        )
    return out


def _worth(one: ColumnProfile) -> tuple[bool, bool, int]:
    """What can be generalised step by step, then what is recognised, then what is coarser."""
    return one.proposal.hierarchy is not None, one.type is not None, -one.spread.distinct
