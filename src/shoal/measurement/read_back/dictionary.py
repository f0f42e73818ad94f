"""What values and pairs of values go with: a dictionary from what is released to what was taken out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers, Mask
from shoal.measurement.read_back.disclosure_rule import DisclosureRule
from shoal.measurement.read_back.levels import Codes, Levels

DENSE = 4
"""A table of counts is laid out whole if it has at most so many cells for each record, and some more."""
_SPARE = 1 << 16
_FEW = 1000
"""Records by which it is seen whether most values of a column stand in hardly a record."""
_FIRST = 10_000
"""Records in which most values are seen."""


@dataclass(frozen=True)
class CodedColumn:
    """The values of a released column that stand in enough records to tell anything, and where they stand."""

    values: pl.Series
    """Without the missing one."""
    missing: bool
    """Whether cells without a value are many enough to tell something too."""
    codes: Integers
    """Of the records it was made of; -1 for values that are too rare."""

    @classmethod
    def of(cls, values: pl.Series, rule: DisclosureRule) -> CodedColumn:
        name = values.name or "value"
        return columns_of(values.alias(name).to_frame(), rule)[name]

    @classmethod
    def by_codes(cls, known: pl.Series, codes: Integers, rule: DisclosureRule) -> CodedColumn:
        """``known`` are all values, and codes their places, that of a missing cell the one behind the last."""
        enough = np.bincount(codes + 1, minlength=len(known) + 2)[1:] >= rule.records
        if not enough.all():
            places = np.append(np.where(enough, np.cumsum(enough) - 1, -1), -1)
            codes, known = places[codes], known.filter(pl.Series(enough[:-1]))
        return cls(known, bool(enough[-1]), codes)

    @property
    def size(self) -> int:
        return len(self.values) + self.missing

    @property
    def tells_nothing(self) -> bool:
        """No value is common enough, or all records have the same."""
        return self.size == 0 or (self.size == 1 and bool((self.codes == 0).all()))

    def valued(self, codes: Integers) -> pl.Series | None:
        """The values of some codes; None where a cell without a value is one of them."""
        return None if (codes >= len(self.values)).any() else self.values.gather(codes)

    def of_others(self, values: pl.Series) -> Integers:
        """The same values in another table."""
        return _codes(values.alias("value"), self.values, missing=self.missing)


def columns_of(frame: pl.DataFrame, rule: DisclosureRule) -> dict[str, CodedColumn]:
    """All columns of a table, those of texts side by side."""
    possible = {name: _possibly_common(frame[name], rule) for name in frame.columns}
    dense = [name for name, some in possible.items() if some is None]
    found = _of_texts(frame.select(name for name in dense if frame[name].dtype == pl.String()), rule)
    for name in frame.columns:
        some = possible[name]
        if some is not None:
            rest = columns_of(frame[name].filter(pl.Series(some)).to_frame(), rule)[name]
            codes = np.full(frame.height, -1, dtype=np.int64)
            codes[some] = rest.codes
            found[name] = CodedColumn(rest.values, rest.missing, codes)
        elif name not in found:
            known = frame[name].unique().drop_nulls()
            found[name] = CodedColumn.by_codes(known, _codes(frame[name], known, missing=True), rule)
    return {name: found[name] for name in frame.columns}


def _of_texts(frame: pl.DataFrame, rule: DisclosureRule) -> dict[str, CodedColumn]:
    """Most values stand in the first records; those that don't are looked up after them."""
    first = frame.head(_FIRST)
    known = {name: first[name].unique().drop_nulls() for name in frame.columns}
    coded = frame.select(
        pl.col(name).cast(pl.Enum(known[name]), strict=False).to_physical().cast(pl.Int64) for name in frame.columns
    )
    found = {}
    for name in frame.columns:
        codes, values = coded[name], known[name]
        if codes.has_nulls():
            new = codes.is_null() & frame[name].is_not_null()
            others = frame[name].filter(new)
            more = others.unique()
            values = pl.concat([values, more])
            places = codes.fill_null(len(values)).to_numpy(writable=True)
            places[new.to_numpy()] = _codes(others, more, missing=False) + len(known[name])
        else:
            places = codes.to_numpy()
        found[name] = CodedColumn.by_codes(values, places, rule)
    return found


def _possibly_common(values: pl.Series, rule: DisclosureRule) -> Mask | None:
    """Which records may have a value that stands in enough of them; None where most may, so that nothing is saved.

    Values are thrown into buckets: what a value has, its bucket has too.
    """
    some = values.gather_every(max(1, len(values) // _FEW))
    if 2 * some.n_unique() < len(some):
        return None
    buckets = (values.hash().to_numpy() >> np.uint64(64 - len(values).bit_length())).astype(np.int64)
    found: Mask = (np.bincount(buckets) >= rule.records)[buckets]
    return found if 2 * found.sum() < len(values) else None


def _codes(values: pl.Series, known: pl.Series, *, missing: bool) -> Integers:
    if known.is_empty():
        codes = pl.Series([None], dtype=pl.Int64).new_from_index(0, len(values))
    elif known.dtype == pl.String():
        codes = values.cast(pl.Enum(known), strict=False).to_physical().cast(pl.Int64)
    else:
        places = pl.int_range(len(known), dtype=pl.Int64, eager=True)
        codes = values.cast(known.dtype, strict=False).replace_strict(known, places, default=None)
    if not codes.has_nulls():
        return codes.to_numpy()
    coded = codes.fill_null(-1).to_numpy(writable=True)
    if missing:
        coded[values.is_null().to_numpy()] = len(known)
    return coded


@dataclass(frozen=True)
class DictionaryEntries:
    """For some groups of records, the label that they tell; -1 for none."""

    labels: Codes
    levels: NDArray[np.int8]

    def told(self, groups: Integers) -> tuple[Codes, NDArray[np.int8]]:
        """-1, which stands for no group, is the last place, too."""
        return np.append(self.labels, np.int32(-1))[groups], np.append(self.levels, np.int8(-1))[groups]


def learn(  # noqa: PLR0913, PLR0917  # what is learnt, from what
    groups: Integers, number: int, values: Codes, levels: Levels, rule: DisclosureRule, asked: Mask, known: Mask
) -> DictionaryEntries:
    """Per group, the finest label that its records share; ``asked`` says which groups may tell anything.

    ``groups`` and ``values`` (of the attribute) are of the same records; -1 leaves a record out. ``known`` says which
    labels everybody knows, so that nothing tells them.
    """
    labels = np.full(number, -1, dtype=np.int32)
    on = np.full(number, -1, dtype=np.int8)
    left = asked
    there = np.flatnonzero(np.append(left, False)[groups])
    own, value = groups[there], values[there]
    # From the top down: levels nest, so what differs there differs on all finer ones.
    for level in reversed(range(levels.height)):
        if not len(own):
            break
        places, words = levels.compact[level]
        top, most, total = _most_common(own, places[value], number, len(words))
        left = left & (total > 0) & (most >= rule.share * total - 1e-9)
        labels[left], on[left] = words[top[left]], level
        still = left[own]
        if not still.all():
            own, value = own[still], value[still]
    nothing = (labels < 0) | known[labels]
    labels[nothing], on[nothing] = -1, -1
    return DictionaryEntries(labels, on)


def large_enough(groups: Integers, number: int, people: Integers | None, rule: DisclosureRule) -> Mask:
    """Groups of enough records, and of two people or more where people are known."""
    there = groups >= 0
    own = groups[there]
    enough = np.bincount(own, minlength=number) >= rule.records
    if people is None:
        return enough
    somebody = np.zeros(number, dtype=np.int64)
    somebody[own] = people[there]
    others = np.bincount(own, weights=people[there] != somebody[own], minlength=number) > 0
    return enough & others


def pairs(one: Integers, other: Integers, sizes: tuple[int, int], rule: DisclosureRule) -> tuple[Integers, Integers]:
    """Groups by two columns: the group of each record (-1 where it is too small), and the two codes of each group."""
    both = (one >= 0) & (other >= 0)
    key = np.where(both, one * sizes[1] + other, -1)
    if is_laid_out(sizes[0] * sizes[1], len(key)):
        counted = np.bincount(key[both], minlength=sizes[0] * sizes[1])
        keys = np.flatnonzero(counted >= rule.records)
        places = np.full(sizes[0] * sizes[1] + 1, -1, dtype=np.int64)
        places[keys] = np.arange(len(keys))
        return places[key], keys
    found, records = np.unique(key[both], return_counts=True)
    keys = found[records >= rule.records]
    return places_of(keys, key), keys


def is_laid_out(cells: int, records: int) -> bool:
    """Whether a table of counts is small enough to be laid out whole."""
    return cells <= DENSE * records + _SPARE


def places_of(keys: Integers, asked: Integers) -> Integers:
    """Where each asked number stands among sorted ones; -1 for others."""
    if not len(keys):
        return np.full(len(asked), -1, dtype=np.int64)
    if is_laid_out(int(keys[-1]), len(asked)):
        table = np.full(keys[-1] + 2, -1, dtype=np.int64)
        table[keys] = np.arange(len(keys))
        found: Integers = table[np.minimum(asked, keys[-1] + 1)]
        return found
    places = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
    return np.where(keys[places] == asked, places, -1)


def _most_common(groups: Integers, labels: Integers, number: int, words: int) -> tuple[Integers, Integers, Integers]:
    """Per group its most common label (the first of several), its records, and all records of the group."""
    total = np.bincount(groups, minlength=number)
    key = groups * words + labels
    if is_laid_out(number * words, len(groups)):
        table = np.bincount(key, minlength=number * words).reshape(number, words)
        top = table.argmax(axis=1)
        return top, table[np.arange(number), top], total
    found, records = np.unique(key, return_counts=True)
    own = found // words
    order = np.lexsort((found, -records, own))
    first = order[np.flatnonzero(np.diff(own[order], prepend=-1))]
    top, most = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    top[own[first]], most[own[first]] = found[first] % words, records[first]
    return top, most, total
