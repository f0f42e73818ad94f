"""How the values of a source are spread: how many are shared by few, the most common, and who stands alone by what."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

import polars as pl

SEEN: Final = 100_000
"""Records, evenly from the whole table."""
STEPS: Final = ((1, 1, "1"), (2, 4, "2–4"), (5, 19, "5–19"), (20, None, "20+"))
COMMON: Final = 6
LONGEST: Final = 60
MOST_COLUMNS: Final = 200
MOST_VALUES: Final = 200
"""Of a column whose values can be put into a tree by hand."""
MOST_PAIRS: Final = 45


def spread_of(frame: pl.LazyFrame, quasi: Sequence[str]) -> dict[str, Any]:
    """
    >>> told = spread_of(pl.LazyFrame({"age": [20, 20, 31], "sex": ["F", "M", "F"]}), ["age", "sex"])
    >>> told["columns"]["age"]["held_by"], told["alone"]["by"], told["alone"]["together"]
    ([1, 2, 0, 0], {'age': 1, 'sex': 1}, 3)
    """
    height = frame.select(pl.len()).collect(engine="streaming").item()
    step = max(1, -(-height // SEEN))
    names = frame.collect_schema().names()[:MOST_COLUMNS]
    seen = frame.select(names).gather_every(step).collect(engine="streaming")
    told = {name: _column(seen[name]) for name in names if not seen[name].dtype.is_nested()}
    return {"seen": seen.height, "columns": told, "alone": _alone(seen, [name for name in quasi if name in told])}


def _column(values: pl.Series) -> dict[str, Any]:
    counted = values.cast(pl.String, strict=False).drop_nulls().value_counts(sort=True, name="n")
    sizes = counted["n"]
    held = [int(counted.filter((sizes >= low) & (sizes <= (high or SEEN)))["n"].sum()) for low, high, _ in STEPS]
    common = counted.head(COMMON) if counted.height and sizes[0] > 1 else counted.head(0)
    told = {"held_by": held, "common": [[str(value)[:LONGEST], int(n)] for value, n in common.iter_rows()]}
    few = counted.height <= MOST_VALUES and counted.height < int(sizes.sum())
    return told | ({"values": sorted(map(str, counted.to_series(0)))} if few else {})


def _alone(seen: pl.DataFrame, quasi: list[str]) -> dict[str, Any] | None:
    """Of the records that were seen, how many are like no other by these columns."""
    if not quasi or not seen.height:
        return None
    pairs = {
        f"{one}, {other}": _uniques(seen, [one, other]) for one, other in list(combinations(quasi, 2))[:MOST_PAIRS]
    }
    worst = sorted(pairs.items(), key=lambda found: -found[1])[:5]
    return {
        "quasi": quasi,
        "together": _uniques(seen, quasi),
        "by": {name: _uniques(seen, [name]) for name in quasi},
        "without": {name: _uniques(seen, [one for one in quasi if one != name]) for name in quasi}
        if len(quasi) > 1
        else {},
        "pairs": [[names, alone] for names, alone in worst if alone],
    }


def _uniques(seen: pl.DataFrame, names: list[str]) -> int:
    return seen.group_by(names).len("n").filter(pl.col("n") == 1).height
