"""At most so many rows of each person, drawn by chance: one pass finds out whether anybody has more.

That pass reads nothing but who a row is of, as 64-bit hashes. All rows of a person have one hash, so a hash that is
not there too often clears everybody who has it; two people with one hash cost time, never protection. Only rows of the
others are numbered, drawn from and read again.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.randomness import Randomness

HELD: Final = 2**26
"""Hashes that are kept as they come; from then on, of each only as many as it takes to see that they are too many."""
_STREAMED: Final = "streaming"
_ROW: Final = "\x00row"
_HASH: Final = "\x00hash"
_FIRST: Final = "\x00first"
_CHANCE: Final = "\x00chance"
_FLAGS: Final = 20
"""Of the 32 bits that are sorted: by these, rows are looked up."""
_REST: Final = 32 - _FLAGS
Hashes = NDArray[np.uint64]


def bounded_rows(
    frame: pl.LazyFrame, unit: list[str], most: int, *, asked: pl.Expr | None = None, first_by: str | None = None
) -> pl.LazyFrame:
    """At most so many rows of each unit, drawn anew for each question. Rows that name nobody are left out.

    Which rows of a unit are kept depends on nobody else. They are drawn from those that are ``asked`` about; with
    ``first_by`` they are the first by a column, drawn only where rows are alike in it.
    """
    hashed = (pl.col(unit[0]) if len(unit) == 1 else pl.struct(unit)).hash().alias(_HASH)
    frame = frame if len(unit) == 1 else frame.drop_nulls(unit)
    found, unnamed = _looked_through(frame.select(hashed), most, _nobody(frame, unit))
    if unnamed:
        frame = frame.drop_nulls(unit)
        found, _ = _looked_through(frame.select(hashed), most, None)
    if not len(found):
        return frame
    above = pl.LazyFrame({_HASH: found})
    chosen = frame if asked is None else frame.filter(asked)
    numbered = chosen.with_row_index(_ROW).with_columns(hashed)
    by = [] if first_by is None else [pl.col(first_by).alias(_FIRST)]
    theirs = numbered.join(above, on=_HASH, how="semi").select(_ROW, *unit, *by).collect(engine=_STREAMED)
    chance = Randomness().stream("rows of a person").uniform(theirs[_ROW].to_numpy().astype(np.uint64))
    ranked = theirs.with_columns(pl.Series(_CHANCE, chance)).sort(*([_FIRST] if by else []), _CHANCE)
    kept = ranked.filter(pl.int_range(pl.len()).over(unit) < most).select(_ROW, *unit)
    others = numbered.join(above, on=_HASH, how="anti").drop(_ROW, _HASH)
    # by the person too: should rows come in another order the second time, some are lost, but nobody has more
    drawn = numbered.join(kept.lazy(), on=[_ROW, *unit], how="semi").drop(_ROW, _HASH)
    return pl.concat([others, drawn])


def _nobody(frame: pl.LazyFrame, unit: list[str]) -> int | None:
    """The hash of a row that names nobody, where there can still be one."""
    return None if len(unit) > 1 else int(pl.Series([None], dtype=frame.collect_schema()[unit[0]]).hash()[0])


def _looked_through(frame: pl.LazyFrame, most: int, wanted: int | None) -> tuple[Hashes, bool]:
    """Hashes of more rows than that, and whether one hash may be among them all."""
    held: list[Hashes] = []
    number, limit = 0, HELD
    for batch in frame.collect_batches(maintain_order=False, engine=_STREAMED):
        held.append(batch[_HASH].to_numpy())
        number += batch.height
        if number > limit:
            held = [thinned(np.concatenate(held), most)]
            number = len(held[0])
            limit = max(HELD, 2 * number)
    return hashes_above(held, most, wanted)


def thinned(hashes: Hashes, most: int) -> Hashes:
    """Each at most once more than that.

    >>> thinned(np.array([7, 5, 7, 7, 7], dtype=np.uint64), 2).tolist()
    [5, 7, 7, 7]
    """
    ordered = np.sort(hashes)
    kept = np.ones(len(ordered), dtype=np.bool_)
    kept[most + 1 :] = ordered[most + 1 :] != ordered[: -most - 1]
    return ordered[kept]


def hashes_above(held: list[Hashes], most: int, wanted: int | None = None) -> tuple[Hashes, bool]:
    """Those that are there more often, and whether one of them may be there, where that is asked for.

    Half of their bits are sorted first, which is quick and leaves few to look at.

    >>> hashes_above([np.array([7, 5, 7, 7, 2**32 + 5, 2**33 + 5], dtype=np.uint64)], 2)
    (array([7], dtype=uint64), False)
    """
    low = np.concatenate([np.empty(0, dtype=np.uint32), *(part.astype(np.uint32) for part in held)])
    low.sort()
    there = wanted is not None and _holds(low, np.uint32(wanted & 0xFFFFFFFF))
    often = low[most:][low[most:] == low[:-most]] if len(low) > most else low[:0]
    if not len(often):
        return np.empty(0, dtype=np.uint64), there
    flags = np.zeros(2**_FLAGS, dtype=np.bool_)
    flags[often >> _REST] = True
    flagged = [part[flags[part.astype(np.uint32) >> _REST]] for part in held]
    found, times = np.unique(np.concatenate(flagged), return_counts=True)
    return found[times > most], there


def _holds(ordered: NDArray[np.uint32], wanted: np.uint32) -> bool:
    place = int(np.searchsorted(ordered, wanted))
    return place < len(ordered) and bool(ordered[place] == wanted)
