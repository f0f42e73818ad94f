"""Columns as codes, and back: the one place where it is decided what of a column a model may know.

A code stands for a value that at least k records have, or for a range or a group of values that have as many together.
Within ranges and groups values are drawn anew. So

- a name that fewer than k records have is in no model, and never reappears;
- no number is drawn beyond the k-th from either end: extremes are cut there, at the mean of the next k unless enough
  records share that very value;
- a number in between may be drawn again by chance, as any number of its range may.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np
import polars as pl
from pydantic import Field

from shoal.kernels.arrays import Floats, Integers, Mask
from shoal.schema.parameters import Parameters
from shoal.synth.column_shapes import ColumnShape
from shoal.synth.shape_detection import OTHER

_MOST_CODES: Final = 128
_GOLDEN: Final = (5**0.5 - 1) / 2


class NumberCodes(Parameters):
    """Numbers of steps by ranges, in the order: missing, special codes, numbers from the lowest."""

    form: Literal["numbers"] = "numbers"
    ordered: Literal[True] = True
    missing: bool
    special: tuple[int, ...]
    lows: tuple[int, ...]
    highs: tuple[int, ...]
    """Of the ranges, both ends within; one number only where both are the same."""
    step: int = 1
    """All numbers are multiples of it, from the low end of their range."""

    @property
    def size(self) -> int:
        return self._before + len(self.lows)

    @property
    def _before(self) -> int:
        return self.missing + len(self.special)

    @cached_property
    def _ends(self) -> tuple[Integers, Integers]:
        apart = [0] * self.missing + list(self.special)
        lows = np.array([*apart, *self.lows], dtype=np.int64)
        return lows, np.array([*apart, *self.highs], dtype=np.int64)

    def encode(self, values: pl.Series) -> Integers:
        """Codes; -1 for a special code that is too rare, or a missing value where these are."""
        missing = values.is_null().to_numpy()
        numbers = values.fill_null(0).to_numpy()
        within = np.searchsorted(np.array(self.highs, dtype=np.int64), numbers, side="left")
        codes = np.minimum(within, max(len(self.lows) - 1, 0)).astype(np.int64) + self._before
        for place, code in enumerate(self.special):
            codes[numbers == code] = place + self.missing
        codes[missing] = 0 if self.missing else -1
        return codes if self.lows else np.where(missing | (codes < self._before), codes, -1)

    def decode(self, codes: Integers, chance: Floats) -> pl.Series:
        lows, highs = (end[codes] for end in self._ends)
        steps = (highs - lows) // self.step + 1
        drawn = lows + np.minimum((chance * steps).astype(np.int64), steps - 1) * self.step
        return _with_missing(pl.Series(drawn), codes, missing=self.missing)


class CategoryCodes(Parameters):
    """Names one by one; where there are very many, rarer ones in groups of neighbours, drawn by their shares."""

    form: Literal["categories"] = "categories"
    missing: bool
    names: tuple[str, ...]
    codes: tuple[int, ...]
    """Of each name, rising from 0 (a missing value is counted before them)."""
    records: tuple[int, ...]
    ordered: bool = False
    rare_as: str | None = None

    @property
    def size(self) -> int:
        return self.missing + (self.codes[-1] + 1 if self.codes else 0)

    def encode(self, values: pl.Series) -> Integers:
        """Codes; -1 for names that are not kept and have no label, and missing values where these are too few."""
        known = pl.DataFrame({"name": self.names, "code": self.codes}, schema={"name": pl.String, "code": pl.Int64})
        found = values.alias("name").to_frame().join(known, on="name", how="left", maintain_order="left")["code"]
        other = self.codes[self.names.index(self.rare_as)] if self.rare_as in self.names else -1 - self.missing
        codes = found.fill_null(other).to_numpy() + self.missing
        return np.where(values.is_null().to_numpy(), 0 if self.missing else -1, codes)

    def decode(self, codes: Integers, chance: Floats) -> pl.Series:
        if not self.names:
            return pl.Series([None] * len(codes), dtype=pl.String)
        until = np.cumsum(self.records)
        firsts = np.searchsorted(np.array(self.codes), np.arange(self.codes[-1] + 2), side="left")
        edges = np.concatenate([[0], until])[firsts]
        group = np.maximum(codes - self.missing, 0)
        points = edges[group] + chance * (edges[group + 1] - edges[group])
        places = np.clip(np.searchsorted(until, points, side="right"), firsts[group], firsts[group + 1] - 1)
        return _with_missing(pl.Series(self.names, dtype=pl.String)[places], codes, missing=self.missing)


ColumnCodes = Annotated[NumberCodes | CategoryCodes, Field(discriminator="form")]


def _with_missing(values: pl.Series, codes: Integers, *, missing: bool) -> pl.Series:
    return values.set(pl.Series(codes == 0), None) if missing else values


def codes_of(values: pl.Series, shape: ColumnShape, rare: int) -> NumberCodes | CategoryCodes:
    """The codes of a column that was read by its shape."""
    missing = values.null_count() >= (rare if values.null_count() < len(values) else 1)
    present = values.drop_nulls()
    return (
        _numbers(present, shape, rare, missing=missing)
        if shape.is_stepped
        else _names(present, shape, rare, missing=missing)
    )


def once_a_person(values: pl.Series, person: pl.Series) -> pl.Series:
    """Each value once for each person who has it, so that counts are of people."""
    return pl.DataFrame({"value": values, "person": person}).unique(maintain_order=True)["value"].alias(values.name)


def encoded(codes: NumberCodes | CategoryCodes, values: pl.Series) -> Integers:
    """Codes of all records; those without one get codes of others, in the proportions of these."""
    found = codes.encode(values)
    lacking = np.flatnonzero(found < 0)
    if len(lacking) and len(lacking) < len(found):
        shares = np.cumsum(np.bincount(found[found >= 0], minlength=codes.size))
        points = np.modf(_GOLDEN * np.arange(1, len(lacking) + 1))[0] * shares[-1]
        found[lacking] = np.searchsorted(shares, points, side="right")
    return np.maximum(found, 0)


def cut(values: Integers, records: Integers, rare: int) -> tuple[int, int]:
    """Bounds within which numbers may be drawn: rising values, and how many records have each."""
    (low, outer_low), (high, outer_high) = _upper(-values[::-1], records[::-1], rare), _upper(values, records, rare)
    if -low <= high:
        return -low, high
    middle = (outer_high - outer_low) // 2  # so few records that the ends meet
    return middle, middle


def _upper(values: Integers, records: Integers, rare: int) -> tuple[int, int]:
    """The largest number that may be drawn, and the k-th from the end.

    >>> _upper(np.array([1, 2, 3, 900]), np.array([30, 20, 10, 1]), 10)
    (3, 3)
    """
    above = np.cumsum(records[::-1])
    at = min(int(np.searchsorted(above, rare)), len(values) - 1)
    falling, counted = values[::-1], records[::-1]
    if counted[at] >= rare:
        return int(falling[at]), int(falling[at])
    last = min(int(np.searchsorted(above, 2 * rare)), len(values) - 1)
    mean = np.average(falling[at : last + 1].astype(np.float64), weights=counted[at : last + 1])
    return int(min(np.floor(mean), falling[at])), int(falling[at])


def _numbers(present: pl.Series, shape: ColumnShape, rare: int, *, missing: bool) -> NumberCodes:
    counts = present.alias("value").value_counts(name="records").sort("value")
    values, records = counts["value"].to_numpy(), counts["records"].to_numpy().astype(np.int64)
    asked = [*shape.word_steps, *(shape.steps_of(code) for code in shape.special)]
    apart = np.isin(values, asked)
    special = tuple(int(code) for code in values[apart & (records >= rare)])
    values, records = values[~apart], records[~apart]
    if not len(values):
        return NumberCodes(missing=missing or not special, special=special, lows=(), highs=())
    low, high = cut(values, records, rare)
    if shape.lowest is not None:
        low, high = (max(end, shape.steps_of(shape.lowest)) for end in (low, high))
    if shape.highest is not None:
        low, high = (min(end, shape.steps_of(shape.highest)) for end in (low, high))
    step = max(1, int(np.gcd.reduce(values[(values >= low) & (values <= high)] - values[0]))) if len(values) > 1 else 1
    least = int(values[0])
    first, last = (least + (end - least) // step * step for end in (low + step - 1, high))
    low, high = (first, last) if first <= last else (low, low)
    ranges = _ranges(*_clipped(values, records, low, high), rare, step)
    lows, highs = (tuple(int(end) for end in ends) for ends in ranges)
    return NumberCodes(missing=missing, special=special, lows=lows, highs=highs, step=step)


def _clipped(values: Integers, records: Integers, low: int, high: int) -> tuple[Integers, Integers]:
    distinct, places = np.unique(np.clip(values, low, high), return_inverse=True)
    return distinct, np.bincount(places, weights=records).astype(np.int64)


class _Run(NamedTuple):
    """Neighbouring values, by their places, both ends within."""

    first: int
    last: int
    records: int
    alone: bool
    """One frequent value."""


def _ranges(values: Integers, records: Integers, rare: int, step: int) -> tuple[Integers, Integers]:
    """Frequent values by themselves, ranges of enough records between them.

    A rest that is too small gets no range: its records count for the next code.
    """
    frequent = _frequent(records, rare)
    enough = max(rare, int(records[~frequent].sum()) * 2 // _MOST_CODES)
    runs = [run for run in _runs(records, frequent, enough) if run.alone or run.records >= rare]
    if not runs:
        return values[:1], values[-1:]
    lows = np.array([values[run.first] for run in runs])
    highs = np.array([values[run.last] for run in runs])
    for at, (run, after) in enumerate(pairwise(runs)):
        between = int(lows[at + 1] - highs[at]) // step - 1
        highs[at] += (0 if run.alone else between if after.alone else between // 2) * step
        lows[at + 1] = lows[at + 1] if after.alone else highs[at] + step
    return lows, highs


def _frequent(records: Integers, least: int) -> Mask:
    """Values of at least so many records; of very many only the most frequent."""
    found: Mask = records >= least
    if found.sum() > _MOST_CODES:
        found = records > max(least, int(np.sort(records)[-_MOST_CODES // 2]))
    return found


def _runs(records: Integers, frequent: Mask, enough: int) -> list[_Run]:
    """A run is closed when it has enough; what is left over before a frequent value joins the run before it."""
    runs: list[_Run] = []
    for at, count in enumerate(records.tolist()):
        before = runs[-1] if runs else None
        if before is None or before.alone or frequent[at] or before.records >= enough:
            if len(runs) > 1 and frequent[at]:
                runs[-2:] = _joined(runs[-2], runs[-1], enough)
            runs.append(_Run(at, at, count, bool(frequent[at])))
        else:
            runs[-1] = before._replace(last=at, records=before.records + count)
    if len(runs) > 1:
        runs[-2:] = _joined(runs[-2], runs[-1], enough)
    return runs


def _joined(first: _Run, second: _Run, enough: int) -> list[_Run]:
    if first.alone or second.alone or second.records >= enough:
        return [first, second]
    return [_Run(first.first, second.last, first.records + second.records, alone=False)]


def _names(present: pl.Series, shape: ColumnShape, rare: int, *, missing: bool) -> CategoryCodes:
    counts = present.alias("name").value_counts(name="records").sort("name")
    kept = counts.filter(pl.col("records") >= rare)
    label = shape.rare_as or (OTHER if kept.is_empty() and counts.height else None)
    lost = len(present) - int(kept["records"].sum())
    if label is not None and lost >= rare:
        other = pl.DataFrame({"name": [label], "records": [lost]}, schema=kept.schema)
        kept = pl.concat([kept, other]).group_by("name").agg(pl.col("records").sum()).sort("name")
    if shape.order:
        rank = {name: place for place, name in enumerate(shape.order)}
        kept = kept.sort(pl.col("name").replace_strict(rank, default=len(rank), return_dtype=pl.Int64), "name")
    records = kept["records"].to_numpy().astype(np.int64)
    frequent = _frequent(records, rare)
    runs = _runs(records, frequent, max(1, int(records[~frequent].sum()) * 2 // _MOST_CODES))
    grouped = np.repeat(np.arange(len(runs)), [run.last - run.first + 1 for run in runs])
    return CategoryCodes(
        missing=missing or kept.is_empty(),
        names=tuple(kept["name"]),
        codes=tuple(int(code) for code in grouped),
        records=tuple(int(count) for count in records),
        ordered=bool(shape.order),
        rare_as=label,
    )
