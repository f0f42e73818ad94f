"""Which row of the original each released record was made from, as far as the tables themselves tell.

An attack is judged by it. Rows that are taken for each other wrongly make every attack look as if it failed, so the
order has to be shown: it fits nearly everywhere, and it fits far better than any other order would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from shoal.attack.ground_truth.targets import TRIALS, draw_rows
from shoal.attack.matching.coverage import Match
from shoal.randomness import Randomness

IN_ORDER = 0.99
"""The share of records that have to fit the original's record in the same row to take the rows for the same."""
BY_CHANCE = 0.001
"""How probable it may be at most that records in another order would fit as well."""
SLACK = 0.05
"""Added to the share of people who look like somebody else, which is an estimate."""
ORDERS = 4
"""Random orders that the records' own is compared with."""
_ROW = "__shoal_row"


def look_in_order(
    release: pl.DataFrame,
    original: pl.DataFrame,
    read: Sequence[str],
    known: Mapping[str, pl.DataFrame],
    randomness: Randomness,
) -> bool:
    """Whether row i of both tables looks like the same record, in all columns that tell the truth.

    These are the columns ``read`` by what their labels cover, and whatever else was not altered. Fewer than half of
    them may be at odds, if they have the same values as before: these may have been dealt out anew among the records.
    """
    if release.height != original.height:
        return False
    common = [name for name in release.columns if name in original.columns]
    names = [name for name in common if (name in read and not other_numbers(release[name], original[name]))
             or _unaltered(release[name], original[name])]  # fmt: skip
    if not names:
        return False
    rows = draw_rows(release.height, randomness, "rows in order", TRIALS)
    match = Match.of(release[rows], original[rows], names, known)
    place, stream = np.arange(len(rows)), randomness.stream("attack", "rows in another order")
    kept = [
        column
        for column, name in enumerate(names)
        if not _unaltered(release[name], original[name]) or match.agreeing(place, place, [column]).mean() >= IN_ORDER
    ]
    if 2 * len(kept) <= len(names):
        return False
    fitting = match.agreeing(place, place, kept)
    others = (match.agreeing(place, stream.permutation(len(rows), each), kept).mean() for each in range(ORDERS))
    by_chance = chance_of_misfits(int((~fitting).sum()), len(rows), float(np.mean(list(others))))
    return float(fitting.mean()) >= IN_ORDER and by_chance < BY_CHANCE


def recovered(
    release: pl.DataFrame,
    original: pl.DataFrame,
    read: Sequence[str] = (),
    known: Mapping[str, pl.DataFrame] | None = None,
) -> pl.Series | None:
    """For each released record its row in the original, by what was not altered and is nobody else's.

    Records may be missing or invented. None where that leaves more than a few without a row; where other people of the
    same kind would look as much like the original's: as many of them as the original's own people would look like one
    of the others (Good 1953); or where the columns ``read`` say otherwise, since values that are all there may have
    been dealt out anew among the records.
    """
    names = [name for name in release.columns
             if name in original.columns and mostly_the_same(release[name], original[name])]  # fmt: skip
    if not names:
        return None
    mine, theirs = (_texts(frame, names) for frame in (original, release))
    alone = mine.with_row_index(_ROW).filter(mine.is_unique())
    found = theirs.join(alone, on=names, how="left", nulls_equal=True, maintain_order="left")[_ROW].cast(pl.Int64)
    found = found.set(theirs.is_duplicated(), None)
    if found.count() < IN_ORDER * min(release.height, original.height):
        return None
    like_others = min(1.0, 1 - alone.height / original.height + SLACK)
    if chance_of_misfits(release.height - found.count(), release.height, like_others) >= BY_CHANCE:
        return None
    return found if _agrees(release, original, found, read, known or {}) else None


def _agrees(
    release: pl.DataFrame,
    original: pl.DataFrame,
    rows: pl.Series,
    read: Sequence[str],
    known: Mapping[str, pl.DataFrame],
) -> bool:
    """Whether most columns say so: their labels cover what stands in these rows of the original, nearly everywhere."""
    names = [name for name in read if name in release.columns and not other_numbers(release[name], original[name])]
    there = rows.is_not_null()
    match = Match.of(release.filter(there), original[rows.drop_nulls().to_list()], names, known) if names else None
    place = np.arange(int(there.sum()))
    agree = [
        match is not None and match.agreeing(place, place, [each]).mean() >= IN_ORDER for each in range(len(names))
    ]
    return 2 * sum(agree) > len(names) or not names


def chance_of_misfits(misfits: int, rows: int, other: float) -> float:
    """Of at most so many misfits among the rows, if each fits as often as in another order."""
    from scipy.special import bdtr

    return float(bdtr(misfits, rows, 1 - other))


def _unaltered(released: pl.Series, original: pl.Series) -> bool:
    """Whether a column has the same values as before, in whatever order."""
    if len(released) != len(original):
        return False
    after, before = (each.cast(pl.String, strict=False).sort() for each in (released, original))
    return after.equals(before)


def mostly_the_same(released: pl.Series, original: pl.Series) -> bool:
    """Whether the values are those of before, each as often; where records were left out or invented, of the others."""
    if len(released) == len(original):
        return _unaltered(released, original)
    counts = [
        each.cast(pl.String, strict=False).alias("value").value_counts(name="records") for each in (released, original)
    ]
    both = counts[0].join(counts[1], on="value", nulls_equal=True)
    common = both.select(pl.min_horizontal("records", "records_right").sum()).item()
    return bool(common >= IN_ORDER * min(len(released), len(original)))


def other_numbers(released: pl.Series, original: pl.Series) -> bool:
    """Whether numbers were altered and are still numbers: then the record's own need not fit."""
    return released.dtype.is_numeric() and original.dtype.is_numeric() and not _unaltered(released, original)


def _texts(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    return frame.select(pl.col(name).cast(pl.String, strict=False) for name in names)
