"""Issued pseudonyms: number *n* of a domain has the n-th value of a secret permutation of the format.

Whoever issues counts upwards and never goes back, so no pseudonym is ever given to two people, and none is re-used.
Without the key the pseudonyms tell neither the number nor which of two came first. A pseudonym that was not issued is
told from one that was: of a wide format it doesn't come back as a number at all, except with a chance of 2⁻⁶⁴.

>>> from shoal.pseudonyms.formats.integer import Integer
>>> key, six_digits = Key(bytes(32)), Integer(digits=6)
>>> serials_of(key, six_digits, pseudonyms_of(key, six_digits, np.array([0, 1, 2]))).tolist()
[0, 1, 2]
"""

from __future__ import annotations

import numpy as np
import polars as pl

from shoal.crypto import Key
from shoal.crypto.permutation import Permutation, block_permutation, block_serials
from shoal.errors import BugError, DataError
from shoal.kernels.arrays import Integers
from shoal.pseudonyms.formats.base import NarrowFormat, PseudonymFormat, Uniqueness, WideFormat


def issued_uniqueness(form: PseudonymFormat) -> Uniqueness:
    """What an issued pseudonym of the format is, whatever the data."""
    shared = isinstance(form, NarrowFormat) and not form.distinct
    return Uniqueness.MAY_COLLIDE if shared else Uniqueness.UNIQUE


def pseudonyms_of(key: Key, form: PseudonymFormat, serials: Integers) -> pl.Series:
    """The pseudonyms of these serial numbers, counted from 0. A format that has no more values is a DataError."""
    secret = _key_of(key, form)
    if isinstance(form, WideFormat):
        return form.write(block_permutation(secret, serials))
    narrow = _narrow(form)
    if not narrow.distinct:
        serials = serials % narrow.size
    elif len(serials) and int(serials.max()) >= narrow.size:
        raise DataError(
            f"the format '{form.key}' has only {narrow.size} values, and more are needed",
            advice="choose a format with more values, such as base32",
        )
    return narrow.write(Permutation(secret, narrow.size).forward(serials))


def serials_of(key: Key, form: PseudonymFormat, pseudonyms: pl.Series) -> Integers:
    """The serial numbers of pseudonyms; −1 for what is not of the format, or can't have been issued with the key."""
    secret = _key_of(key, form)
    if isinstance(form, WideFormat):
        blocks, fits = form.read(pseudonyms)
        return np.where(fits, block_serials(secret, blocks), -1)
    narrow = _narrow(form)
    if not narrow.distinct:
        return np.full(len(pseudonyms), -1, dtype=np.int64)
    numbers = narrow.read(pseudonyms)
    numbers[numbers >= 0] = Permutation(secret, narrow.size).backward(numbers[numbers >= 0])
    return numbers


def _key_of(key: Key, form: PseudonymFormat) -> Key:
    """A key for each format and size: what one format shows of a number is of no help with another."""
    return key.derive("issued pseudonyms", form.key, str(form.size))


def _narrow(form: PseudonymFormat) -> NarrowFormat:
    if not isinstance(form, NarrowFormat):
        raise BugError(f"the format '{form.key}' is neither wide nor narrow")
    return form
