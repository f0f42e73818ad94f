"""Secret sharing of whole columns of numbers: n parties get a share each, t of them together have the number.

- **Additive**, where all n are needed: n − 1 shares are random numbers modulo 2⁶⁴, the last is what is missing to the
  secret. Any n − 1 of them are uniformly random whatever the secret is.
- **Shamir (1979)**, where t of n are enough: share i is the value at i of a random polynomial of degree t − 1 over the
  field of 2⁶¹ − 1 elements whose value at 0 is the secret. Any t − 1 of them are uniformly random.

Both are linear: each party adds up its own shares, and the sums are shares of the sum (of all numbers, or of any choice
of records that the parties agree on). Negative numbers are the upper half of the modulus. A sum must stay within the
modulus as well, which is for the caller to see to.

>>> from shoal.randomness import Stream
>>> scheme = Sharing(parties=3, threshold=2)
>>> words = Stream(bytes(32)).words
>>> rows = np.arange(3, dtype=np.uint64)
>>> shares = scheme.split(np.array([5, -7, 100]), lambda lane: words(rows, lane))
>>> scheme.join({1: shares[0], 3: shares[2]}).tolist()
[5, -7, 100]
>>> scheme.join({2: scheme.total(shares[1]), 3: scheme.total(shares[2])}).tolist()
[98]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.arrays import Integers

PRIME = (1 << 61) - 1
MOST_PARTIES = 255
_MASK = np.uint64(PRIME)
_LOW = np.uint64((1 << 31) - 1)

Shares = NDArray[np.uint64]
Words = Callable[[int], Shares]
"""Two random words for each number, by lane."""


@dataclass(frozen=True)
class Sharing:
    parties: int
    threshold: int

    def __post_init__(self) -> None:
        if not 2 <= self.threshold <= self.parties <= MOST_PARTIES:
            raise ValueError(f"2 to {MOST_PARTIES} parties share, and at least 2 of them are needed")

    @property
    def additive(self) -> bool:
        return self.threshold == self.parties

    @property
    def largest(self) -> int:
        """Numbers, and sums, may lie between minus this and this."""
        return (1 << 63) - 1 if self.additive else PRIME // 2

    def split(self, secrets: Integers, words: Words) -> list[Shares]:
        """The shares of party 1, of party 2, …"""
        residues = self._residues(secrets)
        if self.additive:
            drawn = [words(lane)[:, 0] for lane in range(1, self.parties)]
            return [*drawn, residues - _added(drawn)]
        coefficients = [residues, *(_field_element(words(lane)) for lane in range(1, self.threshold))]
        return [_value_at(party, coefficients) for party in range(1, self.parties + 1)]

    def join(self, shares: Mapping[int, Shares]) -> Integers:
        """The numbers, from the shares of any t parties, by party; more are not looked at."""
        if len(shares) < self.threshold:
            raise ValueError(f"{self.threshold} shares are needed")
        chosen = dict(sorted(shares.items())[: self.threshold])
        if self.additive:
            return _added(list(chosen.values())).view(np.int64)
        weights = [_times(values, _weight(party, chosen)) for party, values in chosen.items()]
        residues = weights[0]
        for weighted in weights[1:]:
            residues = _reduced(residues + weighted)
        signed = residues.astype(np.int64)
        return np.where(signed > PRIME // 2, signed - PRIME, signed)

    def total(self, shares: Shares) -> Shares:
        """One party's share of the sum, as an array of one."""
        if self.additive:
            return np.array([shares.sum(dtype=np.uint64)], dtype=np.uint64)
        # Halves of 31 and 30 bits add up to less than 2⁶⁴ for more numbers than a table has.
        low, high = int((shares & _LOW).sum(dtype=np.uint64)), int((shares >> np.uint64(31)).sum(dtype=np.uint64))
        return np.array([(low + (high << 31)) % PRIME], dtype=np.uint64)

    def _residues(self, secrets: Integers) -> Shares:
        if self.additive:
            return secrets.astype(np.int64).view(np.uint64)
        if len(secrets) and max(int(secrets.max()), -int(secrets.min())) > self.largest:
            raise ValueError("a number is too large to be shared")
        return np.where(secrets < 0, secrets + PRIME, secrets).astype(np.uint64)


def _added(shares: list[Shares]) -> Shares:
    """Modulo 2⁶⁴, by the overflow of the processor's own addition."""
    total = np.zeros_like(shares[0])
    for each in shares:
        total = total + each
    return total


def _field_element(words: Shares) -> Shares:
    """Uniform below the prime: 61 bits of the first word, or of the second where those are the prime itself."""
    first = words[:, 0] & _MASK
    second = words[:, 1] & _MASK
    return _reduced(np.where(first == _MASK, second, first))


def _value_at(party: int, coefficients: list[Shares]) -> Shares:
    """Horner's rule."""
    value = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        value = _reduced(_times(value, party) + coefficient)
    return value


def _weight(party: int, among: Mapping[int, Shares]) -> int:
    """Lagrange's coefficient for the value at 0."""
    above, below = 1, 1
    for other in among:
        if other != party:
            above, below = above * other % PRIME, below * (other - party) % PRIME
    return above * pow(below, -1, PRIME) % PRIME


def _times(values: Shares, factor: int) -> Shares:
    """Modulo 2⁶¹ − 1, by halves of 31 and 30 bits: 2⁶² is 2, and a factor 2³¹ turns the bits around."""
    high, low = values >> np.uint64(31), values & _LOW
    factor_high, factor_low = np.uint64(factor >> 31), np.uint64(factor & int(_LOW))
    middle = _reduced(high * factor_low + low * factor_high)
    turned = ((middle << np.uint64(31)) & _MASK) + (middle >> np.uint64(30))
    return _reduced(_reduced(high * factor_high * np.uint64(2)) + turned + _reduced(low * factor_low))


def _reduced(values: Shares) -> Shares:
    folded = (values & _MASK) + (values >> np.uint64(61))
    return np.where(folded >= _MASK, folded - _MASK, folded)
