"""Check characters of identifiers, for many numbers at once: Luhn, Verhoeff, the letters of NRIC numbers and FINs.

A check character catches slips of the pen. The rules are public, so it protects nothing: whoever makes up a number, to
attack one or to replace one, writes it with the character that belongs to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers

Digits = NDArray[np.uint8]
"""Of shape (n, width)."""

NRIC_SERIES = {
    "S": (0, "JZIHGFEDCBA"),
    "T": (4, "JZIHGFEDCBA"),
    "F": (0, "XWUTRQPNMLK"),
    "G": (4, "XWUTRQPNMLK"),
    "M": (3, "XWUTRQPNJLK"),
}
"""For each first letter what is added to the weighted sum, and the check letter for each remainder modulo 11."""
NRIC_WEIGHTS = np.array([2, 7, 6, 5, 4, 3, 2])


def digits_of(numbers: Integers, width: int) -> Digits:
    """The decimal digits, one row for each number, the highest first.

    >>> digits_of(np.array([42, 7]), 3).tolist()
    [[0, 4, 2], [0, 0, 7]]
    """
    digits = np.empty((len(numbers), width), np.uint8, order="F")
    for place in range(width - 1, -1, -1):
        above = numbers // 10
        digits[:, place] = numbers - 10 * above
        numbers = above
    return digits


def nric_letter(series: str, digits: str) -> str:
    """The check letter of an NRIC number or FIN.

    >>> "S1234567" + nric_letter("S", "1234567")
    'S1234567D'
    """
    added, letters = NRIC_SERIES[series]
    weighted = sum(weight * int(digit) for weight, digit in zip(NRIC_WEIGHTS.tolist(), digits, strict=True))
    return letters[(weighted + added) % 11]


def nric_letters(series: str, digits: Digits) -> NDArray[np.uint8]:
    """The same for rows of seven digits, as character codes."""
    added, letters = NRIC_SERIES[series]
    codes: NDArray[np.uint8] = np.frombuffer(letters.encode(), np.uint8)[(digits @ NRIC_WEIGHTS + added) % 11]
    return codes


def luhn_digits(digits: Digits) -> Digits:
    """The digit that follows each row (ISO/IEC 7812-1, annex B): every second one from the right counts twice.

    >>> luhn_digits(np.array([[7, 9, 9, 2, 7, 3, 9, 8, 7, 1]])).tolist()
    [3]
    """
    total = np.zeros(len(digits), np.int64)
    for place, column in enumerate(digits.T[::-1]):
        total += _DOUBLED[column] if place % 2 == 0 else column
    return (-total % 10).astype(np.uint8)


def verhoeff_digits(digits: Digits) -> Digits:
    """The digit that follows each row (Verhoeff, 1969): it makes the product in the group of a pentagon neutral.

    >>> verhoeff_digits(np.array([[2, 3, 6]])).tolist()
    [3]
    """
    check = np.zeros(len(digits), np.uint8)
    for place, column in enumerate(digits.T[::-1]):
        check = _PRODUCTS[(place + 1) % 8][10 * check + column]
    return _INVERSE[check]


def _dihedral() -> tuple[Digits, Digits]:
    """Products of 10 · a + b in the group of a regular pentagon, b permuted 0 … 7 times as Verhoeff does; inverses."""
    one, other = np.divmod(np.arange(10), 5)
    turn = np.where(one[:, None] == 1, other[:, None] - other, other[:, None] + other) % 5
    product = turn + 5 * (one[:, None] ^ one)
    permuted, products = np.arange(10), []
    for _ in range(8):
        products.append(product[:, permuted].ravel())
        permuted = np.array([1, 5, 7, 6, 2, 8, 3, 0, 9, 4])[permuted]
    return np.array(products, np.uint8), np.argmin(product, axis=1).astype(np.uint8)


_DOUBLED = np.array([0, 2, 4, 6, 8, 1, 3, 5, 7, 9])
"""Twice a digit, its own digits added."""
_PRODUCTS, _INVERSE = _dihedral()
