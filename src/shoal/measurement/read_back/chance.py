"""Whether so many values tell an attribute as chance alone would make tell it.

Of many small groups of records, some agree in a common label although nothing binds them: with a label that a share p
of the records has, a group of n tells it with the chance P(X ≥ share · n) of a binomial X. A pair has more to beat: the
share that either of its values has by itself. What is expected is the sum over all groups; a reading is more than
chance if, on some level, a Poisson number with that mean would hardly ever be as large as the number of groups that
tell: a sum of rare independent events is nearly Poisson.
"""

from __future__ import annotations

import numpy as np

from shoal.kernels.arrays import Floats, Integers
from shoal.measurement.read_back.dictionary import CodedColumn, DictionaryEntries, pairs
from shoal.measurement.read_back.levels import Codes
from shoal.measurement.read_back.readings import ByPair, ByValue, ColumnReading, Key
from shoal.measurement.read_back.search import KnownQuasi, TrainingRecords

UNLIKELY = 1e-4
"""How probable it may be that as many groups tell by chance."""
_LABELS = 8
"""The most common ones: groups hardly agree by chance in others."""


def is_by_chance(lesson: TrainingRecords, columns: dict[Key, CodedColumn], reading: ColumnReading) -> bool:
    """Only dictionaries can be; a formula, a copy, an order are not found by chance."""
    quasi = next(one for one in lesson.quasi if one.attribute == reading.attribute)
    if isinstance(reading, ByValue):
        codes = columns[reading.key].codes
        return _expected_alike(lesson, quasi, codes, reading.entries, None)
    if isinstance(reading, ByPair):
        one, other = (columns[name] for name in reading.columns)
        groups, keys = pairs(one.codes, other.codes, (one.size, other.size), lesson.rule)
        entries = _aligned(reading, keys)
        singles = (one.codes, keys // max(1, other.size)), (other.codes, keys % max(1, other.size))
        return _expected_alike(lesson, quasi, groups, entries, singles)
    return False


def _aligned(reading: ByPair, keys: Integers) -> DictionaryEntries:
    """The entries for these groups; pairs may have been learnt from fewer records."""
    places = np.searchsorted(reading.keys, keys)
    places = np.minimum(places, max(0, len(reading.keys) - 1))
    same = reading.keys[places] == keys if len(reading.keys) else np.zeros(len(keys), dtype=bool)
    labels = np.where(same, reading.entries.labels[places], -1).astype(np.int32)
    return DictionaryEntries(labels, np.where(same, reading.entries.levels[places], -1).astype(np.int8))


def _expected_alike(
    lesson: TrainingRecords,
    quasi: KnownQuasi,
    groups: Integers,
    entries: DictionaryEntries,
    singles: tuple[tuple[Integers, Integers], tuple[Integers, Integers]] | None,
) -> bool:
    from scipy.special import gammainc

    sizes = np.bincount(groups[groups >= 0], minlength=len(entries.labels))
    judged = sizes >= lesson.rule.records
    for level in range(quasi.levels.height):
        telling = int(((entries.labels >= 0) & (entries.levels >= 0) & (entries.levels <= level) & judged).sum())
        if not telling or not ((entries.levels == level) & judged).any():
            continue
        label = quasi.levels.labels[level][quasi.values]
        shares = np.bincount(label, minlength=len(quasi.levels.vocabulary)) / max(1, len(label))
        expected = _chances(lesson, sizes, label, shares, singles)[judged].sum()
        if gammainc(telling, max(expected, 1e-12)) < UNLIKELY:
            return False
    return True


def _chances(
    lesson: TrainingRecords,
    sizes: Integers,
    label: Codes,
    shares: Floats,
    singles: tuple[tuple[Integers, Integers], tuple[Integers, Integers]] | None,
) -> Floats:
    """Per group, how probable it is that chance makes it tell one of the labels that are common enough to count."""
    least = np.ceil(lesson.rule.share * sizes - 1e-9)
    found = np.zeros(len(sizes))
    for one in np.argsort(shares)[::-1][:_LABELS]:
        share: Floats = np.full(len(sizes), shares[one])
        for codes, values in singles or ():
            there = codes >= 0
            own = np.bincount(codes[there], weights=label[there] == one, minlength=int(values.max(initial=0)) + 1)
            records = np.bincount(codes[there], minlength=len(own))
            share = np.maximum(share, (own / np.maximum(1, records))[values])
        found += _at_least(least, sizes, np.minimum(share, 1.0))
    return np.minimum(found, 1.0)


def _at_least(least: Floats, number: Integers, share: Floats) -> Floats:
    """The chance of so many or more out of a number, each with the same chance (binomial).

    >>> _at_least(np.array([9.0]), np.array([10]), np.array([0.5])).round(6).tolist()
    [0.010742]
    """
    from scipy.special import betainc

    found: Floats = betainc(np.maximum(least, 1.0), np.maximum(number - least + 1, 1.0), share)
    return np.where(least <= 0, 1.0, found)
