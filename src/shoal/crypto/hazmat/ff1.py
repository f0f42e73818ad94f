"""FF1 (NIST SP 800-38G): encryption that keeps the length and the alphabet, so that a card number stays one in form.

Characters outside the alphabet stay where they are. What is encrypted of a value must be one of at least a million
(SP 800-38G, revision 1): with fewer, FF1 can be broken, and a list of all of them is soon made. A tweak is no secret;
it makes the same value look different elsewhere.

What it gives away by design: under one tweak equal values have equal ciphertexts, so everybody sees which records agree
and how often each value occurs; and of each value its length, its alphabet and what lies outside the alphabet.

Values with as many characters to encrypt are encrypted together (``ff1_rounds``), long ones by the library.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from shoal.crypto.ff1_rounds import Digits, Rounds, permute_digits, short_enough
from shoal.errors import DataError, InputError
from shoal.kernels.arrays import Integers
from shoal.kernels.text_arrays import TextArray, Units, as_text, code_points

SMALLEST_DOMAIN = 1_000_000
MOST_CHARACTERS = 256
_OUTSIDE = np.uint16(0xFFFF)


@dataclass(frozen=True)
class Ff1:
    """With an AES key of 16, 24 or 32 bytes.

    >>> cards = pl.Series(["4111 1111 1111 1111"])
    >>> cipher = Ff1(bytes(32), "0123456789")
    >>> [len(part) for part in cipher.encrypt(cards)[0].split(" ")], cipher.decrypt(cipher.encrypt(cards)).equals(cards)
    ([4, 4, 4, 4], True)
    """

    material: bytes = field(repr=False)
    alphabet: str
    tweak: bytes = b""
    keeps_others: bool = True
    """Characters outside the alphabet stay in place; otherwise a value that has one is refused."""

    def __post_init__(self) -> None:
        if (problem := alphabet_problem(self.alphabet)) is not None:
            raise InputError(problem)

    @property
    def shortest(self) -> int:
        """How many characters of the alphabet a value needs at least."""
        return next(length for length in range(2, 21) if len(self.alphabet) ** length >= SMALLEST_DOMAIN)

    def encrypt(self, values: pl.Series) -> pl.Series:
        """Texts, none missing. If some can't be encrypted, a DataError says how many, and none is."""
        return self._permuted(values, inverse=False)

    def decrypt(self, values: pl.Series) -> pl.Series:
        """The texts again. Nothing tells whether the key was the right one: each text decrypts with every key."""
        return self._permuted(values, inverse=True)

    def _permuted(self, values: pl.Series, *, inverse: bool) -> pl.Series:
        split = TextArray.as_bytes if self.alphabet.isascii() else TextArray.as_code_points
        letters = split(values)
        digits = self._digits(letters.units)
        inside = digits != _OUTSIDE
        edges = np.concatenate(([0], np.cumsum(inside)))[letters.edges]
        self._check(np.diff(edges), np.diff(letters.edges))
        units = letters.units.copy()
        units[inside] = code_points(self.alphabet)[self._permuted_digits(digits[inside], edges, inverse=inverse)]
        return letters.with_units(units).texts().alias(values.name)

    def _digits(self, units: Units) -> Digits:
        """The place of each letter in the alphabet."""
        points = code_points(self.alphabet)
        places = np.full(int(points.max()) + 2, _OUTSIDE)
        places[points] = np.arange(len(points))
        digits: Digits = places[np.minimum(units, points.max() + 1)]
        return digits

    def _check(self, encrypted: Integers, letters: Integers) -> None:
        """Before any value is encrypted."""
        short = int((encrypted < self.shortest).sum())
        if short:
            raise DataError(
                f"{short} different value(s) have fewer than {self.shortest} characters of the alphabet, which leaves "
                "fewer than a million possible values: too few for format-preserving encryption",
                advice="choose another scheme, or suppress such values before",
            )
        mixed = int((encrypted < letters).sum())
        if mixed and not self.keeps_others:
            raise DataError(f"{mixed} different value(s) have characters outside the alphabet")

    def _permuted_digits(self, digits: Digits, edges: Integers, *, inverse: bool) -> Digits:
        permuted = np.empty_like(digits)
        lengths = np.diff(edges)
        for length in np.unique(lengths).tolist():
            places = edges[:-1][lengths == length][:, None] + np.arange(length)
            permuted[places] = self._permuted_alike(digits[places], inverse=inverse)
        return permuted

    def _permuted_alike(self, digits: Digits, *, inverse: bool) -> Digits:
        """Of values of one length."""
        radix, length = len(self.alphabet), digits.shape[1]
        if short_enough(radix, length):
            return permute_digits(Rounds(self.material, radix, length, self.tweak), radix, digits, inverse=inverse)
        return self._by_library(digits, inverse=inverse)

    def _by_library(self, digits: Digits, *, inverse: bool) -> Digits:
        from fastfpe import ff1  # type: ignore[import-untyped]  # no stubs

        permute, key, tweak = ff1.decrypt if inverse else ff1.encrypt, self.material.hex(), self.tweak.hex()
        joined, length = as_text(code_points(self.alphabet)[digits]), digits.shape[1]
        permuted = "".join(
            permute(key, tweak, self.alphabet, joined[start : start + length])
            for start in range(0, len(joined), length)
        )
        return self._digits(code_points(permuted)).reshape(-1, length)


def alphabet_problem(alphabet: str) -> str | None:
    """Why FF1 can't be used with it, or None."""
    if len(set(alphabet)) < len(alphabet):
        return "the alphabet has a character twice"
    if not 2 <= len(alphabet) <= MOST_CHARACTERS:
        return f"an alphabet has from 2 to {MOST_CHARACTERS} characters"
    return None
