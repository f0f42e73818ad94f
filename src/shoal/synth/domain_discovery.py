"""Which values a column has and how often, found within a budget: nothing of the data decides without noise.

What is public costs nothing: the type in which a column is stored, and whatever the user declared (bounds, categories).
The rest is looked for twice. A first look, with a small part of the budget, tells how large each column's domain is;
the second, with the rest, counts every code, and columns of many codes get more of it.

- Names: those that enough people have for one person not to matter appear, with noisy counts (a threshold that one
  person alone passes with a probability of δ). Where these are of a list that is public (``public_vocabularies``), all
  names of that list are counted. All others are ``other``; a column in which hardly a name appears is numbered anew.
- Numbers and dates: ranges of doubling width around nought are counted, those with people in them are divided, up to
  single numbers or as many ranges as stand out of the noise. Where not even ranges of doubling width do, numbers are
  cut at medians instead (``private_medians``). What lies beyond is drawn at the last range.
- Numbers with decimals that many people share, such as weights of a survey: told as names are, and counted apart.

A record is in one cell of each count, so ρ of each is (records of a person / scale)² / 2, and these add up.
"""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, log2, log10, sqrt
from typing import Final

import numpy as np
import polars as pl

from shoal.discover.public_vocabularies import names_beside
from shoal.dp.opendp_measurements import ConcentratedKeyRelease, GaussianNoise
from shoal.kernels.arrays import Floats, Integers
from shoal.synth.column_codes import CategoryCodes, NumberCodes
from shoal.synth.column_shapes import ColumnShape, ShapeKind
from shoal.synth.private_medians import MedianBudget, Ranges, halved
from shoal.synth.shape_detection import OTHER, natural_order
from shoal.synth.simplex import on_simplex

_MOST_RANGES, _FEWEST_RANGES = 128, 8
"""Of a number, as far as so many would stand out of the noise."""
_MOST_NAMES: Final = 128
_OCTAVES: Final = 61
_FINEST: Final = 6
"""Decimals at which numbers are looked at before it is known how many they need."""
_DIGITS: Final = 4
"""That numbers are drawn with, where nobody said how many decimals they have."""
_VISIBLE: Final = 4.0
"""Standard deviations of noise from which on a range counts as inhabited."""
_PERHAPS: Final = 3.5
"""The same where what stands out so clearly is not nearly all."""
_NEARLY_ALL: Final = 0.9
_MOSTLY: Final = 0.8
"""Of all records, those that the first look has to show, or a column is cut at medians."""
_REST: Final = 2.0
"""Standard deviations up to which all ranges that don't stand out are taken to be empty together."""
_TAIL: Final = 1.0
"""Standard deviations below which the end of a column is taken to be empty."""
_HARDLY: Final = 0.05
"""Of all records, the share that names have to reach for a column not to be numbered anew."""
_ZOOM, _FINAL = 0.1, 0.55
"""Of the second go, the part for each time that ranges are divided, and what is left at least for counting them."""
_LOOKED: Final = 0.5
"""Noise of the second go in units of the first look's, about."""
_MEDIANS: Final = 0.5
"""Of the second go, the part for medians."""
_SHARED, _SHARED_MORE = 0.15, 0.35
"""Of the second go, the parts for numbers that many share: at first, and once more where there are such."""
_FEWEST_LEVELS, _MOST_LEVELS = 2, 5
"""Of halving records, as far as ranges would stand out of the noise."""
_NEIGHBOURS: Final = 5
_MISSING: Final = "\x00"
_BOOLEANS: Final = ("false", "true")
_CALENDAR: Final = {
    ShapeKind.DATE: (datetime.date.min, datetime.date.max),
    ShapeKind.DATETIME: (datetime.date.min, datetime.date.max),
}
"""What lies beyond it is drawn at its ends."""
_MIDNIGHT: Final = 86_400_000_000
"""In microseconds of a time of day."""
_ANEW: Final = ColumnShape(kind=ShapeKind.IDENTIFIER, origin="found")


@dataclass(frozen=True)
class DiscoveredColumn:
    shape: ColumnShape
    codes: NumberCodes | CategoryCodes | None
    """None where the column is made anew."""
    counts: Floats
    """By code, with noise."""
    scale: float
    listed: bool = False
    """Whether names are of a public list, so that a record without a code has a rare one."""

    @property
    def usual(self) -> int:
        """The code of a record that has none."""
        return int(np.argmin(self.counts) if self.listed else np.argmax(self.counts))


@dataclass(frozen=True)
class Measure:
    """Noise for one column, by how much of a budget it gets."""

    rho: float
    delta: float
    rows_per_person: int

    @property
    def noise(self) -> GaussianNoise:
        return GaussianNoise(float(self.rows_per_person), self.rho)

    def counted(self, codes: Integers, size: int) -> tuple[Floats, float]:
        noise = self.noise
        return np.asarray(noise.add(np.bincount(codes, minlength=size).tolist()), dtype=np.float64), noise.scale

    def share(self, fraction: float) -> Measure:
        return Measure(self.rho * fraction, self.delta, self.rows_per_person)


class ColumnSearch(ABC):
    """One column, looked for in two goes."""

    thresholded = False
    """Whether both goes need a δ."""
    known = False
    """Whether all is public, so that there is only the second go."""

    @property
    @abstractmethod
    def codes(self) -> int:
        """About how many, as far as is known by now."""

    @abstractmethod
    def look(self, measure: Measure, records: float) -> None:
        """The first go."""

    @abstractmethod
    def weight(self, records: float) -> float:
        """How much of the budget the second go is worth."""

    @abstractmethod
    def finish(self, measure: Measure, records: float) -> DiscoveredColumn: ...


def needs_threshold(shape: ColumnShape, *, open_decimals: bool) -> bool:
    """Whether a column has names, or single numbers that many share, of which nobody said which there are."""
    return open_decimals if shape.is_stepped else shape.is_named and not _public_names(shape)


def _public_names(shape: ColumnShape) -> tuple[str, ...]:
    return _BOOLEANS if shape.kind is ShapeKind.BOOLEAN else shape.order or shape.categories


def column_search(values: pl.Series, shape: ColumnShape, *, open_decimals: bool) -> ColumnSearch:
    """``values`` are steps or text. With ``open_decimals``, steps are millionths and the shape's decimals are found."""
    if shape.is_stepped:
        return _NumberSearch(values, shape, open_decimals=open_decimals)
    public = _public_names(shape)
    return _PublicNames(values, shape, public) if public else _NameSearch(values, shape)


class _PublicNames(ColumnSearch):
    known = True

    def __init__(self, values: pl.Series, shape: ColumnShape, names: tuple[str, ...]) -> None:
        self._values, self._shape = values, shape
        self._names = tuple(dict.fromkeys(names))

    @property
    def codes(self) -> int:
        return len(self._names)

    def look(self, measure: Measure, records: float) -> None:
        """Nothing is left to be found out: all is public."""

    def weight(self, records: float) -> float:
        return _weight(self.codes)

    def finish(self, measure: Measure, records: float) -> DiscoveredColumn:
        """What is none of the names counts as missing, as what the description of a dataset does not know."""
        codes = _named(self._names, [1] * len(self._names), missing=True, ordered=bool(self._shape.order))
        found = np.maximum(codes.encode(self._values), 0)
        counts, scale = measure.counted(found, 1 + len(self._names))
        if counts[0] < _VISIBLE * scale and len(counts) > 1:
            codes, counts = codes.model_copy(update={"missing": False}), counts[1:]
        shared = codes.model_copy(update={"records": tuple(int(one) for one in np.maximum(counts[codes.missing :], 1))})
        return _grouped(self._shape, shared, counts, scale)


class _NameSearch(ColumnSearch):
    thresholded = True

    def __init__(self, values: pl.Series, shape: ColumnShape) -> None:
        self._shape = shape
        counts = values.fill_null(_MISSING).alias("name").value_counts(name="records")
        self._counts: dict[str, int] = dict(counts.iter_rows())
        self._first: dict[str, int] = {}
        self._first_scale = 1.0

    @property
    def codes(self) -> int:
        return len(self._first)

    def look(self, measure: Measure, records: float) -> None:
        self._first, self._first_scale = self._released(measure)[:2]

    def _released(self, measure: Measure, listed: Sequence[str] = ()) -> tuple[dict[str, int], float, int]:
        """Listed names with noise, others from the threshold on. A record is in one of the two, so both cost one ρ."""
        release = ConcentratedKeyRelease(measure.rows_per_person, measure.rho, measure.delta)
        others = {name: count for name, count in self._counts.items() if name not in set(listed)}
        told = measure.noise.add([self._counts.get(name, 0) for name in listed])
        return release.released(others) | dict(zip(listed, told, strict=True)), release.scale, release.threshold

    def weight(self, records: float) -> float:
        """More where some of the records are still without a name; less where hardly any has one."""
        unseen = min(1.0, max(0.0, 1 - sum(self._first.values()) / records))
        return _weight(self.codes) + _UNSEEN * unseen * (1 - unseen) ** 4

    def finish(self, measure: Measure, records: float) -> DiscoveredColumn:
        listed = names_beside([name for name in self._first if name != _MISSING])
        second, scale, threshold = self._released(measure, listed)
        precision = np.array([1 / self._first_scale**2 if self._first else 0.0, 1 / scale**2])
        scale = 1 / sqrt(precision.sum())
        found = {}
        for name in sorted({*self._first, *second}):
            seen = np.array([name in self._first, name in second])
            told = np.array([self._first.get(name, 0), second.get(name, 0)])
            found[name] = float((told * seen) @ precision / (seen @ precision))
        missing = found.pop(_MISSING, None)
        if listed:
            found = _settled(found, listed, records - (missing or 0))
        named = sum(found.values())
        if named < _HARDLY * records and named + (missing or 0) < (1 - _HARDLY) * records and records > 2 * threshold:
            return DiscoveredColumn(_ANEW, None, np.zeros(0), scale)
        rest = records - named - (missing or 0)
        label = self._shape.rare_as or OTHER
        if rest > max(_VISIBLE * scale, _HARDLY / 4 * records) or not (found or missing):
            found[label] = found.get(label, 0.0) + max(rest, 1.0)
        order = () if label in found else natural_order(list(found))
        names = order or tuple(sorted(found, key=lambda name: (name == label, name)))
        codes = _named(names, [found[name] for name in names], missing=missing is not None, ordered=bool(order))
        counts = np.array([*([missing] if missing is not None else []), *(found[name] for name in names)])
        if label in found:
            codes = codes.model_copy(update={"rare_as": label})
        shape = self._shape.model_copy(update={"rare_as": codes.rare_as, "order": order, "origin": "found"})
        return replace(_grouped(shape, codes, counts, scale), listed=bool(listed))


def _settled(found: Mapping[str, float], listed: Sequence[str], records: float) -> dict[str, float]:
    """Listed names have what the other names leave; those that come to nothing are left out."""
    others = {name: count for name, count in found.items() if name not in set(listed)}
    counts = on_simplex(np.array([found[name] for name in listed]), max(records - sum(others.values()), 1.0))
    return others | {name: float(count) for name, count in zip(listed, counts, strict=True) if count >= 1}


_UNSEEN: Final = 400.0


def _weight(codes: int) -> float:
    """The sum of absolute errors of columns is least where budgets go by the number of codes to the power 2/3."""
    return float(max(codes, 2) ** (2 / 3))


def _named(names: tuple[str, ...], counts: list[float], *, missing: bool, ordered: bool) -> CategoryCodes:
    return CategoryCodes(
        missing=missing,
        names=names,
        codes=tuple(range(len(names))),
        records=tuple(max(1, round(count)) for count in counts),
        ordered=ordered,
    )


def _grouped(shape: ColumnShape, codes: CategoryCodes, counts: Floats, scale: float) -> DiscoveredColumn:
    """Of very many names, the rarer ones share the last code."""
    if len(codes.names) > _MOST_NAMES and not codes.ordered:
        rank = np.argsort(-np.array(codes.records), kind="stable")
        often = set(rank[: _MOST_NAMES - 1].tolist())
        if codes.rare_as in codes.names:
            often.add(codes.names.index(codes.rare_as))
        places = [*sorted(often), *sorted(set(range(len(codes.names))) - often)]
        own = [*range(len(often)), *[len(often)] * (len(places) - len(often))]
        head, tail = counts[: codes.missing], counts[codes.missing :][places]
        counts = np.concatenate([head, np.bincount(own, weights=tail)])
        update = {"names": tuple(codes.names[at] for at in places), "codes": tuple(own)}
        codes = codes.model_copy(update={**update, "records": tuple(codes.records[at] for at in places)})
    return DiscoveredColumn(shape, codes, counts, scale)


class _NumberSearch(ColumnSearch):
    def __init__(self, values: pl.Series, shape: ColumnShape, *, open_decimals: bool) -> None:
        self._values, self._shape, self._open = values, shape, open_decimals
        self._finest, self.thresholded = values, open_decimals
        self._missing = self._apart = 0.0
        special = [*shape.word_steps, *(shape.steps_of(code) for code in shape.special), *[0] * shape.zero_inflated]
        self._special = tuple(sorted(dict.fromkeys(special)))
        low, high = (None if end is None else shape.steps_of(end) for end in (shape.lowest, shape.highest))
        if shape.kind in _CALENDAR or shape.kind is ShapeKind.TIME:
            days = _CALENDAR.get(shape.kind)
            first, last = (0, _MIDNIGHT - 1) if days is None else (shape.steps_of(end) for end in days)
            low, high = max(first, first if low is None else low), min(last, last if high is None else high)
        self._is_clear = True
        self.known = shape.lowest is not None and shape.highest is not None
        if self.known and low is not None and high is not None:
            self._ranges = _divided([(low, max(low, high))])
        else:
            self._ranges = _octaves(low, high)

    @property
    def codes(self) -> int:
        return len(self._ranges) if self._is_clear else 2 * _FEWEST_RANGES

    def weight(self, records: float) -> float:
        return _weight(self.codes)

    def look(self, measure: Measure, records: float) -> None:
        counts, scale, apart = self._counted(measure)
        self._missing = max(0.0, float(apart[0]))
        self._is_clear = _shows(_MOSTLY * (records - apart.sum()), counts, scale)
        if not self._is_clear:
            return
        if self._open:
            self._settle_decimals(self._ranges[int(np.argmax(counts))])
        most = int(min(_MOST_RANGES, max(_FEWEST_RANGES, counts.sum() / (_VISIBLE * _LOOKED * scale))))
        self._ranges = _divided(_inhabited_ranges(self._ranges, counts, scale), most)

    def _settle_decimals(self, usual: tuple[int, int]) -> None:
        """So that numbers of the usual range have four digits; ends are taken from the ranges alone."""
        low, high = usual
        size = max(abs(low), abs(high), 1) / 10**_FINEST
        decimals = min(_FINEST, max(0, _DIGITS - ceil(log10(size))))
        unit = 10 ** (_FINEST - decimals)
        self._shape = self._shape.model_copy(update={"decimals": decimals})
        self._values = _in_units(self._finest, unit)
        ends = [(round(first / unit), round(last / unit)) for first, last in self._ranges]
        self._ranges = [ends[0], *((max(after[0], before[1] + 1), after[1]) for before, after in pairwise(ends))]
        self._ranges = [(first, max(first, last)) for first, last in self._ranges]
        self._open = False

    def finish(self, measure: Measure, records: float) -> DiscoveredColumn:
        """Ranges are divided as long as nearly everybody is in few of the parts, as where few numbers are met."""
        if self.thresholded:
            measure = self._set_apart(measure, records)
        if self._apart and self._apart > _NEARLY_ALL * (records - self._missing):
            self._ranges = [(self._special[0], self._special[-1])]
            return self._found(*self._counted(measure))
        if not self._is_clear:
            return self._cut_at_medians(measure, records - self._apart)
        left, seen = 1.0, None
        while left > _FINAL and not self._single:
            seen = seen or self._counted(measure.share(_ZOOM))
            left -= _ZOOM
            finer = _divided(_inhabited_ranges(self._ranges, *seen[:2]))
            if not (_is_concentrated(*seen[:2]) and _width(finer) < 0.5 * _width(self._ranges)):
                break
            before, self._ranges = self._ranges, finer
            tried = self._counted(measure.share(_ZOOM))
            if not _is_concentrated(*tried[:2]):
                self._ranges, left = before, left - _ZOOM
                break
            seen = tried
        return self._found(*self._counted(measure.share(left)))

    def _set_apart(self, measure: Measure, records: float) -> Measure:
        """Numbers that many share become special codes. What is left of the budget."""
        found, left = self._shared(measure.share(_SHARED)), 1 - _SHARED
        if sum(found.values()) > _HARDLY * records:
            found, left = found | self._shared(measure.share(_SHARED_MORE)), left - _SHARED_MORE
        if any(found) and self._open:
            self._settle_decimals((min(found), max(found)))
        if any(found):
            self._refine(found)
        unit = 1 if self._open else self._unit
        self._special = tuple(sorted({*self._special, *(number // unit for number in found)}))
        self._apart = float(sum(found.values()))
        return measure.share(left)

    def _shared(self, measure: Measure) -> dict[int, int]:
        """As names are told: by noisy counts from a threshold on."""
        counts = self._finest.drop_nulls().alias("number").value_counts(name="records")
        release = ConcentratedKeyRelease(measure.rows_per_person, measure.rho, measure.delta)
        told = release.released({str(number): count for number, count in counts.iter_rows()})
        often = sorted(told, key=lambda number: -told[number])[:_MOST_RANGES]
        return {int(number): told[number] for number in often}

    def _refine(self, numbers: Iterable[int]) -> None:
        """To as many decimals as these numbers have."""
        unit, more = self._unit, 0
        while any(number % (unit // 10**more) for number in numbers):
            more += 1
        self._shape = self._shape.model_copy(update={"decimals": self._shape.decimals + more})
        self._values = _in_units(self._finest, self._unit)
        self._ranges = [(first * 10**more, last * 10**more + 10**more - 1) for first, last in self._ranges]

    @property
    def _unit(self) -> int:
        """Of the decimals that were settled on, in the finest ones."""
        return int(10 ** (_FINEST - self._shape.decimals))

    def _cut_at_medians(self, measure: Measure, records: float) -> DiscoveredColumn:
        """Nought is counted by itself: it is what many amounts are, and where doubling ranges meet."""
        rest = measure.share(1 - _MEDIANS)
        levels = ceil(log2(max(1.0, records / (_VISIBLE * rest.noise.scale))))
        levels = min(_MOST_LEVELS, max(_FEWEST_LEVELS, levels))
        declared, self._special = self._special, tuple(sorted({*self._special, 0}))
        present = self._values.drop_nulls()
        numbers = present.filter(~present.is_in(self._special)).to_numpy()
        ends = self._ranges[0][0], self._ranges[-1][1]
        found = halved(numbers, ends, MedianBudget(measure.rho * _MEDIANS, levels, measure.rows_per_person))
        self._ranges = _divided(found, len(found))
        if self._open:
            self._settle_decimals(self._ranges[len(self._ranges) // 2])
        counts, scale, apart = self._counted(rest)
        nought = 1 + self._special.index(0)
        if 0 not in declared and apart[nought] < _VISIBLE * scale:
            self._special, apart = declared, np.delete(apart, nought)
        return self._found(counts, scale, apart)

    @property
    def _single(self) -> bool:
        """Whether every range is one number."""
        return all(first == last for first, last in self._ranges)

    def _codes(self, *, missing: bool = True) -> NumberCodes:
        lows, highs = zip(*self._ranges, strict=True)
        return NumberCodes(missing=missing, special=self._special, lows=lows, highs=highs)

    def _counted(self, measure: Measure) -> tuple[Floats, float, Floats]:
        """Of ranges, the noise, and of what stands before them: missing and special codes."""
        codes = self._codes()
        counts, scale = measure.counted(codes.encode(self._values), codes.size)
        before = codes.size - len(self._ranges)
        return counts[before:], scale, counts[:before]

    def _found(self, counts: Floats, scale: float, apart: Floats) -> DiscoveredColumn:
        if len({last - first for first, last in self._ranges}) == 1:
            counts = _smoothed(counts, scale)
        clear = counts >= _VISIBLE * scale
        if clear.any() and abs(counts[~clear].sum()) <= _REST * scale * sqrt((~clear).sum()):
            self._ranges = [one for one, there in zip(self._ranges, clear, strict=True) if there]
            counts = counts[clear]
        first, last = _inhabited(counts, scale)
        counts = np.concatenate(
            [[counts[: first + 1].sum()], counts[first + 1 : last], [counts[last:].sum()] if last > first else []]
        )
        self._ranges = self._ranges[first : last + 1]
        missing = bool(apart[0] >= _VISIBLE * scale)
        codes = self._codes(missing=missing)
        return DiscoveredColumn(self._shape, codes, np.concatenate([apart[0 if missing else 1 :], counts]), scale)


def _in_units(values: pl.Series, unit: int) -> pl.Series:
    return (values / unit).round(0).cast(pl.Int64)


def _octaves(lowest: int | None, highest: int | None) -> Ranges:
    """Nought, and ranges that double on both sides of it, as far as bounds let them."""
    above = [(2**power, 2 ** (power + 1) - 1) for power in range(_OCTAVES)]
    below = [(-last, -first) for first, last in reversed(above)]
    low, high = -(2**_OCTAVES) if lowest is None else lowest, 2**_OCTAVES if highest is None else highest
    kept = [(max(first, low), min(last, high)) for first, last in [*below, (0, 0), *above]]
    return [(first, last) for first, last in kept if first <= last] or [(low, low)]


def _width(ranges: Ranges) -> float:
    return float(np.mean([float(last - first + 1) for first, last in ranges]))


def _is_concentrated(counts: Floats, scale: float) -> bool:
    """Whether nearly all records are in ranges that stand out of the noise."""
    return _shows(_NEARLY_ALL * counts.sum(), counts, scale)


def _shows(records: float, counts: Floats, scale: float) -> bool:
    """Whether so many are in ranges that stand out of the noise."""
    clear = counts >= _VISIBLE * scale
    return bool(clear.any() and counts[clear].sum() > records)


def _inhabited_ranges(ranges: Ranges, counts: Floats, scale: float) -> Ranges:
    seen = _VISIBLE if _is_concentrated(counts, scale) else _PERHAPS
    inhabited = counts >= seen * scale
    inhabited[int(np.argmax(counts))] = True
    return [one for one, there in zip(ranges, inhabited, strict=True) if there]


def _divided(ranges: Ranges, most: int = _MOST_RANGES) -> Ranges:
    """Into single numbers where there are not too many of them; else narrow ranges first, the rest evenly.

    >>> _divided([(0, 2), (8, 9)]), len(_divided([(0, 10**6)]))
    ([(0, 0), (1, 1), (2, 2), (8, 8), (9, 9)], 128)
    """
    widths = [last - first + 1 for first, last in ranges]
    pieces = [1] * len(ranges)
    left = 2 * most if sum(widths) <= 2 * most else max(most, len(ranges))
    for done, place in enumerate(sorted(range(len(ranges)), key=widths.__getitem__)):
        pieces[place] = min(widths[place], max(1, left // (len(ranges) - done)))
        left -= pieces[place]
    parts = []
    for (first, last), number in zip(ranges, pieces, strict=True):
        edges = [first + (last - first + 1) * at // number for at in range(number + 1)]
        parts += [(low, high - 1) for low, high in pairwise(edges)]
    return parts


def _smoothed(counts: Floats, scale: float) -> Floats:
    """Neighbours help each other out as far as they differ by noise only; peaks that stand out of it stay."""
    if len(counts) < 3 * _NEIGHBOURS:
        return counts
    padded = np.pad(counts, _NEIGHBOURS // 2, mode="edge")
    around = np.convolve(padded, np.ones(_NEIGHBOURS) / _NEIGHBOURS, mode="valid")
    spread = float(np.mean((counts - around) ** 2)) * _NEIGHBOURS / (_NEIGHBOURS - 1)
    own = max(0.0, spread - scale**2) / max(spread, 1e-12)
    smoothed: Floats = own * counts + (1 - own) * around
    return smoothed


def _inhabited(counts: Floats, scale: float) -> tuple[int, int]:
    """The first and the last place between which people are, as far as noise lets one see."""
    allowed = _TAIL * scale * np.sqrt(np.arange(1, len(counts) + 1))
    top = int(np.argmax(counts))
    before = np.flatnonzero(np.cumsum(counts[:top]) <= allowed[:top])
    after = np.flatnonzero(np.cumsum(counts[:top:-1]) <= allowed[: len(counts) - 1 - top])
    first = int(before[-1]) + 1 if len(before) else 0
    last = len(counts) - 2 - int(after[-1]) if len(after) else len(counts) - 1
    return first, last
