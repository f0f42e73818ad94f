"""From distinct values and distinct labels to the pairs of them that go together.

Each way to read a label takes the labels that no earlier way could read. Work is done for all labels of one kind at
once: by joins for what is equal, by binary search for what lies on a line, by masking the values in the same way and
joining for masks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.attack.matching.label_join import spread
from shoal.hierarchy.base import escape_top
from shoal.hierarchy.labels import Shape, ValueLine, members, read_numbers, shape_of, text_of
from shoal.kernels.arrays import Floats, Integers, Mask

Found = tuple[Integers, Integers]
Read = tuple[Integers, Integers, Integers]
"""Values, the labels beside them, and all labels that were understood, though they may cover nobody."""
_NONE: Integers = np.zeros(0, dtype=np.int64)
_NOTHING: Read = (_NONE, _NONE, _NONE)

TOP = "*"
SHAPES = 500
"""Masks of more different shapes than this are not read."""
LEAST_ROUND = 5
"""Where some released numbers are values, so many of them have to be multiples of a base to be taken for rounded."""


@dataclass(frozen=True)
class LabelPairs:
    of_value: Integers
    of_label: Integers
    everything: Mask
    unread: int


def pairs_of(values: pl.Series, labels: pl.Series, known: pl.DataFrame | None) -> LabelPairs:
    """Sorted by value, then label; labels that cover everything are only marked."""
    reader = LabelReader(text_of(values), text_of(labels), ValueLine.of(values), known)
    everything = reader.labels.eq_missing(pl.Series([TOP], dtype=pl.String)).to_numpy().copy()
    if not values.null_count():
        everything |= reader.labels.is_null().to_numpy()
    left = ~everything & reader.labels.is_not_null().to_numpy()
    found = []
    for read in (reader.equal, reader.by_table, reader.starred, *reader.by_shape):
        value, label, understood = read(np.flatnonzero(left))
        found.append((value, label))
        left[understood] = False
    everything |= reader.stars & ~_among(found, len(everything))
    return _sorted(found, everything | left, int(left.sum()))


def _among(found: list[Found], labels: int) -> Mask:
    """Which labels go with any value."""
    return np.isin(np.arange(labels), np.concatenate([label for _, label in found]))


def _sorted(found: list[Found], everything: Mask, unread: int) -> LabelPairs:
    value = np.concatenate([each[0] for each in found]).astype(np.int64)
    label = np.concatenate([each[1] for each in found]).astype(np.int64)
    told = ~everything[label]
    keys = np.unique(value[told] * len(everything) + label[told])
    return LabelPairs(*np.divmod(keys, max(len(everything), 1)), everything, unread)


def _joined(left: pl.Series, right: pl.Series) -> Found:
    """Places where two columns of text agree, missing with missing."""
    mine = pl.DataFrame({"text": left, "i": np.arange(len(left))}, schema_overrides={"text": pl.String})
    other = pl.DataFrame({"text": right, "j": np.arange(len(right))}, schema_overrides={"text": pl.String})
    both = mine.join(other, on="text", nulls_equal=True)
    return both["i"].to_numpy(), both["j"].to_numpy()


def _equal(texts: pl.Series, labels: pl.Series) -> Found:
    """The same text, or the same number where the label is the text of no value."""
    value, label = _joined(texts, labels)
    other = np.setdiff1d(np.arange(len(labels)), label)
    numbers = [text_of(read_numbers(each)) for each in (texts, labels.gather(other))]
    there = [np.flatnonzero(each.is_not_null().to_numpy()) for each in numbers]
    more, place = _joined(numbers[0].gather(there[0]), numbers[1].gather(there[1]))
    return np.concatenate([value, there[0][more]]), np.concatenate([label, other[there[1][place]]])


def _long(known: pl.DataFrame) -> pl.DataFrame:
    """A value and a label that it may become on each row; it may always stay as it is."""
    first, *others = known.columns
    value = text_of(known[first]).alias("value")
    parts = [pl.DataFrame([value, text_of(known[name]).alias("label")]) for name in others]
    return pl.concat([*parts, pl.DataFrame([value, value.alias("label")])]).unique()


@dataclass(frozen=True)
class LabelReader:
    """The ways to read labels. Each is given the labels that are still left."""

    texts: pl.Series
    labels: pl.Series
    line: ValueLine | None
    known: pl.DataFrame | None

    def equal(self, left: Integers) -> Read:
        """As it is, or as a text that would read like a star is written."""
        value, label = _equal(self.texts, self.labels)
        written = escape_top(self.texts)
        if not written.equals(self.texts, null_equal=True):
            more, place = _joined(written.filter(written.ne_missing(self.texts)), self.labels)
            which = np.flatnonzero(written.ne_missing(self.texts).to_numpy())
            value, label = np.concatenate([value, which[more]]), np.concatenate([label, place])
        return value, label, label

    def by_table(self, left: Integers) -> Read:
        """Also labels that are equal to a value: a group may be called like one of its members."""
        if self.known is None:
            return _NOTHING
        table = _long(self.known)
        mine = pl.DataFrame({"value": self.texts, "i": np.arange(len(self.texts))})
        other = pl.DataFrame({"label": self.labels, "j": np.arange(len(self.labels))})
        both = mine.join(table, on="value", nulls_equal=True).join(other, on="label", nulls_equal=True)
        understood = other.join(table, on="label", how="semi")["j"].to_numpy()
        return both["i"].to_numpy(), both["j"].to_numpy(), understood

    @property
    def by_shape(self) -> tuple[Callable[[Integers], Read], ...]:
        return self.on_line, self.rounded, self.sets, self.masks

    @property
    def stars(self) -> Mask:
        """Labels that stand for a star which is not a suppressed cell, as that of a redacted character."""
        return self.labels.str.contains(r"^\\+\*$").fill_null(value=False).to_numpy()

    def starred(self, left: Integers) -> Read:
        """Whatever is not known to be written so covers everything, as a star does."""
        return _NONE, _NONE, left[self.stars[left]]

    def on_line(self, left: Integers) -> Read:
        if self.line is None or not len(left):
            return _NOTHING
        start, stop = self.line.stretches(self.labels.gather(left))
        read = ~np.isnan(start)
        value, label = _between(self.line, start[read], stop[read])
        return value, left[read][label], left[read]

    def rounded(self, left: Integers) -> Read:
        """A number is itself, and a rounded one where all released numbers are multiples of a base that the values are
        not: then it is within one base of the value, whichever way it was rounded."""
        if self.line is None or self.line.kind != "number" or self.known is not None:
            return _NOTHING
        numbers = read_numbers(self.labels)
        place = np.flatnonzero(numbers.is_not_null().to_numpy())
        released = numbers.gather(place).to_numpy()
        base = rounding_base(released, self.line.points[np.isfinite(self.line.points)])
        if base is None:
            return _NONE, _NONE, place
        value, label = _between(self.line, np.nextafter(released - base, np.inf), released + base)
        return value, place[label], place

    def sets(self, left: Integers) -> Read:
        parts = [members(text) for text in self.labels.gather(left).to_list()]
        listed = [(member, label) for part, label in zip(parts, left, strict=True) for member in part or ()]
        value, member = _equal(self.texts, pl.Series([text for text, _ in listed], dtype=pl.String))
        label = np.array([label for _, label in listed], dtype=np.int64)
        return value, label[member], label

    def masks(self, left: Integers) -> Read:
        shapes: dict[Shape, list[int]] = {}
        for place, text in zip(left.tolist(), self.labels.gather(left).to_list(), strict=True):
            if (shape := shape_of(text)) is not None:
                shapes.setdefault(shape, []).append(place)
        if not shapes or len(shapes) > SHAPES:
            return _NOTHING
        found = [(_masked(self.texts, self.labels.gather(places), shape), places) for shape, places in shapes.items()]
        value = np.concatenate([value for (value, _), _ in found])
        label = np.concatenate([np.array(places, dtype=np.int64)[label] for (_, label), places in found])
        return value, label, np.array([place for places in shapes.values() for place in places], dtype=np.int64)


def _between(line: ValueLine, first: Floats, end: Floats) -> Found:
    """The values on each stretch."""
    order = np.argsort(line.points, kind="stable")
    points = line.points[order][: int(np.isfinite(line.points).sum())]
    start, stop = np.searchsorted(points, first), np.searchsorted(points, end)
    run, place = spread(start, np.maximum(stop - start, 0))
    return order[place], run


def rounding_base(released: Floats, values: Floats) -> float | None:
    """The largest of …, 1, 2.5, 5, 10, … that all released numbers are multiples of; None if all values are too."""
    if not len(released) or (len(released) < LEAST_ROUND and np.isin(released, values).any()):
        return None
    bases = (times * 10.0**power for power in range(9, -7, -1) for times in (5.0, 2.5, 1.0))
    base = next((base for base in bases if _multiples(released, base) and base <= np.abs(released).max()), None)
    return None if base is None or _multiples(values, base) else base


def _multiples(numbers: Floats, base: float) -> bool:
    return bool(np.isclose(np.rint(numbers / base) * base, numbers, rtol=1e-9, atol=1e-9).all())


def _masked(texts: pl.Series, labels: pl.Series, shape: Shape) -> Found:
    """Values of the label's length that show the same characters. What is covered at one side may be missing (codes of
    several lengths, laid beside the longest); where no value has such a length, the mask's own length says nothing."""
    length, kept = shape
    sizes = texts.str.len_chars().fill_null(-1).to_numpy()
    at_end, at_start = all(start == 0 for start, _ in kept), all(stop == length for _, stop in kept)
    shown = sum(stop - start for start, stop in kept)
    fit = (sizes >= shown) & (sizes <= length) if at_end or at_start else sizes == length
    if fit.any():
        chosen = np.flatnonzero(fit)
        pick = _outside if at_start else _pick
        both = [pick(each, shape) for each in (texts.gather(chosen), labels)]
    else:
        chosen = np.flatnonzero(sizes >= shown)
        both = [_outside(each, shape) for each in (texts.gather(chosen), labels)]
    value, label = _joined(both[0], both[1])
    return chosen[value], label


def _pick(texts: pl.Series, shape: Shape) -> pl.Series:
    """The characters that a mask shows, of each text."""
    shown = texts.str.slice(0, 0)
    for start, stop in shape[1]:
        shown = shown + "\0" + texts.str.slice(start, stop - start)
    return shown


def _outside(texts: pl.Series, shape: Shape) -> pl.Series:
    """What shows at the beginning and at the end, whatever lies between."""
    length, kept = shape
    head = next((stop for start, stop in kept if start == 0), 0)
    tail = next((length - start for start, stop in kept if stop == length), 0)
    return texts.str.slice(0, head) + "\0" + texts.str.tail(tail)
