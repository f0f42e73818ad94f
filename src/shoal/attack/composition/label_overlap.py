"""Which labels of two releases can stand for the same value of a person, and where both together say more than one.

Labels are compared through values that tell them apart: the original's where it is at hand, otherwise points that the
labels themselves mark (ends of ranges and what lies between them, members of sets, words, what a hierarchy lists). Two
labels overlap where some such value fits both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl
from scipy import sparse

from shoal.attack.matching.coverage import Coverage
from shoal.hierarchy.base import TOP
from shoal.hierarchy.labels import ValueLine, members, read_dates, read_numbers, shape_of, text_of
from shoal.kernels.arrays import Floats, Mask, as_floats, places_among

_COVERED: Final = "\1"
"""A character that no released code shows."""


@dataclass(frozen=True)
class LabelOverlap:
    """Of one attribute in two releases."""

    coverage: Coverage = field(repr=False)
    """The first release's labels as values, the second's as labels."""
    narrower: sparse.csr_array = field(repr=False)
    """Where both together leave less than the first alone does."""
    unread: int = 0
    """Labels that can't be compared, and rule nothing out."""

    @classmethod
    def of(
        cls,
        first: pl.Series,
        second: pl.Series,
        *,
        ladders: tuple[pl.DataFrame | None, pl.DataFrame | None] = (None, None),
        exact: tuple[bool, bool] = (False, False),
        values: pl.Series | None = None,
    ) -> LabelOverlap:
        """``exact``: words of that side are values as they were; else one that only one side knows may mean anything.

        >>> seen = LabelOverlap.of(pl.Series(["30-39", "40-49"]), pl.Series(["35-44", "*"]))
        >>> seen.coverage.matrix().tolist(), seen.narrower.toarray().tolist()
        ([[True, True], [True, True]], [[True, False], [True, False]])
        """
        first, second = (text_of(each).unique(maintain_order=True) for each in (first, second))
        points = _points(first, second, ladders) if values is None else values.unique(maintain_order=True)
        shut = points.dtype == pl.String and values is None
        sides, unread = [], 0
        # Ranges that touch are read otherwise than ranges that don't, so both sides are read together.
        every = pl.concat([first, second.alias(first.name)]).unique(maintain_order=True)
        told = _told(points, every, ladders, shut=shut)
        for mine, other, ladder, plain, all_covers in zip(
            (first, second), (second, first), ladders, exact, told, strict=True
        ):
            covers = all_covers[:, places_among(mine, every).to_numpy()].tocsr()
            if shut and not plain and ladder is None:
                vague = _vague(mine, other)
                unread += int(vague.sum())
                covers = _widened(covers, vague)
            sides.append(covers)
        common = (sides[0].T @ sides[1]).tocsr()
        whole = np.asarray(sides[0].sum(axis=0)).reshape(-1)
        pairs = common.tocoo()
        less = pairs.data < whole[pairs.row]
        shape = (len(first), len(second))
        narrower = sparse.csr_array((less[less], (pairs.row[less], pairs.col[less])), shape=shape, dtype=bool)
        order = np.lexsort((pairs.col, pairs.row))
        nothing = np.zeros(len(second), dtype=bool)
        of_value, of_label = pairs.row[order].astype(np.int64), pairs.col[order].astype(np.int64)
        return cls(Coverage(first, second, nothing, of_value, of_label, unread), narrower, unread)


def _told(
    points: pl.Series, labels: pl.Series, ladders: tuple[pl.DataFrame | None, pl.DataFrame | None], *, shut: bool
) -> tuple[sparse.csr_array, sparse.csr_array]:
    """For either side's hierarchy, what covers what; read once where it is the same."""
    first = _covers(points, labels, ladders[0], shut=shut)
    same = ladders[0] is ladders[1] or not shut
    return first, first if same else _covers(points, labels, ladders[1], shut=shut)


def _covers(points: pl.Series, labels: pl.Series, ladder: pl.DataFrame | None, *, shut: bool) -> sparse.csr_array:
    """Points × labels. With a ladder, even one that says nothing, numbers are not taken for rounded ones."""
    identity = pl.DataFrame({"value": text_of(points), "label": text_of(points)})
    seen = Coverage.of(points, labels, identity if ladder is None or not shut else _texts(ladder))
    rows, columns = seen.of_value, seen.of_label
    shape = (len(points), len(labels))
    told = sparse.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=shape)
    return _widened(told, seen.everything)


def _texts(ladder: pl.DataFrame) -> pl.DataFrame:
    return ladder.select(text_of(ladder[name]).alias(name) for name in ladder.columns)


def _widened(covers: sparse.csr_array, everything: Mask) -> sparse.csr_array:
    """With some labels that cover all points."""
    if not everything.any():
        return covers
    wide = np.flatnonzero(everything)
    height = covers.shape[0]
    rows, columns = np.tile(np.arange(height), len(wide)), np.repeat(wide, height)
    more = sparse.csr_array((np.ones(len(rows), dtype=np.int64), (rows, columns)), shape=covers.shape)
    both = (covers + more).tocsr()
    both.data[:] = 1
    return both


def _vague(mine: pl.Series, other: pl.Series) -> Mask:
    """Words that the other release doesn't have: without a hierarchy nobody can say what they stand for."""
    texts = mine.fill_null(TOP)
    plain = np.array([members(text) is None and shape_of(text) is None for text in texts.to_list()], dtype=bool)
    return np.asarray(plain & ~texts.is_in(other.drop_nulls().implode()).to_numpy() & (texts != TOP).to_numpy())


def _points(first: pl.Series, second: pl.Series, ladders: tuple[pl.DataFrame | None, ...]) -> pl.Series:
    """Values enough to tell any two of the labels apart that differ."""
    labels = pl.concat([first, second.alias(first.name)]).drop_nulls().unique(maintain_order=True)
    labels = labels.filter(labels != TOP)
    known = [_texts(ladder) for ladder in ladders if ladder is not None]
    if known:
        return _listed(labels, known)
    for kind in ("number", "date"):
        ends = _ends(labels, kind)
        if ends is not None:
            return _between(ends, kind)
    inner = [part for text in labels.to_list() for part in members(text) or ()]
    shown = [_unmasked(text) for text in labels.to_list() if members(text) is None]
    words = pl.Series(first.name, [*shown, *inner], dtype=pl.String)
    return words.unique(maintain_order=True) if len(words) else pl.Series(first.name, ["?"])


def _unmasked(text: str) -> str:
    """A value that a mask covers, and no mask that shows more does; of what is no mask, itself."""
    shape = shape_of(text)
    if shape is None:
        return text
    length, kept = shape
    shown = {place for start, stop in kept for place in range(start, stop)}
    return "".join(text[place] if place in shown else _COVERED for place in range(length))


def _listed(labels: pl.Series, ladders: list[pl.DataFrame]) -> pl.Series:
    """The values of hierarchies, and single words that none of them has anywhere."""
    values = (
        pl.concat([ladder.to_series(0).alias("points") for ladder in ladders]).drop_nulls().unique(maintain_order=True)
    )
    line = ValueLine.of(values)
    words = pl.concat([ladder[name].alias("points") for ladder in ladders for name in ladder.columns]).drop_nulls()
    strange = labels.filter(~labels.is_in(words.unique().implode())).alias("points")
    readable = [members(text) is not None or shape_of(text) is not None for text in strange.to_list()]
    single = ~pl.Series(readable, dtype=pl.Boolean)
    if line is not None and len(strange):
        single &= pl.Series(np.isnan(line.stretches(strange)[0]))
    return pl.concat([values, strange.filter(single)])


def _ends(labels: pl.Series, kind: str) -> Floats | None:
    """Where stretches begin and end; None where fewer than half of the labels are of this kind."""
    read = read_numbers if kind == "number" else read_dates
    line = ValueLine("number" if kind == "number" else "date", np.zeros(0))
    start, stop = line.stretches(labels)
    single = as_floats(read(labels))
    known = ~np.isnan(start) | ~np.isnan(single)
    if not len(labels) or 2 * int(known.sum()) <= len(labels):
        return None
    every = np.concatenate([start, stop, single])
    return np.unique(every[np.isfinite(every)])


def _between(ends: Floats, kind: str) -> pl.Series:
    """The ends, something between each two, something before and after all."""
    if not len(ends):
        ends = np.zeros(1)
    middles = (ends[1:] + ends[:-1]) / 2
    points = np.unique(np.concatenate([ends, middles, [ends[0] - 1, ends[-1] + 1]]))
    if kind == "number":
        return pl.Series("points", points)
    days = np.unique(np.floor(points)).astype(np.int32)
    return pl.Series("points", days, dtype=pl.Int32).cast(pl.Date)
