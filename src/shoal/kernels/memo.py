"""Work per distinct value: what was once computed for a text is looked up wherever the text turns up again.

A step is given batches, and the same person turns up in many of them. ``Memo`` keeps the outcome of every text it has
seen, in an open-addressing hash table over NumPy arrays that is searched for a whole batch at a time. Equal hashes are
never taken for equal texts: each text that is found is compared with the one asked for.

A memo changes how long a step takes and nothing else, so it is no part of the step: it is left out of comparisons and
doesn't travel with a pickle.

>>> memo = Memo()
>>> memo.map(pl.Series(["Pune", None, "Pune"]), lambda texts: texts.str.to_uppercase()).to_list()
['PUNE', None, 'PUNE']
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.errors import BugError
from shoal.kernels.appendable_column import AppendableColumn
from shoal.kernels.arrays import Integers, Mask
from shoal.randomness import random_bytes

MOST_VALUES = 10_000_000
"""A memo that holds more would take gigabytes: it forgets all and begins anew."""
_ROOM = 3
"""Slots for each text, at least: the fewer, the more often two texts want the same one."""
_SLICE = 1 << 20
_LEAST_SLOTS = 1 << 10
_CODE = np.uint64(0xFFFF_FFFF)
_EMPTY = np.uint64(0)

Hashes = NDArray[np.uint64]
Compute = Callable[[pl.Series], pl.Series]
"""From distinct texts, none missing, to as many results; of an empty column it makes an empty one of the same type."""


class Memo:
    """A function's results by text. One function for one memo; several threads may use it at once."""

    def __init__(self, hashed: Callable[[pl.Series], Hashes] | None = None, most: int = MOST_VALUES) -> None:
        self._hashed = hashed
        self._most = most
        self._lock = Lock()
        self._forget()

    def __reduce__(self) -> tuple[type[Memo], tuple[object, ...]]:
        return Memo, (self._hashed, self._most)

    def __len__(self) -> int:
        return len(self._known)

    def map(self, values: pl.Series, compute: Compute) -> pl.Series:
        """``compute`` for each text; it is called for those that are new, each once. A missing value stays missing.

        What it raises is passed on, and the texts it was called for stay new.
        """
        present = values.drop_nulls()
        with self._lock:
            codes = self._codes(present, compute)
            results = self._results.column()
        if not len(present):
            return pl.Series(values.name, [None] * len(values), dtype=results.dtype)
        places = pl.Series(codes.astype(np.uint32))
        if len(present) < len(values):
            places = _spread(places, values.is_not_null())
        return results.gather(places).alias(values.name)

    def _codes(self, values: pl.Series, compute: Compute) -> Integers:
        known = self._known
        codes = known.find(values)
        unknown = np.flatnonzero(codes < 0)
        if not len(unknown) and self._results.begun:
            return codes
        unseen = values.gather(unknown)
        new = unseen.unique(maintain_order=True)
        if len(known) and len(known) + len(new) > self._most:
            self._forget()
            return self._codes(values, compute)
        results = compute(new)
        if len(results) != len(new):
            raise BugError("a memo's function has to give one result for each text")
        self._results.append(results)
        known.add(new)
        codes[unknown] = known.find(unseen)
        return codes

    def _forget(self) -> None:
        self._known = StringIndex(self._hashed)
        self._results = AppendableColumn()


class StringIndex:
    """Distinct texts, each with a code: its place in the order in which they were added.

    A slot of the table is empty or holds the upper half of a text's hash with the text's code; a text stands in the
    first free slot from the one that the lower half of its hash names. At least two of three slots are empty.
    """

    def __init__(self, hashed: Callable[[pl.Series], Hashes] | None = None) -> None:
        seed = int.from_bytes(random_bytes(8), "big")  # chosen anew, so that no data can be made to collide
        self._hashed = hashed or (lambda texts: texts.hash(seed).to_numpy())
        self._texts = AppendableColumn()
        self._slots: NDArray[np.uint64] = np.zeros(_LEAST_SLOTS, dtype=np.uint64)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def _last(self) -> int:
        return len(self._slots) - 1

    def _home(self, hashes: Hashes) -> Integers:
        return (hashes & np.uint64(self._last)).astype(np.int64)

    def find(self, values: pl.Series) -> Integers:
        """The code of each text; −1 for those that aren't in it."""
        hashes = self._hashed(values)
        at = self._home(hashes)
        codes = self._follow(hashes, at)
        other = self._differ(values, codes)
        while len(other):
            onward = (at[other] + 1) & self._last
            codes[other] = self._follow(hashes[other], onward)
            at[other] = onward
            other = other[self._differ(values.gather(other), codes[other])]
        return codes

    def add(self, values: pl.Series) -> None:
        """Distinct texts, none of which is in it."""
        first = len(self)
        self._texts.append(values)
        if _ROOM * len(self) <= len(self._slots):
            self._place(values, first)
            return
        slots = 1 << (_ROOM * len(self) - 1).bit_length()
        self._slots = np.zeros(0, dtype=np.uint64)  # the old table goes before the new one comes
        self._slots = np.zeros(slots, dtype=np.uint64)
        texts = self._texts.column()
        for start in range(0, len(texts), _SLICE):
            self._place(texts[start : start + _SLICE], start)

    def _follow(self, hashes: Hashes, at: Integers) -> Integers:
        """The codes in the first slots, from those given on, whose half of the hash fits; −1 where none does.

        ``at`` is moved on to these slots.
        """
        entries = self._slots.take(at, mode="clip")  # which spares NumPy a check of what can't be outside
        astray = np.flatnonzero(_astray(entries, hashes))
        while len(astray):
            at[astray] = (at[astray] + 1) & self._last
            entries[astray] = self._slots.take(at[astray], mode="clip")
            astray = astray[_astray(entries[astray], hashes[astray])]
        return (entries & _CODE).astype(np.int64) - 1

    def _differ(self, values: pl.Series, codes: Integers) -> Integers:
        """Where a text has the hash of the one that was found and not its letters."""
        found = codes >= 0
        if not found.any():
            return np.empty(0, dtype=np.int64)
        places = pl.Series(np.maximum(codes, 0).astype(np.uint32))
        differ: Mask = (self._texts.column().gather(places) != values).to_numpy()
        return np.flatnonzero(differ & found)

    def _place(self, values: pl.Series, first: int) -> None:
        """Put texts into slots, their codes counted from ``first``."""
        hashes = self._hashed(values)
        codes = np.arange(first + 1, first + len(values) + 1, dtype=np.uint64)
        entries = (hashes & ~_CODE) | codes
        at = self._home(hashes)
        while len(entries):
            free = self._slots.take(at, mode="clip") == _EMPTY
            self._slots[at[free]] = entries[free]
            left = self._slots.take(at, mode="clip") != entries  # of several for one slot, the last has got it
            entries, at = entries[left], (at[left] + 1) & self._last


def _astray(entries: Hashes, hashes: Hashes) -> Mask:
    """Which slots hold a text of another hash."""
    astray: Mask = ((entries ^ hashes) > _CODE) & (entries != _EMPTY)
    return astray


def _spread(places: pl.Series, present: pl.Series) -> pl.Series:
    """The places at the rows that are present, null at the others."""
    spread = np.zeros(len(present), dtype=np.uint32)
    spread[present.to_numpy()] = places.to_numpy()
    return pl.select(pl.when(pl.lit(present)).then(pl.lit(pl.Series(spread)))).to_series()
