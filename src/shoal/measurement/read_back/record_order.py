"""Whether records stand in the order of a value."""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.kernels.arrays import Integers
from shoal.measurement.read_back.disclosure_rule import DisclosureRule
from shoal.schema.type_detection import detect

_FEW = 200
"""Texts by which it is seen whether they are dates."""
_FIRST = 4_000
"""Records by which it is mostly seen that a table is not sorted."""
_YEAR_FIRST, _DATE = r"^\d{4}-", r"^\s*\d{1,4}[-/. ]"
ALONG = 0.8
"""The correlation of ranks with places from which records are sorted as a whole; equal values keep it below 1."""


def ranked(values: pl.Series) -> Integers:
    """Places in the order of numbers or dates where all values are such, else of texts; a missing value comes last."""
    if values.dtype.is_nested() or isinstance(values.dtype, pl.Binary | pl.Object):
        return np.zeros(len(values), dtype=np.int64)
    if values.dtype == pl.String():
        values = _read(values)
    ranks = values.rank("dense").cast(pl.Int64)
    return ranks.fill_null((ranks.max() or 0) + 1).to_numpy()  # type: ignore[operator]  # whole numbers


def _read(texts: pl.Series) -> pl.Series:
    """As numbers or dates, if they are. Texts that begin with a year sort as the dates do that they are."""
    numbers = texts.cast(pl.Float64, strict=False)
    if numbers.null_count() == texts.null_count():
        return numbers
    if texts.head(_FEW).str.contains(_YEAR_FIRST).all():
        return texts
    name = texts.name or "value"
    column = detect(texts.head(_FEW).alias(name).to_frame().lazy(), [name])[name]
    if not column.is_date:
        return texts
    dates = texts.str.strptime(pl.Datetime("us"), column.date_format, strict=False)
    return dates if dates.null_count() == texts.null_count() else texts


def may_be_sorted(values: pl.Series, rule: DisclosureRule) -> bool:
    """Whether the first records leave it open that all are sorted. Chance gives as many steps down as half of all steps
    at most; where the first records have more steps of both kinds than sorted ones may have in all, they are not."""
    if values.dtype.is_nested() or isinstance(values.dtype, pl.Binary | pl.Object):
        return False
    if values.n_unique() < 2:
        return False
    allowed = (1 - rule.share) * len(values) / 2
    first = values.head(_FIRST)
    ways = [first]
    if first.dtype == pl.String():
        numbers = first.cast(pl.Float64, strict=False)
        if numbers.null_count() == first.null_count():
            ways.append(numbers)
        elif first.head(_FEW).str.contains(_DATE).all() and not first.head(_FEW).str.contains(_YEAR_FIRST).all():
            return True
    return any(_fewest(way) <= allowed for way in ways)


def _fewest(values: pl.Series) -> int:
    """Steps down or steps up, whichever are fewer; those to and from a missing value aside."""
    before, after = values.head(len(values) - 1), values.slice(1)
    return min(int((before < after).sum() or 0), int((before > after).sum() or 0))


def is_sorted(ranks: Integers, within: Integers | None, rule: DisclosureRule) -> bool:
    """Whether neighbours are out of order hardly ever, compared with what chance gives.

    With two independent neighbours, a step down is as likely as one up, and both happen unless they are equal: the
    chance of a step down is (1 − Σp²) ÷ 2. Sorted are records with at most 1 − ``share`` of the steps down, or of those
    up, that chance gives, where it gives enough of them to say so; and whose ranks go with their places. What rises
    and falls again and again, as a day of the week does, tells where a round begins, and not what was taken out.
    """
    if len(ranks) < 2:
        return False
    steps = np.diff(ranks)
    if within is not None:
        steps = steps[np.diff(within) == 0]
    shares = np.bincount(ranks) / len(ranks)
    expected = len(steps) * (1 - float((shares**2).sum())) / 2
    if expected < rule.records:
        return False
    fewest = min(int((steps < 0).sum()), int((steps > 0).sum()))
    if fewest > (1 - rule.share) * expected or not steps.any():
        return False
    return within is not None or abs(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1]) >= ALONG
