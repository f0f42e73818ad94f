"""Columns that look like hash values: how they are written, and which functions make values of that length."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

ALGORITHMS = {
    16: ("md5",),
    20: ("sha1",),
    28: ("sha224", "sha3_224"),
    32: ("sha256", "sha3_256", "blake2s"),
    48: ("sha384", "sha3_384"),
    64: ("sha512", "sha3_512", "blake2b"),
}
"""The hash functions whose values have so many bytes."""
FITTING = 0.9
"""A column holds hash values if at least this share of its distinct values has the form of one."""


@dataclass(frozen=True)
class Digests:
    """The distinct hash values of a column."""

    values: frozenset[bytes]
    algorithms: tuple[str, ...]

    @classmethod
    def of(cls, released: pl.Series) -> Digests | None:
        """The column as hash values; None if it doesn't look like any, in hexadecimal or in base64.

        >>> import hashlib
        >>> Digests.of(pl.Series([hashlib.md5(b"1").hexdigest().upper()])).algorithms
        ('md5',)
        """
        if released.dtype != pl.String:
            return None
        distinct = released.drop_nulls().str.strip_chars().unique()
        readings = (_hexadecimal(distinct), _base64(distinct))
        for found in (_commonest(reading) for reading in readings):
            if found and len(found) >= FITTING * len(distinct):
                return cls(found, ALGORITHMS[len(next(iter(found)))])
        return None


def _hexadecimal(texts: pl.Series) -> Iterable[bytes]:
    return (bytes.fromhex(text) for text in texts.filter(texts.str.contains("^(?:[0-9A-Fa-f]{2})+$")))


def _base64(texts: pl.Series) -> Iterable[bytes]:
    """The usual alphabet or the one for web addresses, padded or not."""
    for text in texts.filter(texts.str.contains("^[0-9A-Za-z+/_-]{22,86}={0,2}$")):
        bare = text.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            yield base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
        except binascii.Error:
            continue


def _commonest(values: Iterable[bytes]) -> frozenset[bytes]:
    """Those of the one length that most of them have, among lengths of hash values."""
    lengths: dict[int, set[bytes]] = {length: set() for length in ALGORITHMS}
    for value in values:
        if len(value) in lengths:
            lengths[len(value)].add(value)
    return frozenset(lengths[max(lengths, key=lambda length: len(lengths[length]))])
