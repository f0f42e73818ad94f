"""Derived pseudonyms: a keyed digest of the value (ISO/IEC 20889, 9.4.3.3.3), in the shape of a format.

Equal values have equal pseudonyms wherever the same key is used, and nothing has to be kept to know them again. Without
the key a guess can't be tried, however few values there can be; a hash without a key has no such protection and isn't
offered.

* A wide format takes the digest as it is: 128 bits, so that two values share a pseudonym with a chance of n²/2¹²⁹
  among n values (unique for all purposes).
* A narrow format takes the digest modulo its size. Among n values about n²/(2 · size) pairs share a pseudonym: it may
  collide. A value that is of the format itself is permuted within it instead: such values never collide with each
  other.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from shoal.crypto import Key
from shoal.crypto.keyed_digests import Algorithm, digests
from shoal.crypto.permutation import Permutation
from shoal.errors import BugError
from shoal.kernels.arrays import Integers
from shoal.pseudonyms.formats.base import Blocks, NarrowFormat, PseudonymFormat, Uniqueness, WideFormat

_WORD = 64


def derived_uniqueness(form: PseudonymFormat) -> Uniqueness:
    """What a derived pseudonym of the format is, whatever the data."""
    return Uniqueness.UNIQUE if isinstance(form, WideFormat) else Uniqueness.MAY_COLLIDE


def derive(key: Key, form: PseudonymFormat, values: pl.Series, algorithm: Algorithm = "blake2b") -> pl.Series:
    """The pseudonym of each text, none of them missing."""
    if isinstance(form, WideFormat):
        return form.write(_digests(key, values, algorithm))
    if not isinstance(form, NarrowFormat):
        raise BugError(f"the format '{form.key}' is neither wide nor narrow")
    numbers = form.read(values) if form.distinct else np.full(len(values), -1, dtype=np.int64)
    within = numbers >= 0
    if within.any():
        permutation = Permutation(key.derive("within", form.key, str(form.size)), form.size)
        numbers[within] = permutation.forward(numbers[within])
    numbers[~within] = remainders(_digests(key, values.filter(~within), algorithm), form.size)
    return form.write(numbers)


def stays_within(form: PseudonymFormat, values: pl.Series) -> bool:
    """Whether all values are of the narrow format themselves, so that their pseudonyms are unique by construction."""
    return isinstance(form, NarrowFormat) and form.distinct and bool((form.read(values) >= 0).all())


def remainders(blocks: Blocks, size: int) -> Integers:
    """Blocks, read as numbers of 128 bits, modulo a size below 2⁶³: as many bits at a time as leave room to multiply.

    >>> remainders(np.full((1, 16), 255, dtype=np.uint8), 1000).tolist() == [(2**128 - 1) % 1000]
    True
    """
    bits = _WORD - size.bit_length()
    halves = blocks.view(">u8").astype(np.uint64)
    rest: NDArray[np.uint64] = np.zeros(len(blocks), dtype=np.uint64)
    for word in halves.T:
        left = _WORD
        while left:
            taken = min(bits, left)
            left -= taken
            digit = word >> np.uint64(left) & np.uint64((1 << taken) - 1)
            rest = ((rest << np.uint64(taken)) + digit) % np.uint64(size)
    return rest.astype(np.int64)


def _digests(key: Key, values: pl.Series, algorithm: Algorithm) -> Blocks:
    return digests(key, values.cast(pl.Binary).to_list(), algorithm)
